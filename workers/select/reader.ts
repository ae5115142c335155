import { availableParallelism } from 'node:os';
import { MAX_CHALLENGE } from '../../shared/domain/fetch/blocked-page.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import type { Endpoint, ResponseType } from '../../shared/domain/types.ts';
import { giveBack } from '../garbage.ts';
import type { Page } from '../upstream/answers.ts';
import { botChallengeOf } from '../upstream/refused-answer.ts';
import { typeOfBody, typeOfStep } from './body-type.ts';
import type { Task, TaskAnswer } from './child.ts';
import { canCheckInline, canReadInline, costsItsSize, hasInlineRules, isInlineExpression } from './inline.ts';
import { catchInvalid, type Refused, TOO_MUCH_WORK } from './invalid-response.ts';
import { DATA_TOO_LARGE, MAX_OUTPUT } from './measure.ts';
import type { NextFound, RawPage, ResponseRules } from './parse-page.ts';
import type { PreparedPage, WantedOfStep } from './prepare-page.ts';
import { openProcessPool } from './process-pool.ts';
import { type Content, readPage, type Wanted } from './read-page.ts';
import { joinParts, type Part, readPart, type WantedPart } from './read-part.ts';
import { asksToSignIn, SIGN_IN } from './sign-in-page.ts';
import { maxUnpacked } from './unpack.ts';
import type { Watched, WatchOrder } from './watched.ts';

type Reading = ({ ok: true } & Content) | Refused;

/** `bytes` is the size of the text. */
export type PartReading = ({ ok: true; bytes: number } & Part) | Refused;

type ReadAs = Pick<Endpoint, 'response'>;

/** The owner and the limits of one call's page processing. */
export interface ReadingTurn {
    /** Owner of the package. */
    owner: string;
    /** The account that calls. Accounts take turns, so that none delays another, however many sites it calls. */
    caller: string;
    /** Remaining CPU time for all pages of the call. */
    cpuMs: number;
    /** Epoch milliseconds. A page that still waits for its turn at this time is not read. */
    deadlineAt?: number | undefined;
}

/** CPU limit for all pages of one call. */
const CALL_MS = 5000;

/** Creates the turn of one call, with its full CPU time. */
export function createReadingTurn(owner = '', deadlineAt?: number, caller = owner): ReadingTurn {
    return { owner, caller, cpuMs: CALL_MS, deadlineAt };
}

export type Reader = ReturnType<typeof createReader>;

/**
 * CPU limit of one task (docs/api.md, "Hosted fetch"). Tasks whose cost is proportional to their size may use all of the call's remaining
 * time: 5 MiB of small values take most of this limit, and several times as long on a slow machine.
 */
const TASK_MS = 500;

const MIB = 1024 * 1024;

/** Memory growth limit for a page without a contributor's rules. */
const PLAIN_GROWTH = 128 * MIB;

/** Memory growth limit for a contributor's rules: less than 64 MiB above reading the same page without rules. */
function heavyGrowth({ kind, bytes }: { kind: string; bytes: number }): number {
    const growth = kind === 'html' ? 48 * MIB + 16 * bytes : 40 * MIB + 10 * bytes;
    return Math.min(PLAIN_GROWTH, growth);
}

const PROGRAM = new URL('./child.ts', import.meta.url);
const KINDS = new Map([
    ['plain', []],
    ['html', ['html']],
]);

/** A worker waits this long for its first process. */
const START_MS = 2000;

const LATE = 'The answer arrived, but the time of this call ended before it could be read.';
const NO_RULES: ResponseRules = { type: undefined, select: undefined, schema: undefined };

/**
 * Creates a reader. It reads simple pages inline and others in child processes, where a contributor's expensive rules can be killed and
 * delay no other call. HTML has its own processes, which start with the first page of HTML, so a slow page delays no JSON. Faults of a
 * site or a package are values; it rejects only on a bug.
 * @param threads maximum number of processes of each kind
 * @param taskMs CPU limit of one task whose cost is not bounded by its size
 */
