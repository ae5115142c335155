import type { Act } from '../../domain/accounts/acts.ts';
import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import { type Columns, countRows, type Db } from '../../platform/db.ts';
import { type FoundPage, type RowPage, readRowPage } from '../../platform/row-page.ts';
import { actorOfWorkspace, type By, recordAct } from '../accounts/workspace-audit.ts';
import { notifyOwners } from '../accounts/workspace-news.ts';
import { lockRegistrable } from './sites.ts';

/** A workspace that may publish on a registrable domain. */
export interface Maintainer {
    workspaceId: string;
    name: string;
    /** When the removal that another workspace requested takes effect; null if none is pending. */
    removalAt: Date | null;
}

const MAINTAINER: Columns<Maintainer> = { workspaceId: 'w.id', name: 'w.name', removalAt: 'm.removal_at' };

/** The workspaces that may publish on a domain, longest-standing maintainer first. */
export async function listMaintainers(db: Db, registrable: string): Promise<Maintainer[]> {
    return maintainersOf(db, registrable).orderBy(['m.added_at', 'w.id']).select(MAINTAINER);
}

/** A page of `listMaintainers`. */
export function pageOfMaintainers(db: Db, registrable: string, page: RowPage): Promise<FoundPage<Maintainer>> {
    return readRowPage<Maintainer>(db, maintainersOf(db, registrable), MAINTAINER, page, {
        at: 'm.added_at',
        id: 'w.id',
        isOldestFirst: true,
    });
}

function maintainersOf(db: Db, registrable: string) {
    return db('maintainers as m').join('workspaces as w', 'w.id', 'm.workspace_id').where({ 'm.registrable': registrable });
}

export async function isMaintainer(db: Db, registrable: string, workspaceId: string): Promise<boolean> {
    return (await db('maintainers').where({ registrable, workspace_id: workspaceId }).first('workspace_id')) !== undefined;
}

/** The domains that other workspaces maintain together with Routebook, ordered by name. */
export async function listShared(db: Db): Promise<{ registrable: string; others: Omit<Maintainer, 'removalAt'>[] }[]> {
    const rows: { registrable: string; workspaceId: string; name: string }[] = await db('maintainers as ours')
        .join('maintainers as m', 'm.registrable', 'ours.registrable')
        .join('workspaces as w', 'w.id', 'm.workspace_id')
        .where({ 'ours.workspace_id': ROUTEBOOK_WORKSPACE })
        .whereNot({ 'm.workspace_id': ROUTEBOOK_WORKSPACE })
        .orderBy(['m.registrable', 'm.added_at', 'w.id'])
        .select({ registrable: 'm.registrable', workspaceId: 'w.id', name: 'w.name' });
    return [...Map.groupBy(rows, ({ registrable }) => registrable)].map(([registrable, others]) => ({ registrable, others }));
}

/** Adds a maintainer. Does not change an existing one. */
export async function addMaintainer(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await lockRegistrable(db, registrable);
    await db('maintainers').insert({ registrable, workspace_id: workspaceId }).onConflict().ignore();
}

/** Removes a maintainer. `last`: there is no other maintainer, and nothing changed. `absent`: the workspace was not a maintainer. */
export async function removeMaintainer(db: Db, registrable: string, workspaceId: string): Promise<'removed' | 'absent' | 'last'> {
    await lockRegistrable(db, registrable);
    if (!(await isMaintainer(db, registrable, workspaceId))) return 'absent';
    if ((await countRows(db('maintainers').where({ registrable }))) === 1) return 'last';
    // A workspace that becomes a maintainer again has to prove the domain again.
    for (const table of ['maintainers', 'claims']) await db(table).where({ registrable, workspace_id: workspaceId }).delete();
    return 'removed';
}

/** Gives away a domain that only Routebook, or another workspace of the same owner, maintains; no other domain. */
export async function adoptDomain(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await db.transaction(async (trx) => {
        await lockRegistrable(trx, registrable);
        const ofOwner = trx('memberships as owner')
            .join('memberships as member', 'member.user_id', 'owner.user_id')
            .where({ 'owner.workspace_id': workspaceId, 'owner.role': 'owner' })
            .select('member.workspace_id');
        const stranger = await trx('maintainers')
            .where({ registrable })
            .whereNot({ workspace_id: ROUTEBOOK_WORKSPACE })
            .whereNotIn('workspace_id', ofOwner)
            .first('workspace_id');
        if (stranger !== undefined) return;
        await trx('maintainers').where({ registrable }).whereNot({ workspace_id: workspaceId }).delete();
        await addMaintainer(trx, registrable, workspaceId);
    });
}

export interface MaintainerChange {
    registrable: string;
    /** The affected maintainer. */
    workspaceId: string;
    /** The workspace that made or requested the change; undefined for an operator. */
    by: string | undefined;
    actor: By;
    /** The workspace that the actor belongs to, if any. Only the audit log of that workspace contains the actor's id and address. */
    actsIn?: string;
}

type MaintainerAct = Extract<Act, `maintainer.${string}`>;

/** Records a change in both audit logs. The other workspace's log names the actor's workspace instead of the actor. */
export async function recordInBoth(
    db: Db,
    { registrable, workspaceId, by, actor, actsIn }: MaintainerChange,
    action: MaintainerAct,
    details: Record<string, string> = {},
): Promise<void> {
    for (const audited of workspacesInvolved({ workspaceId, by })) {
        const who = actsIn === undefined || audited === actsIn ? actor : { actor: actorOfWorkspace(actsIn) };
        await recordAct(db, { ...who, workspaceId: audited, action, target: workspaceId, details: { domain: registrable, ...details } });
    }
}

/** Sends the same mail to the owners of both workspaces. */
export async function notifyBoth(
    db: Db,
    change: Pick<MaintainerChange, 'registrable' | 'workspaceId' | 'by'>,
    line: string,
): Promise<void> {
    for (const workspaceId of workspacesInvolved(change)) await notifyOfDomain(db, workspaceId, change.registrable, line);
}

/** Mails the owners of one workspace about a change of a domain's maintainers. */
export async function notifyOfDomain(db: Db, workspaceId: string, registrable: string, line: string): Promise<void> {
    await notifyOwners(db, { workspaceId, domain: registrable, subject: `Who maintains ${registrable} has changed`, line });
}

/** Leaves out Routebook's own workspace, which has no owners and whose audit log nobody reads. */
function workspacesInvolved({ workspaceId, by }: Pick<MaintainerChange, 'workspaceId' | 'by'>): string[] {
    const both = by === undefined || by === workspaceId ? [workspaceId] : [by, workspaceId];
    return both.filter((id) => id !== ROUTEBOOK_WORKSPACE);
}
