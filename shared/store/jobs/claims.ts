import type { WaitingFor } from '../../domain/jobs/states.ts';
import type { Effect } from '../../domain/types.ts';
import { columnList, columns, type Db } from '../../platform/db.ts';

/** A job whose turn may have come: one worker has it until it begins, waits on or ends. */
export interface ClaimedJob {
    jobId: string;
    /** Of this attempt. */
    operation: string;
    workspaceId: string;
    /** Of an item the key of its batch. */
    keyId: string;
    batchId: string | null;
    /** Whose turn it is; of an item the account of its batch. */
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
    'batch_id',
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

/** Accounts and sites of which only so many jobs could begin at the moment; none where that is 0. */
export interface Rests {
    accounts: ReadonlyMap<string, number>;
    sites: ReadonlyMap<string, number>;
}

/** Raw: what is due of a line, the longest first. */
const dueOf = (ofLine: string) => `
    cross join lateral (
        select d.*, row_number() over (order by d.due_at, d.number) as turn
        from (select q.job_id, q.site, q.deaths, q.due_at, q.number from jobs q
              where ${ofLine} and q.status = 'queued' and q.operation is null
                    and q.due_at <= app_now() and q.expires_at > app_now() and q.site <> all (cast(:stillSites as text[]))
                    and not exists (select from job_pauses p where p.account_id in ('', q.account_id) and p.site = q.site)
              order by q.due_at, q.number limit :most) d
    ) j`;

/**
 * Gives a worker up to `operations.length` jobs, one for each operation: accounts in turn, of an account its batches and its single jobs in
 * turn, the one that waited longest first, and of each what is due longest. While another process takes some, there are none. Of jobs
 * whose worker died, one at a time runs in all.
 */
export async function claimJobs(db: Db, operations: readonly string[], { accounts, sites }: Rests): Promise<ClaimedJob[]> {
    const most = operations.length;
    return db.transaction(async (trx) => {
        const { rows: locks } = await trx.raw('select pg_try_advisory_xact_lock(?) as won', [CLAIMS_LOCK]);
        if (locks[0].won !== true) return [];
        const { rows } = await trx.raw<{ rows: ClaimedJob[] }>(
            `with active as (
                -- Items may count for another account than their batch: the one that paid for their last attempt.
                select account_id from job_accounts where open_items > 0
                union select account_id from batches where finished_at is null and queued > 0
            ), ready as (
                select a.account_id, a.served_at, r.most
                from job_accounts a join active using (account_id)
                left join unnest(cast(:accounts as text[]), cast(:accountsMost as integer[])) as r (account_id, most) using (account_id)
                where coalesce(r.most, 1) > 0
                    and not exists (select from job_pauses p where p.account_id in ('', a.account_id) and p.site = '')
            ), lines as (
                select a.account_id, a.served_at, a.most, null as batch_id, null as key_id, a.served_at as line_served_at, j.*
                from ready a ${dueOf('q.account_id = a.account_id and q.batch_id is null')}
                union all
                select a.account_id, a.served_at, a.most, b.batch_id, b.key_id, b.served_at, j.*
                from ready a join batches b using (account_id) ${dueOf('q.batch_id = b.batch_id')}
                where b.finished_at is null and b.status = 'running' and b.queued > 0 and b.due_at <= app_now()
            ), due as (
                select l.*, row_number() over (partition by account_id order by turn, line_served_at, batch_id) as account_turn from lines l
            ), alone as (
                select job_id from due where deaths > 0
                    and not exists (select from jobs r where r.operation is not null and r.deaths > 0)
                order by account_turn, served_at, due_at limit 1
            ), eligible as (
                select d.*, s.most as site_most, row_number() over (partition by d.site order by d.account_turn, d.served_at, d.due_at) as site_turn
                from due d
                left join unnest(cast(:sites as text[]), cast(:sitesMost as integer[])) as s (site, most) using (site)
                where (d.deaths = 0 or d.job_id in (select job_id from alone)) and d.account_turn <= coalesce(d.most, d.account_turn)
            ), chosen as (
                select job_id, account_id, batch_id, key_id, row_number() over (order by account_turn, served_at, due_at) as place
                from eligible where site_turn <= coalesce(site_most, site_turn)
                order by account_turn, served_at, due_at limit :most
            ), taken as (
                select j.job_id, c.account_id, c.key_id, row_number() over (order by c.place) as place
                from (select j.job_id from jobs j where j.job_id in (select job_id from chosen)
                          and j.status = 'queued' and j.operation is null order by j.job_id for update skip locked) j
                join chosen c using (job_id)
            ), claimed as (
                update jobs j set operation = o.operation, lease_until = ${LEASE}
                from taken t join unnest(cast(:operations as text[])) with ordinality as o (operation, place) using (place)
                where j.job_id = t.job_id
                returning ${columnList(CLAIMED)}, t.account_id as "accountId", coalesce(t.key_id, j.key_id) as "keyId"
            ), served_batches as (
                -- Locked in the order of their ids, as everywhere.
                update batches b set served_at = fleet_now()
                from (select batch_id from batches where batch_id in (select "batchId" from claimed) order by batch_id for update) o
                where b.batch_id = o.batch_id
                returning 1
            ), served as (
                update job_accounts a set served_at = fleet_now()
                from (select account_id from job_accounts where account_id in (select "accountId" from claimed)
                          and (select count(*) from served_batches) >= 0
                      order by account_id for update) o
                where a.account_id = o.account_id
            )
            select * from claimed`,
            {
                most,
                operations: [...operations],
                accounts: [...accounts.keys()],
                accountsMost: [...accounts.values()],
                sites: [...sites.keys()],
                sitesMost: [...sites.values()],
                stillSites: [...sites].filter(([, free]) => free === 0).map(([site]) => site),
            },
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

/** A batch waits as a whole for what all of its items need, and keeps their order. */
const WHOLE: readonly (WaitingFor | null)[] = ['credits', 'limits', 'storage'];

/** The job waits on: nothing was tried. */
export async function putBack(
    db: Db,
    { jobId, operation, batchId }: Pick<ClaimedJob, 'jobId' | 'operation' | 'batchId'>,
    { waitingFor, afterMs }: { waitingFor: WaitingFor | null; afterMs: number },
): Promise<void> {
    const later = db.raw("app_now() + ? * interval '1 millisecond'", [afterMs]);
    const isWhole = batchId !== null && WHOLE.includes(waitingFor);
    await db('jobs')
        .where({ job_id: jobId, operation, status: 'queued' })
        .update({ operation: null, lease_until: null, waiting_for: waitingFor, ...(isWhole || afterMs === 0 ? {} : { due_at: later }) });
    if (batchId === null) return;
    await db('batches')
        .where({ batch_id: batchId })
        .update({ waiting_for: waitingFor, ...(isWhole ? { due_at: later } : {}) });
}

/** Bytes of results that an account keeps. */
export async function keptBytes(db: Db, accountId: string): Promise<number> {
    const row = await db('job_accounts').where({ account_id: accountId }).first('result_bytes');
    return row?.result_bytes ?? 0;
}