export function createReader({ threads = Math.min(2, availableParallelism()), taskMs = TASK_MS } = {}) {
    const pool = openProcessPool(PROGRAM, KINDS, { max: threads });

    /** @param isHeavy whether its cost depends on a contributor's rules and is not bounded by its size, `bytes` */
    async function ask<T extends Task>(
        task: T,
        { bytes, isHeavy }: { bytes: number; isHeavy: boolean },
        turn: ReadingTurn,
    ): Promise<TaskAnswer<T['what']>> {
        const kind = 'page' in task && MARKUP.has(task.page.type) ? 'html' : 'plain';
        const { owner, caller, deadlineAt: beginBy } = turn;
        if (turn.cpuMs <= 0) return toRefused(TOO_MUCH_WORK);
        const isInProportion = !isHeavy && (!('page' in task) || costsItsSize(task.page));
        const cpuMs = isInProportion ? turn.cpuMs : Math.min(taskMs, turn.cpuMs);
        const growthBytes = isHeavy ? heavyGrowth({ kind, bytes }) : PLAIN_GROWTH;
        const ran = await pool.run({ kind, owner, caller, isHeavy, beginBy, task, cpuMs, growthBytes });
        if (ran === 'late') return { ok: false, code: 'UPSTREAM_TIMEOUT', message: LATE, details: [] };
        turn.cpuMs -= ran === 'overrun' ? cpuMs : ran.cpuMs;
        return ran === 'overrun' ? toRefused(TOO_MUCH_WORK) : (ran.answer as TaskAnswer<T['what']>);
    }

    /** Reads a page and frees its large body. Only the beginning stays, for bot-challenge detection. */
    async function askOf<T extends Extract<Task, { page: RawPage }>>(
        answered: Page,
        task: T,
        isHeavy: boolean,
        turn: ReadingTurn,
    ): Promise<TaskAnswer<T['what']>> {
        const { body } = answered;
        const isLarge = body.length > MAX_CHALLENGE;
        const kept = isLarge ? { ...answered, body: new Uint8Array(body.subarray(0, MAX_CHALLENGE + 1)) } : answered;
        const answer = await ask(task, { bytes: maxUnpacked(body), isHeavy }, turn);
        if (isLarge) giveBack(body);
        return withReason(kept, task.page, answer);
    }

    return {
        /** Starts the process that reads JSON, and resolves when it is ready, or after two seconds. */
        async start(): Promise<void> {
            const task = { what: 'join', texts: ['{"items":[]}'], schema: undefined, wanted: { results: 'items', maxResults: 1 } } as const;
            await ask(task, { bytes: 12, isHeavy: false }, createReadingTurn('', Date.now() + START_MS));
        },
        /** Reads a single answer by the endpoint's rules, cut to the wanted results. */
        async read(answered: Page, { response: rules }: ReadAs, wanted: Wanted, turn = createReadingTurn()): Promise<Reading> {
            const page = rawPage(answered, rules, rules.select !== undefined);
            if (canReadInline(page, rules)) {
                const reading = catchInvalid(() => ({ ok: true, ...readPage(page, rules, wanted) }));
                return withReason(answered, page, reading);
            }
            return askOf(answered, { what: 'page', page, rules, wanted }, isHeavy(page, rules), turn);
        },
        /** Reads one page of several, without validation. */
        async readPart(answered: Page, { response }: ReadAs, wanted: WantedPart, turn = createReadingTurn()): Promise<PartReading> {
            // The schema gives CSV values their types on each page. It validates only the joined pages, later.
            const rules = response.type === 'csv' ? response : { ...response, schema: undefined };
            const expressions = expressionsOf(wanted);
            const page = rawPage(answered, rules, rules.select !== undefined || expressions.length > 0);
            const areInline = expressions.every(isInlineExpression);
            if (canReadInline(page, rules) && areInline) {
                // The selected data may be larger than the page: an expression can select a value many times.
                const part = catchInvalid(() => withSize(readPart(page, rules, wanted)));
                return withReason(answered, page, part);
            }
            const heavy = isHeavy(page, rules) || !areInline;
            const answer = await askOf(answered, { what: 'part', page, rules, ...wanted }, heavy, turn);
            if (!answer.ok) return answer;
            const { next, ...part } = answer;
            return withSize({ ...part, next: next === undefined ? undefined : parseExact<NextFound>(next) });
        },
        /** Joins pages, validates them and cuts them to the wanted results. @param texts texts of parts @param bytes their size */
        async join(
            texts: readonly string[],
            { response: { schema } }: ReadAs,
            wanted: Wanted,
            bytes: number,
            turn = createReadingTurn(),
        ): Promise<Reading> {
            if (bytes > MAX_OUTPUT) return toRefused(DATA_TOO_LARGE);
            if (canCheckInline(schema, bytes)) return catchInvalid(() => ({ ok: true, ...joinParts(texts, schema, wanted) }));
            const isHeavy = !hasInlineRules({ ...NO_RULES, schema });
            return ask({ what: 'join', texts, schema, wanted }, { bytes, isHeavy }, turn);
        },
        /** Reads the form and the values of a `prepare` step from its page. */
        async prepare(answered: Page, wanted: WantedOfStep, turn = createReadingTurn()): Promise<({ ok: true } & PreparedPage) | Refused> {
            const page = rawPage(
                answered,
                { type: typeOfStep(answered.body, answered.headers['content-type'], { hasForm: wanted.form !== undefined }) },
                true,
            );
            const answer = await askOf(answered, { what: 'prepare', page, wanted }, true, turn);
            return answer.ok ? { ok: true, ...parseExact<PreparedPage>(answer.text) } : answer;
        },
        /** Extracts the watched value from a result, and compares it with the previous value. */
        async watch(order: WatchOrder, turn = createReadingTurn()): Promise<({ ok: true } & Watched) | Refused> {
            const bytes = order.data.length + (order.before?.length ?? 0);
            return ask({ what: 'watch', ...order }, { bytes, isHeavy: true }, turn);
        },
        close: () => pool.close(),
    };
}

