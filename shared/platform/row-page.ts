import type { Knex } from 'knex';
import { type Columns, countRows, cutPage, type Db } from './db.ts';

/** The wanted page of a list: up to `limit` rows after a place, which the page before gave as `next`. */
export interface PageOrder<Place> {
    limit: number;
    after?: Place | undefined;
}

export interface FoundPage<Row, Place = RowPlace> {
    rows: Row[];
    /** Where the next page begins; undefined on the last page. */
    next: Place | undefined;
    /** The number of rows on all pages. */
    total: number;
}

/** The place of a row in a list that is sorted by time and id. `at` is its time as the database prints it, with microseconds. */
export type RowPlace = { at: string; id: string | number };

export type RowPage = PageOrder<RowPlace>;

/** Reads a page of the rows that a query finds, newest first by default. @param order.count counts all rows of a long list */
export async function readRowPage<Row extends object>(
    db: Db,
    query: Knex.QueryBuilder,
    columns: Columns<Row>,
    { limit, after }: RowPage,
    {
        at = 'created_at',
        id = 'id',
        isOldestFirst,
        count,
    }: { at?: string; id?: string; isOldestFirst?: true; count?: () => Promise<number> } = {},
): Promise<FoundPage<Row>> {
    const all = query.clone();
    const order = isOldestFirst ? 'asc' : 'desc';
    const sorted = query.orderBy([
        { column: at, order },
        { column: id, order },
    ]);
    if (after !== undefined) sorted.whereRaw(`(??, ??) ${isOldestFirst ? '>' : '<'} (?::timestamptz, ?)`, [at, id, after.at, after.id]);
    const place = { placeAt: db.raw('??::text', [at]), placeId: id };
    const found = (await sorted.limit(limit + 1).select({ ...columns, ...place })) as { placeAt: string; placeId: string | number }[];
    const { shown, last } = cutPage(found, limit);
    const rows = shown.map(({ placeAt: _at, placeId: _id, ...row }) => row as Row);
    return { rows, next: last && { at: last.placeAt, id: last.placeId }, total: await (count?.() ?? countRows(all)) };
}

/** Reads a page of the rows that a query finds, by falling numbers. */
export async function readNumberedPage<Row extends { number: number }>(
    query: Knex.QueryBuilder,
    columns: Readonly<Record<string, string | Knex.Raw>>,
    { limit, after }: PageOrder<number>,
): Promise<FoundPage<Row, number>> {
    const total = await countRows(query.clone());
    if (after !== undefined) query.where('number', '<', after);
    const found = (await query
        .orderBy('number', 'desc')
        .limit(limit + 1)
        .select(columns)) as Row[];
    const { shown, last } = cutPage(found, limit);
    return { rows: shown, next: last?.number, total };
}
