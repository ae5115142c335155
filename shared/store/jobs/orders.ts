import type { OpenBounds } from '../../domain/jobs/bounds.ts';
import type { Effect } from '../../domain/types.ts';
import { type Db, toColumns } from '../../platform/db.ts';

/** The call of a job or of a batch item. */
export interface OrderedCall {
    jobId: string;
    site: string;
    registrable: string;
    endpoint: string;
    versionId: number;
    version: number;
    effect: Effect;
    /** The effect that a key must allow to see the job. */
    needs: Effect;
    /** The connection that the call uses. */
    connectionId: string | null;
    /** The only user who may see it; null: every member. */
    ownerId: string | null;
    /** Encrypted (sealed.ts). */
    request: Buffer;
    unit: number;
    unitsCap: number | null;
    /**
     * Number of units that the version and the request allow, and the caller's own limit of credits. A retry uses both to compute the
     * price.
     */
    units: number;
    maxCredits: number | null;
}

/** A new job. */
export interface NewJob extends OrderedCall {
    workspaceId: string;
    keyId: string;
    accountId: string;
    /** JSON text. */
    metadata: string;
    sessionId: string | null;
    /** The monitor to which the run belongs. */
    monitorId?: string;
}

/** Stores a queued job. It expires after `expiresIn` seconds. */
export async function addJob(trx: Db, job: NewJob, expiresIn: number): Promise<void> {
    await trx('jobs').insert({ ...toColumns(job), expires_at: trx.raw("app_now() + ? * interval '1 second'", [expiresIn]) });
}

/**
 * Reads the open jobs and batches of an account, including those of this transaction. Orders of an account are serialized, so that the
 * limits are exact.
 */
export async function readOpen(trx: Db, accountId: string): Promise<OpenBounds> {
    const row = await trx('job_accounts').where({ account_id: accountId }).first({ items: 'open_items', bytes: 'open_bytes' });
    return row ?? { items: 0, bytes: 0 };
}