function expressionsOf({ next, unique, end }: WantedPart): string[] {
    return [next, unique?.id, end?.total, end?.hasMore].filter((one) => one !== undefined);
}

/** Whether the cost of a page depends on the contributor's rules and is not bounded by its size. */
function isHeavy({ type }: RawPage, rules: ResponseRules): boolean {
    const isSelected = type === 'html' || type === 'xml';
    return isSelected ? rules.select !== undefined || !hasInlineRules({ ...rules, select: undefined }) : !hasInlineRules(rules);
}

const MARKUP: ReadonlySet<ResponseType> = new Set(['html', 'xml', 'feed']);

/** The types that a bot challenge may be parsed as. */
const PAGE_LIKE: ReadonlySet<ResponseType> = new Set(['html', 'xml', 'csv', 'text', 'binary']);

/** The reading of a page, UPSTREAM_BLOCKED for a bot challenge, or a fault that says that the page asks to sign in. */
function withReason<T extends { ok: true } | Refused>({ headers, body }: Page, page: RawPage, reading: T): T | Refused {
    if (!reading.ok && reading.code !== 'UPSTREAM_INVALID_RESPONSE') return reading;
    const isLookedAt = !reading.ok || PAGE_LIKE.has(page.type);
    const challenge = botChallengeOf({ headers, body: isLookedAt ? body : undefined }, reading.ok ? 'fits' : 'unreadable');
    if (challenge !== undefined) return { ok: false, code: 'UPSTREAM_BLOCKED', message: challenge, details: [] };
    return reading.ok || !asksToSignIn({ ...page, body }) ? reading : { ...reading, message: `${SIGN_IN} ${reading.message}` };
}

function withSize(part: Part): PartReading & { ok: true } {
    return { ok: true, ...part, bytes: Buffer.byteLength(part.text) };
}

function rawPage(
    { status, headers, body, url, method }: Page,
    { type, charset }: Pick<ResponseRules, 'type' | 'charset'>,
    isTakenApart: boolean,
): RawPage {
    const contentType = headers['content-type'];
    return {
        ...{ status, contentType, body, wasEncoded: (headers['content-encoding'] ?? 'identity') !== 'identity', url, method },
        type: typeOfBody(body, contentType, { wanted: type, isTakenApart }),
        charset,
    };
}

function toRefused(message: string): Refused {
    return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message, details: [] };
}
