import type { PreparedQuery } from '../../platform/prepared-query.ts';

const PAGE_BYTES = 8192;

let sizes = '';

/** Maximum time of a statement that claims, begins or ends jobs, in milliseconds. It may wait for the locks of an account or a batch. */
export const TIMEOUT_MS = 30_000;

/** Notes the sizes of jobs and of the accounts of jobs. Claims come before begins and ends. */
export function noteSizes(...bytes: readonly number[]): void {
    sizes = bytes.map((size) => Math.ceil(Math.log2(1 + size / PAGE_BYTES) / 3)).join('_');
}

/**
 * Names a statement by these sizes, so that a connection plans it again for each power of eight: five times, then PostgreSQL keeps a plan.
 * Otherwise a connection would keep the plan of a small table, which reads all of it, until the next ANALYZE.
 */
export function namedBySizes<Query extends PreparedQuery>(query: Query): Query {
    return { ...query, name: `${query.name}_${sizes}` };
}
