import type { Db } from '../db.ts';
import { NO_POLICY, type SitePolicy } from '../domain/site-policy.ts';
import { isOwner } from './claims.ts';
import { lockRegistrable } from './domain-lock.ts';
import { type By, recordAct } from './workspace-audit.ts';

/** What the owner of a domain allows here. */
export async function readPolicy(db: Db, registrable: string): Promise<SitePolicy> {
    const { rows } = await db.raw<{ rows: { policy: SitePolicy | null }[] }>('select policy from domains where registrable = ?', [
        registrable,
    ]);
    return rows[0]?.policy ?? { ...NO_POLICY };
}

/** Sets it in place of what was there, null: nothing at all; effective with the next call. */
export async function setPolicy(db: Db, registrable: string, policy: SitePolicy | null): Promise<void> {
    await lockRegistrable(db, registrable);
    await db.raw('update domains set policy = ?::jsonb where registrable = ?', [policy && JSON.stringify(policy), registrable]);
}

/** The same by a workspace; false where it has not proved that the domain is its own. */
export async function setPolicyAsOwner(
    db: Db,
    { registrable, workspaceId, policy, by }: { registrable: string; workspaceId: string; policy: SitePolicy; by: By },
): Promise<boolean> {
    return db.transaction(async (trx) => {
        await lockRegistrable(trx, registrable);
        if (!(await isOwner(trx, registrable, workspaceId))) return false;
        await setPolicy(trx, registrable, policy);
        await recordAct(trx, {
            ...by,
            workspaceId,
            action: 'policy.changed',
            target: registrable,
            details: { policy: JSON.stringify(policy) },
        });
        return true;
    });
}
