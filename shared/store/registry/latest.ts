import type { Db } from '../../platform/db.ts';
import { indexSites } from './search-index.ts';

/**
 * Makes the highest version that is not yanked the site's latest, and records the period of each latest version. The caller holds the lock
 * of the registrable domain.
 */
export async function pointToLatest(db: Db, site: string): Promise<void> {
    const { rows } = await db.raw<{ rows: { site: string; title: string }[] }>(
        `with newest as (
             select id, published_at, verified_at, document from versions
             where site = :site and yanked_at is null order by version desc limit 1
         )
         update sites s
         set latest_version_id = n.id, published_at = n.published_at, verified_at = n.verified_at,
             title = coalesce(n.document->>'title', ''), description = coalesce(n.document->>'description', ''),
             intent_category = coalesce(n.document->>'intent_category', '')
         from (select) as one left join newest n on true
         where s.site = :site returning s.site, s.title`,
        { site },
    );
    await indexSites(db, rows);
    await db.raw(
        `update latest_spells l set ended_at = app_now()
         from sites s
         where l.site = :site and l.ended_at is null and s.site = l.site and s.latest_version_id is distinct from l.version_id`,
        { site },
    );
    await db.raw(
        `insert into latest_spells (site, version_id)
         select site, latest_version_id from sites where site = :site and latest_version_id is not null
         on conflict (site) where ended_at is null do nothing`,
        { site },
    );
}
