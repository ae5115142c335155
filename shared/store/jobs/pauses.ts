import type { Db } from '../../platform/db.ts';

/** What an operator paused: jobs of an account, of a site, of both together, or with neither all. */
export interface JobPause {
    accountId: string | null;
    site: string | null;
    since: string;
}

/** What is paused or goes on; null: all. */
export type Paused = Pick<JobPause, 'accountId' | 'site'>;

const keyOf = ({ accountId, site }: Paused) => ({ account_id: accountId ?? '', site: site ?? '' });

/** No job of these begins any more; those that run end. */
export async function pauseJobs(db: Db, paused: Paused): Promise<void> {
    await db('job_pauses').insert(keyOf(paused)).onConflict().ignore();
}

/** Ends the pause that was made with just these. False where there was none. */
export async function resumeJobs(db: Db, paused: Paused): Promise<boolean> {
    return (await db('job_pauses').where(keyOf(paused)).delete()) > 0;
}

/** All pauses, the oldest first. */
export async function listPauses(db: Db): Promise<JobPause[]> {
    const rows: { account_id: string; site: string; paused_at: Date }[] = await db('job_pauses').orderBy('paused_at');
    return rows.map(({ account_id: accountId, site, paused_at: at }) => ({
        accountId: accountId === '' ? null : accountId,
        site: site === '' ? null : site,
        since: at.toISOString(),
    }));
}
