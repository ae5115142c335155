import type { ErrorBody } from '../../shared/refusals.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import type { ApiAnswer } from './internal-api.ts';
import { pageNotFound, type WorkspaceVisit } from './page.ts';

const ABSENT = ['JOB_NOT_FOUND', 'BATCH_NOT_FOUND', 'MONITOR_NOT_FOUND', 'WEBHOOK_NOT_FOUND'];

/** Reads from the API as this member. @throws Refusal the API's error; NOT_FOUND if the job, batch, monitor or webhook does not exist */
export async function read(visit: WorkspaceVisit, path: string): Promise<ApiAnswer & { ok: true }> {
    const answer = await visit.ask({ method: 'GET', path });
    if (answer.ok) return answer;
    throw refusalOf(answer.refused);
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
