import { parentPort } from 'node:worker_threads';
import type { JsonSchema, Method } from '../../shared/domain/types.ts';
import { giveBack } from '../garbage.ts';
import { InvalidResponse } from './invalid-response.ts';
import {
    type Content,
    joinParts,
    type ParseBody,
    type Part,
    type RawPage,
    type ResponseRules,
    readPage,
    readPart,
    type Wanted,
} from './read-page.ts';

/** What a thread is asked: an answer, one page of several, what several pages make together, or the form of a page. */
export type Task =
    | { what: 'page'; page: RawPage; rules: ResponseRules; wanted: Wanted }
    | { what: 'part'; page: RawPage; rules: ResponseRules; results: string; next: string | undefined }
    | { what: 'join'; texts: readonly string[]; schema: JsonSchema | undefined; wanted: Wanted }
    | { what: 'form'; page: RawPage; selector: string; method: Method };

export interface Refused {
    ok: false;
    code: InvalidResponse['code'] | 'UPSTREAM_BLOCKED';
    message: string;
    details: InvalidResponse['details'];
}

/** What a thread answers. `text` is JSON: it crosses as one string. */
export type TaskAnswer = ({ ok: true } & Pick<Content, 'text'> & Partial<Content & Part>) | Refused;

export const TOO_MUCH = 'The answer takes too much work to select and validate.';

/** What threads for HTML can do beyond the others. */
export interface HtmlSkills {
    parse: ParseBody;
    readForm(page: RawPage, wanted: { selector: string; method: Method }): object;
}

/** Says `ready` to the pool, then answers one task after the other. For the files that are threads. */
export function answerTasks(html?: HtmlSkills): void {
    parentPort?.on('message', (task: Task) => {
        parentPort?.postMessage(answer(task, html));
        if ('page' in task) giveBack(task.page.body);
    });
    parentPort?.postMessage('ready');
}

/** What a failed reading is to its caller; anything but a fault of the page is thrown again. */
export function refusedBy(error: unknown): Refused {
    if (error instanceof InvalidResponse) return { ok: false, code: error.code, message: error.message, details: error.details };
    throw error;
}

function answer(task: Task, html: HtmlSkills | undefined): TaskAnswer {
    try {
        return perform(task, html);
    } catch (error) {
        // A stack that overflows, a string past V8's limit: the page asks for more than a result may cost.
        if (error instanceof RangeError) return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message: TOO_MUCH, details: [] };
        return refusedBy(error);
    }
}

function perform(task: Task, html: HtmlSkills | undefined): TaskAnswer {
    if (task.what === 'page') return { ok: true, ...readPage(task.page, task.rules, task.wanted, html?.parse) };
    if (task.what === 'part') return { ok: true, ...readPart(task.page, task.rules, task, html?.parse) };
    if (task.what === 'join') return { ok: true, ...joinParts(task.texts, task.schema, task.wanted) };
    return { ok: true, text: JSON.stringify(html?.readForm(task.page, task)) };
}
