import type { Act } from '../../domain/accounts/acts.ts';
import type { JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import type { Caller } from './api-keys.ts';

/** Who acts: `usr_…`, `key_…`, another workspace, an operator, or Routebook itself. */
export type Actor = `usr_${string}` | `key_${string}` | `wsp_${string}` | 'operator' | 'system';

/** Who acts, and from which address. */
export interface By {
    actor: Actor;
    ip?: string | undefined;
}

export interface NewAct extends By {
    workspaceId: string;
    action: Act;
    /** What it was done to: an id, an address of a member, or `site@version`. */
    target: string;
    /** What changed. Never a key or another secret. */
    details?: JsonObject | undefined;
}

export interface ActRow {
    at: Date;
    actor: Actor;
    action: Act;
    target: string;
    ip: string | null;
    details: JsonObject;
}

export const AUDIT_DAYS = 400;
/** Addresses are forgotten earlier. */
const IP_DAYS = 90;

/** Records an act in the audit of a workspace; call it in the transaction that does it. */
export async function recordAct(db: Db, { workspaceId, actor, action, target, ip, details = {} }: NewAct): Promise<void> {
    await db.raw('insert into workspace_audit (workspace_id, actor, action, target, ip, details) values (?, ?, ?, ?, ?::inet, ?::jsonb)', [
        workspaceId,
        actor,
        action,
        target,
        ip ?? null,
        JSON.stringify(details),
    ]);
}

/** A user as an actor. */
export function actorOfUser(userId: string): Actor {
    return userId as Actor;
}

/** Another workspace as an actor. */
export function actorOfWorkspace(workspaceId: string): Actor {
    return workspaceId as Actor;
}

/** The key that calls, or the user where a page calls for its visitor. */
export function actorOf({ keyId, userId }: Pick<Caller, 'keyId' | 'userId'>): Actor {
    return (keyId === '' ? userId : keyId) as Actor;
}

export interface ActFilter {
    workspaceId: string;
    actor?: string | undefined;
    action?: string | undefined;
    since?: Date | undefined;
}

/** Where a page begins: behind this row. */
export interface ActPlace {
    /** As the database writes it, to the microsecond. */
    at: string;
    id: number;
}

/** One page of a workspace's audit, newest first, and how many rows there are in all. */
export async function pageOfActs(
    db: Db,
    { workspaceId, actor, action, since }: ActFilter,
    { limit, after }: { limit: number; after: ActPlace | undefined },
): Promise<{ acts: ActRow[]; next: ActPlace | undefined; total: number }> {
    const values = {
        workspaceId,
        actor: actor ?? null,
        action: action ?? null,
        since: since ?? null,
        days: AUDIT_DAYS,
        ipDays: IP_DAYS,
        at: after?.at ?? 'infinity',
        id: after?.id ?? 0,
        rows: limit + 1,
    };
    const wanted = `workspace_id = :workspaceId and at > app_now() - :days * interval '1 day'
        and (:actor::text is null or actor = :actor) and (:action::text is null or action = :action)
        and (:since::timestamptz is null or at >= :since)`;
    const [{ rows }, counted] = await Promise.all([
        db.raw<{ rows: (ActRow & { place: string; id: number })[] }>(
            `select id, at, at::text as place, actor, action, target, details,
                    case when at > app_now() - :ipDays * interval '1 day' then host(ip) end as ip
             from workspace_audit where ${wanted} and (at, id) < (:at::timestamptz, :id)
             order by at desc, id desc limit :rows`,
            values,
        ),
        db.raw<{ rows: [{ count: number }] }>(`select count(*) from workspace_audit where ${wanted}`, values),
    ]);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
        acts: shown.map(({ at, actor: by, action: act, target, ip, details }) => ({ at, actor: by, action: act, target, ip, details })),
        next: last && { at: last.place, id: last.id },
        total: counted.rows[0].count,
    };
}

/** Makes partitions ahead of time, drops months that are over, and forgets old addresses. Every process may call it. */
export async function maintainAudit(db: Db): Promise<void> {
    await db.raw('select workspace_audit_upkeep(?, ?)', [AUDIT_DAYS, IP_DAYS]);
}

/** Deletes the audit of workspaces that nobody belongs to any more, and what it says of a deleted user elsewhere. */
export async function forgetInAudit(
    db: Db,
    { userId, email, alone, others }: { userId: string; email: string; alone: readonly string[]; others: readonly string[] },
): Promise<void> {
    await db.raw('delete from workspace_audit where workspace_id = any(?::text[])', [[...alone]]);
    await db.raw(
        `update workspace_audit set ip = case when actor = :userId then null else ip end,
                details = case when lower(details->>'address') = lower(:email) then details - 'address' else details end
         where workspace_id = any(:others::text[]) and (actor = :userId or lower(details->>'address') = lower(:email))`,
        { userId, email, others: [...others] },
    );
}
