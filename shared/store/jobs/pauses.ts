import type { Db } from '../../platform/db.ts';

/** A pause by an operator, of the jobs of an account, of a site, of an account for a site, or of all jobs. */
interface JobPause {
    accountId: string | null;
    site: string | null;
    since: string;
}

/** The scope of a pause; null means all. */
export type Paused = Pick<JobPause, 'accountId' | 'site'>;

const keyOf = ({ accountId, site }: Paused) => ({ account_id: accountId ?? '', site: site ?? '' });

/** Prevents these jobs from starting. Running jobs continue. */
export async function pauseJobs(db: Db, paused: Paused): Promise<void> {
    await db('job_pauses').insert(keyOf(paused)).onConflict().ignore();
}

/** Ends the pause with exactly this scope. False if there is none. */
export async function resumeJobs(db: Db, paused: Paused): Promise<boolean> {
    return (await db('job_pauses').where(keyOf(paused)).delete()) > 0;
}

/** All pauses, oldest first. */
export async function listPauses(db: Db): Promise<JobPause[]> {
    const rows: { account_id: string; site: string; paused_at: Date }[] = await db('job_pauses').orderBy('paused_at');
    return rows.map(({ account_id: accountId, site, paused_at: at }) => ({
        accountId: accountId === '' ? null : accountId,
        site: site === '' ? null : site,
        since: at.toISOString(),
    }));
}
