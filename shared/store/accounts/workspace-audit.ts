import type { Act } from '../../domain/accounts/acts.ts';
import type { JsonObject } from '../../domain/types.ts';
import { ago, countSome, type Db, definedConditions } from '../../platform/db.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';

/** The actor: `usr_…`, `key_…`, another workspace, an operator, or Routebook itself. */
type Actor = `usr_${string}` | `key_${string}` | `wsp_${string}` | 'operator' | 'system';

/** The actor and the client address. */
export interface By {
    actor: Actor;
    ip?: string | undefined;
}

export interface NewAct extends By {
    workspaceId: string;
    action: Act;
    /** An id, the address of a member, or `site@version`. */
    target: string;
    /** Never contains a key or another secret. */
    details?: JsonObject | undefined;
}

interface ActRow {
    at: Date;
    actor: Actor;
    action: Act;
    target: string;
    ip: string | null;
    details: JsonObject;
}

const AUDIT_DAYS = 400;
/** Client addresses are deleted after this many days, before the row. */
const IP_DAYS = 90;

/** Records an action in the audit log of a workspace. Call it in the transaction of the action. */
export async function recordAct(db: Db, { workspaceId, actor, action, target, ip, details = {} }: NewAct): Promise<void> {
    await db('workspace_audit').insert({ workspace_id: workspaceId, actor, action, target, ip, details: JSON.stringify(details) });
}

export function actorOfUser(userId: string): Actor {
    return userId as Actor;
}

export function actorOfWorkspace(workspaceId: string): Actor {
    return workspaceId as Actor;
}

/** The calling key, or the user if a page makes the call for its visitor. */
export function actorOf({ keyId, userId }: { keyId: string; userId: string }): Actor {
    return (keyId === '' ? userId : keyId) as Actor;
}

interface ActFilter {
    workspaceId: string;
    actor?: string | undefined;
    action?: string | undefined;
    since?: Date | undefined;
}

/** One page of a workspace's audit log, newest first, and the total number of rows. */
export function pageOfActs(db: Db, { workspaceId, actor, action, since }: ActFilter, page: RowPage): Promise<FoundPage<ActRow>> {
    const wanted = () =>
        db('workspace_audit')
            .where(definedConditions({ workspace_id: workspaceId, actor, action }))
            .where('at', '>', ago(db, `${AUDIT_DAYS} days`))
            .where('at', '>=', since ?? '-infinity');
    const ip = db.raw('case when at > ? then host(ip) end', [ago(db, `${IP_DAYS} days`)]);
    const columns = { at: 'at', actor: 'actor', action: 'action', target: 'target', ip, details: 'details' };
    return readRowPage<ActRow>(db, wanted(), columns, page, { at: 'at', count: () => countSome(db, wanted().select('id')) });
}

/** Creates partitions ahead of time, drops expired months, and deletes old client addresses. Every process may call it. */
export async function maintainAudit(db: Db): Promise<void> {
    await db.raw('select workspace_audit_upkeep(?, ?)', [AUDIT_DAYS, IP_DAYS]);
}

/** Deletes the data of a deleted user in the logs of these workspaces. */
export async function forgetInAudit(
    db: Db,
    { userId, email, workspaceIds }: { userId: string; email: string; workspaceIds: readonly string[] },
): Promise<void> {
    const isAbout = db.raw("lower(details->>'address') = lower(?)", [email]);
    await db('workspace_audit')
        .whereIn('workspace_id', workspaceIds)
        .where((is) => is.where({ actor: userId }).orWhere(isAbout))
        .update({
            ip: db.raw('case when actor = ? then null else ip end', [userId]),
            details: db.raw("case when ? then details - 'address' else details end", [isAbout]),
        });
}
