import type { Knex } from 'knex';
import type { Scopes } from '../../domain/accounts/scopes.ts';
import type { JobStatus, WaitingFor } from '../../domain/jobs/states.ts';
import { columns, countRows, cutPage, type Db, definedConditions, MAX_COUNTED, PAGE_BYTES } from '../../platform/db.ts';
import type { FoundPage, PageOrder } from '../../platform/row-page.ts';

export interface JobRow {
    jobId: string;
    /** Increases with the time of creation. */
    number: number;
    monitorId: string | null;
    batchId: string | null;
    customId: string | null;
    /** JSON text. */
    metadata: string;
    status: JobStatus;
    site: string;
    endpoint: string;
    version: number;
    waitingFor: WaitingFor | null;
    createdAt: Date;
    startedAt: Date | null;
    finishedAt: Date | null;
    expiresAt: Date;
    /** Null if that time has passed. */
    nextAttemptAt: Date | null;
    attempts: number;
    creditsUsed: number;
    code: string | null;
    error: Buffer | null;
    resultExpired: boolean;
}

/** A job including its encrypted columns. */
export interface FullJobRow extends JobRow {
    request: Buffer | null;
    result: Buffer | null;
    remaining: number | null;
}

const ROW = columns(
    'j',
    'job_id number monitor_id batch_id custom_id metadata status site endpoint version created_at started_at finished_at expires_at',
    'attempts credits_used code error result_expired',
);
/** Raw: an item waits on its own only for its site. For all other reasons, the whole batch waits. */
const WAITING = `case when exists (
    select from job_pauses p where p.account_id in ('', j.account_id) and p.site in ('', j.site)
) then 'operator' else coalesce(
    (select b.waiting_for from batches b where b.batch_id = j.batch_id and b.waiting_for <> 'site'), j.waiting_for
) end`;
const NEXT = "case when j.status = 'queued' and j.attempts > 0 and j.due_at > app_now() then j.due_at end";

function rowOf(db: Db) {
    return { ...ROW, waitingFor: db.raw(WAITING), nextAttemptAt: db.raw(NEXT) };
}

/** A reader sees those jobs of a workspace that a key with these scopes could have created. */
export interface Reader {
    workspaceId: string;
    userId: string;
    scopes: Pick<Scopes, 'effects' | 'sites' | 'endpoints' | 'connections'>;
}

/** Restricts a query of jobs or monitors to those that a reader may see. */
export function seenBy<Query extends Knex.QueryBuilder>(
    { workspaceId, userId, scopes: { effects, sites, endpoints, connections } }: Reader,
    calls: Query,
): Query {
    calls.where({ workspace_id: workspaceId });
    calls.where((is) => is.whereNull('owner_id').orWhere({ owner_id: userId }));
    if (effects.length < 2) calls.whereIn('needs', [...effects]);
    if (sites !== null) calls.whereIn('site', [...sites]);
    if (endpoints !== null) calls.whereIn('endpoint', [...endpoints]);
    if (connections !== null) calls.where((is) => is.whereNull('connection_id').orWhereIn('connection_id', [...connections]));
    return calls;
}

/** Finds a job that the reader may see, including params and result. */
export async function findJob(db: Db, reader: Reader, jobId: string): Promise<FullJobRow | undefined> {
    return seenBy(reader, db('jobs as j'))
        .where({ 'j.job_id': jobId })
        .first({ ...rowOf(db), ...columns('j', 'request result remaining') });
}

/** Finds a job of anybody, for operators, without params and result. */
export async function findJobOfAnybody(
    db: Db,
    jobId: string,
): Promise<(JobRow & { workspaceId: string; accountId: string; keyId: string }) | undefined> {
    return db('jobs as j')
        .where({ 'j.job_id': jobId })
        .first({ ...rowOf(db), ...columns('j', 'workspace_id account_id key_id') });
}

interface JobList extends PageOrder<number> {
    status?: JobStatus | undefined;
    site?: string | undefined;
    batchId?: string | undefined;
}

/**
 * A page of jobs, newest first. A filter reads jobs that do not match it, and rows stay for 90 days, so at most 100,000 are read: a page
 * may have fewer jobs than `limit`, or none, although older ones follow at `next`.
 */
export async function listJobs(
    db: Db,
    reader: Reader,
    { status, site, batchId, limit, after = NEWEST }: JobList,
): Promise<FoundPage<JobRow, number>> {
    const own = definedConditions({ workspace_id: reader.workspaceId, batch_id: batchId });
    const readTo = async (from: number): Promise<number> => {
        const older = db('jobs').where(own).where('number', '<', from).orderBy('number', 'desc').offset(MAX_COUNTED);
        return (await older.first('number'))?.number ?? 0;
    };
    const found = seenBy(reader, db('jobs as j')).where(definedConditions({ 'j.status': status, 'j.site': site, 'j.batch_id': batchId }));
    const end = await readTo(after);
    const ofTotal = after === NEWEST ? end : await readTo(NEWEST);
    const total = await countRows(found.clone().where('j.number', '>', ofTotal));
    const rows: JobRow[] = await found
        .where('j.number', '<', after)
        .where('j.number', '>', end)
        .orderBy('j.number', 'desc')
        .limit(limit + 1)
        .select(rowOf(db));
    const { shown, last } = cutPage(rows, limit);
    return { rows: shown, next: last?.number ?? (end === 0 ? undefined : end + 1), total };
}

