import type { Knex } from 'knex';
import { type Columns, columns, type Db, definedConditions } from '../../platform/db.ts';
import type { UsageScope } from './usage-report.ts';

/** Criteria for calls of the request log. Undefined ones do not restrict the result. */
export interface CallFilter extends UsageScope {
    /** `success`, `failed` for all other outcomes, or a code. */
    outcome: string | undefined;
    operation: string | undefined;
    requestId: string | undefined;
    from: Date | undefined;
    /** Exclusive. */
    until: Date | undefined;
}

export interface LoggedCall {
    operation: string;
    /** Null for calls from before it was logged. */
    requestId: string | null;
    at: Date;
    kind: 'catalog' | 'fetch';
    site: string;
    endpoint: string | null;
    version: number | null;
    keyId: string | null;
    outcome: string;
    credits: number;
    results: number | null;
    cached: boolean;
    durationMs: number;
    queueMs: number | null;
    upstreamStatus: number | null;
    upstreamMs: number | null;
}

/** The position of a call in the log: microseconds since 1970, and the id of its row. */
export type CallPlace = readonly [micros: number, id: number];

interface CallPage {
    calls: LoggedCall[];
    /** The position from which older calls continue; undefined if there are none. */
    next: CallPlace | undefined;
}

const CALL: Columns<LoggedCall> = {
    ...columns(
        '',
        'operation request_id at kind site endpoint version key_id outcome credits results cached duration_ms queue_ms upstream_status',
        'upstream_ms',
    ),
};

const NEWEST_FIRST = [
    { column: 'at', order: 'desc' },
    { column: 'id', order: 'desc' },
];

/** Maximum number of rows that one query reads, even if few of them match. */
const MAX_ROWS_READ = 20_000;

/** A statement locks each day that it might read, with its indexes. So older days are read only if 8 days do not fill the page. */
const RECENT_MS = 8 * 86_400_000;

/** Calls of a workspace, newest first. A page may have fewer calls than `limit`, or none, although older ones follow. */
export async function listCalls(db: Db, filter: CallFilter, page: { limit: number; before: CallPlace | undefined }): Promise<CallPage> {
    const newest = Math.min(Date.now(), filter.until?.getTime() ?? Infinity, (page.before?.[0] ?? Infinity) / 1000);
    const recent = new Date(newest - RECENT_MS);
    if (filter.from !== undefined && filter.from >= recent) return readCalls(db, filter, page);
    const found = await readCalls(db, { ...filter, from: recent }, page);
    return found.next === undefined ? readCalls(db, filter, page) : found;
}

async function readCalls(db: Db, filter: CallFilter, page: { limit: number; before: CallPlace | undefined }): Promise<CallPage> {
    const { limit } = page;
    const place = { micros: db.raw('(extract(epoch from at) * 1000000)::bigint'), id: 'id' };
    const looked = alongIndex(db, filter, page.before);
    const rows: (LoggedCall & { micros: number; id: number })[] = await filterCalls(db, looked.clone().limit(MAX_ROWS_READ), filter)
        .orderBy(NEWEST_FIRST)
        .limit(limit + 1)
        .select({ ...CALL, ...place });
    const calls = rows.slice(0, limit).map(({ micros: _micros, id: _id, ...call }) => call);
    const last = rows[limit - 1];
    const end =
        rows.length > limit
            ? last
            : await db
                  .from(
                      looked
                          .offset(MAX_ROWS_READ - 1)
                          .limit(1)
                          .as('u'),
                  )
                  .first(place);
    return { calls, next: end && [end.micros, end.id] };
}

/** Reads the log in the order of its index, beginning at a position. */
function alongIndex(db: Db, { workspaceId, from, until }: CallFilter, before: CallPlace | undefined): Knex.QueryBuilder {
    const log = db('usage').where({ workspace_id: workspaceId }).orderBy(NEWEST_FIRST).select('*');
    if (from !== undefined) log.where('at', '>=', from);
    if (until !== undefined) log.where('at', '<', until);
    if (before !== undefined)
        log.whereRaw("(at, id) < (timestamptz 'epoch' + ?::bigint * interval '1 microsecond', ?::bigint)", [...before]);
    return log;
}

function filterCalls(
    db: Db,
    log: Knex.QueryBuilder,
    { userId, site, endpoint, keyId, outcome, operation, requestId }: CallFilter,
): Knex.QueryBuilder {
    const calls = db.from(log.as('u')).where(definedConditions({ user_id: userId, site, key_id: keyId, operation, request_id: requestId }));
    if (endpoint !== undefined) calls.whereRaw("coalesce(endpoint, '') = ?", [endpoint]);
    if (outcome === 'failed') calls.whereNot({ outcome: 'success' });
    else if (outcome !== undefined) calls.where({ outcome });
    return calls;
}

/** When a call that held credits in this workspace began; undefined if there is no such call. */
export async function heldAt(db: Db, workspaceId: string, operation: string): Promise<Date | undefined> {
    const hold = await db('holds').where({ operation, workspace_id: workspaceId }).first('created_at');
    return hold?.created_at;
}

/** The latest calls of a workspace that one account paid for, newest first. `byUser` limits them to one user. */
export async function recentCalls(
    db: Db,
    { accountId, workspaceId, byUser, limit }: { accountId: string; workspaceId: string; byUser?: string | undefined; limit: number },
): Promise<RecentCall[]> {
    const calls = db('usage')
        .where(definedConditions({ account_id: accountId, workspace_id: workspaceId, user_id: byUser }))
        .orderBy(NEWEST_FIRST)
        .limit(limit)
        .select(columns('', 'at site endpoint outcome credits duration_ms'));
    const recent: RecentCall[] = await calls.clone().where('at', '>=', new Date(Date.now() - RECENT_MS));
    return recent.length < limit ? calls : recent;
}

type RecentCall = Pick<LoggedCall, 'at' | 'site' | 'endpoint' | 'outcome' | 'credits' | 'durationMs'>;
