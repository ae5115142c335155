import type { Db } from '../../platform/db.ts';

/** Which calls of the request log; what is undefined does not narrow. */
export interface CallFilter {
    workspaceId: string;
    /** One member's calls alone. */
    userId: string | undefined;
    site: string | undefined;
    /** `''` for calls without an endpoint: look-ups in the catalog, and what was refused before it was known. */
    endpoint: string | undefined;
    keyId: string | undefined;
    /** `success`, `failed` for everything else, or a code. */
    outcome: string | undefined;
    operation: string | undefined;
    from: Date | undefined;
    /** Exclusive. */
    until: Date | undefined;
}

export interface LoggedCall {
    operation: string;
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

/** A call's place in the log: microseconds since 1970, and the id of its row. */
export type CallPlace = readonly [micros: number, id: number];

export interface CallPage {
    calls: LoggedCall[];
    /** Where older calls go on; undefined where there are none. */
    next: CallPlace | undefined;
}

/** The most rows that one query reads, even where few of them match. */
const LOOKED_AT = 20_000;

/** Calls of a workspace, newest first. A page may have fewer calls than `most`, or none, although older ones follow. */
export async function listCalls(db: Db, filter: CallFilter, page: { most: number; before: CallPlace | undefined }): Promise<CallPage> {
    const { most } = page;
    const { text, values } = walk(filter, page.before);
    const { rows } = await db.raw<{ rows: CallRow[] }>(
        `select operation, at, kind, site, endpoint, version, key_id as "keyId", outcome, credits, results, cached,
                duration_ms as "durationMs", queue_ms as "queueMs", upstream_status as "upstreamStatus", upstream_ms as "upstreamMs",
                ${MICROS} as micros, id
         from (${text} limit ${LOOKED_AT}) as u
         where (cast(:userId as text) is null or user_id = :userId) and (cast(:site as text) is null or site = :site)
           and (cast(:endpoint as text) is null or coalesce(endpoint, '') = :endpoint) and (cast(:keyId as text) is null or key_id = :keyId)
           and (cast(:outcome as text) is null or outcome = :outcome or (:outcome = 'failed' and outcome <> 'success'))
           and (cast(:operation as text) is null or operation = :operation)
         order by at desc, id desc limit :limit`,
        { ...values, limit: most + 1 },
    );
    const calls = rows.slice(0, most).map(({ micros: _micros, id: _id, ...call }) => call);
    const last = rows[most - 1];
    if (rows.length > most && last !== undefined) return { calls, next: [last.micros, last.id] };
    const { rows: ends } = await db.raw<{ rows: { micros: number; id: number }[] }>(
        `select ${MICROS} as micros, id from (${text} offset ${LOOKED_AT - 1} limit 1) as u`,
        values,
    );
    const end = ends[0];
    return { calls, next: end && [end.micros, end.id] };
}

/** When a call that held credits in this workspace began; undefined where it has none. */
export async function heldAt(db: Db, workspaceId: string, operation: string): Promise<Date | undefined> {
    const { rows } = await db.raw<{ rows: { at: Date }[] }>('select created_at as at from holds where operation = ? and workspace_id = ?', [
        operation,
        workspaceId,
    ]);
    return rows[0]?.at;
}

interface CallRow extends LoggedCall {
    micros: number;
    id: number;
}

const MICROS = '(extract(epoch from at) * 1000000)::bigint';

/** Reads the log along its index, from a place on. */
function walk(filter: CallFilter, before: CallPlace | undefined) {
    const { workspaceId, userId, site, endpoint, keyId, outcome, operation, from, until } = filter;
    const bounds = [
        'workspace_id = :workspaceId',
        ...(from === undefined ? [] : ['at >= :from']),
        ...(until === undefined ? [] : ['at < :until']),
        ...(before === undefined
            ? []
            : ["(at, id) < (timestamptz 'epoch' + cast(:micros as bigint) * interval '1 microsecond', cast(:id as bigint))"]),
    ];
    return {
        text: `select * from usage where ${bounds.join(' and ')} order by at desc, id desc`,
        values: {
            workspaceId,
            userId: userId ?? null,
            site: site ?? null,
            endpoint: endpoint ?? null,
            keyId: keyId ?? null,
            outcome: outcome ?? null,
            operation: operation ?? null,
            ...(from === undefined ? {} : { from }),
            ...(until === undefined ? {} : { until }),
            ...(before === undefined ? {} : { micros: before[0], id: before[1] }),
        },
    };
}
