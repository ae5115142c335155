import { newId } from '../../domain/text/ids.ts';
import type { Db } from '../../platform/db.ts';
import type { By } from '../accounts/workspace-audit.ts';
import { tellOwners } from '../accounts/workspace-news.ts';
import { lockRegistrable } from './domain-lock.ts';
import { type MaintainerChange, recordInBoth, tellBoth, tellOfDomain } from './maintainer-changes.ts';
import { removeMaintainer } from './maintainers.ts';

/** A pending removal of a maintainer by another workspace. */
export interface Removal {
    removalId: string;
    registrable: string;
    /** The maintainer, and its name. */
    workspaceId: string;
    name: string;
    /** The workspace that asked for it. */
    by: string;
    takesEffectAt: Date;
}

/** The time between a removal's request and its effect. */
const REMOVAL_HOURS = 24;
/** Where a removal was stopped, no maintainer but a proved owner asks for the next one so soon. */
const STOPPED_DAYS = 30;

/** The pending removals of a maintainer, and stopped ones. */
export interface RemovalState {
    isPending: boolean;
    /** Its owners stopped a removal in the last 30 days. */
    wasStopped: boolean;
}

/** Undefined where the workspace does not maintain the domain. */
export async function removalState(db: Db, registrable: string, workspaceId: string): Promise<RemovalState | undefined> {
    const { rows } = await db.raw<{ rows: RemovalState[] }>(
        `select removal_at is not null as "isPending",
                coalesce(removal_stopped_at > app_now() - interval '${STOPPED_DAYS} days', false) as "wasStopped"
         from maintainers where registrable = ? and workspace_id = ?`,
        [registrable, workspaceId],
    );
    return rows[0];
}

/** Has a maintainer removed in 24 hours, and mails its owners the link that stops it. Lock the domain before. */
export async function requestRemoval(db: Db, change: MaintainerChange & { by: string }): Promise<void> {
    const { registrable, workspaceId, by } = change;
    const removalId = newId('rmv');
    const { rows } = await db.raw<{ rows: [{ at: Date }] }>(
        `update maintainers set removal_id = ?, removal_by = ?, removal_at = app_now() + interval '${REMOVAL_HOURS} hours'
         where registrable = ? and workspace_id = ? returning removal_at as at`,
        [removalId, by, registrable, workspaceId],
    );
    const { at } = rows[0];
    await recordInBoth(db, change, 'maintainer.removal_requested', { removal_at: at.toISOString() });
    const when = `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
    await tellOfDomain(
        db,
        by,
        registrable,
        `Workspace ${by} asked to remove workspace ${workspaceId} from the maintainers of ${registrable}. That takes effect on ${when}, unless the owners of that workspace stop it.`,
    );
    await tellOwners(db, {
        workspaceId,
        domain: registrable,
        subject: `Your workspace is about to be removed from ${registrable}`,
        line: `Workspace ${by} asked to remove your workspace ${workspaceId} from the maintainers of ${registrable}. That takes effect on ${when}. You can stop it once; after that only an operator removes your workspace within ${STOPPED_DAYS} days.`,
        removalId,
    });
}

/** The pending removal of a link; undefined where it was stopped, dropped or applied. */
export async function findRemoval(db: Db, removalId: string): Promise<Removal | undefined> {
    return readRemoval(db, 'm.removal_id = ?', [removalId]);
}

/** The pending removal of a workspace from a domain. */
export async function removalOf(db: Db, registrable: string, workspaceId: string): Promise<Removal | undefined> {
    return readRemoval(db, 'm.registrable = ? and m.workspace_id = ? and m.removal_at is not null', [registrable, workspaceId]);
}

/** Stops a removal for the workspace that it would remove. False where it is no longer pending. */
export async function stopRemoval(db: Db, removal: Removal, actor: By): Promise<boolean> {
    return db.transaction(async (trx) => {
        const { registrable, workspaceId, removalId, by } = removal;
        await lockRegistrable(trx, registrable);
        if ((await findRemoval(trx, removalId)) === undefined) return false;
        await clear(trx, removal);
        await trx.raw('update maintainers set removal_stopped_at = app_now() where registrable = ? and workspace_id = ?', [
            registrable,
            workspaceId,
        ]);
        await recordInBoth(trx, { registrable, workspaceId, by, actor, actsIn: workspaceId }, 'maintainer.removal_stopped');
        const line = `The removal of workspace ${workspaceId} from the maintainers of ${registrable} was stopped by that workspace. Only an operator removes it within ${STOPPED_DAYS} days, or a proved owner of the domain.`;
        await tellBoth(trx, removal, line);
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
    await tellBoth(
        db,
        removal,
        `The removal of workspace ${workspaceId} from the maintainers of ${registrable} does not take place: ${reason}.`,
    );
}

/** Applies due removals. Every process may call it: each is applied once. */
export async function applyDueRemovals(db: Db): Promise<void> {
    const { rows } = await db.raw<{ rows: { removalId: string; registrable: string }[] }>(
        `select removal_id as "removalId", registrable from maintainers where removal_at <= app_now() order by removal_at limit ${BATCH}`,
    );
    for (const due of rows) await db.transaction((trx) => apply(trx, due));
}

/** The next sweep runs in a second. */
const BATCH = 100;

async function apply(db: Db, { removalId, registrable }: { removalId: string; registrable: string }): Promise<void> {
    await lockRegistrable(db, registrable);
    // Another process may have applied it, or its owners stopped it, while this one waited for the lock.
    const removal = await findRemoval(db, removalId);
    if (removal === undefined) return;
    const { workspaceId } = removal;
    const outcome = await removeMaintainer(db, registrable, workspaceId);
    if (outcome === 'last') {
        await dropRemoval(db, { registrable, workspaceId, reason: 'nobody else would maintain the domain', actor: 'system' });
        return;
    }
    await recordInBoth(db, { ...removal, actor: { actor: 'system' } }, 'maintainer.removed', { asked_by: removal.by });
    await tellBoth(db, removal, `Workspace ${workspaceId} no longer maintains ${registrable}, as workspace ${removal.by} asked.`);
}

async function clear(db: Db, { registrable, workspaceId }: Removal): Promise<void> {
    await db.raw(
        'update maintainers set removal_id = null, removal_by = null, removal_at = null where registrable = ? and workspace_id = ?',
        [registrable, workspaceId],
    );
}

async function readRemoval(db: Db, where: string, values: string[]): Promise<Removal | undefined> {
    const { rows } = await db.raw<{ rows: Removal[] }>(
        `select m.removal_id as "removalId", m.registrable, m.workspace_id as "workspaceId", w.name, m.removal_by as by,
                m.removal_at as "takesEffectAt"
         from maintainers m join workspaces w on w.id = m.workspace_id where ${where}`,
        values,
    );
    return rows[0];
}
