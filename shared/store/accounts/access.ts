import type { Role } from '../../domain/accounts/roles.ts';
import type { Db } from '../../platform/db.ts';
import { SESSION_DAYS } from './user-sessions.ts';

/** What acts for a user, or gets the data of a workspace, without a session. */
export type AccessKind =
    | 'passkey'
    | 'authenticator app'
    | 'API key'
    | 'app'
    | 'webhook'
    | 'monitor'
    | 'batch run'
    | 'connection'
    | 'invitation'
    | 'member';

export interface Access {
    kind: AccessKind;
    id: string;
    name: string;
    since: Date;
    /** Null: it belongs to the user, in every workspace. */
    workspaceId: string | null;
    workspaceName: string | null;
    /** The user's role there. */
    role: Role | null;
}

/** Maximum number of rows. The newest come first, since a thief's are newer than the session that was stolen. */
const ROWS = 200;

/** Raw: a union over ten tables. Members count for as long as a stolen session can last. */
const ACCESS = `
    with here as (
        select w.id, w.name, m.role from memberships m join workspaces w on w.id = m.workspace_id where m.user_id = :user
    ), found as (
        select null as workspace, 'passkey' as kind, id, name, created_at as since from passkeys where user_id = :user
        union all
        select null, 'authenticator app', 'totp', '', confirmed_at from totp_secrets where user_id = :user and confirmed_at is not null
        union all
        select workspace_id, case when resource is null then 'API key' else 'app' end, id, name, created_at from api_keys
        where user_id = :user and revoked_at is null and coalesce(expires_at > app_now(), true)
        union all
        select workspace_id, 'webhook', id, split_part(url, '\\?', 1), greatest(created_at, enabled_at) from webhooks where made_by = :user and is_enabled
        union all
        select workspace_id, 'monitor', monitor_id, coalesce(name, site || ' ' || endpoint), created_at from monitors
        where user_id = :user and status <> 'paused'
        union all
        select b.workspace_id, 'batch run', b.batch_id, coalesce(b.name, b.batch_id), b.created_at
        from here h join batches b on b.account_id in (h.id, :user) and b.workspace_id = h.id join api_keys k on k.id = b.key_id
        where b.finished_at is null and b.status = 'running' and k.user_id = :user and k.revoked_at is null
        union all
        select c.workspace_id, 'connection', c.id, c.name || ' (' || c.site || ')', c.created_at
        from here h join connections c on c.workspace_id = h.id where c.owner_id = :user and c.status <> 'trial'
        union all
        select i.workspace_id, 'invitation', i.id, coalesce(i.address, 'anyone with the link'), i.created_at
        from here h join workspace_invitations i on i.workspace_id = h.id where i.invited_by = :user and i.expires_at > app_now()
        union all
        select m.workspace_id, 'member', m.user_id, u.email, m.created_at
        from here h join memberships m on m.workspace_id = h.id join users u on u.id = m.user_id
        where h.role in ('owner', 'admin') and m.user_id <> :user and m.created_at > app_now() - interval '${SESSION_DAYS} days'
    )
    select f.kind, f.id, f.name, f.since, h.id as "workspaceId", h.name as "workspaceName", h.role
    from found f left join here h on h.id = f.workspace
    where f.workspace is null or h.id is not null
    order by f.since desc, f.id limit ${ROWS}`;

export async function listAccess(db: Db, userId: string): Promise<Access[]> {
    const { rows } = await db.raw<{ rows: Access[] }>(ACCESS, { user: userId });
    return rows;
}
