import type { Db } from '../db.ts';
import { ROUTEBOOK_WORKSPACE } from '../domain/routebook.ts';
import { findWorkspace } from './accounts.ts';
import { isOwner } from './claims.ts';
import { lockRegistrable } from './domain-lock.ts';
import { type By, recordAct } from './workspace-audit.ts';
import { tellOwners } from './workspace-news.ts';

/** A workspace that may publish on a registrable domain. */
export interface Maintainer {
    workspaceId: string;
    name: string;
}

/** The workspaces that may publish on a domain, the one of longest standing first. */
export async function listMaintainers(db: Db, registrable: string): Promise<Maintainer[]> {
    const { rows } = await db.raw<{ rows: { id: string; name: string }[] }>(
        `select w.id, w.name from maintainers m join workspaces w on w.id = m.workspace_id
         where m.registrable = ? order by m.added_at, w.id`,
        [registrable],
    );
    return rows.map(({ id, name }) => ({ workspaceId: id, name }));
}

/** Lets a workspace publish on a domain; one that may already stays what it is. */
export async function addMaintainer(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await lockRegistrable(db, registrable);
    await db.raw('insert into maintainers (registrable, workspace_id) values (?, ?) on conflict do nothing', [registrable, workspaceId]);
}

/** The same by an operator: the workspace may publish on reserved names too. */
export async function grantMaintainer(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await addMaintainer(db, registrable, workspaceId);
    await db.raw("update maintainers set granted = coalesce(granted, 'added') where registrable = ? and workspace_id = ?", [
        registrable,
        workspaceId,
    ]);
}

/** Takes that right away. `last`: nobody else has it, and nothing was changed; `absent`: it had none. */
export async function removeMaintainer(db: Db, registrable: string, workspaceId: string): Promise<'removed' | 'absent' | 'last'> {
    await lockRegistrable(db, registrable);
    if (!(await isMaintainer(db, registrable, workspaceId))) return 'absent';
    if ((await count(db, registrable)) === 1) return 'last';
    await db.raw('delete from maintainers where registrable = ? and workspace_id = ?', [registrable, workspaceId]);
    // Who leaves, or is removed by an operator, proves the domain anew.
    await db.raw('delete from claims where registrable = ? and workspace_id = ?', [registrable, workspaceId]);
    return 'removed';
}

/**
 * Gives a workspace a domain that nobody maintains but Routebook, or an earlier workspace of the same owner; any other domain
 * stays as it is.
 */
export async function adoptDomain(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await db.transaction(async (trx) => {
        await lockRegistrable(trx, registrable);
        const { rows } = await trx.raw<{ rows: unknown[] }>(
            `select from maintainers m where m.registrable = :registrable and m.workspace_id <> :routebook
               and not exists (select from memberships old join memberships new on new.user_id = old.user_id and new.role = 'owner'
                               where old.workspace_id = m.workspace_id and new.workspace_id = :workspaceId)`,
            { registrable, workspaceId, routebook: ROUTEBOOK_WORKSPACE },
        );
        if (rows.length > 0) return;
        await trx.raw('delete from maintainers where registrable = ? and workspace_id <> ?', [registrable, workspaceId]);
        await addMaintainer(trx, registrable, workspaceId);
    });
}

/** Makes a workspace the only maintainer of a domain, at an operator's word. */
export async function transferDomain(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await addMaintainer(db, registrable, workspaceId);
    await db.raw("update maintainers set granted = 'transferred' where registrable = ? and workspace_id = ?", [registrable, workspaceId]);
    await db.raw('delete from maintainers where registrable = ? and workspace_id <> ?', [registrable, workspaceId]);
    await db.raw('delete from claims where registrable = ? and workspace_id <> ?', [registrable, workspaceId]);
}

/** The domains that others maintain beside Routebook, by name. */
export async function listShared(db: Db): Promise<{ registrable: string; others: Maintainer[] }[]> {
    const { rows } = await db.raw<{ rows: { registrable: string; others: Maintainer[] }[] }>(
        `select m.registrable, json_agg(json_build_object('workspaceId', w.id, 'name', w.name) order by m.added_at, w.id) as others
         from maintainers ours join maintainers m on m.registrable = ours.registrable and m.workspace_id <> ours.workspace_id
         join workspaces w on w.id = m.workspace_id
         where ours.workspace_id = ? group by m.registrable order by m.registrable`,
        [ROUTEBOOK_WORKSPACE],
    );
    return rows;
}

/** Where a page of maintainers begins: behind this one. */
export interface MaintainerPlace {
    /** As the database writes it, to the microsecond. */
    addedAt: string;
    workspaceId: string;
}

