import type { PreparedQuery } from '../../platform/prepared-query.ts';

const PAGE_BYTES = 8192;

let sizes = '';

/** Notes the sizes of the tables that claims read. Claims come before begins and ends. */
export function noteSizes(...bytes: readonly number[]): void {
    sizes = bytes.map((size) => Math.ceil(Math.log2(1 + size / PAGE_BYTES))).join('_');
}

/**
 * A statement that is planned once per connection for each power of two of these sizes. A connection keeps the plan of a small table, which
 * reads all of it, until statistics change: then a claim read each of 100,000 new items.
 */
export function planned<Query extends PreparedQuery>(query: Query): Query {
    return { ...query, name: `${query.name}_${sizes}` };
}
