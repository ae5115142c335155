import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import { isId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import type { By } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { findWorkspace } from '../accounts/workspaces.ts';
import { addMaintainer, isMaintainer, listMaintainers, notifyBoth, notifyOfDomain, recordInBoth, removeMaintainer } from './maintainers.ts';
import { isOwner } from './ownership.ts';
import { dropRemoval, removalState, requestRemoval } from './removals.ts';
import { lockRegistrable } from './sites.ts';

/** A change of the maintainers by a maintainer. `by` is the maintainer's workspace. */
interface MaintainerOrder {
    registrable: string;
    by: string;
    workspaceId: string;
    /** For the audit log of the workspace that makes the change. */
    actor: By;
}

/**
 * - `not-maintainer`: only a maintainer may change the list
 * - `no-workspace`: there is no such workspace
 * - `routebook`, `owner`: only operators may change Routebook or remove a proven owner
 * - `being-removed`: a workspace that is being removed may not make changes
 * - `was-stopped`: the workspace stopped a removal in the last 30 days
 * - `last`: nobody else maintains the domain
 */
export type MaintainerRefusal = 'not-maintainer' | 'no-workspace' | 'routebook' | 'owner' | 'being-removed' | 'was-stopped' | 'last';

/** Undefined on success. @param boundMail called before another workspace is mailed; if it throws, nothing changes */
export async function addAsMaintainer(
    db: Db,
    order: MaintainerOrder,
    boundMail: (trx: Db) => Promise<void>,
): Promise<MaintainerRefusal | undefined> {
    return db.transaction(async (trx) => {
        const refusal = await checkOrder(trx, order);
        if (refusal !== undefined) return refusal;
        const { registrable, by, workspaceId } = order;
        if (await isMaintainer(trx, registrable, workspaceId)) return undefined;
        await addMaintainer(trx, registrable, workspaceId);
        await boundMail(trx);
        await recordInBoth(trx, { ...order, actsIn: by }, 'maintainer.added');
        const line = `Workspace ${workspaceId} maintains ${registrable} from now on.`;
        await notifyOfDomain(trx, by, registrable, line);
        // Anybody may add anybody, so a workspace gets at most one such mail an hour.
        const subject = `Who maintains ${registrable} has changed`;
        const leaving = `Workspace ${by} added it. It may leave at any time. If it is the only maintainer by then, it has to add another one first.`;
        await notifyOwners(trx, { workspaceId, domain: registrable, topic: 'added', subject, line: `${line} ${leaving}` });
        return undefined;
    });
}

/**
 * Removes a maintainer at the request of another one. The request of the maintainer itself or of a proven owner takes effect immediately,
 * any other request after 24 hours. Does nothing if the workspace is not a maintainer or is already being removed. Undefined on success.
 */
export async function removeAsMaintainer(db: Db, order: MaintainerOrder): Promise<MaintainerRefusal | undefined> {
    return db.transaction(async (trx) => {
        const { registrable, by, workspaceId } = order;
        const refusal = await checkOrder(trx, order);
        if (refusal !== undefined) return refusal;
        if (by === workspaceId || (await isOwner(trx, registrable, by))) return removeAtOnce(trx, order);
        const state = await removalState(trx, registrable, workspaceId);
        if (state === undefined || state.isPending) return undefined;
        if (await isOwner(trx, registrable, workspaceId)) return 'owner';
        if (state.wasStopped) return 'was-stopped';
        await requestRemoval(trx, { ...order, actsIn: by });
        return undefined;
    });
}

async function removeAtOnce(db: Db, order: MaintainerOrder): Promise<MaintainerRefusal | undefined> {
    const { registrable, by, workspaceId } = order;
    if (by !== workspaceId && (await isOwner(db, registrable, workspaceId))) return 'owner';
    const outcome = await removeMaintainer(db, registrable, workspaceId);
    if (outcome === 'last') return 'last';
    if (outcome === 'absent') return undefined;
    await recordInBoth(db, { ...order, actsIn: by }, 'maintainer.removed');
    await notifyBoth(db, order, `Workspace ${workspaceId} no longer maintains ${registrable}.`);
    return undefined;
}

async function checkOrder(db: Db, { registrable, by, workspaceId }: MaintainerOrder): Promise<MaintainerRefusal | undefined> {
    await lockRegistrable(db, registrable);
    const own = await removalState(db, registrable, by);
    if (own === undefined) return 'not-maintainer';
    if (own.isPending && workspaceId !== by) return 'being-removed';
    if (workspaceId === ROUTEBOOK_WORKSPACE) return 'routebook';
    const found = isId('wsp', workspaceId) ? await findWorkspace(db, workspaceId) : undefined;
    return found === undefined ? 'no-workspace' : undefined;
}

/** Lets a workspace publish on a domain, even a reserved one, for an operator. Cancels a pending removal of it. */
export async function grantMaintainer(db: Db, registrable: string, workspaceId: string): Promise<void> {
    if (await grant(db, registrable, workspaceId, 'added')) await recordAndMail(db, registrable, workspaceId, 'maintainer.added');
}

/** Makes a workspace the only maintainer of a domain, on behalf of an operator. */
export async function transferDomain(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await grant(db, registrable, workspaceId, 'transferred');
    await recordAndMail(db, registrable, workspaceId, 'maintainer.transferred');
    for (const other of await listMaintainers(db, registrable)) {
        if (other.workspaceId === workspaceId) continue;
        await removeMaintainer(db, registrable, other.workspaceId);
        await recordAndMail(db, registrable, other.workspaceId, 'maintainer.removed');
    }
    await db('claims').where({ registrable }).whereNot({ workspace_id: workspaceId }).delete();
}

/** Removes a maintainer on behalf of an operator. Nobody can stop it. */
export async function removeAsOperator(db: Db, registrable: string, workspaceId: string): Promise<'removed' | 'absent' | 'last'> {
    const outcome = await removeMaintainer(db, registrable, workspaceId);
    if (outcome === 'removed') await recordAndMail(db, registrable, workspaceId, 'maintainer.removed');
    return outcome;
}

/** Returns whether the workspace was not a maintainer before. */
async function grant(db: Db, registrable: string, workspaceId: string, granted: 'added' | 'transferred'): Promise<boolean> {
    await lockRegistrable(db, registrable);
    const isNew = !(await isMaintainer(db, registrable, workspaceId));
    await addMaintainer(db, registrable, workspaceId);
    await db('maintainers')
        .where({ registrable, workspace_id: workspaceId })
        .update({ granted: granted === 'added' ? db.raw("coalesce(granted, 'added')") : granted });
    await dropRemoval(db, { registrable, workspaceId, reason: 'an operator lets the workspace maintain the domain', actor: 'operator' });
    return isNew;
}

const WORDS = {
    'maintainer.added': 'lets your workspace maintain it from now on',
    'maintainer.transferred': 'made your workspace its only maintainer',
    'maintainer.removed': 'removed your workspace from its maintainers',
} as const;

/** Records the change in the audit log of the workspace and mails its owners. */
async function recordAndMail(db: Db, registrable: string, workspaceId: string, action: keyof typeof WORDS): Promise<void> {
    const change = { registrable, workspaceId, by: undefined };
    await recordInBoth(db, { ...change, actor: { actor: 'operator' } }, action);
    await notifyBoth(db, change, `${registrable}: an operator of this service ${WORDS[action]} (workspace ${workspaceId}).`);
}
