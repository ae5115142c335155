import type { JobBounds } from '../../domain/jobs/bounds.ts';
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
    /** Units that version and request allow, and the caller's own limit of credits. A retry computes the price by both. */
    units: number;
    maxCredits: number | null;
}

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

/** Open jobs and batches of an account, with those of this transaction. Orders are serialized, so the limits are exact. */
export async function readOpen(trx: Db, accountId: string): Promise<JobBounds> {
    const row = await trx('job_accounts').where({ account_id: accountId }).first({ items: 'open_items', bytes: 'open_bytes' });
    return row ?? { items: 0, bytes: 0 };
}

/** Adds to today's orders (UTC). Returns the sum and the seconds left of the day. Storing the jobs has created and locked the row. */
export async function countOrdered(trx: Db, accountId: string, { items, bytes }: JobBounds): Promise<JobBounds & { secondsLeft: number }> {
    const { rows } = await trx.raw<{ rows: [JobBounds & { secondsLeft: number }] }>(
        `update job_accounts a
         set ordered_on = today,
             ordered_items = :items + case when ordered_on = today then ordered_items else 0 end,
             ordered_bytes = :bytes + case when ordered_on = today then ordered_bytes else 0 end
         from (select at, at::date as today from (select app_now() at time zone 'UTC' as at) n) t
         where account_id = :accountId
         returning ordered_items as items, ordered_bytes as bytes, ceil(extract(epoch from today + 1 - at))::integer as "secondsLeft"`,
        { accountId, items, bytes },
    );
    return rows[0];
}
