import { ConfigFault } from '../shared/platform/settings-reader.ts';
import type { ItemDetail } from '../shared/refusals.ts';
import { errorBodyOf, RoutebookError } from './client/errors.ts';
import type { ENDED_BY_CTRL_C } from './interruption.ts';
import { PROGRAM } from './settings.ts';
import type { Paint } from './terminal.ts';

type ExitCode = 1 | 2 | typeof ENDED_BY_CTRL_C;

/** A failure that the user can fix. */
export class CommandFault extends Error {
    override readonly name = 'CommandFault';
    declare readonly code: string;
    readonly exitCode: ExitCode = 1;
    /** Further lines for a person, below the message. */
    readonly lines: readonly string[] = [];
    /** Further fields for a program. */
    readonly fields: Readonly<Record<string, unknown>> = {};

    constructor(code: string, message: string, more: Partial<Pick<CommandFault, 'exitCode' | 'lines' | 'fields'>> = {}) {
        super(message);
        Object.assign(this, { code }, more);
    }
}

export function wrongUsage(message: string): CommandFault {
    return new CommandFault('WRONG_USAGE', message, { exitCode: 2 });
}

/** Explains why a file could not be read. @throws the error itself if it is not about a file */
export function fileFault(error: unknown, file: string): CommandFault {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code !== 'string') throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR')
        return new CommandFault('FILE_NOT_FOUND', `There is no file ${file}.`, { fields: { file } });
    return new CommandFault('FILE_UNREADABLE', `${file} cannot be read (${code}).`, { fields: { file } });
}

interface ShownFailure {
    /** The `error` of `--json`. */
    error: { code: string; message: string; [field: string]: unknown };
    /** For stderr. */
    lines: string[];
    exitCode: ExitCode;
}

/** Presents a failure to the user. A bug keeps its stack for the report. */
export function presentFailure(error: unknown, paint: Paint): ShownFailure {
    if (error instanceof CommandFault) return showFault(error, paint);
    if (error instanceof RoutebookError) return showRefusal(error, paint);
    if (error instanceof ConfigFault) {
        return { error: { code: 'INVALID_SETTING', message: error.lines.join('; ') }, lines: error.lines.map(cross(paint)), exitCode: 1 };
    }
    const message = error instanceof Error ? error.message : String(error);
    const stack = error instanceof Error ? (error.stack ?? message) : message;
    return { error: { code: 'INTERNAL', message }, lines: [cross(paint)('a bug in the command line:'), stack], exitCode: 1 };
}

function showFault({ code, message, exitCode, lines, fields }: CommandFault, paint: Paint): ShownFailure {
    return { error: { code, message, ...fields }, lines: [cross(paint)(message), ...lines], exitCode };
}

/** The status that a site answered, with the beginning of its body if it is known. */
export function siteAnswered({ status, snippet }: { status: number; snippet: string }): string {
    return `the site answered ${status}${snippet === '' ? '' : `: ${snippet}`}`;
}

function showRefusal(error: RoutebookError, paint: Paint): ShownFailure {
    const { code, message, retryAfter, details, requestId } = error;
    const { upgrade, connectUrl, obtainUrl, upstream, didYouMean } = error;
    // Details list existing connections.
    const isUnconnected = connectUrl !== undefined && details.length === 0;
    const lines = [
        cross(paint)(`${paint('bold', code)}  ${message}`),
        // A detail may say the same as the message.
        ...detailLines(
            details.filter((detail) => detail.message !== message),
            paint,
        ),
        ...(didYouMean.length === 0 ? [] : [`  did you mean ${didYouMean.join(' or ')}?`]),
        ...(upstream === undefined ? [] : [`  ${siteAnswered(upstream)}`]),
        ...(retryAfter === undefined ? [] : [`  try again in ${retryAfter} s`]),
        ...(upgrade === undefined ? [] : [`  more credits with the plan ${upgrade.to}: ${upgrade.url}`]),
        ...(isUnconnected ? [`  connect the site with "${PROGRAM} connect", or at ${connectUrl}`] : []),
        ...(isUnconnected && obtainUrl !== undefined ? [`  get a credential at ${obtainUrl}`] : []),
        ...(details.some((detail) => detail.code === 'SCOPE_MISSING') ? [`  ${SCOPE_HINT}`] : []),
        ...hintFor(code, message),
        ...(requestId === undefined ? [] : [paint('dim', `  ${requestId}`)]),
    ];
    const { doc_url: _, ...shown } = errorBodyOf(error);
    const { idempotencyKey: key } = error;
    return { error: { ...shown, ...(key === undefined ? {} : { idempotency_key: key }) }, lines, exitCode: 1 };
}

const SCOPE_HINT = `"${PROGRAM} whoami" shows what the key may do; change that on its page in the dashboard, or log in with another key`;

/** Command-line hints for messages of the server that refer to its routes. */
const HINTS: Readonly<Record<string, string | undefined>> = {
    API_KEY_REQUIRED: `store a key with "${PROGRAM} login", or set ROUTEBOOK_API_KEY`,
    INVALID_API_KEY: `store another with "${PROGRAM} login"; ROUTEBOOK_API_KEY, where it is set, takes precedence`,
    NOT_MAINTAINER: `"${PROGRAM} claim start DOMAIN" proves that it is your site, and makes your workspace a maintainer`,
    CLAIM_REQUIRED: `"${PROGRAM} claim start DOMAIN" starts the proof`,
    SITE_NOT_FOUND: `request a schema with "${PROGRAM} request", or write one with "${PROGRAM} init"`,
    VERSION_NOT_FOUND: `"${PROGRAM} versions" lists the versions of a site`,
    ENDPOINT_NOT_FOUND: `"${PROGRAM} catalog" lists the endpoints of a site`,
    NOT_FOUND: 'is this the address of a Routebook? --server and ROUTEBOOK_URL select another',
    NETWORK_ERROR: 'is the server running? --server and ROUTEBOOK_URL select another',
    INVALID_ANSWER: 'is this the address of a Routebook? --server and ROUTEBOOK_URL select another',
    BATCH_PAUSED: `"${PROGRAM} batch resume BATCH" continues it, also with new limits`,
    VERSION_CONFLICT: `"${PROGRAM} diff" shows what changed meanwhile`,
};

/** The hint for an error, with the domain or batch that its message names. */
function hintFor(code: string, message: string): string[] {
    const hint = HINTS[code];
    if (hint === undefined) return [];
    const [, domain = 'DOMAIN'] = /\/v1\/sites\/([^/\s]+)\/claims/.exec(message) ?? [];
    const [batch = 'BATCH'] = /\bbat_\w+/.exec(message) ?? [];
    return [`  ${hint.replace('DOMAIN', domain).replace('BATCH', batch)}`];
}

/** Formats problems as a table: place, kind and message. */
export function detailLines(details: readonly ItemDetail[], paint: Paint): string[] {
    return details.map(({ path, code, message }) => `  ${paint('cyan', path === '' ? '/' : path)}  ${paint('dim', code)}  ${message}`);
}

function cross(paint: Paint): (text: string) => string {
    return (text) => `${paint('red', '✗')} ${text}`;
}
