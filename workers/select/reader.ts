import { availableParallelism } from 'node:os';
import type { Endpoint, JsonObject } from '../../shared/domain/types.ts';
import type { Detail } from '../../shared/refusals.ts';
import type { Page } from '../upstream/answers.ts';
import { InvalidResponse } from './invalid-response.ts';
import { openThreadPool } from './pool.ts';
import { isBodyless, type RawPage, type ResponseRules, readPage } from './read-page.ts';
import type { ThreadAnswer } from './thread.ts';

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

/** A body below this is parsed in 0.3 ms at most; a thread costs more than it spares. */
const LIGHT_BODY = 64 * 1024;

/**
 * Reads pages in a pool of threads, where what contributors write cannot hold up anybody else; a small JSON answer that no select and
 * no schema looks at is parsed on the spot.
 */
export function createReader({ threads = Math.min(2, availableParallelism()) }: { threads?: number } = {}): Reader {
    const limits = { threads, taskMs: TASK_MS, heapMb: 128 };
    const pool = openThreadPool<{ page: RawPage; rules: ResponseRules }, ThreadAnswer>(new URL('./thread.ts', import.meta.url), limits);
    return {
        async read({ status, headers, body, url, method }, { response: rules }) {
            const page: RawPage = { status, contentType: headers['content-type'], body, url, method };
            if (isLight(page, rules)) return readHere(page, rules);
            const answer = await pool.run({ page, rules });
            if (answer === 'overrun') return refused('The answer takes too much work to select and validate.');
            if (!answer.ok) return answer;
            if (answer.data.length > MAX_OUTPUT || Buffer.byteLength(answer.data) > MAX_OUTPUT) {
                return refused('What is selected from the answer has more than 10 MiB.');
            }
            return { ok: true, data: JSON.parse(answer.data) as JsonObject };
        },
        close: () => pool.close(),
    };
}

function isLight(page: RawPage, { type, select, schema }: ResponseRules): boolean {
    if (schema !== undefined) return false;
    if (isBodyless(page)) return true;
    if (select !== undefined || page.body.length > LIGHT_BODY) return false;
    return (type ?? (/^[^;]*\bjson\b/i.test(page.contentType ?? '') ? 'json' : 'html')) !== 'html';
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
