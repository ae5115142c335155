import type { Db } from '../../platform/db.ts';
import { lockRegistrable } from './domain-lock.ts';
import { recordInBoth, tellBoth } from './maintainer-changes.ts';
import { addMaintainer, isMaintainer, listMaintainers, removeMaintainer } from './maintainers.ts';
import { dropRemoval } from './removals.ts';

/** Lets a workspace publish on a domain at an operator's word, on reserved names too; a removal of it that is pending is dropped. */
export async function grantMaintainer(db: Db, registrable: string, workspaceId: string): Promise<void> {
    if (await grant(db, registrable, workspaceId, "coalesce(granted, 'added')"))
        await tell(db, registrable, workspaceId, 'maintainer.added');
}

/** Makes a workspace the only maintainer of a domain, at an operator's word. */
export async function transferDomain(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await grant(db, registrable, workspaceId, "'transferred'");
    await tell(db, registrable, workspaceId, 'maintainer.transferred');
    for (const other of await listMaintainers(db, registrable)) {
        if (other.workspaceId === workspaceId) continue;
        await removeMaintainer(db, registrable, other.workspaceId);
        await tell(db, registrable, other.workspaceId, 'maintainer.removed');
    }
    await db.raw('delete from claims where registrable = ? and workspace_id <> ?', [registrable, workspaceId]);
}

/** `removeMaintainer` at an operator's word, which nobody can stop. */
export async function removeAsOperator(db: Db, registrable: string, workspaceId: string): Promise<'removed' | 'absent' | 'last'> {
    const outcome = await removeMaintainer(db, registrable, workspaceId);
    if (outcome === 'removed') await tell(db, registrable, workspaceId, 'maintainer.removed');
    return outcome;
}

/** Whether the workspace did not maintain the domain before. */
async function grant(db: Db, registrable: string, workspaceId: string, granted: string): Promise<boolean> {
    await lockRegistrable(db, registrable);
    const isNew = !(await isMaintainer(db, registrable, workspaceId));
    await addMaintainer(db, registrable, workspaceId);
    await db.raw(`update maintainers set granted = ${granted} where registrable = ? and workspace_id = ?`, [registrable, workspaceId]);
    await dropRemoval(db, { registrable, workspaceId, reason: 'an operator lets the workspace maintain the domain', actor: 'operator' });
    return isNew;
}

const WORDS = {
    'maintainer.added': 'lets your workspace maintain it from now on',
    'maintainer.transferred': 'made your workspace its only maintainer',
    'maintainer.removed': 'removed your workspace from its maintainers',
} as const;

/** In the audit of the workspace, and by mail to its owners. */
async function tell(db: Db, registrable: string, workspaceId: string, action: keyof typeof WORDS): Promise<void> {
    const change = { registrable, workspaceId, by: undefined };
    await recordInBoth(db, { ...change, actor: { actor: 'operator' } }, action);
    await tellBoth(db, change, `${registrable}: an operator of this service ${WORDS[action]} (workspace ${workspaceId}).`);
}
