import type { Db } from '../../platform/db.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { queueMail } from '../accounts/mails.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import type { Connection } from './connections.ts';

/** Number of consecutive answers with 401 after which a connection counts as rejected. */
const MAX_REFUSALS = 3;

/** A call that the site answered with 401. Times in milliseconds since the epoch, by the clock of one process. */
interface RefusedCall extends PassedCall {
    endedAt: number;
}

/**
 * Counts a 401. Overlapping calls count once. A call of a version with which no connection has ever succeeded does not count, because the
 * schema may be wrong. The third consecutive 401 rejects the connection and notifies its owner.
 * @returns whether this call rejected the connection
 */
export async function recordRefusal(
    { db, secrets }: { db: Db; secrets: Secrets },
    { connectionId, versionId, beganAt, endedAt }: RefusedCall,
    publicUrl: string,
): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { rows } = await trx.raw<{ rows: Rejected[] }>(
            `update connections set refusals = refusals + 1, refused_at = to_timestamp(?),
                status = case when refusals + 1 >= ? then 'rejected' else status end
             where id = ? and status in ('active', 'untested') and (refused_at is null or refused_at <= to_timestamp(?))
                and exists (select from connected_versions where version_id = ?)
             returning status, workspace_id as "workspaceId", owner_id as "ownerId", site, name`,
            [endedAt / 1000, MAX_REFUSALS, connectionId, beganAt / 1000, versionId],
        );
        const [row] = rows;
        if (row?.status !== 'rejected') return false;
        const { workspaceId, site } = row;
        await recordAct(trx, { actor: 'system', workspaceId, action: 'connection.rejected', target: connectionId, details: { site } });
        await mailOwners(trx, secrets, { ...row, publicUrl });
        return true;
    });
}

type Rejected = Pick<Connection, 'status' | 'workspaceId' | 'ownerId' | 'site' | 'name'>;

/** Mails the owner. If a shared connection has no owner, mails the owners of the workspace. */
async function mailOwners(
    trx: Db,
    secrets: Secrets,
    { workspaceId, ownerId, site, name, status, publicUrl }: Rejected & { publicUrl: string },
): Promise<void> {
    const owners = trx('memberships').where({ workspace_id: workspaceId, role: 'owner' }).select('user_id');
    const people: { email: string }[] = await trx('users')
        .whereIn('id', ownerId === null ? owners : [ownerId])
        .whereNotNull('verified_at')
        .select('email');
    const why =
        status === 'rejected'
            ? `answered ${MAX_REFUSALS} calls in a row with 401: it no longer accepts the credential of your connection "${name}"`
            : `issues no more tokens for your connection "${name}": its consent ${status === 'revoked' ? 'was withdrawn' : 'has expired'}`;
    for (const { email } of people) {
        await queueMail(trx, secrets, {
            to: email,
            subject: `${site} no longer accepts your connection "${name}"`,
            text: `${site} ${why}. Calls with it are refused until you connect again.

Give it another credential, or test it again: ${publicUrl}/dashboard/connections
`,
        });
    }
}

/** Ends the connection of an ended consent and tells the owner, who has to connect again. Call it in a transaction. */
export async function endGrant(
    { db, secrets }: { db: Db; secrets: Secrets },
    { connectionId, status }: { connectionId: string; status: 'revoked' | 'expired' },
    publicUrl: string,
): Promise<void> {
    const { rows } = await db.raw<{ rows: Rejected[] }>(
        `update connections set status = ? where id = ? and status <> ?
         returning status, workspace_id as "workspaceId", owner_id as "ownerId", site, name`,
        [status, connectionId, status],
    );
    const [row] = rows;
    if (row === undefined) return;
    const { workspaceId, site } = row;
    await recordAct(db, { actor: 'system', workspaceId, action: 'connection.revoked', target: connectionId, details: { site, status } });
    await mailOwners(db, secrets, { ...row, publicUrl });
}

/** A call whose credential the site accepted. `beganAt`: milliseconds since the epoch. */
export interface PassedCall {
    connectionId: string;
    versionId: number;
    beganAt: number;
}

/** Resets the refusals of connections that sites accepted, and records their versions as working. */
export async function recordPasses(trx: Db, passed: readonly PassedCall[]): Promise<void> {
    if (passed.length === 0) return;
    const versions = [...new Set(passed.map(({ versionId }) => versionId))].toSorted((one, other) => one - other);
    await trx.raw(
        `insert into connected_versions select v.id from versions v where v.id = any(?)
            and not exists (select from connected_versions c where c.version_id = v.id) on conflict do nothing`,
        [versions],
    );
    const last = new Map<string, number>();
    for (const { connectionId, beganAt } of passed) last.set(connectionId, Math.max(beganAt, last.get(connectionId) ?? 0));
    const inOrder = [...last].toSorted(([one], [other]) => (one < other ? -1 : 1));
    for (const [connectionId, beganAt] of inOrder) {
        await trx.raw(
            `update connections set refusals = 0, status = case when status = 'untested' then 'active' else status end
             where id = ? and (refusals > 0 or status = 'untested') and (refused_at is null or refused_at <= to_timestamp(?))`,
            [connectionId, beganAt / 1000],
        );
    }
}

/** Lifts the rejection of a connection after a test call passed. */
export async function liftRejection(db: Db, connectionId: string): Promise<void> {
    await db('connections')
        .where({ id: connectionId })
        .whereIn('status', ['active', 'untested', 'rejected'])
        .update({ status: 'active', refusals: 0, refused_at: null });
}
