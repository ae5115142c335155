import { availableParallelism } from 'node:os';
import { LONGEST_WALL } from '../../shared/domain/blocked-page.ts';
import type { PreparedForm } from '../../shared/domain/build-request.ts';
import type { Endpoint, Method } from '../../shared/domain/types.ts';
import { giveBack } from '../garbage.ts';
import type { Page } from '../upstream/answers.ts';
import { type Refused, refusedBy, type Task, type TaskAnswer, TOO_MUCH } from './answer-tasks.ts';
import { typeOfBody } from './decode.ts';
import { isLight, isLightExpression, isLightToJudge, isLightWork } from './light.ts';
import { MAX_OUTPUT, TOO_LONG } from './measure.ts';
import { openProcessPool } from './pool.ts';
import {
    type Content,
    joinParts,
    type NextFound,
    type Part,
    type RawPage,
    type ResponseRules,
    readPage,
    readPart,
    type Wanted,
} from './read-page.ts';
import { unlessWall } from './unless-wall.ts';

export type { NextFound };

export type Reading = ({ ok: true } & Content) | Refused;

/** @param bytes of its text */
export type PartReading = ({ ok: true; bytes: number } & Part) | Refused;

type ReadAs = Pick<Endpoint, 'response'>;

/** The call that a page is read for. */
export interface ReadingTurn {
    /** Whose package it is: packages take turns, so that none holds up another. */
    owner: string;
    /** Milliseconds of CPU that all its pages together may still take. */
    cpuMs: number;
    /** Epoch milliseconds; a page that waits for its turn until then is not read. */
    deadlineAt?: number;
}

/** The longest that the readings of one call may take together. */
const CALL_MS = 5000;

/** The turn of one call, with all of its time. */
export function openReadingTurn(owner = '', deadlineAt?: number): ReadingTurn {
    return { owner, cpuMs: CALL_MS, ...(deadlineAt === undefined ? {} : { deadlineAt }) };
}

/** Never rejects for anything that a site or a package can bring. */
export interface Reader {
    /** What an answer says, by the endpoint's rules, and no more of it than is wanted. */
    read(page: Page, endpoint: ReadAs, wanted: Wanted, turn?: ReadingTurn): Promise<Reading>;
    /**
     * One page of several, not held against `response.schema` yet.
     * @param wanted.results dotted path of the list of results
     * @param wanted.next `pagination.next`, where the page itself says it
     */
    readPart(page: Page, endpoint: ReadAs, wanted: { results: string; next: string | undefined }, turn?: ReadingTurn): Promise<PartReading>;
    /** What pages of so many bytes say together, by the endpoint's rules, and no more of it than is wanted. @param texts of parts with results */
    join(texts: readonly string[], endpoint: ReadAs, wanted: Wanted, bytes: number, turn?: ReadingTurn): Promise<Reading>;
    /** The form of a page that `prepare.form` matches and `method` sends. */
    readForm(
        page: Page,
        wanted: { selector: string; method: Method },
        turn?: ReadingTurn,
    ): Promise<{ ok: true; form: PreparedForm } | Refused>;
    close(): Promise<void>;
}

/** The longest that one reading may take (CONTRACT 3.1, `select`). */
const TASK_MS = 500;

const MIB = 1024 * 1024;

/** What a process may grow by, where nobody chose what is made of the page. */
const PLAIN_GROWTH = 128 * MIB;

/** What it may grow by for rules that a contributor chose: less than 64 MiB more than a plain reading of the same page takes. */
function heavyGrowth({ kind, bytes }: { kind: string; bytes: number }): number {
    const growth = kind === 'html' ? 48 * MIB + 16 * bytes : 32 * MIB + 10 * bytes;
    return Math.min(PLAIN_GROWTH, growth);
}

const FILES = new Map([
    ['plain', new URL('./process-plain.ts', import.meta.url)],
    ['html', new URL('./process-html.ts', import.meta.url)],
]);

/** A task whose page or texts go beside it. */
type Sent = { task: Task; body: Uint8Array };

/**
 * Reads pages in processes of their own, where what contributors write can be killed and holds up nobody else; what is light is read on
 * the spot. HTML has processes of its own: they start with the first page of HTML, and a slow page holds up no JSON.
 * @param threads processes of each of the two kinds at most
 */
