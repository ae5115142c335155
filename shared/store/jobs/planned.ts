import type { PreparedQuery } from '../../platform/prepared-query.ts';

const PAGE_BYTES = 8192;

let sizes = '';

/** Notes the sizes of the tables that claims read. Claims come before begins and ends. */
export function noteSizes(...bytes: readonly number[]): void {
    sizes = bytes.map((size) => Math.ceil(Math.log2(1 + size / PAGE_BYTES) / 3)).join('_');
}

/**
 * A statement that a connection plans for each power of eight of these sizes: five times, then PostgreSQL keeps a plan. The plan for a small
 * table reads all of it, and is kept until statistics change, so a claim would read each item of a large batch.
 */
export function planned<Query extends PreparedQuery>(query: Query): Query {
    return { ...query, name: `${query.name}_${sizes}` };
}
