import type { UpstreamFigures } from '../../domain/fetch/fetch-job.ts';
import { type BatchWriter, openBatchWriter } from '../../platform/batch-writer.ts';
import type { Db } from '../../platform/db.ts';
import { type RefusalCode, refusalEntry } from '../../refusals.ts';
import { isDayMissing, makeLogDays } from './log-days.ts';
import { toBucket } from './traffic.ts';

/** One counted call of the request log. The ledger, not this log, records what a call cost. */
export interface UsageRow {
    kind: 'catalog' | 'fetch';
    operation: string;
    /** The request id of the answer; for jobs the job id. Not unique. */
    requestId?: string | undefined;
    accountId?: string | undefined;
    /** The client address of a caller without a key, to which its limits apply. Only a hash is stored. */
    address?: string | undefined;
    workspaceId?: string | undefined;
    userId?: string | undefined;
    keyId?: string | undefined;
    /** The look-up session as the fetch names it. */
    sessionId?: string | undefined;
    site: string;
    registrable: string;
    endpoint?: string | undefined;
    version?: number | undefined;
    outcome: 'success' | RefusalCode;
    credits: number;
    results?: number | undefined;
    /** Answered from a stored result at no cost. It counts neither for health nor as a fetch. */
    cached?: boolean;
    /** The site refused the credential of the caller. The call does not count for health. */
    isCallers?: boolean;
    /** Set for a success without all of its pages: why the next page failed. */
    failedPage?: RefusalCode | undefined;
    durationMs: number;
    queueMs?: number | undefined;
    upstream?: UpstreamFigures | undefined;
}

/** The request log. A call is written within a second. */
export type Usage = BatchWriter<UsageRow>;

/** Maximum wait of a row, in milliseconds. A process that is killed loses this much of the log. */
const EVERY_MS = 900;
/** Maximum number of rows in memory while the database is unreachable. The oldest rows are dropped first. */
const MAX_ROWS = 20_000;

/** Opens the request log of a process. Close it before the pool. */
export function openUsage(db: Db, options: { log?: { warn(fields: object, message: string): void } } = {}): Usage {
    const writer = openBatchWriter<Recorded>({
        write: (rows) => writeRows(db, rows),
        everyMs: EVERY_MS,
        maxRows: MAX_ROWS,
        onError: (error) => options.log?.warn({ part: 'usage', err: error }, 'the request log could not be written'),
    });
    return { ...writer, record: (row) => writer.record({ ...row, recordedAt: performance.now() }) };
}

type Recorded = UsageRow & { recordedAt: number };

/** Creates a missing daily partition: all workers were down, or the clock has jumped. */
async function writeRows(db: Db, rows: readonly Recorded[]): Promise<void> {
    try {
        await insertRows(db, rows);
    } catch (error) {
        if (!isDayMissing(error)) throw error;
        await makeLogDays(db, performance.now() - Math.min(...rows.map(({ recordedAt }) => recordedAt)));
        await insertRows(db, rows);
    }
}