export function createReader({ threads = Math.min(2, availableParallelism()) }: { threads?: number } = {}): Reader {
    const pool = openProcessPool(FILES, { max: threads });

    async function ask({ task, body }: Sent, isHeavy: boolean, turn: ReadingTurn): Promise<TaskAnswer> {
        const kind = task.what === 'form' || ('page' in task && task.page.type === 'html') ? 'html' : 'plain';
        const { owner, deadlineAt: beginBy } = turn;
        if (turn.cpuMs <= 0) return refused(TOO_MUCH);
        const ran = await pool.run({
            kind,
            owner,
            isHeavy,
            beginBy,
            task,
            payload: body,
            cpuMs: Math.min(TASK_MS, turn.cpuMs),
            growthBytes: isHeavy ? heavyGrowth({ kind, bytes: body.length }) : PLAIN_GROWTH,
        });
        if (ran === 'late') return { ok: false, code: 'UPSTREAM_TIMEOUT', message: LATE, details: [] };
        turn.cpuMs -= ran === 'overrun' ? TASK_MS : ran.cpuMs;
        if (ran === 'overrun') return refused(TOO_MUCH);
        const answer = ran.header as TaskAnswer;
        return answer.ok ? { ...answer, text: ran.text } : answer;
    }

    /** A large body is given back once it was read: only what a wall can be told by stays. */
    async function askOf(answered: Page, task: Extract<Task, { page: RawPage }>, isHeavy: boolean, turn: ReadingTurn): Promise<TaskAnswer> {
        const { page } = task;
        const { body } = page;
        const isLarge = body.length > LONGEST_WALL;
        const kept = isLarge ? { ...answered, body: new Uint8Array(body.subarray(0, LONGEST_WALL + 1)) } : answered;
        const answer = await ask({ task: { ...task, page: { ...page, body: NO_BODY } }, body }, isHeavy, turn);
        if (isLarge) giveBack(body);
        return unlessWall(kept, page, answer);
    }

    return {
        async read(answered, { response: rules }, wanted, turn = openReadingTurn()) {
            // Started beside the first answer, it is loaded when one of them needs it.
            pool.warm('plain');
            const page = rawPage(answered, rules, rules.select !== undefined);
            if (isLight(page, rules))
                return unlessWall(
                    answered,
                    page,
                    here(() => ({ ok: true as const, ...readPage(page, rules, wanted) })),
                );
            return contentOf(await askOf(answered, { what: 'page', page, rules, wanted }, isHeavy(page, rules), turn));
        },
        async readPart(answered, { response }, wanted, turn = openReadingTurn()) {
            pool.warm('plain');
            const rules = { ...response, schema: undefined };
            const page = rawPage(answered, rules, (rules.select ?? wanted.next) !== undefined);
            if (isLight(page, rules) && isLightExpression(wanted.next)) {
                const part = here(() => ({ ok: true as const, ...readPart(page, rules, wanted) }));
                // What is selected may be many times what came: an expression can take the same value again and again.
                const counted = part.ok ? { ...part, bytes: Buffer.byteLength(part.text) } : part;
                return unlessWall(answered, page, counted);
            }
            const heavy = isHeavy(page, rules) || !isLightExpression(wanted.next);
            const answer = await askOf(answered, { what: 'part', page, rules, ...wanted }, heavy, turn);
            if (!answer.ok) return answer;
            const { text, items, next } = answer;
            return { ok: true, text, items, next, bytes: Buffer.byteLength(text) };
        },
        async join(texts, { response: { schema } }, wanted, bytes, turn = openReadingTurn()) {
            if (bytes > MAX_OUTPUT) return refused(TOO_LONG);
            if (isLightToJudge(schema, bytes)) return here(() => ({ ok: true as const, ...joinParts(texts, schema, wanted) }));
            const task: Task = { what: 'join', texts: [], schema, wanted };
            return contentOf(await ask({ task, body: Buffer.from(texts.join('\n')) }, !isLightWork({ ...NO_RULES, schema }), turn));
        },
        async readForm(answered, { selector, method }, turn = openReadingTurn()) {
            const page = rawPage(answered, { type: 'html' }, true);
            const answer = await askOf(answered, { what: 'form', page, selector, method }, true, turn);
            return answer.ok ? { ok: true, form: JSON.parse(answer.text) as PreparedForm } : answer;
        },
        close: () => pool.close(),
    };
}

const LATE = 'The answer waited for its turn to be read until the time of this call was over.';
const NO_BODY = new Uint8Array(0);
const NO_RULES: ResponseRules = { type: undefined, select: undefined, schema: undefined };

/** Whether what is made of a page is the contributor's to choose, and not bounded by the page. */
function isHeavy({ type }: RawPage, rules: ResponseRules): boolean {
    return type === 'html' ? rules.select !== undefined || !isLightWork({ ...rules, select: undefined }) : !isLightWork(rules);
}

function contentOf(answer: TaskAnswer): Reading {
    if (!answer.ok) return answer;
    const { text, results = 1, isListed = false, truncated = false } = answer;
    return { ok: true, text, results, isListed, truncated };
}

function rawPage({ status, headers, body, url, method }: Page, { type }: Pick<ResponseRules, 'type'>, isTakenApart: boolean): RawPage {
    const contentType = headers['content-type'];
    return { status, contentType, body, url, method, type: typeOfBody(body, contentType, { wanted: type, isTakenApart }) };
}

function here<T extends { ok: true }>(read: () => T): T | Refused {
    try {
        return read();
    } catch (error) {
        return refusedBy(error);
    }
}

function refused(message: string): Refused {
    return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message, details: [] };
}
