import type { Knex } from 'knex';
import { isStepForward, type NewRequest, type RequestStatus, type SchemaRequest } from '../../domain/site/schema-request.ts';
import { columns, type Db, definedConditions, now, toColumns } from '../../platform/db.ts';
import { type NewEvent, recordEvents } from '../events/events.ts';

/** Requests for schemas that do not exist yet. Import it as a namespace: `schemaRequests.create(…)`. */

/** Stores an open request. @returns its time, and the number of open requests for its domain, including this one */
export async function create(
    db: Db,
    request: NewRequest,
    by: { id: string; workspaceId: string | undefined },
): Promise<{ createdAt: Date; demand: number }> {
    return db.transaction(async (trx) => {
        const row = { ...toColumns(request), id: by.id, workspace_id: by.workspaceId };
        const [made] = await trx('schema_requests').insert(row).returning('created_at');
        await trx('schema_request_history').insert({ request_id: by.id, status: 'open' });
        return { createdAt: made.created_at, demand: await demandFor(trx, request.domain) };
    });
}

export async function find(db: Db, id: string): Promise<SchemaRequest | undefined> {
    const row = await db('schema_requests as r')
        .leftJoin('versions as v', 'v.id', 'r.fulfilled_version_id')
        .where({ 'r.id': id })
        .first<RequestRow>({
            ...columns(
                'r',
                'id domain task read_or_write auth_shape output_shape failure_mode intent_category frequency status created_at',
                'updated_at',
            ),
            ...columns('v', 'site version'),
        });
    if (row === undefined) return undefined;
    const { site, version, ...request } = row;
    return {
        ...request,
        demand: await demandFor(db, request.domain),
        fulfilledBy: site === null || version === null ? null : { site, version },
        history: await db('schema_request_history').where({ request_id: id }).orderBy('id').select('status', 'at'),
    };
}

interface RequestRow extends Omit<SchemaRequest, 'demand' | 'fulfilledBy' | 'history'> {
    /** Null if no version fulfilled the request. */
    site: string | null;
    version: number | null;
}

/** The requests of a workspace, newest first. */
export async function madeBy(
    db: Db,
    workspaceId: string,
    limit: number,
): Promise<Pick<SchemaRequest, 'id' | 'domain' | 'task' | 'status' | 'createdAt'>[]> {
    return db('schema_requests')
        .where({ workspace_id: workspaceId })
        .orderBy([{ column: 'created_at', order: 'desc' }, 'id'])
        .limit(limit)
        .select(columns('', 'id domain task status created_at'));
}

type ListedRequest = Pick<SchemaRequest, 'id' | 'domain' | 'task' | 'status' | 'demand' | 'createdAt'> & {
    /** Null if the request was sent without a key. */
    workspaceId: string | null;
};

/** Requests of all workspaces, newest first, optionally with one status. */
export async function list(db: Db, { status, limit }: { status: RequestStatus | undefined; limit: number }): Promise<ListedRequest[]> {
    return db('schema_requests as r')
        .leftJoin('requested_domains as d', 'd.domain', 'r.domain')
        .where(definedConditions({ 'r.status': status }))
        .orderBy([{ column: 'r.created_at', order: 'desc' }, 'r.id'])
        .limit(limit)
        .select({
            ...columns('r', 'id domain task status created_at workspace_id'),
            demand: db.raw('coalesce(d.requests, 0)'),
        });
}

/** `refused`: a status only moves forward, and the new status may not follow the current one. */
type Moved = { outcome: 'moved' | 'unchanged' | 'refused'; before: RequestStatus } | { outcome: 'absent' };

/** Repeating it does nothing. A fulfilled request refers to the latest version of its site, if there is one. */
export async function move(db: Db, id: string, status: RequestStatus): Promise<Moved> {
    return db.transaction(async (trx) => {
        const request = await trx('schema_requests').where({ id }).forUpdate().first('status', 'domain');
        if (request === undefined) return { outcome: 'absent' };
        const before: RequestStatus = request.status;
        if (before === status) return { outcome: 'unchanged', before };
        if (!isStepForward(before, status)) return { outcome: 'refused', before };
        const latest = status === 'fulfilled' ? await trx('sites').where({ site: request.domain }).first('latest_version_id') : undefined;
        await moveTo(trx, trx('schema_requests').where({ id }), { status, fulfilled_version_id: latest?.latest_version_id ?? null });
        return { outcome: 'moved', before };
    });
}

/** Fulfils every request that waits for a schema of `site`. Call it in the transaction that publishes the version. */
export async function fulfil(db: Db, site: string, versionId: number): Promise<void> {
    const waiting = db('schema_requests').where({ domain: site }).whereIn('status', ['open', 'in_progress']);
    await moveTo(db, waiting, { status: 'fulfilled', fulfilled_version_id: versionId });
}

async function moveTo(
    db: Db,
    requests: Knex.QueryBuilder,
    to: { status: RequestStatus; fulfilled_version_id: number | null },
): Promise<void> {
    const moved = requests.update({ ...to, updated_at: now(db) }).returning(['id', 'domain', 'workspace_id']);
    const steps = db('moved').select('id', db.raw('?::text', [to.status]));
    // All in the database: a domain may have hundreds of thousands of requests, and a statement has at most 65,535 values.
    const keyed: KeyedRequest[] = await db
        .with('moved', moved)
        .with('entered', db(db.raw('schema_request_history (request_id, status)')).insert(steps))
        .from('moved')
        .whereNotNull('workspace_id')
        .select(columns('', 'id domain workspace_id'));
    if (to.status !== 'fulfilled' || keyed.length === 0) return;
    const by = await db('versions').where({ id: to.fulfilled_version_id }).first('site', 'version');
    for (let from = 0; from < keyed.length; from += EVENTS_AT_ONCE) {
        const some = keyed.slice(from, from + EVENTS_AT_ONCE);
        await recordEvents(
            db,
            some.map((request) => fulfilledEvent(request, by ?? null)),
        );
    }
}

const EVENTS_AT_ONCE = 500;

/** A request of a workspace. */
interface KeyedRequest {
    id: string;
    domain: string;
    workspaceId: string;
}

function fulfilledEvent({ id, domain, workspaceId }: KeyedRequest, fulfilled_by: { site: string; version: number } | null): NewEvent {
    return { type: 'request.fulfilled', workspaceId, data: { request_id: id, domain, status: 'fulfilled', fulfilled_by } };
}

/**
 * The most requested domains, by the number of people, then of open requests, so that repeats of one caller do not raise a domain.
 * Workspaces count by one of their owners, and all callers without a key as one. Blocked domains are left out. A trigger counts.
 */
export async function mostRequested(db: Db, limit: number): Promise<{ domain: string; requests: number }[]> {
    const blocked = db('domains as d').whereRaw('d.registrable = r.registrable').where({ 'd.is_blocked': true }).select('d.registrable');
    return db('requested_domains as r')
        .whereNotExists(blocked)
        .orderBy([{ column: 'people', order: 'desc' }, { column: 'requests', order: 'desc' }, 'domain'])
        .limit(limit)
        .select('domain', 'requests');
}

async function demandFor(db: Db, domain: string): Promise<number> {
    return (await db('requested_domains').where({ domain }).first('requests'))?.requests ?? 0;
}
