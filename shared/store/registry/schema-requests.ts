import { isStepForward, type NewRequest, type RequestStatus, type SchemaRequest } from '../../domain/site/schema-request.ts';
import type { Db } from '../../platform/db.ts';

/** Requests for schemas that do not exist yet. Import it as a namespace: `schemaRequests.create(…)`. */

/** Records an open request. @returns its time, and the number of open requests for its domain, including this one */
export async function create(
    db: Db,
    request: NewRequest,
    by: { id: string; workspaceId: string | undefined },
): Promise<{ createdAt: Date; demand: number }> {
    const { rows } = await db.raw<{ rows: [{ created_at: Date }] }>(
        `with made as (
             insert into schema_requests (id, domain, registrable, task, read_or_write, auth_shape, output_shape, failure_mode, intent_category,
                                          source_url, frequency, requester_contact, workspace_id)
             values (:id, :domain, :registrable, :task, :readOrWrite, :authShape, :outputShape, :failureMode, :intentCategory,
                     :sourceUrl, :frequency, :requesterContact, :workspaceId)
             returning id, status, created_at
         ), entry as (
             insert into schema_request_history (request_id, status, at) select id, status, created_at from made
         )
         select created_at from made`,
        { ...request, id: by.id, workspaceId: by.workspaceId ?? null },
    );
    return { createdAt: rows[0].created_at, demand: await demandFor(db, request.domain) };
}

/** A request as everybody may see it; undefined for an unknown id. */
export async function find(db: Db, id: string): Promise<SchemaRequest | undefined> {
    const { rows } = await db.raw<{ rows: RequestColumns[] }>(
        `select r.id, r.domain, r.task, r.read_or_write, r.auth_shape, r.output_shape, r.failure_mode, r.intent_category, r.frequency,
                r.status, r.created_at, r.updated_at, v.site as fulfilled_site, v.version as fulfilled_version,
                (select count(*) from schema_requests o where o.domain = r.domain and o.status = 'open') as demand,
                (select json_agg(json_build_object('status', h.status, 'at', h.at) order by h.id)
                 from schema_request_history h where h.request_id = r.id) as history
         from schema_requests r left join versions v on v.id = r.fulfilled_version_id
         where r.id = ?`,
        [id],
    );
    return rows[0] && toRequest(rows[0]);
}

/** A workspace's own requests, newest first. */
export async function madeBy(
    db: Db,
    workspaceId: string,
    limit: number,
): Promise<Pick<SchemaRequest, 'id' | 'domain' | 'task' | 'status' | 'createdAt'>[]> {
    const { rows } = await db.raw<{ rows: Pick<SchemaRequest, 'id' | 'domain' | 'task' | 'status' | 'createdAt'>[] }>(
        `select id, domain, task, status, created_at as "createdAt" from schema_requests
         where workspace_id = ? order by created_at desc, id limit ?`,
        [workspaceId, limit],
    );
    return rows;
}

/** `refused`: a status only moves forward, and this one may not come after the present one. */
export type Moved = { outcome: 'moved' | 'unchanged' | 'refused'; before: RequestStatus } | { outcome: 'absent' };

/**
 * Moves a request on to a status; a second time it does nothing. One that is called fulfilled names the latest version of its site,
 * where there is any.
 */
export async function move(db: Db, id: string, status: RequestStatus): Promise<Moved> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: { status: RequestStatus }[] }>(
            'select status from schema_requests where id = ? for update',
            [id],
        );
        const before = rows[0]?.status;
        if (before === undefined) return { outcome: 'absent' };
        if (before === status) return { outcome: 'unchanged', before };
        if (!isStepForward(before, status)) return { outcome: 'refused', before };
        await trx.raw(
            `with moved as (
                 update schema_requests r
                 set status = :status, updated_at = app_now(),
                     fulfilled_version_id = case when :status = 'fulfilled'
                         then (select latest_version_id from sites where site = r.domain) end
                 where id = :id returning id, updated_at
             )
             insert into schema_request_history (request_id, status, at) select id, :status, updated_at from moved`,
            { id, status },
        );
        return { outcome: 'moved', before };
    });
}

/** Ends every request that waits for a schema of `site`; call it in the transaction that publishes the version. */
export async function fulfil(db: Db, site: string, versionId: number): Promise<void> {
    await db.raw(
        `with moved as (
             update schema_requests set status = 'fulfilled', fulfilled_version_id = ?, updated_at = app_now()
             where domain = ? and status in ('open', 'in_progress') returning id, updated_at
         )
         insert into schema_request_history (request_id, status, at) select id, 'fulfilled', updated_at from moved`,
        [versionId, site],
    );
}

/** The domains with the most open requests, most first, of equals in the order of their names; blocked ones are left out. */
export async function mostRequested(db: Db, limit: number): Promise<{ domain: string; requests: number }[]> {
    const { rows } = await db.raw<{ rows: { domain: string; requests: number }[] }>(
        `select domain, count(*) as requests from schema_requests r
         where status = 'open' and not exists (select from domains d where d.registrable = r.registrable and d.is_blocked)
         group by domain order by count(*) desc, domain limit ?`,
        [limit],
    );
    return rows;
}

async function demandFor(db: Db, domain: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ demand: number }] }>(
        "select count(*) as demand from schema_requests where domain = ? and status = 'open'",
        [domain],
    );
    return rows[0].demand;
}

interface RequestColumns {
    id: string;
    domain: string;
    task: string;
    read_or_write: SchemaRequest['readOrWrite'];
    auth_shape: SchemaRequest['authShape'];
    output_shape: string | null;
    failure_mode: string | null;
    intent_category: string | null;
    frequency: SchemaRequest['frequency'];
    status: RequestStatus;
    created_at: Date;
    updated_at: Date;
    fulfilled_site: string | null;
    fulfilled_version: number | null;
    demand: number;
    history: { status: RequestStatus; at: string }[];
}

function toRequest(row: RequestColumns): SchemaRequest {
    const { fulfilled_site: site, fulfilled_version: version } = row;
    return {
        id: row.id,
        domain: row.domain,
        task: row.task,
        readOrWrite: row.read_or_write,
        authShape: row.auth_shape,
        outputShape: row.output_shape,
        failureMode: row.failure_mode,
        intentCategory: row.intent_category,
        frequency: row.frequency,
        status: row.status,
        demand: row.demand,
        createdAt: row.created_at,
        updatedAt: row.updated_at,
        fulfilledBy: site === null || version === null ? null : { site, version },
        // json has times as text.
        history: row.history.map(({ status, at }) => ({ status, at: new Date(at) })),
    };
}
