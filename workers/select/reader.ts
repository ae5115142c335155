import { availableParallelism } from 'node:os';
import { LONGEST_WALL } from '../../shared/domain/blocked-page.ts';
import type { PreparedForm } from '../../shared/domain/build-request.ts';
import type { Endpoint, Method } from '../../shared/domain/types.ts';
import type { Page } from '../upstream/answers.ts';
import { type Refused, refusedBy, type Task, type TaskAnswer, TOO_MUCH } from './answer-tasks.ts';
import { typeOfBody } from './decode.ts';
import { isLight, isLightExpression, isLightToJudge } from './light.ts';
import { openThreadPool, type ThreadPool } from './pool.ts';
import {
    type Content,
    joinParts,
    MAX_OUTPUT,
    type NextFound,
    type Part,
    type RawPage,
    type ResponseRules,
    readPage,
    readPart,
    TOO_LONG,
    type Wanted,
} from './read-page.ts';
import { unlessWall } from './unless-wall.ts';

export type { NextFound };

export type Reading = ({ ok: true } & Content) | Refused;

/** @param bytes of its text */
export type PartReading = ({ ok: true; bytes: number } & Part) | Refused;

type ReadAs = Pick<Endpoint, 'response'>;

/** Never rejects for anything that a site or a package can bring. */
export interface Reader {
    /** What an answer says, by the endpoint's rules, and no more of it than is wanted. */
    read(page: Page, endpoint: ReadAs, wanted: Wanted): Promise<Reading>;
    /**
     * One page of several, not held against `response.schema` yet.
     * @param wanted.results dotted path of the list of results
     * @param wanted.next `pagination.next`, where the page itself says it
     */
    readPart(page: Page, endpoint: ReadAs, wanted: { results: string; next: string | undefined }): Promise<PartReading>;
    /** What pages of so many bytes say together, by the endpoint's rules, and no more of it than is wanted. @param texts of parts with results */
    join(texts: readonly string[], endpoint: ReadAs, wanted: Wanted, bytes: number): Promise<Reading>;
    /** The form of a page that `prepare.form` matches and `method` sends. */
    readForm(page: Page, wanted: { selector: string; method: Method }): Promise<{ ok: true; form: PreparedForm } | Refused>;
    close(): Promise<void>;
}

/** The longest that a reading may take (CONTRACT 3.1, `select`). */
const TASK_MS = 500;

/**
 * Reads pages in threads, where what contributors write cannot hold up anybody else; what is light is read on the spot. HTML has
 * threads of its own: they start with the first page of HTML, and a slow page holds up no JSON.
 * @param threads of each of the two kinds at most
 */
export function createReader({ threads = Math.min(2, availableParallelism()) }: { threads?: number } = {}): Reader {
    const limits = { threads, taskMs: TASK_MS, heapMb: 128 };
    const plain = openThreadPool<Task, TaskAnswer>(new URL('./thread-plain.ts', import.meta.url), limits);
    const html = openThreadPool<Task, TaskAnswer>(new URL('./thread-html.ts', import.meta.url), limits);
    const poolFor = ({ type }: RawPage) => (type === 'html' ? html : plain);
    return {
        async read(answered, { response: rules }, wanted) {
            const page = rawPage(answered, rules, rules.select !== undefined);
            if (isLight(page, rules))
                return unlessWall(
                    answered,
                    page,
                    here(() => ({ ok: true as const, ...readPage(page, rules, wanted) })),
                );
            return contentOf(await askOf(answered, poolFor(page), { what: 'page', page, rules, wanted }));
        },
        async readPart(answered, { response }, wanted) {
            const rules = { ...response, schema: undefined };
            const page = rawPage(answered, rules, (rules.select ?? wanted.next) !== undefined);
            if (isLight(page, rules) && isLightExpression(wanted.next)) {
                const part = here(() => ({ ok: true as const, ...readPart(page, rules, wanted) }));
                // What is selected may be many times what came: an expression can take the same value again and again.
                const counted = part.ok ? { ...part, bytes: Buffer.byteLength(part.text) } : part;
                return unlessWall(answered, page, counted);
            }
            const answer = await askOf(answered, poolFor(page), { what: 'part', page, rules, ...wanted });
            if (!answer.ok) return answer;
            const { text, items, next } = answer;
            return { ok: true, text, items, next, bytes: Buffer.byteLength(text) };
        },
        async join(texts, { response: { schema } }, wanted, bytes) {
            if (bytes > MAX_OUTPUT) return refused(TOO_LONG);
            if (isLightToJudge(schema, bytes)) return here(() => ({ ok: true as const, ...joinParts(texts, schema, wanted) }));
            return contentOf(await ask(plain, { what: 'join', texts, schema, wanted }));
        },
        async readForm(answered, { selector, method }) {
            const page = rawPage(answered, { type: 'html' }, true);
            const answer = await askOf(answered, html, { what: 'form', page, selector, method });
            return answer.ok ? { ok: true, form: JSON.parse(answer.text) as PreparedForm } : answer;
        },
        async close() {
            await Promise.all([plain.close(), html.close()]);
        },
    };
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

/** Has a page read in a thread. A large body goes over to it, where it can be collected at once; only what a wall can be told by stays. */
async function askOf(answered: Page, pool: ThreadPool<Task, TaskAnswer>, task: Extract<Task, { page: RawPage }>): Promise<TaskAnswer> {
    const { page } = task;
    const { body } = page;
    const isMoved = body.length > LONGEST_WALL && body.buffer instanceof ArrayBuffer && body.length === body.buffer.byteLength;
    const kept = isMoved ? { ...answered, body: new Uint8Array(body.subarray(0, LONGEST_WALL + 1)) } : answered;
    return unlessWall(kept, page, await ask(pool, task, isMoved ? [body.buffer] : []));
}

async function ask(pool: ThreadPool<Task, TaskAnswer>, task: Task, moved: readonly ArrayBuffer[] = []): Promise<TaskAnswer> {
    const answer = await pool.run(task, moved);
    return answer === 'overrun' ? refused(TOO_MUCH) : answer;
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
