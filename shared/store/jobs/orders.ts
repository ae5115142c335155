import type { OpenBounds } from '../../domain/jobs/bounds.ts';
import type { Effect } from '../../domain/types.ts';
import { type Db, toColumns } from '../../platform/db.ts';

/** What was ordered, of a job as of an item of a batch. */
export interface OrderedCall {
    jobId: string;
    site: string;
    registrable: string;
    endpoint: string;
    versionId: number;
    version: number;
    effect: Effect;
    /** The effect that a key needs to see it. */
    needs: Effect;
    /** The credential that it is sent with. */
    connectionId: string | null;
    /** The only user who sees it. */
    ownerId: string | null;
    /** Sealed (sealed.ts). */
    request: Buffer;
    unit: number;
    unitsCap: number | null;
}

/** A job as it is stored first. */
export interface NewJob extends OrderedCall {
    workspaceId: string;
    keyId: string;
    accountId: string;
    /** JSON text. */
    metadata: string;
    sessionId: string | null;
    /** The monitor whose run it is. */
    monitorId?: string;
}

/** Stores a job that waits for its turn for `expiresIn` seconds. */
export async function addJob(trx: Db, job: NewJob, expiresIn: number): Promise<void> {
    await trx('jobs').insert({ ...toColumns(job), expires_at: trx.raw("app_now() + ? * interval '1 second'", [expiresIn]) });
}

/** What an account has open, the jobs of this transaction included; orders come one after another, so that none passes a bound unseen. */
export async function readOpen(trx: Db, accountId: string): Promise<OpenBounds> {
    const row = await trx('job_accounts').where({ account_id: accountId }).first({ items: 'open_items', bytes: 'open_bytes' });
    return row ?? { items: 0, bytes: 0 };
}