/** One page of the workspaces that maintain a domain, the one of longest standing first, and how many there are in all. */
export async function pageOfMaintainers(
    db: Db,
    registrable: string,
    { limit, after }: { limit: number; after: MaintainerPlace | undefined },
): Promise<{ maintainers: Maintainer[]; next: MaintainerPlace | undefined; total: number }> {
    const { rows } = await db.raw<{ rows: (MaintainerPlace & { name: string; total: number })[] }>(
        `select m.added_at::text as "addedAt", m.workspace_id as "workspaceId", w.name,
                (select count(*) from maintainers where registrable = :registrable) as total
         from maintainers m join workspaces w on w.id = m.workspace_id
         where m.registrable = :registrable and (m.added_at, m.workspace_id) > (:addedAt::timestamptz, :workspaceId)
         order by m.added_at, m.workspace_id limit :rows`,
        { registrable, addedAt: after?.addedAt ?? '-infinity', workspaceId: after?.workspaceId ?? '', rows: limit + 1 },
    );
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
        maintainers: shown.map(({ workspaceId, name }) => ({ workspaceId, name })),
        next: last && { addedAt: last.addedAt, workspaceId: last.workspaceId },
        total: rows[0]?.total ?? (await count(db, registrable)),
    };
}

/** Whether a workspace may publish on a domain. */
export async function isMaintainer(db: Db, registrable: string, workspaceId: string): Promise<boolean> {
    const { rows } = await db.raw<{ rows: unknown[] }>('select from maintainers where registrable = ? and workspace_id = ?', [
        registrable,
        workspaceId,
    ]);
    return rows.length > 0;
}

/** What a maintainer does to the list: `by` is its own workspace. */
export interface MaintainerOrder {
    registrable: string;
    by: string;
    workspaceId: string;
    /** For the audit of the workspace that changes the list. */
    actor: By;
}

/** NOT_FOUND: there is no such workspace. FORBIDDEN: it is Routebook or a proved owner, which operators alone remove. */
export type MaintainerRefusal = 'NOT_MAINTAINER' | 'NOT_FOUND' | 'FORBIDDEN' | 'LAST_MAINTAINER';

/** `addMaintainer` at the wish of a maintainer. Undefined where nothing was in the way. */
export async function addAsMaintainer(db: Db, order: MaintainerOrder): Promise<MaintainerRefusal | undefined> {
    return db.transaction(async (trx) => {
        const refusal = await judge(trx, order);
        if (refusal !== undefined) return refusal;
        if (await isMaintainer(trx, order.registrable, order.workspaceId)) return undefined;
        await addMaintainer(trx, order.registrable, order.workspaceId);
        await tellOfChange(trx, order, 'maintainer.added');
        return undefined;
    });
}

/** `removeMaintainer` at the wish of a maintainer; one that is none stays what it is. Undefined where nothing was in the way. */
export async function removeAsMaintainer(db: Db, order: MaintainerOrder): Promise<MaintainerRefusal | undefined> {
    return db.transaction(async (trx) => {
        const refusal = await judge(trx, order);
        if (refusal !== undefined) return refusal;
        const isOther = order.by !== order.workspaceId;
        if (isOther && (await isOwner(trx, order.registrable, order.workspaceId))) return 'FORBIDDEN';
        const outcome = await removeMaintainer(trx, order.registrable, order.workspaceId);
        if (outcome === 'removed') await tellOfChange(trx, order, 'maintainer.removed');
        return outcome === 'last' ? 'LAST_MAINTAINER' : undefined;
    });
}

/** In the audit of the workspace that did it, and by mail to the owners of both workspaces. */
async function tellOfChange(db: Db, order: MaintainerOrder, action: 'maintainer.added' | 'maintainer.removed'): Promise<void> {
    const { registrable, by, workspaceId, actor } = order;
    await recordAct(db, { ...actor, workspaceId: by, action, target: workspaceId, details: { domain: registrable } });
    const isAdded = action === 'maintainer.added';
    const subject = `Who maintains ${registrable} has changed`;
    const line = isAdded
        ? `Workspace ${workspaceId} maintains ${registrable} from now on.`
        : `Workspace ${workspaceId} no longer maintains ${registrable}.`;
    await tellOwners(db, { workspaceId: by, topic: `maintainers ${registrable}`, subject, line });
    if (workspaceId === by) return;
    // Anybody may add anybody: of all that one workspace is added to, it is mailed once an hour.
    const topic = isAdded ? 'added' : `maintainers ${registrable}`;
    const rest = isAdded ? ' It may leave at any time.' : '';
    await tellOwners(db, { workspaceId, topic, subject, line: `${line}${rest}` });
}

async function judge(db: Db, { registrable, by, workspaceId }: MaintainerOrder): Promise<MaintainerRefusal | undefined> {
    await lockRegistrable(db, registrable);
    if (!(await isMaintainer(db, registrable, by))) return 'NOT_MAINTAINER';
    if (workspaceId === ROUTEBOOK_WORKSPACE) return 'FORBIDDEN';
    // A path may hold any text; the database takes no NUL.
    const found = /^wsp_[0-9A-Za-z_]{1,64}$/.test(workspaceId) ? await findWorkspace(db, workspaceId) : undefined;
    return found === undefined ? 'NOT_FOUND' : undefined;
}

async function count(db: Db, registrable: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ count: number }] }>('select count(*) from maintainers where registrable = ?', [registrable]);
    return rows[0].count;
}
