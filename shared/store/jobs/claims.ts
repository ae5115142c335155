import type { WaitingFor } from '../../domain/jobs/states.ts';
import { columnList, columns, type Db } from '../../platform/db.ts';
import { compose, runComposed } from '../../platform/prepared-query.ts';
import type { NewJob } from './orders.ts';
import { namedBySizes, noteSizes, TIMEOUT_MS } from './plans-by-size.ts';

/** A claimed job. It belongs to one worker until it starts, waits again or ends. */
export interface ClaimedJob
    extends Pick<NewJob, 'jobId' | 'workspaceId' | 'site' | 'endpoint' | 'version' | 'effect' | 'sessionId' | 'unit' | 'unitsCap'> {
    operation: string;
    /** For batch items, the key of the batch. */
    keyId: string;
    batchId: string | null;
    /** The account whose turn it is; for batch items, the account of the batch. */
    accountId: string;
    request: Buffer | null;
    attempts: number;
    deaths: number;
    createdAt: Date;
    expiresAt: Date;
}

const CLAIMED = columns(
    'j',
    'job_id operation workspace_id batch_id site endpoint version effect session_id request unit units_cap attempts deaths created_at',
    'expires_at',
);

/** How long a worker counts as alive after its last lease renewal, in milliseconds. */
const LEASE_MS = 10_000;
const LEASE = `fleet_now() + ${LEASE_MS} * interval '1 millisecond'`;
/** The advisory lock that serializes claims. */
const CLAIMS_LOCK = 7_062_614;

/** Accounts and sites near their limits, with the number of jobs that may still be claimed for each. */
interface Capacity {
    accounts: ReadonlyMap<string, number>;
    sites: ReadonlyMap<string, number>;
}

/** Raw: the due jobs of a queue, longest due first. */
const dueOf = (ofLine: string) => `
    cross join lateral (
        select d.*, row_number() over (order by d.due_at, d.number) as turn
        from (select q.job_id, q.site, q.deaths, q.due_at, q.number from jobs q
              where ${ofLine} and q.finished_at is null and q.operation is null
                    and q.due_at <= app_now() and q.expires_at > app_now()
                    -- Not \`<> all\`: where most jobs are of one site, the planner expects that it leaves hardly any, and sorts all queued
                    -- jobs instead of reading an index in order, for each claim.
                    and case when q.site = any (cast(:stillsites as text[])) then false else true end
                    and not exists (select from job_pauses p where p.account_id in ('', q.account_id) and p.site = q.site)
              order by q.due_at, q.number limit :limit) d
    ) j`;

/**
 * Raw: whether any job is queued. The statement that claims jobs takes ten times as long. The query uses the order of an index, so that a
 * server without statistics reads the index too. It is no EXISTS, which ignores the order.
 */
const ANY_QUEUED = `(
    (select true from jobs where finished_at is null and operation is null and batch_id is null order by account_id, due_at, number limit 1)
        is not null
    or exists (select from batches where finished_at is null and queued > 0)
)`;

export const JOB_IS_QUEUED = `select ${ANY_QUEUED}`;

interface Lock {
    won: boolean;
    /** Sizes in bytes. */
    jobs: number;
    accounts: number;
}

const LOCK = compose(
    `select ${ANY_QUEUED} and pg_try_advisory_xact_lock(:key) as won, pg_relation_size('jobs') as jobs, pg_relation_size('job_accounts') as accounts`,
    { key: 'bigint' },
);

/** Items of a batch with `stop_after_failures` that run at a time although all of them together may fail too often. */
const FEW_AT_ONCE = 4;

