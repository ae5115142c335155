import { changesOfPolicy } from '../../domain/site/policy-changes.ts';
import { NO_POLICY, type SitePolicy } from '../../domain/site/site-policy.ts';
import type { JsonObject } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { type By, recordAct } from '../accounts/workspace-audit.ts';
import { isOwner, ownersOf } from './ownership.ts';
import { lockRegistrable } from './sites.ts';

type Changer = By & { workspaceId?: string };

const OPERATOR: Changer = { actor: 'operator' };

export async function readPolicy(db: Db, registrable: string): Promise<SitePolicy> {
    const domain = await db('domains').where({ registrable }).first('policy');
    return domain?.policy ?? { ...NO_POLICY };
}

/** Replaces the policy (null: removes it) from the next call on, and records it for each owner. Call it in a transaction. */
export async function setPolicy(db: Db, registrable: string, policy: SitePolicy | null, by: Changer = OPERATOR): Promise<void> {
    await lockRegistrable(db, registrable);
    const changes = changesOfPolicy(await readPolicy(db, registrable), policy ?? NO_POLICY);
    if (Object.keys(changes).length > 0) await recordChange(db, registrable, changes, by);
    const text = policy && JSON.stringify(policy);
    await db('domains').where({ registrable }).update({ policy: text });
}

/** The operator's policy for a domain. A block is stored separately (`blockDomain`). */
export async function readOperatorPolicy(db: Db, registrable: string): Promise<SitePolicy> {
    const domain = await db('domains').where({ registrable }).first('operator_policy', 'blocked_at');
    return { ...NO_POLICY, ...domain?.operator_policy, blocked: domain !== undefined && domain.blocked_at !== null };
}

/** Like `setPolicy`, for the operator's policy, except a block. Call it in a transaction. */
export async function setOperatorPolicy(db: Db, registrable: string, policy: SitePolicy | null): Promise<void> {
    await lockRegistrable(db, registrable);
    const before = await readOperatorPolicy(db, registrable);
    const after = { ...(policy ?? NO_POLICY), blocked: false };
    const changes = changesOfPolicy({ ...before, blocked: false }, after);
    if (Object.keys(changes).length > 0) await recordChange(db, registrable, { policy_of: 'operator', ...changes }, OPERATOR);
    const isNone = Object.keys(changesOfPolicy(NO_POLICY, after)).length === 0;
    const operator_policy = isNone ? null : JSON.stringify(after);
    await db('domains').where({ registrable }).update({ operator_policy });
}

/** Sets the policy on behalf of a workspace; false if the workspace has not proven the domain. */
export async function setPolicyAsOwner(
    db: Db,
    { registrable, workspaceId, policy, by }: { registrable: string; workspaceId: string; policy: SitePolicy; by: By },
): Promise<boolean> {
    return db.transaction(async (trx) => {
        await lockRegistrable(trx, registrable);
        if (!(await isOwner(trx, registrable, workspaceId))) return false;
        await setPolicy(trx, registrable, policy, { ...by, workspaceId });
        return true;
    });
}

/** Records a change in the audit log of each owner. Only the log of the workspace that made it contains its address. */
async function recordChange(db: Db, registrable: string, details: JsonObject, by: Changer): Promise<void> {
    for (const workspaceId of await ownersOf(db, registrable)) {
        const ip = workspaceId === by.workspaceId ? by.ip : undefined;
        await recordAct(db, { actor: by.actor, ip, workspaceId, action: 'policy.changed', target: registrable, details });
    }
}
