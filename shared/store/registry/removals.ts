import { newId } from '../../domain/text/ids.ts';
import { ago, type Columns, columns, type Db, fromNow, now } from '../../platform/db.ts';
import type { By } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { type MaintainerChange, notifyBoth, notifyOfDomain, recordInBoth, removeMaintainer } from './maintainers.ts';
import { lockRegistrable } from './sites.ts';

/** A pending removal of a maintainer by another workspace. */
export interface Removal {
    removalId: string;
    registrable: string;
    /** The maintainer to be removed, and its name. */
    workspaceId: string;
    name: string;
    /** The workspace that requested the removal. */
    by: string;
    takesEffectAt: Date;
}

const REMOVAL: Columns<Removal> = {
    ...columns('m', 'removal_id registrable workspace_id'),
    name: 'w.name',
    by: 'm.removal_by',
    takesEffectAt: 'm.removal_at',
};

/** Time between the request of a removal and its effect. */
const REMOVAL_HOURS = 24;
/** After a stopped removal, only a proven owner may request another one within this time. */
const STOPPED_DAYS = 30;

interface RemovalState {
    isPending: boolean;
    /** Whether the owners of the workspace stopped a removal in the last 30 days. */
    wasStopped: boolean;
}

/** Undefined if the workspace does not maintain the domain. */
export async function removalState(db: Db, registrable: string, workspaceId: string): Promise<RemovalState | undefined> {
    const wasStopped = db.raw('coalesce(removal_stopped_at > ?, false)', [ago(db, `${STOPPED_DAYS} days`)]);
    const state: Columns<RemovalState> = { isPending: db.raw('removal_at is not null'), wasStopped };
    return db('maintainers').where({ registrable, workspace_id: workspaceId }).first(state);
}

/** Schedules the removal of a maintainer in 24 hours, and mails its owners the link that stops it. Lock the domain first. */
export async function requestRemoval(db: Db, change: MaintainerChange & { by: string }): Promise<void> {
    const { registrable, workspaceId, by } = change;
    const removalId = newId('rmv');
    const [pending] = await db('maintainers')
        .where({ registrable, workspace_id: workspaceId })
        .update({ removal_id: removalId, removal_by: by, removal_at: fromNow(db, `${REMOVAL_HOURS} hours`) })
        .returning('removal_at');
    const at: Date = pending.removal_at;
    await recordInBoth(db, change, 'maintainer.removal_requested', { removal_at: at.toISOString() });
    const when = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    const line = `Workspace ${by} asked to remove workspace ${workspaceId} from the maintainers of ${registrable}. That takes effect on ${when}, unless the owners of that workspace stop it.`;
    await notifyOfDomain(db, by, registrable, line);
    await notifyOwners(db, {
        workspaceId,
        domain: registrable,
        subject: `Your workspace is about to be removed from ${registrable}`,
        line: `Workspace ${by} asked to remove your workspace ${workspaceId} from the maintainers of ${registrable}. That takes effect on ${when}. You can stop it once. For ${STOPPED_DAYS} days after that, only an operator or a proven owner of the domain can remove your workspace.`,
        removalId,
    });
}

/** The pending removal of a link; undefined if it was stopped, cancelled or applied. */
export async function findRemoval(db: Db, removalId: string): Promise<Removal | undefined> {
    return removals(db).where({ 'm.removal_id': removalId }).first(REMOVAL);
}

/** The pending removal of a workspace from a domain; undefined if there is none. */
export async function removalOf(db: Db, registrable: string, workspaceId: string): Promise<Removal | undefined> {
    return removals(db).where({ 'm.registrable': registrable, 'm.workspace_id': workspaceId }).whereNotNull('m.removal_at').first(REMOVAL);
}

/** Stops a removal on behalf of the workspace that it would remove. False if it is no longer pending. */
export async function stopRemoval(db: Db, removal: Removal, actor: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { registrable, workspaceId, removalId, by } = removal;
        await lockRegistrable(trx, registrable);
        if ((await findRemoval(trx, removalId)) === undefined) return false;
        await clear(trx, removal, { removal_stopped_at: now(trx) });
        await recordInBoth(trx, { registrable, workspaceId, by, actor, actsIn: workspaceId }, 'maintainer.removal_stopped');
        const line = `The removal of workspace ${workspaceId} from the maintainers of ${registrable} was stopped by that workspace. For ${STOPPED_DAYS} days, only an operator or a proven owner of the domain can remove it.`;
        await notifyBoth(trx, removal, line);
        return true;
    });
}

/** Cancels a pending removal. Lock the domain first. */
export async function dropRemoval(
    db: Db,
    { registrable, workspaceId, reason, actor }: { registrable: string; workspaceId: string; reason: string; actor: 'operator' | 'system' },
): Promise<void> {
    const removal = await removalOf(db, registrable, workspaceId);
    if (removal === undefined) return;
    await clear(db, removal);
    await recordInBoth(db, { ...removal, actor: { actor } }, 'maintainer.removal_dropped', { reason });
    const line = `The removal of workspace ${workspaceId} from the maintainers of ${registrable} does not take place: ${reason}.`;
    await notifyBoth(db, removal, line);
}

/** Applies due removals. Every process may call it; each removal is applied once. */
export async function applyDueRemovals(db: Db): Promise<void> {
    const due: Pick<Removal, 'removalId' | 'registrable'>[] = await db('maintainers')
        .where('removal_at', '<=', now(db))
        .orderBy('removal_at')
        .limit(BATCH)
        .select({ removalId: 'removal_id', registrable: 'registrable' });
    for (const removal of due) await db.transaction((trx) => apply(trx, removal));
}

/** Maximum number of removals per sweep. The next sweep runs in a second. */
const BATCH = 100;

async function apply(db: Db, { removalId, registrable }: Pick<Removal, 'removalId' | 'registrable'>): Promise<void> {
    await lockRegistrable(db, registrable);
    // While this process waited for the lock, another process may have applied the removal, or the owners may have stopped it.
    const removal = await findRemoval(db, removalId);
    if (removal === undefined) return;
    const { workspaceId } = removal;
    const outcome = await removeMaintainer(db, registrable, workspaceId);
    if (outcome === 'last') {
        await dropRemoval(db, { registrable, workspaceId, reason: 'nobody else would maintain the domain', actor: 'system' });
        return;
    }
    await recordInBoth(db, { ...removal, actor: { actor: 'system' } }, 'maintainer.removed', { asked_by: removal.by });
    await notifyBoth(db, removal, `Workspace ${workspaceId} no longer maintains ${registrable}, as workspace ${removal.by} asked.`);
}

async function clear(db: Db, { registrable, workspaceId }: Removal, also: object = {}): Promise<void> {
    await db('maintainers')
        .where({ registrable, workspace_id: workspaceId })
        .update({ removal_id: null, removal_by: null, removal_at: null, ...also });
}

function removals(db: Db) {
    return db('maintainers as m').join('workspaces as w', 'w.id', 'm.workspace_id');
}
