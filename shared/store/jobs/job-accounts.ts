import type { Db } from '../../platform/db.ts';

/** Locks the accounts of these jobs in the order of their ids, so that the counting trigger of `jobs` cannot deadlock. */
export async function lockJobAccounts(trx: Db, jobs: readonly { accountId: string }[]): Promise<void> {
    const ids = [...new Set(jobs.map(({ accountId }) => accountId))];
    if (ids.length > 1) await trx('job_accounts').whereIn('account_id', ids).orderBy('account_id').forUpdate().select('account_id');
}