/** One statement, so that a batch is counted once or not at all. Sorted, so that processes do not deadlock. */
async function insertRows(db: Db, rows: readonly Recorded[]): Promise<void> {
    const now = performance.now();
    await db.raw(
        `with clock as materialized (select app_now() as moment), given as materialized (
             select r.*, clock.moment - r.age_ms * interval '1 millisecond' as at,
                    ((clock.moment - r.age_ms * interval '1 millisecond') at time zone 'UTC')::date as day,
                    left(encode(sha256((select key from caller_key) || convert_to(r.address, 'UTF8')), 'hex'), 16) as address_hash
             from clock, json_to_recordset(?::json) as r (
                 age_ms double precision, kind text, operation text, request_id text, account_id text, address text, workspace_id text, user_id text, key_id text,
                 session_id text, site text, registrable text, endpoint text, version integer, outcome text, credits integer,
                 results integer, cached boolean, duration_ms integer, queue_ms integer, upstream_status integer,
                 upstream_attempts integer, upstream_ms integer, upstream_bytes bigint, is_success boolean, bucket smallint, took_bucket smallint)
         ), logged as (
             insert into usage (at, ${LOGGED}) select at, ${LOGGED} from given
         ), days as (
             insert into endpoint_days as kept (site, endpoint, day, successes, failures, last_success_at)
             select site, endpoint, day, count(*) filter (where is_success),
                    count(*) filter (where not is_success), max(at) filter (where is_success)
             from given where is_success is not null and endpoint is not null group by 1, 2, 3 order by 1, 3, 2
             on conflict (site, day, endpoint) do update
             set successes = kept.successes + excluded.successes, failures = kept.failures + excluded.failures,
                 last_success_at = greatest(kept.last_success_at, excluded.last_success_at)
         ), hours as (
             insert into usage_hours as kept (workspace_id, hour, user_id, account_id, key_id, site, endpoint, bucket, calls, credits)
             select workspace_id, date_trunc('hour', at, 'UTC'), coalesce(user_id, ''), coalesce(account_id, ''), coalesce(key_id, ''),
                    site, coalesce(endpoint, ''), took_bucket, count(*), sum(credits)
             from given where workspace_id is not null group by 1, 2, 3, 4, 5, 6, 7, 8 order by 1, 2, 3, 4, 5, 6, 7, 8
             on conflict (workspace_id, hour, user_id, account_id, key_id, site, endpoint, bucket) do update
             set calls = kept.calls + excluded.calls, credits = kept.credits + excluded.credits
         ), callers as (
             insert into site_callers as kept (site, workspace_id, day)
             select g.site, g.workspace_id, max(g.day) from given g
             where g.is_success and g.workspace_id is not null
               and not exists (select from site_callers k where k.site = g.site and k.workspace_id = g.workspace_id and k.day >= g.day)
             group by 1, 2 order by 1, 2
             on conflict (site, workspace_id) do update set day = greatest(kept.day, excluded.day)
         ), site_durations as (
             insert into site_durations as kept (site, day, bucket, successes)
             select site, day, bucket, count(*)
             from given where is_success and endpoint is not null group by 1, 2, 3 order by 1, 2, 3
             on conflict (site, day, bucket) do update set successes = kept.successes + excluded.successes
         )
         insert into endpoint_durations as kept (site, endpoint, day, bucket, successes)
         select site, endpoint, day, bucket, count(*)
         from given where is_success and endpoint is not null group by 1, 2, 3, 4 order by 1, 3, 2, 4
         on conflict (site, day, endpoint, bucket) do update set successes = kept.successes + excluded.successes`,
        [JSON.stringify(rows.map((row) => toColumns(row, now)))],
    );
}

const LOGGED = `kind, operation, request_id, account_id, address_hash, workspace_id, user_id, key_id, session_id, site, registrable, endpoint, version, outcome, credits,
    results, cached, duration_ms, queue_ms, upstream_status, upstream_attempts, upstream_ms, upstream_bytes`;

function toColumns(row: Recorded, now: number) {
    const { upstream, queueMs } = row;
    return {
        age_ms: now - row.recordedAt,
        kind: row.kind,
        operation: row.operation,
        request_id: row.requestId,
        account_id: row.accountId,
        address: row.address,
        workspace_id: row.workspaceId,
        user_id: row.userId,
        key_id: row.keyId,
        session_id: row.sessionId,
        site: row.site,
        registrable: row.registrable,
        endpoint: row.endpoint,
        version: row.version,
        outcome: row.outcome,
        credits: row.credits,
        results: row.results,
        cached: row.cached ?? false,
        duration_ms: Math.round(row.durationMs),
        queue_ms: queueMs === undefined ? undefined : Math.round(queueMs),
        upstream_status: upstream?.status,
        upstream_attempts: upstream?.attempts,
        upstream_ms: upstream === undefined ? undefined : Math.round(upstream.durationMs),
        upstream_bytes: upstream?.bytes,
        is_success: verdict(row),
        bucket: toBucket(upstream?.durationMs ?? row.durationMs),
        took_bucket: row.outcome === 'success' ? toBucket(row.durationMs) : -1,
    };
}

/** The effect of a call on the health of its endpoint. Only calls that reached the site, or failed because of the schema, count. */
function verdict({ kind, outcome: ended, failedPage, cached, isCallers }: UsageRow): boolean | undefined {
    const outcome = failedPage ?? ended;
    if (kind !== 'fetch' || cached === true || isCallers === true) return undefined;
    if (outcome === 'success') return true;
    const { fault } = refusalEntry(outcome);
    return (fault === 'upstream' || fault === 'schema') && outcome !== 'SITE_UNAVAILABLE' ? false : undefined;
}
