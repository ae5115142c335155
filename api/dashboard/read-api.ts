import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import { memberCaller } from './callers.ts';
import type { ApiAnswer, ApiError } from './internal-api.ts';
import { pageNotFound, type WorkspaceVisit } from './page.ts';

const ABSENT = ['JOB_NOT_FOUND', 'BATCH_NOT_FOUND', 'MONITOR_NOT_FOUND', 'WEBHOOK_NOT_FOUND'];

/** A read of the API for this member. @throws Refusal what the API says, as a page; NOT_FOUND where there is no such thing */
export async function read(visit: WorkspaceVisit, path: string): Promise<ApiAnswer & { ok: true }> {
    const answer = await visit.ask({ method: 'GET', path, as: memberCaller(visit) });
    if (answer.ok) return answer;
    throw refusalOf(answer.refused);
}

/** Shows an API error as a page. */
export function refusalOf({ code, message, retry_after: retryAfter }: ApiError): Refusal {
    if (ABSENT.includes(code)) return pageNotFound();
    return new Refusal(code as RefusalCode, message, retryAfter === undefined ? {} : { retryAfter });
}

/** A page of a list. */
export interface ListPage<Item> {
    items: Item[];
    total: number;
    next: string | null;
}

/** @param query without what is undefined or empty */
export async function readList<Item>(
    visit: WorkspaceVisit,
    path: string,
    query: Readonly<Record<string, string | undefined>>,
): Promise<ListPage<Item>> {
    const { body } = await read(visit, addressOf(path, query));
    const { pagination } = body['meta'] as { pagination: { next_cursor: string | null; total: number } };
    return { items: body['data'] as Item[], total: pagination.total, next: pagination.next_cursor };
}

/** A path with a query. */
export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
    return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function dateOf(time: string | null): Date | null {
    return time === null ? null : new Date(time);
}

/** One of a closed list; undefined for anything else. */
export function parseChoice<const T extends string>(choices: readonly T[], text: string | undefined): T | undefined {
    return choices.find((choice) => choice === text);
}
