import type { Knex } from 'knex';
import { type Columns, countRows, cutPage, type Db } from './db.ts';

/** The row after which a page begins. `at` is its time as the database prints it, with microseconds. */
export type RowPlace = { at: string; id: string | number };

/** The page of a list that is sorted by time and id. */
export interface RowPage {
    limit: number;
    after?: RowPlace | undefined;
}

export interface FoundPage<Row> {
    rows: Row[];
    next: RowPlace | undefined;
    /** The number of rows on all pages. */
    total: number;
}

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

/** The page of a list that is sorted by number, newest first. */
export interface NumberPage {
    limit: number;
    /** The number of the row after which the page begins. */
    before?: number | undefined;
}

export interface NumberedPage<Row> {
    shown: Row[];
    /** The row after which the next page begins. */
    last: Row | undefined;
    /** The number of rows on all pages. */
    total: number;
}

/** Reads a page of the rows that a query finds. */
export async function readNumberedPage<Row>(
    query: Knex.QueryBuilder,
    columns: Readonly<Record<string, string | Knex.Raw>>,
    { limit, before }: NumberPage,
): Promise<NumberedPage<Row>> {
    const total = await countRows(query.clone());
    if (before !== undefined) query.where('number', '<', before);
    const rows = (await query
        .orderBy('number', 'desc')
        .limit(limit + 1)
        .select(columns)) as Row[];
    return { ...cutPage(rows, limit), total };
}
