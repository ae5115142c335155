import type { JsonSchema, Method } from '../../shared/domain/types.ts';
import { answerTasks } from './child-loop.ts';
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

/** A task of a process: read a single answer, read one page of several, join pages, or read the form of a page. */
export type Task =
    | { what: 'page'; page: RawPage; rules: ResponseRules; wanted: Wanted }
    | { what: 'part'; page: RawPage; rules: ResponseRules; results: string; next: string | undefined }
    | { what: 'join'; texts: readonly string[]; schema: JsonSchema | undefined; wanted: Wanted }
    | { what: 'form'; page: RawPage; selector: string; method: Method };

export interface Refused {
    ok: false;
    code: InvalidResponse['code'] | 'UPSTREAM_BLOCKED' | 'UPSTREAM_TIMEOUT';
    message: string;
    details: InvalidResponse['details'];
}

/** The result of a task. `text` is JSON. */
export type TaskAnswer = ({ ok: true } & Pick<Content, 'text'> & Partial<Content & Part>) | Refused;

export const TOO_MUCH = 'The answer takes too much work to select and validate.';

/** Additional functions of processes for HTML. */
export interface HtmlSkills {
    parse: ParseBody;
    readForm(page: RawPage, wanted: { selector: string; method: Method }): object;
}

/** Runs tasks until the parent closes the channel. The entry files of processes call it. */
export function readAnswers(html?: HtmlSkills): void {
    answerTasks<Task>((task, body) => {
        const answer = answerOne(withBody(task, body), html);
        if (!answer.ok) return { header: answer, text: '' };
        const { text, ...header } = answer;
        return { header, text };
    });
}

/** Adds the payload to a task: the page's body, or the texts to join. */
function withBody(task: Task, body: Buffer): Task {
    if (task.what === 'join') return { ...task, texts: body.toString('utf8').split('\n') };
    return { ...task, page: { ...task.page, body } };
}

/** Converts an InvalidResponse into a result, and rethrows other errors. */
export function refusedBy(error: unknown): Refused {
    if (error instanceof InvalidResponse) return { ok: false, code: error.code, message: error.message, details: error.details };
    throw error;
}

function answerOne(task: Task, html: HtmlSkills | undefined): TaskAnswer {
    try {
        return perform(task, html);
    } catch (error) {
        // A stack overflow, or a string beyond V8's limit: the page costs more than a result may cost.
        if (error instanceof RangeError) return { ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message: TOO_MUCH, details: [] };
        return refusedBy(error);
    }
}

function perform(task: Task, html: HtmlSkills | undefined): TaskAnswer {
    if (task.what === 'page') return { ok: true, ...readPage(task.page, task.rules, task.wanted, html?.parse, { isMeasured: true }) };
    if (task.what === 'part') return { ok: true, ...readPart(task.page, task.rules, task, html?.parse, { isMeasured: true }) };
    if (task.what === 'join') return { ok: true, ...joinParts(task.texts, task.schema, task.wanted) };
    return { ok: true, text: JSON.stringify(html?.readForm(task.page, task)) };
}