/** Prepared: planning takes longer than a claim. */
const CLAIM = compose(
    `
    with active as (
        -- Items may count for another account than their batch: the one that paid for their last attempt.
        select account_id from job_accounts where open_items > 0
        union select account_id from batches where finished_at is null and queued > 0
    ), ready as (
        select a.account_id, coalesce(t.served_at, '-infinity') as served_at, r.free
        from job_accounts a join active using (account_id) left join job_turns t on t.line = a.account_id
        left join unnest(:accounts, :accountsfree) as r (account_id, free) using (account_id)
        where coalesce(r.free, 1) > 0
            and not exists (select from job_pauses p where p.account_id in ('', a.account_id) and p.site = '')
    ), lines as (
        select a.account_id, a.served_at, a.free, null as batch_id, null as key_id, a.served_at as line_served_at, j.*
        from ready a ${dueOf('q.account_id = a.account_id and q.batch_id is null')}
        union all
        select a.account_id, a.served_at, a.free, b.batch_id, b.key_id, coalesce(t.served_at, '-infinity'), j.*
        from ready a join batches b using (account_id) left join job_turns t on t.line = b.batch_id
        ${dueOf('q.batch_id = b.batch_id')}
        where b.finished_at is null and b.status = 'running' and b.queued > 0 and b.due_at <= app_now()
            and (b.stop_after_failures is null
                or j.turn <= greatest(b.stop_after_failures - b.failures, ${FEW_AT_ONCE}) - b.running)
    ), due as (
        select l.*, row_number() over (partition by account_id order by turn, line_served_at, batch_id) as account_turn from lines l
    ), alone as (
        select job_id from due where deaths > 0
            and not exists (select from jobs r where r.operation is not null and r.deaths > 0)
        order by account_turn, served_at, due_at limit 1
    ), eligible as (
        select d.*, s.free as site_free, row_number() over (partition by d.site order by d.account_turn, d.served_at, d.due_at) as site_turn
        from due d
        left join unnest(:sites, :sitesfree) as s (site, free) using (site)
        where (d.deaths = 0 or d.job_id in (select job_id from alone)) and d.account_turn <= coalesce(d.free, d.account_turn)
    ), chosen as (
        select job_id, account_id, batch_id, key_id, row_number() over (order by account_turn, served_at, due_at) as place
        from eligible where site_turn <= coalesce(site_free, site_turn)
        order by account_turn, served_at, due_at limit :limit
    ), taken as (
        select l.job_id, l.account_id, l.key_id, row_number() over (order by l.place) as place
        from (select j.job_id, c.account_id, c.key_id, c.place from jobs j join chosen c using (job_id)
              where j.status = 'queued' and j.operation is null order by j.job_id for update of j skip locked) l
    ), claimed as (
        update jobs j set operation = (:operations)[t.place], lease_until = ${LEASE}
        from taken t
        where j.job_id = t.job_id
        returning ${columnList(CLAIMED)}, t.account_id as "accountId", coalesce(t.key_id, j.key_id) as "keyId"
    ), served as (
        insert into job_turns (line, served_at)
        select line, fleet_now() from (
            select "accountId" from claimed union select "batchId" from claimed where "batchId" is not null
        ) l (line)
        on conflict (line) do update set served_at = excluded.served_at
    )
    select * from claimed`,
    {
        limit: 'integer',
        operations: 'text[]',
        accounts: 'text[]',
        accountsfree: 'integer[]',
        sites: 'text[]',
        sitesfree: 'integer[]',
        stillsites: 'text[]',
    },
);

/**
 * Claims up to `operations.length` jobs for a worker, one per operation. Accounts take turns. Within an account, its batches and single
 * jobs take turns, those that have waited longest first; each contributes its longest due job. Returns no jobs while another process claims
 * jobs. The statement does not wait for row locks, because a lock of one account's order must not delay the claims of all accounts. Only
 * one job whose worker died runs at a time, in the whole fleet.
 */
export async function claimJobs(db: Db, operations: readonly string[], { accounts, sites }: Capacity): Promise<ClaimedJob[]> {
    return db.transaction(async (trx) => {
        const [lock] = await runComposed<Lock>(trx, namedBySizes(LOCK), { key: CLAIMS_LOCK }, TIMEOUT_MS);
        if (lock !== undefined) noteSizes(lock.jobs, lock.accounts);
        if (lock?.won !== true) return [];
        const values = {
            limit: operations.length,
            operations: [...operations],
            accounts: [...accounts.keys()],
            accountsfree: [...accounts.values()],
            sites: [...sites.keys()],
            sitesfree: [...sites.values()],
            stillsites: [...sites].filter(([, free]) => free === 0).map(([site]) => site),
        };
        return runComposed<ClaimedJob>(trx, namedBySizes(CLAIM), values, TIMEOUT_MS);
    });
}

/**
 * Selects and locks claimed jobs, if they still belong to these operations. Locks them in the order of their ids, like all transactions,
 * because two transactions with the same items could otherwise deadlock. Selects by id only: with a condition on `status`, a server without
 * statistics might read an index of all queued jobs.
 */
