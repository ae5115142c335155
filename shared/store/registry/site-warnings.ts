import type { YankReason } from '../../domain/package/registry-choices.ts';
import { type Resemblance, resemblance, skeletonOf } from '../../domain/site/look-alike.ts';
import type { Db } from '../../platform/db.ts';

/** A registered domain that resembles a new one. */
export interface LookAlike {
    registrable: string;
    by: Resemblance;
}

/** Number of most used sites that count as well known, in addition to the starter registry. */
const WELL_KNOWN = 200;
const MAX_LOOK_ALIKES = 5;

/** Raw: well-known sites come from the last roll-up and the starter registry, other sites match by the skeleton of their names. */
const CANDIDATES = `
    with known as (
        select s.registrable from trending_sites t join sites s on s.site = t.site
        where t.rollup_id = (select max(id) from trending_rollups) and t.period = '30d' and t.rank <= :wellKnown
        union
        select s.registrable from versions v join sites s on s.site = v.site where v.origin = 'starter'
    ), alike as (
        select registrable from domains where skeleton = :skeleton
    )
    select registrable, registrable in (select registrable from known) as "isWellKnown"
    from (select registrable from known union select registrable from alike) as candidates
    where registrable <> :registrable
      and not exists (select from maintainers m where m.registrable = candidates.registrable and m.workspace_id = :workspace)
    order by 2 desc, 1`;

/** The registered domains that resemble `registrable`, well-known ones first. Domains of the same maintainer are left out. */
export async function findLookAlikes(db: Db, registrable: string, workspaceId: string | undefined): Promise<LookAlike[]> {
    const { rows } = await db.raw<{ rows: { registrable: string; isWellKnown: boolean }[] }>(CANDIDATES, {
        registrable,
        skeleton: skeletonOf(registrable),
        workspace: workspaceId ?? null,
        wellKnown: WELL_KNOWN,
    });
    return rows
        .map((row) => ({ registrable: row.registrable, by: resemblance(registrable, row.registrable, row.isWellKnown) }))
        .filter((found): found is LookAlike => found.by !== undefined)
        .slice(0, MAX_LOOK_ALIKES);
}

/** Stores the skeleton of the domain's name, by which look-alikes are found. */
export async function storeSkeleton(db: Db, registrable: string): Promise<void> {
    const skeleton = skeletonOf(registrable);
    await db('domains').where({ registrable }).update({ skeleton });
}

/** Warnings that people see before they use a site, in addition to its card. */
interface SiteWarnings {
    isBlocked: boolean;
    /** When the latest version lost its verification; null if it did not. */
    driftedAt: Date | null;
    /** Yanked versions above the latest, highest first; at most a few. */
    yanked: { version: number; reason: YankReason }[];
    /** The older domain that this one resembles. */
    lookAlikes: LookAlike[];
}

/** Maximum number of yanked versions that a warning names. */
const NAMED = 3;

/** The warnings of a site that has a usable version. */
export async function siteWarnings(db: Db, { site, registrable }: { site: string; registrable: string }): Promise<SiteWarnings> {
    const [latest, lookAlikes] = await Promise.all([
        db('sites as s')
            .join('domains as d', 'd.registrable', 's.registrable')
            .join('versions as v', 'v.id', 's.latest_version_id')
            .where({ 's.site': site })
            .first({ version: 'v.version', driftedAt: 'v.drifted_at', isBlocked: 'd.is_blocked' }),
        olderLookAlikes(db, registrable),
    ]);
    const yanked: SiteWarnings['yanked'] = await db('versions')
        .where({ site })
        .where('version', '>', latest?.version ?? 0)
        .whereNotNull('yanked_at')
        .orderBy('version', 'desc')
        .limit(NAMED)
        .select({ version: 'version', reason: 'yank_reason' });
    return { isBlocked: latest?.isBlocked ?? false, driftedAt: latest?.driftedAt ?? null, yanked, lookAlikes };
}

/** Only the newer of two similar sites gets a warning. */
async function olderLookAlikes(db: Db, registrable: string): Promise<LookAlike[]> {
    const maintainer = await db('maintainers').where({ registrable }).orderBy(['added_at', 'workspace_id']).first('workspace_id');
    // A domain of the starter registry has no maintainer and is not a copy.
    if (maintainer === undefined) return [];
    const alike = await findLookAlikes(db, registrable, maintainer.workspace_id);
    const older: string[] = await db('domains')
        .whereIn(
            'registrable',
            alike.map((one) => one.registrable),
        )
        .where('created_at', '<=', db('domains').where({ registrable }).select('created_at'))
        .pluck('registrable');
    return alike.filter((one) => older.includes(one.registrable));
}
