import type { ErrorBody } from '../../shared/refusals.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import type { ApiAnswer, ApiCall } from './internal-api.ts';
import { type Answer, pageNotFound, type Sent, type WorkspaceVisit } from './page.ts';

const ABSENT = ['JOB_NOT_FOUND', 'BATCH_NOT_FOUND', 'MONITOR_NOT_FOUND', 'WEBHOOK_NOT_FOUND'];

/** Reads from the API as this member. @throws Refusal the API's error; NOT_FOUND if the job, batch, monitor or webhook does not exist */
export async function read(visit: WorkspaceVisit, path: string): Promise<ApiAnswer & { ok: true }> {
    const answer = await visit.ask({ method: 'GET', path });
    if (answer.ok) return answer;
    throw refusalOf(answer.refused);
}

export async function readData<Data>(visit: WorkspaceVisit, path: string): Promise<Data> {
    return (await read(visit, path)).body['data'] as Data;
}

/**
 * Sends a change to the API, then redirects. If the API refuses it, answers with `show`.
 * @throws Refusal NOT_FOUND if the job, batch, monitor or webhook does not exist
 */
export async function change(
    visit: WorkspaceVisit,
    call: ApiCall,
    sent: Sent,
    show: (refused: ErrorBody) => Promise<Answer>,
): Promise<Answer> {
    const answer = await visit.ask(call);
    if (answer.ok) return sent;
    if (ABSENT.includes(answer.refused.code)) throw pageNotFound();
    return show(answer.refused);
}

/** Converts an API error to a refusal, which is shown as a page. */
export function refusalOf({ code, message, retry_after: retryAfter }: ErrorBody): Refusal {
    if (ABSENT.includes(code)) return pageNotFound();
    return new Refusal(code as RefusalCode, message, retryAfter === undefined ? {} : { retryAfter });
}

export interface ListPage<Item> {
    items: Item[];
    total: number;
    next: string | null;
}

/** Reads one page of a list. @param query undefined and empty values are left out */
export async function readList<Item>(
    visit: WorkspaceVisit,
    path: string,
    query: Readonly<Record<string, string | undefined>>,
): Promise<ListPage<Item>> {
    const { body } = await read(visit, addressOf(path, query));
    const { pagination } = body['meta'] as { pagination: { next_cursor: string | null; total: number } };
    return { items: body['data'] as Item[], total: pagination.total, next: pagination.next_cursor };
}

/** The links from one page of a list to its newest and to older entries, where there are any. */
export function pagerOf(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    { cursor, next }: { cursor: string | undefined; next: string | null },
) {
    return {
        newest: cursor === undefined ? undefined : addressOf(path, query),
        older: next === null ? undefined : addressOf(path, { ...query, cursor: next }),
    };
}

/** Appends a query to a path. Undefined and empty values are left out. */
export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function dateOf(time: string | null): Date | null {
    return time === null ? null : new Date(time);
}

export function parseChoice<const T extends string>(choices: readonly T[], text: string | undefined): T | undefined {
    return choices.find((choice) => choice === text);
}