/** Above the number of every job. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** A job at its position in the results of a batch. */
export interface EndedRow extends FullJobRow {
    endNumber: number;
}

interface EndedList {
    batchId: string;
    status?: JobStatus | undefined;
    /** The end number after which the list begins. */
    after: number;
    limit: number;
    /** Number of bytes of results after which no further item follows; PAGE_BYTES by default. */
    maxBytes?: number;
}

/** `maxBytes` for an answer that is streamed. A caller who does not read keeps one page in memory. */
export const STREAMED_BYTES = 1024 * 1024;

/**
 * The ended items of a batch after `after`, in the order of their ends; at most `limit`, and fewer if their results are large. Empty only
 * if no item follows. Searches a range of end numbers, and longer ranges while the page is not full. Without an upper bound, a server sorts
 * the whole batch for each page: immediately after the end of a batch, it has no statistics that suggest the order of the index.
 */
export async function listEnded(
    db: Db,
    reader: Reader,
    { batchId, status, after, limit, maxBytes = PAGE_BYTES }: EndedList,
): Promise<EndedRow[]> {
    const found: EndedRow[] = [];
    let bytes = 0;
    for (let from = after, span = limit; ; from += span, span *= 2) {
        const ends = seenBy(reader, db('jobs as j'))
            .where({ 'j.batch_id': batchId })
            .where('j.end_number', '>', from)
            .where('j.end_number', '<=', from + span)
            .orderBy('j.end_number')
            .limit(limit - found.length)
            .select({ ...ENDED, result: 'j.result', before: db.raw(BYTES_BEFORE) });
        if (status !== undefined) ends.where({ 'j.status': status });
        // A single statement. If the last end were read later, ends that are committed in between would be skipped.
        const rows: ReadEnd[] = await db
            .from(db('jobs').where({ batch_id: batchId }).max({ last: 'end_number' }).as('l'))
            .leftJoin(ends.as('e'), (on) => void on.onVal('e.before', '<', maxBytes - bytes))
            .orderBy('e.endNumber')
            // Base64 is shorter than the hexadecimal digits of a bytea.
            .select('l.last', ...Object.keys(ENDED).map((name) => `e.${name}`), { result: db.raw("encode(e.result, 'base64')") });
        for (const { result: encoded, last: _, ...row } of rows) {
            if (row.jobId === null) continue;
            const result = encoded === null ? null : Buffer.from(encoded, 'base64');
            found.push({ ...row, result, request: null, waitingFor: null, nextAttemptAt: null });
            bytes += result?.length ?? 0;
        }
        if (found.length >= limit || bytes >= maxBytes || from + span >= (rows[0]?.last ?? 0)) return found;
    }
}

const ENDED = { ...ROW, ...columns('j', 'end_number remaining') };
/** Raw: bytes of the results before this one. Reading a size does not read a large result. */
const BYTES_BEFORE =
    'coalesce(sum(octet_length(j.result)) over (order by j.end_number rows between unbounded preceding and 1 preceding), 0)';

type ReadEnd = Omit<EndedRow, 'result'> & { result: string | null; last: number | null };

/** Returns the ids of those of the given jobs that have ended or were deleted. */
export async function endedOf(db: Db, jobIds: readonly string[]): Promise<Set<string>> {
    const of = db('jobs').whereIn('job_id', [...jobIds]);
    const open = new Set<string>(await of.whereIn('status', ['queued', 'running']).pluck('job_id'));
    return new Set(jobIds.filter((id) => !open.has(id)));
}

export interface EventJobRow extends JobRow {
    /** Null if there is no result, or it is larger than requested. */
    result: Buffer | null;
    remaining: number | null;
    hasResult: boolean;
    /** Whether it ran with a private connection. */
    isPrivate: boolean;
}

/** Jobs of any workspace in the order of these ids; undefined if one was deleted. @param maxBytes maximum size of an encrypted result */
export async function readEventJobs(db: Db, jobIds: readonly string[], maxBytes: number): Promise<(EventJobRow | undefined)[]> {
    const rows: EventJobRow[] = await db('jobs as j')
        .whereIn('j.job_id', [...jobIds])
        .select({
            ...ROW,
            nextAttemptAt: db.raw(NEXT),
            remaining: 'j.remaining',
            result: db.raw('case when octet_length(j.result) <= ? then j.result end', [maxBytes]),
            hasResult: db.raw('j.result is not null'),
            isPrivate: db.raw('j.owner_id is not null'),
        });
    const byId = new Map(rows.map((row) => [row.jobId, row]));
    return jobIds.map((jobId) => byId.get(jobId));
}

/** The number of failed items of one code. */
interface BatchFailures {
    code: string;
    items: number;
}

/** Counts failed items of a batch by code, most frequent first. */
export async function failuresOf(db: Db, reader: Reader, batchId: string): Promise<BatchFailures[]> {
    const rows: BatchFailures[] = await seenBy(reader, db('jobs as j'))
        .where({ 'j.batch_id': batchId, 'j.status': 'failed' })
        .groupBy('j.code')
        .orderByRaw('count(*) desc, j.code')
        .select({ code: 'j.code', items: db.raw('count(*)::integer') });
    return rows;
}
