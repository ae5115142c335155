import { availableParallelism } from 'node:os';
import type { Endpoint, JsonObject } from '../../shared/domain/types.ts';
import type { Detail } from '../../shared/refusals.ts';
import type { Page } from '../upstream/answers.ts';
import { type ReadingAnswer, type ReadingTask, TOO_MUCH } from './answer-tasks.ts';
import { typeOfBody } from './decode.ts';
import { InvalidResponse } from './invalid-response.ts';
import { isLight } from './light.ts';
import { openThreadPool } from './pool.ts';
import { type RawPage, type ResponseRules, readPage } from './read-page.ts';

export type Reading =
    | { ok: true; data: JsonObject }
    | { ok: false; code: 'UPSTREAM_INVALID_RESPONSE' | 'UPSTREAM_TOO_LARGE'; message: string; details: Detail[] };

export interface Reader {
    /** What a page says, by the endpoint's rules. Never rejects for anything that a site or a package can bring. */
    read(page: Page, endpoint: Pick<Endpoint, 'response'>): Promise<Reading>;
    close(): Promise<void>;
}

/** CONTRACT 3.1, `select`: time of a reading and size of what it makes. */
const TASK_MS = 500;
const MAX_OUTPUT = 10 * 1024 * 1024;

/**
 * Reads pages in threads, where what contributors write cannot hold up anybody else; what is light is read on the spot. HTML has
 * threads of its own: they start with the first page of HTML, and a slow page holds up no JSON.
 * @param threads of each of the two kinds at most
 */
export function createReader({ threads = Math.min(2, availableParallelism()) }: { threads?: number } = {}): Reader {
    const limits = { threads, taskMs: TASK_MS, heapMb: 128 };
    const plain = openThreadPool<ReadingTask, ReadingAnswer>(new URL('./thread-plain.ts', import.meta.url), limits);
    const html = openThreadPool<ReadingTask, ReadingAnswer>(new URL('./thread-html.ts', import.meta.url), limits);
    return {
        async read({ status, headers, body, url, method }, { response: rules }) {
            const contentType = headers['content-type'];
            const page: RawPage = { status, contentType, body, url, method, type: typeOfBody(body, contentType, rules.type) };
            if (isLight(page, rules)) return readHere(page, rules);
            const answer = await (page.type === 'html' ? html : plain).run({ page, rules });
            if (answer === 'overrun') return refused(TOO_MUCH);
            if (!answer.ok) return answer;
            if (Buffer.byteLength(answer.data) > MAX_OUTPUT) return refused('What is selected from the answer has more than 10 MiB.');
            return { ok: true, data: JSON.parse(answer.data) as JsonObject };
        },
        async close() {
            await Promise.all([plain.close(), html.close()]);
        },
    };
}

function readHere(page: RawPage, rules: ResponseRules): Reading {
    try {
        return { ok: true, data: readPage(page, rules) };
    } catch (error) {
        if (error instanceof InvalidResponse) return { ok: false, code: error.code, message: error.message, details: error.details };
        throw error;
    }
}

function refused(message: string): Reading {
    return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message, details: [] };
}
