import type { Db } from '../../shared/platform/db.ts';

/** Runs work on one connection, and counts the rows that it read: of one table, or of all. Does not depend on the machine's speed. */
export async function countRowsRead<Done>(db: Db, work: (trx: Db) => Promise<Done>, table?: string): Promise<{ done: Done; read: number }> {
    return db.transaction(async (trx) => {
        const before = await readSoFar(trx, table);
        const done = await work(trx);
        return { done, read: (await readSoFar(trx, table)) - before };
    });
}

/** Includes earlier work of the connection. */
async function readSoFar(trx: Db, table: string | undefined): Promise<number> {
    const { rows } = await trx.raw<{ rows: [{ read: number }] }>(
        `select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer as read from pg_stat_xact_user_tables
         where relname = coalesce(?, relname)`,
        [table ?? null],
    );
    return rows[0].read;
}
