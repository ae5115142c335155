import type { Knex } from 'knex';
import { KEPT_CHANGES, KEPT_RUNS } from '../../domain/monitors/bounds.ts';
import type { MonitorStatus, PausedReason, RunStatus, SkippedReason } from '../../domain/monitors/states.ts';
import type { Effect } from '../../domain/types.ts';
import { columns, countRows, type Db, definedConditions, lockName, PAGE_BYTES, toColumns } from '../../platform/db.ts';
import { type FoundPage, type PageOrder, readNumberedPage } from '../../platform/row-page.ts';
import { type Reader, seenBy } from '../jobs/jobs.ts';

export interface MonitorRow {
    monitorId: string;
    /** Increases with the time of creation. */
    number: number;
    workspaceId: string;
    keyId: string;
    /** Whose key it is. */
    userId: string;
    name: string | null;
    site: string;
    endpoint: string;
    ownerId: string | null;
    /** Encrypted (sealed.ts). */
    request: Buffer;
    every: string | null;
    cron: string | null;
    timezone: string | null;
    watch: string | null;
    identity: string | null;
    /** JSON text. */
    notifyWhen: string;
    maxCreditsPerDay: number | null;
    /** JSON text. */
    metadata: string;
    status: MonitorStatus;
    pausedReason: PausedReason | null;
    since: Date;
    nextRunAt: Date | null;
    failures: number;
    base: number;
    createdAt: Date;
}

const ROW = {
    notifyWhen: 'm.told_when',
    ...columns(
        'm',
        'monitor_id number workspace_id key_id user_id name site endpoint owner_id request every cron timezone watch identity',
        'max_credits_per_day metadata status paused_reason since next_run_at failures base created_at',
    ),
};

export interface RunRow {
    runId: string;
    number: number;
    status: RunStatus;
    skippedReason: SkippedReason | null;
    dueAt: Date | null;
    startedAt: Date;
    finishedAt: Date | null;
    jobId: string | null;
    version: number | null;
    creditsUsed: number;
    code: string | null;
    error: Buffer | null;
    changed: boolean | null;
    changeId: string | null;
}

const RUN = columns(
    'r',
    'run_id number status skipped_reason due_at started_at finished_at job_id version credits_used code error changed change_id',
);

export interface ChangeRow {
    changeId: string;
    number: number;
    at: Date;
    /** Encrypted. */
    diff: Buffer;
    diffTruncated: boolean;
    beforeRun: string;
    afterRun: string;
}

/** The fields that callers set, and the key whose rights the monitor uses. */
export interface MonitorFields extends Omit<MonitorRow, 'monitorId' | 'number' | 'workspaceId' | 'site' | 'endpoint' | 'createdAt'> {
    needs: Effect;
    connectionId: string | null;
}

export type NewMonitor = MonitorFields & { monitorId: string; workspaceId: string; site: string; endpoint: string; createdAt: Date };

export async function addMonitor(trx: Db, monitor: NewMonitor): Promise<void> {
    await trx('monitors').insert(toRow(monitor));
}

/** Changes a monitor and voids the claim of a run that is about to start with the old fields. */
export async function changeMonitor(trx: Db, monitorId: string, fields: Partial<MonitorFields>): Promise<void> {
    await trx('monitors')
        .where({ monitor_id: monitorId })
        .update({ ...toRow(fields), claim: null, claimed_until: null });
}

function toRow({ notifyWhen, ...fields }: Partial<NewMonitor>): Record<string, unknown> {
    return { ...toColumns(fields), ...(notifyWhen === undefined ? {} : { told_when: notifyWhen }) };
}

export async function deleteMonitor(trx: Db, monitorId: string): Promise<void> {
    await trx('monitors').where({ monitor_id: monitorId }).delete();
}

/** Finds a monitor that the reader may see: one that a key with the reader's scopes could have created. */
export async function findMonitor(db: Db, reader: Reader, monitorId: string): Promise<MonitorRow | undefined> {
    return seenBy(reader, db('monitors as m')).where({ 'm.monitor_id': monitorId }).first(ROW);
}

export async function lockMonitor(trx: Db, monitorId: string): Promise<MonitorRow | undefined> {
    return trx('monitors as m').where({ 'm.monitor_id': monitorId }).forUpdate().first(ROW);
}

/** A page of monitors, newest first. */
export async function listMonitors(
    db: Db,
    reader: Reader,
    { status, limit, after }: PageOrder<number> & { status?: MonitorStatus | undefined },
): Promise<FoundPage<MonitorRow, number>> {
    const found = seenBy(reader, db('monitors as m')).where(definedConditions({ 'm.status': status }));
    const total = await countRows(found.clone());
    if (after !== undefined) found.where('m.number', '<', after);
    const sized = found.select({ ...ROW, ...sizesOf(db, 'm', 'request') });
    return { ...(await readFitting<MonitorRow>(db, sized, limit)), total };
}

/** Columns for paging: the total size in bytes of the earlier rows, and the number of rows. */
function sizesOf(db: Db, table: 'm' | 'c', column: 'request' | 'diff') {
    const bytes = `octet_length(${table}.${column})`;
    return {
        bytesBefore: db.raw(`sum(${bytes}) over (order by ${table}.number desc) - ${bytes}`),
        found: db.raw('count(*) over ()'),
    };
}

