import type { Db } from '../db.ts';
import { type Likeness, likeness, skeletonOf } from '../domain/look-alike.ts';

/** A registered domain that a new one may be taken for. */
export interface LookAlike {
    registrable: string;
    by: Likeness;
}

/** Of the sites that are used most, this many are those that many know; besides them the starter registry. */
const WELL_KNOWN = 200;
const MAX_LOOK_ALIKES = 5;

/** The registered domains that `registrable` may be taken for, the well-known ones first; those of the same maintainer are left out. */
export async function findLookAlikes(db: Db, registrable: string, workspaceId: string | undefined): Promise<LookAlike[]> {
    const { rows } = await db.raw<{ rows: { registrable: string; is_well_known: boolean }[] }>(
        `with known as (
             select s.registrable from trending_sites t join sites s on s.site = t.site
             where t.rollup_id = (select max(id) from trending_rollups) and t.period = '30d' and t.rank <= :wellKnown
             union
             select s.registrable from versions v join sites s on s.site = v.site where v.origin = 'starter'
         ), alike as (
             select registrable from domains where skeleton = :skeleton
         )
         select registrable, registrable in (select registrable from known) as is_well_known
         from (select registrable from known union select registrable from alike) as candidates
         where registrable <> :registrable
           and not exists (select from maintainers m where m.registrable = candidates.registrable and m.workspace_id = :workspace)
         order by 2 desc, 1`,
        { registrable, skeleton: skeletonOf(registrable), workspace: workspaceId ?? null, wellKnown: WELL_KNOWN },
    );
    return rows
        .map((row) => ({ registrable: row.registrable, by: likeness(registrable, row.registrable, row.is_well_known) }))
        .filter((found): found is LookAlike => found.by !== undefined)
        .slice(0, MAX_LOOK_ALIKES);
}

/** Lets the domain be found by what its name looks like. */
export async function rememberName(db: Db, registrable: string): Promise<void> {
    await db.raw('update domains set skeleton = ? where registrable = ?', [skeletonOf(registrable), registrable]);
}
