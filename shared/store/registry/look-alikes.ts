import { type Resemblance, resemblance, skeletonOf } from '../../domain/site/look-alike.ts';
import type { Db } from '../../platform/db.ts';

/** A registered domain that resembles a new one. */
export interface LookAlike {
    registrable: string;
    by: Resemblance;
}

/** The most used sites that count as well known, besides the starter registry. */
const WELL_KNOWN = 200;
const MAX_LOOK_ALIKES = 5;

/** The registered domains that resemble `registrable`, well-known ones first. Domains of the same maintainer are left out. */
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
        .map((row) => ({ registrable: row.registrable, by: resemblance(registrable, row.registrable, row.is_well_known) }))
        .filter((found): found is LookAlike => found.by !== undefined)
        .slice(0, MAX_LOOK_ALIKES);
}

/** Stores the skeleton of the domain's name, by which look-alikes are found. */
export async function rememberName(db: Db, registrable: string): Promise<void> {
    await db.raw('update domains set skeleton = ? where registrable = ?', [skeletonOf(registrable), registrable]);
}
