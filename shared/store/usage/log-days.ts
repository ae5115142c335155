import type pg from 'pg';
import type { Db } from '../../platform/db.ts';
import { codeOfError } from '../../platform/error-code.ts';

/** Number of days for which the request log is kept. The ledger is kept forever. */
export const USAGE_DAYS = 90;

/** Creates the daily partitions of the request log ahead of time, and missing ones since `ageMs` milliseconds ago. */
export async function makeLogDays(db: Db, ageMs = 0): Promise<void> {
    await db.raw("select usage_make_days(app_now() - ? * interval '1 millisecond')", [ageMs]);
}

/** Drops expired daily partitions of the request log and returns their number. */
export async function dropLogDays(db: Db, days = USAGE_DAYS): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ dropped: number }] }>('select usage_drop_days(?) as dropped', [days]);
    return rows[0].dropped;
}

/** Whether rows belong to a day without a partition. It is the only check that fails without the name of a constraint. */
export function isDayMissing(error: unknown): boolean {
    return codeOfError(error) === '23514' && (error as pg.DatabaseError).constraint === undefined;
}
