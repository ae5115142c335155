import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import type { Db } from '../../platform/db.ts';
import { lockRegistrable } from './domain-lock.ts';

/** A workspace that may publish on a registrable domain. */
export interface Maintainer {
    workspaceId: string;
    name: string;
    /** When the removal that another workspace asked for takes effect; null where none is pending. */
    removalAt: Date | null;
}

/** The workspaces that may publish on a domain, the oldest maintainer first. */
export async function listMaintainers(db: Db, registrable: string): Promise<Maintainer[]> {
    const { rows } = await db.raw<{ rows: Maintainer[] }>(
        `select w.id as "workspaceId", w.name, m.removal_at as "removalAt" from maintainers m join workspaces w on w.id = m.workspace_id
         where m.registrable = ? order by m.added_at, w.id`,
        [registrable],
    );
    return rows;
}

/** Adds a maintainer; an existing one stays as it is. */
export async function addMaintainer(db: Db, registrable: string, workspaceId: string): Promise<void> {
    await lockRegistrable(db, registrable);
    await db.raw('insert into maintainers (registrable, workspace_id) values (?, ?) on conflict do nothing', [registrable, workspaceId]);
}

/** Removes a maintainer. `last`: there is no other one, and nothing changed; `absent`: it was none. */
export async function removeMaintainer(db: Db, registrable: string, workspaceId: string): Promise<'removed' | 'absent' | 'last'> {
    await lockRegistrable(db, registrable);
    if (!(await isMaintainer(db, registrable, workspaceId))) return 'absent';
    if ((await count(db, registrable)) === 1) return 'last';
    await db.raw('delete from maintainers where registrable = ? and workspace_id = ?', [registrable, workspaceId]);
    // A workspace that returns must prove the domain again.
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

/** The domains that others maintain beside Routebook, by name. */
export async function listShared(db: Db): Promise<{ registrable: string; others: Omit<Maintainer, 'removalAt'>[] }[]> {
    const { rows } = await db.raw<{ rows: { registrable: string; others: Omit<Maintainer, 'removalAt'>[] }[] }>(
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

/** One page of the workspaces that maintain a domain, the oldest maintainer first, and their total. */
export async function pageOfMaintainers(
    db: Db,
    registrable: string,
    { limit, after }: { limit: number; after: MaintainerPlace | undefined },
): Promise<{ maintainers: Maintainer[]; next: MaintainerPlace | undefined; total: number }> {
    const { rows } = await db.raw<{ rows: (MaintainerPlace & Maintainer & { total: number })[] }>(
        `select m.added_at::text as "addedAt", m.workspace_id as "workspaceId", w.name, m.removal_at as "removalAt",
                (select count(*) from maintainers where registrable = :registrable) as total
         from maintainers m join workspaces w on w.id = m.workspace_id
         where m.registrable = :registrable and (m.added_at, m.workspace_id) > (:addedAt::timestamptz, :workspaceId)
         order by m.added_at, m.workspace_id limit :rows`,
        { registrable, addedAt: after?.addedAt ?? '-infinity', workspaceId: after?.workspaceId ?? '', rows: limit + 1 },
    );
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
        maintainers: shown.map(({ workspaceId, name, removalAt }) => ({ workspaceId, name, removalAt })),
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

async function count(db: Db, registrable: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ count: number }] }>('select count(*) from maintainers where registrable = ?', [registrable]);
    return rows[0].count;
}
