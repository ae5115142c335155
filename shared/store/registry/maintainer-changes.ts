import type { Act } from '../../domain/accounts/acts.ts';
import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import type { Db } from '../../platform/db.ts';
import { actorOfWorkspace, type By, recordAct } from '../accounts/workspace-audit.ts';
import { tellOwners } from '../accounts/workspace-news.ts';

/** A change of a domain's maintainers. */
export interface MaintainerChange {
    registrable: string;
    /** The maintainer. */
    workspaceId: string;
    /** The workspace that made or requested the change; undefined for an operator. */
    by: string | undefined;
    /** Who acted. */
    actor: By;
    /** The workspace that the actor belongs to, where it belongs to one: its ids and addresses stay in the audit of that workspace. */
    actsIn?: string;
}

export type MaintainerAct = Extract<Act, `maintainer.${string}`>;

/** Records a change in the audits of both workspaces; an actor of the other one is shown there as that workspace. */
export async function recordInBoth(
    db: Db,
    { registrable, workspaceId, by, actor, actsIn }: MaintainerChange,
    action: MaintainerAct,
    details: Record<string, string> = {},
): Promise<void> {
    for (const audited of bothOf({ workspaceId, by })) {
        const who = actsIn === undefined || audited === actsIn ? actor : { actor: actorOfWorkspace(actsIn) };
        await recordAct(db, { ...who, workspaceId: audited, action, target: workspaceId, details: { domain: registrable, ...details } });
    }
}

/** Mails the owners of both workspaces the same. */
export async function tellBoth(db: Db, change: Pick<MaintainerChange, 'registrable' | 'workspaceId' | 'by'>, line: string): Promise<void> {
    for (const workspaceId of bothOf(change)) await tellOfDomain(db, workspaceId, change.registrable, line);
}

/** Mails the owners of one workspace what became of the maintainers of a domain. */
export async function tellOfDomain(db: Db, workspaceId: string, registrable: string, line: string): Promise<void> {
    await tellOwners(db, { workspaceId, domain: registrable, subject: `Who maintains ${registrable} has changed`, line });
}

/** Routebook's own workspace has no owners, and nobody reads its audit. */
function bothOf({ workspaceId, by }: Pick<MaintainerChange, 'workspaceId' | 'by'>): string[] {
    const both = by === undefined || by === workspaceId ? [workspaceId] : [by, workspaceId];
    return both.filter((id) => id !== ROUTEBOOK_WORKSPACE);
}
