import type { Db } from '../../shared/platform/db.ts';
import { OLD_ROWS } from '../../shared/store/old-rows.ts';

/** Deletes old rows of all tables, as the sweeper does once an hour. */
export async function deleteOldRows(db: Db): Promise<void> {
    for (const [table, isOld] of OLD_ROWS) await db(table).whereRaw(isOld).delete();
}
