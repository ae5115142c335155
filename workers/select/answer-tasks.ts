import { parentPort } from 'node:worker_threads';
import { InvalidResponse } from './invalid-response.ts';
import { type RawPage, type ReadBody, type ResponseRules, readPage } from './read-page.ts';

export interface ReadingTask {
    page: RawPage;
    rules: ResponseRules;
}

/** What a thread answers. `data` is JSON text: it crosses as one string, and its length is the size of the output. */
export type ReadingAnswer =
    | { ok: true; data: string }
    | { ok: false; code: InvalidResponse['code']; message: string; details: InvalidResponse['details'] };

export const TOO_MUCH = 'The answer takes too much work to select and validate.';

/** Says `ready` to the pool, then answers one task after the other. For the files that are threads. */
export function answerTasks(readBody?: ReadBody): void {
    parentPort?.on('message', ({ page, rules }: ReadingTask) => parentPort?.postMessage(answer(page, rules, readBody)));
    parentPort?.postMessage('ready');
}

function answer(page: RawPage, rules: ResponseRules, readBody: ReadBody | undefined): ReadingAnswer {
    try {
        return { ok: true, data: JSON.stringify(readPage(page, rules, readBody)) };
    } catch (error) {
        if (error instanceof InvalidResponse) return { ok: false, code: error.code, message: error.message, details: error.details };
        // A stack that overflows, a string past V8's limit: the page asks for more than a result may cost.
        if (error instanceof RangeError) return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message: TOO_MUCH, details: [] };
        throw error;
    }
}
