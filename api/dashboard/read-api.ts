import { type ErrorBody, Refusal, type RefusalCode } from '../../shared/refusals.ts';
import { actingCaller, CHOOSE_KEY, memberCaller } from './callers.ts';
import type { ApiAnswer, ApiCall } from './internal-api.ts';
import { type Answer, pageNotFound, type Sent, type Shown, type WorkspaceVisit } from './page.ts';

/** API errors that a page shows as its own 404. */
const ABSENT = ['JOB', 'BATCH', 'MONITOR', 'WEBHOOK', 'CONNECTION', 'VERSION'].map((what) => `${what}_NOT_FOUND`);

/** Reads from the API as this member. @throws Refusal the API's error; NOT_FOUND if what the path names does not exist */
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
 * @param done the redirect, or a function that makes it from the `data` of the answer
 * @throws Refusal NOT_FOUND if what the path names does not exist
 */
export async function change<Data>(
    visit: WorkspaceVisit,
    call: ApiCall,
    done: Sent | ((data: Data) => Answer | Promise<Answer>),
    show: (refused: ErrorBody) => Promise<Answer>,
): Promise<Answer> {
    const answer = await visit.ask(call);
    if (answer.ok) return typeof done === 'function' ? done(answer.body['data'] as Data) : done;
    if (ABSENT.includes(answer.refused.code)) throw pageNotFound();
    return show(answer.refused);
}

/** Sends a change with the rights of the chosen key, or of the member. `show` answers with the reason why it had no effect. */
export async function changeAs(
    visit: WorkspaceVisit,
    { needsKey, ...call }: ApiCall & { needsKey: boolean },
    sent: Sent,
    show: (problem: string) => Promise<Shown>,
): Promise<Answer> {
    const as = needsKey ? await actingCaller(visit) : memberCaller(visit);
    if (as === undefined) return show(CHOOSE_KEY);
    return change(visit, { ...call, as }, sent, async ({ message, retry_after: retryAfter }) => {
        const shown = await show(message);
        return retryAfter === undefined ? shown : { ...shown, status: 429, retryAfter };
    });
}

/** Converts an API error to a refusal, which is shown as a page. */
export function refusalOf({ code, message, retry_after: retryAfter }: ErrorBody): Refusal {
    if (ABSENT.includes(code)) return pageNotFound();
    return new Refusal(code as RefusalCode, message, { retryAfter });
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

/** Returns one page of a list in memory. The cursor is the index of its first row. */
export function pageOfArray<Item>(all: readonly Item[], cursor: string | undefined, rows: number): Omit<ListPage<Item>, 'total'> {
    const from = /^\d{1,6}$/.test(cursor ?? '') ? Number(cursor) : 0;
    return { items: all.slice(from, from + rows), next: from + rows < all.length ? String(from + rows) : null };
}

/** Trims and shortens the search text of a list. */
export function searchText(query: string | undefined): string {
    return (query ?? '').trim().slice(0, 100).toWellFormed();
}

/** Returns the rows whose texts contain every searched word, ignoring case. Without words, returns all rows. */
export function filterByWords<Item>(
    all: readonly Item[],
    words: string,
    textsOf: (item: Item) => readonly (string | null)[],
): readonly Item[] {
    const wanted = words.toLowerCase().match(/\S+/g);
    if (wanted === null) return all;
    return all.filter((item) => {
        const texts = textsOf(item).map((text) => text?.toLowerCase() ?? '');
        return wanted.every((word) => texts.some((text) => text.includes(word)));
    });
}

/** The links to the first and to the next page of a list; undefined if there is none. */
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