export function lockClaimed(db: Db, jobs: readonly Pick<ClaimedJob, 'jobId' | 'operation'>[]): ReturnType<Db> {
    return claimed(db, jobs).orderBy('job_id').forUpdate();
}

function claimed(db: Db, jobs: readonly Pick<ClaimedJob, 'jobId' | 'operation'>[]): ReturnType<Db> {
    return db('jobs').whereRaw('job_id = any(?) and operation = any(?)', [
        jobs.map(({ jobId }) => jobId),
        jobs.map(({ operation }) => operation),
    ]);
}

/**
 * Renews the leases of these jobs. Returns the operations that this worker still holds. The other jobs were cancelled or taken back. Skips
 * jobs that another transaction has locked until the next time: the change of a large batch or the deletion of an account may take longer
 * than the leases of all other jobs last.
 */
export async function renewLeases(db: Db, jobs: readonly Pick<ClaimedJob, 'jobId' | 'operation'>[]): Promise<Set<string>> {
    const renewed = db('jobs')
        .whereIn('job_id', lockClaimed(db, jobs).skipLocked().select('job_id'))
        .whereRaw('operation = any(?)', [jobs.map(({ operation }) => operation)])
        .update({ lease_until: db.raw(LEASE) });
    const held: string[] = await claimed(db, jobs).with('renewed', renewed).pluck('operation');
    return new Set(held);
}

/** Call it before the end of a transaction that locked claimed items: their workers could not renew them meanwhile. */
export async function renewLeasesOfBatch(trx: Db, batchId: string): Promise<void> {
    await trx('jobs')
        .where({ batch_id: batchId })
        .whereNotNull('operation')
        // Not `fleet_now()`, which is when the transaction began.
        .update({ lease_until: trx.raw(`clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'`) });
}

/** Reasons for which a batch waits as a whole, because all its items need the resource. This keeps their order. */
const WHOLE: readonly (WaitingFor | null)[] = ['credits', 'limits', 'storage'];

/** A claimed job that cannot start yet. */
export interface Returned extends Pick<ClaimedJob, 'jobId' | 'operation' | 'batchId'> {
    waitingFor: WaitingFor | null;
    /** Milliseconds until the next attempt. */
    afterMs: number;
}

/** Raw: locks jobs in the order of their ids, like all transactions. */
const PUT_BACK = `
    update jobs j
    set operation = null, lease_until = null, waiting_for = :waitingFor,
        due_at = case when m.after_ms > 0 then app_now() + m.after_ms * interval '1 millisecond' else j.due_at end
    from (
        select r.job_id, n.after_ms
        from jobs r join unnest(cast(:ids as text[]), cast(:operations as text[]), cast(:afterMs as float8[])) as n (job_id, operation, after_ms)
            on r.job_id = n.job_id and r.operation = n.operation
        where r.status = 'queued' order by r.job_id for update of r
    ) m where j.job_id = m.job_id`;

/** Returns jobs to the queue without counting an attempt: items of one batch that wait for the same reason, or one single job. */
export async function putBack(db: Db, jobs: readonly Returned[]): Promise<void> {
    const { batchId = null, waitingFor = null } = jobs[0] ?? {};
    const isWhole = batchId !== null && WHOLE.includes(waitingFor);
    await db.raw(PUT_BACK, {
        waitingFor,
        ids: jobs.map(({ jobId }) => jobId),
        operations: jobs.map(({ operation }) => operation),
        afterMs: jobs.map(({ afterMs }) => (isWhole ? 0 : afterMs)),
    });
    if (batchId === null) return;
    const batch = db('batches').where({ batch_id: batchId });
    const longest = Math.max(...jobs.map(({ afterMs }) => afterMs));
    if (isWhole) await batch.update({ waiting_for: waitingFor, due_at: db.raw("app_now() + ? * interval '1 millisecond'", [longest]) });
    else await batch.whereRaw('waiting_for is distinct from ?', [waitingFor]).update({ waiting_for: waitingFor });
}

/** Size of an account's stored results in bytes. */
export async function storedBytes(db: Db, accountId: string): Promise<number> {
    const row = await db('job_accounts').where({ account_id: accountId }).first('result_bytes');
    return row?.result_bytes ?? 0;
}
