import type { Db } from '../../shared/platform/db.ts';
import { OPEN_INDEXES } from '../330_jobs.ts';

/** Brings a database at migration 2830, the last one before the baseline, to the baseline. */
export async function updateFrom2830(db: Db): Promise<void> {
    await db.raw(`
        drop index jobs_due, jobs_due_of_batch, jobs_leased, jobs_expiry, jobs_kept;
        ${OPEN_INDEXES}
        analyze jobs;
    `);
}
