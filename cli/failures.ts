import { ConfigFault } from '../shared/platform/config.ts';
import type { ItemDetail } from '../shared/refusals.ts';
import { RoutebookError } from './client/index.ts';
import type { Paint } from './terminal.ts';

/** A command cannot do what it was asked for, and the person can do something about it. */
export class CommandFault extends Error {
    readonly code: string;
    readonly exitCode: 1 | 2;
    /** More for a person, below the message. */
    readonly lines: readonly string[];
    /** More for a program, beside code and message. */
    readonly fields: Readonly<Record<string, unknown>>;

    constructor(
        code: string,
        message: string,
        {
            exitCode = 1,
            lines = [],
            fields = {},
        }: { exitCode?: 1 | 2; lines?: readonly string[]; fields?: Readonly<Record<string, unknown>> } = {},
    ) {
        super(message);
        this.name = 'CommandFault';
        this.code = code;
        this.exitCode = exitCode;
        this.lines = lines;
        this.fields = fields;
    }
}

/** The command was called in a way that it does not know. */
export function wrongUsage(message: string): CommandFault {
    return new CommandFault('WRONG_USAGE', message, { exitCode: 2 });
}

export interface ShownFailure {
    /** The `error` of `--json`. */
    error: { code: string; message: string; [field: string]: unknown };
    /** For stderr. */
    lines: string[];
    exitCode: 1 | 2;
}

/** How a failure is shown to the user of the command. A bug keeps its stack, for its report. */
export function tell(error: unknown, paint: Paint): ShownFailure {
    if (error instanceof CommandFault) return toldFault(error, paint);
    if (error instanceof RoutebookError) return toldRefusal(error, paint);
    if (error instanceof ConfigFault) {
        return { error: { code: 'INVALID_SETTING', message: error.lines.join('; ') }, lines: error.lines.map(cross(paint)), exitCode: 1 };
    }
    const message = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? (error.stack ?? message) : message;
    return { error: { code: 'INTERNAL', message }, lines: [cross(paint)('a bug of the command line:'), stack], exitCode: 1 };
}

function toldFault({ code, message, exitCode, lines, fields }: CommandFault, paint: Paint): ShownFailure {
    return { error: { code, message, ...fields }, lines: [cross(paint)(message), ...lines], exitCode };
}

function toldRefusal(error: RoutebookError, paint: Paint): ShownFailure {
    const { code, message, status, fault, retryable, retryAfter, details, requestId, upgrade, upstream, didYouMean } = error;
    const lines = [
        cross(paint)(`${paint('bold', code)}  ${message}`),
        ...detailLines(details, paint),
        ...(didYouMean.length === 0 ? [] : [`  did you mean ${didYouMean.join(' or ')}?`]),
        ...(upstream === undefined ? [] : [`  the site answered ${upstream.status}: ${upstream.snippet}`]),
        ...(retryAfter === undefined ? [] : [`  try again in ${retryAfter} s`]),
        ...(upgrade === undefined ? [] : [`  more credits with the plan ${upgrade.to}: ${upgrade.url}`]),
        ...(details.some((detail) => detail.code === 'SCOPE_MISSING') ? [`  ${SCOPE_HINT}`] : []),
        ...(HINTS[code] === undefined ? [] : [`  ${HINTS[code]}`]),
        ...(requestId === undefined ? [] : [paint('dim', `  ${requestId}`)]),
    ];
    return {
        error: {
            code,
            message,
            status,
            fault,
            retryable,
            ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
            ...(details.length === 0 ? {} : { details }),
            ...(didYouMean.length === 0 ? {} : { did_you_mean: didYouMean }),
            ...(upstream === undefined ? {} : { upstream }),
            ...(upgrade === undefined ? {} : { upgrade_to: upgrade.to, upgrade_url: upgrade.url }),
            ...(requestId === undefined ? {} : { request_id: requestId }),
            ...(error.idempotencyKey === undefined ? {} : { idempotency_key: error.idempotencyKey }),
        },
        lines,
        exitCode: 1,
    };
}

const SCOPE_HINT = '"routebook whoami" shows what the key may do; its page in the dashboard gives it more';

/** What to do here, where the server's words speak of its routes. */
const HINTS: Readonly<Record<string, string | undefined>> = {
    API_KEY_REQUIRED: '"routebook login" stores a key, and ROUTEBOOK_API_KEY brings one',
    INVALID_API_KEY: '"routebook login" stores another key',
    NOT_MAINTAINER: 'is it your site? "routebook claim start <domain>" proves it, and makes your workspace a maintainer',
    CLAIM_REQUIRED: '"routebook claim start <domain>" begins the proof',
    SITE_NOT_FOUND: '"routebook request" asks for one, "routebook init" begins to write it',
    NETWORK_ERROR: 'does it run? --server and ROUTEBOOK_URL name another',
    VERSION_CONFLICT: '"routebook diff" shows what changed meanwhile',
};

/** Problems below each other: where, what kind, and a sentence. */
export function detailLines(details: readonly ItemDetail[], paint: Paint): string[] {
    return details.map(({ path, code, message }) => `  ${paint('cyan', path === '' ? '/' : path)}  ${paint('dim', code)}  ${message}`);
}

function cross(paint: Paint): (text: string) => string {
    return (text) => `${paint('red', '✗')} ${text}`;
}
