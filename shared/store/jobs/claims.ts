import type { WaitingFor } from '../../domain/jobs/states.ts';
import type { Effect } from '../../domain/types.ts';
import { columnList, columns, type Db } from '../../platform/db.ts';

/** A job whose turn may have come: one worker has it until it begins, waits on or ends. */
export interface ClaimedJob {
    jobId: string;
    /** Of this attempt. */
    operation: string;
    workspaceId: string;
    keyId: string;
    accountId: string;
    site: string;
    endpoint: string;
    version: number;
    effect: Effect;
    sessionId: string | null;
    request: Buffer | null;
    unit: number;
    unitsCap: number | null;
    attempts: number;
    deaths: number;
    createdAt: Date;
    expiresAt: Date;
}

const CLAIMED = columns(
    'j',
    'job_id',
    'operation',
    'workspace_id',
    'key_id',
    'account_id',
    'site',
    'endpoint',
    'version',
    'effect',
    'session_id',
    'request',
    'unit',
    'units_cap',
    'attempts',
    'deaths',
    'created_at',
    'expires_at',
);

/** How long a worker counts as alive after its last word, and how long between two words, in milliseconds. */
const LEASE_MS = 10_000;
const LEASE = `fleet_now() + ${LEASE_MS} * interval '1 millisecond'`;
/** The key of the advisory lock that makes claims follow each other. */
const CLAIMS_LOCK = 7_062_614;

/**
 * Gives a worker up to `operations.length` jobs, one for each operation: accounts in turn, the one that waited longest first, and of each
 * account what is due longest. While another process takes some, there are none. Of jobs whose worker died, one at a time runs in all.
 * @param resting accounts and sites that have nothing free at the moment
 */
export async function claimJobs(
    db: Db,
    operations: readonly string[],
    resting: { accounts: readonly string[]; sites: readonly string[] },
): Promise<ClaimedJob[]> {
    const most = operations.length;
    return db.transaction(async (trx) => {
        const { rows: locks } = await trx.raw('select pg_try_advisory_xact_lock(?) as won', [CLAIMS_LOCK]);
        if (locks[0].won !== true) return [];
        const { rows } = await trx.raw<{ rows: ClaimedJob[] }>(
            `with due as (
                select j.job_id, j.account_id, j.deaths, j.turn, a.served_at, j.due_at
                from job_accounts a
                cross join lateral (
                    select d.*, row_number() over (order by d.due_at, d.number) as turn
                    from (select q.job_id, q.account_id, q.deaths, q.due_at, q.number from jobs q
                          where q.account_id = a.account_id and q.status = 'queued' and q.operation is null
                                and q.due_at <= app_now() and q.expires_at > app_now() and q.site <> all (?::text[])
                          order by q.due_at, q.number limit ?) d
                ) j
                where a.open_items > 0 and a.account_id <> all (?::text[])
            ), alone as (
                select job_id from due where deaths > 0
                    and not exists (select from jobs r where r.operation is not null and r.deaths > 0)
                order by turn, served_at, due_at limit 1
            ), chosen as (
                select job_id, row_number() over (order by turn, served_at, due_at) as place
                from due where deaths = 0 or job_id in (select job_id from alone)
                order by turn, served_at, due_at limit ?
            ), taken as (
                select j.job_id, row_number() over (order by c.place) as place
                from (select j.job_id from jobs j where j.job_id in (select job_id from chosen)
                          and j.status = 'queued' and j.operation is null order by j.job_id for update skip locked) j
                join chosen c using (job_id)
            ), claimed as (
                update jobs j set operation = o.operation, lease_until = ${LEASE}
                from taken t join unnest(?::text[]) with ordinality as o (operation, place) using (place)
                where j.job_id = t.job_id
                returning ${columnList(CLAIMED)}
            ), served as (
                -- Locked in the order of their ids, as job-accounts.ts does.
                update job_accounts a set served_at = fleet_now()
                from (select account_id from job_accounts where account_id in (select "accountId" from claimed)
                      order by account_id for update) o
                where a.account_id = o.account_id
            )
            select * from claimed`,
            [[...resting.sites], most, [...resting.accounts], most, [...operations]],
        );
        return rows;
    });
}

/** What this worker still has of these operations; the leases of those go on. What it has no more was cancelled or given up. */
export async function renewLeases(db: Db, operations: readonly string[]): Promise<Set<string>> {
    const kept = await db('jobs')
        .whereIn('operation', [...operations])
        .update({ lease_until: db.raw(LEASE) })
        .returning('operation');
    return new Set(kept.map(({ operation }) => operation));
}

/** The job waits on: nothing was tried. */
export async function putBack(
    db: Db,
    { jobId, operation }: Pick<ClaimedJob, 'jobId' | 'operation'>,
    { waitingFor, afterMs }: { waitingFor: WaitingFor | null; afterMs: number },
): Promise<void> {
    await db('jobs')
        .where({ job_id: jobId, operation, status: 'queued' })
        .update({
            operation: null,
            lease_until: null,
            waiting_for: waitingFor,
            due_at: db.raw("app_now() + ? * interval '1 millisecond'", [afterMs]),
        });
}

/** `queued → running`, right before the call is sent. False where it was cancelled, or given to somebody else. */
export async function beginAttempt(
    db: Db,
    { jobId, operation }: Pick<ClaimedJob, 'jobId' | 'operation'>,
    accountId: string,
): Promise<boolean> {
    const begun = await db('jobs')
        .where({ job_id: jobId, operation, status: 'queued' })
        .where('expires_at', '>', db.raw('app_now()'))
        .update({
            status: 'running',
            account_id: accountId,
            waiting_for: null,
            attempts: db.raw('attempts + 1'),
            started_at: db.raw('coalesce(started_at, app_now())'),
        });
    return begun === 1;
}

/** Bytes of results that an account keeps. */
export async function keptBytes(db: Db, accountId: string): Promise<number> {
    const row = await db('job_accounts').where({ account_id: accountId }).first('result_bytes');
    return row?.result_bytes ?? 0;
}