/** The newest rows, at most `limit`, and fewer if they exceed the size of a page. @param sized a query with `sizesOf` */
async function readFitting<Row extends { number: number }>(db: Db, sized: Knex.QueryBuilder, limit: number) {
    const rows = (await db
        .from(sized.as('r'))
        .where('r.bytesBefore', '<', PAGE_BYTES)
        .orderBy('r.number', 'desc')
        .limit(limit)
        .select('r.*')) as unknown as (Row & { found: number })[];
    return { rows: rows as Row[], next: (rows[0]?.found ?? 0) > rows.length ? rows.at(-1)?.number : undefined };
}

/** The payer of monitors: on Free the user of their keys, otherwise the workspace. */
interface Payer {
    plan: string;
    userId: string;
    workspaceId: string;
}

/** Includes monitors of this transaction. Counts of one payer are serialized, so the limits are exact. */
export async function countMonitors(trx: Db, { plan, userId, workspaceId }: Payer, { active }: { active: boolean }): Promise<number> {
    await lockName(trx, `monitors ${plan === 'free' ? userId : workspaceId}`);
    const counted = trx('monitors as m').join('workspaces as w', 'w.id', 'm.workspace_id');
    counted.where(plan === 'free' ? { 'm.user_id': userId, 'w.plan': 'free' } : { 'm.workspace_id': workspaceId });
    if (active) counted.whereNot({ 'm.status': 'paused' });
    return countRows(counted);
}

/** Pauses the newest monitors of payers above their limit, which an operator or the plan sets. @param max the limit by plan */
export async function pauseSurplus(db: Db, max: Readonly<Record<string, number>>): Promise<void> {
    await db.raw(
        `update monitors set status = 'paused', paused_reason = 'plan', next_run_at = null, claim = null where monitor_id in (
            select monitor_id from (
                select m.monitor_id, coalesce(c.monitors, (?::jsonb ->> w.plan)::bigint) as allowed,
                       row_number() over (partition by p.payer order by m.number) as place
                from monitors m join workspaces w on w.id = m.workspace_id
                cross join lateral (select case w.plan when 'free' then m.user_id else w.id end as payer) p
                left join credit_accounts c on c.id = p.payer
                where m.status <> 'paused'
            ) ranked where place > allowed)`,
        [JSON.stringify(max)],
    );
}

export async function lastRuns(db: Db, monitors: readonly Pick<MonitorRow, 'monitorId'>[]): Promise<Map<string, RunRow>> {
    const ids = monitors.map(({ monitorId }) => monitorId);
    const rows: (RunRow & { monitorId: string })[] = await db('monitor_runs as r')
        .whereIn('r.monitor_id', ids)
        .distinctOn('r.monitor_id')
        .orderBy([{ column: 'r.monitor_id' }, { column: 'r.number', order: 'desc' }])
        .select({ ...RUN, monitorId: 'r.monitor_id' });
    return new Map(rows.map((row) => [row.monitorId, row]));
}

export async function readDiff(db: Db, changeId: string): Promise<Buffer | undefined> {
    return (await db('monitor_changes').where({ change_id: changeId }).first('diff'))?.diff;
}

/** The number of the newest run or change that is no longer kept; 0 if there is none. */
export function lastPrunedNumber(db: Db, table: 'monitor_runs' | 'monitor_changes', monitorId: string) {
    const max = table === 'monitor_runs' ? KEPT_RUNS : KEPT_CHANGES;
    return db.raw(`coalesce((select number from ${table} where monitor_id = ? order by number desc offset ? limit 1), 0)`, [
        monitorId,
        max,
    ]);
}

export function listRuns(db: Db, monitorId: string, page: PageOrder<number>): Promise<FoundPage<RunRow, number>> {
    // Older runs may still count towards the credits of the day, but they are not shown.
    const shown = db('monitor_runs as r')
        .where({ 'r.monitor_id': monitorId })
        .where('r.number', '>', lastPrunedNumber(db, 'monitor_runs', monitorId));
    return readNumberedPage(shown, RUN, page);
}

export async function listChanges(db: Db, monitorId: string, { limit, after }: PageOrder<number>): Promise<FoundPage<ChangeRow, number>> {
    const found = db('monitor_changes as c').where({ 'c.monitor_id': monitorId });
    const total = await countRows(found.clone());
    if (after !== undefined) found.where('c.number', '<', after);
    const row = columns('c', 'change_id number at diff diff_truncated before_run after_run');
    const sized = found.select({ ...row, ...sizesOf(db, 'c', 'diff') });
    return { ...(await readFitting<ChangeRow>(db, sized, limit)), total };
}

/** Counts monitors by status, and returns how long the longest due run has been due. */
export async function countByStatus(db: Db): Promise<{ counts: Record<MonitorStatus, number>; oldestDueSeconds: number }> {
    const { rows } = await db.raw<{ rows: { status: MonitorStatus; monitors: number; due: number | null }[] }>(
        `select status, count(*)::integer as monitors, extract(epoch from app_now() - min(next_run_at))::float8 as due
         from monitors group by status`,
    );
    const counts: Record<MonitorStatus, number> = { active: 0, paused: 0, failing: 0 };
    for (const { status, monitors } of rows) counts[status] = monitors;
    return { counts, oldestDueSeconds: Math.max(0, ...rows.map(({ due }) => due ?? 0)) };
}
