import type { Db } from '../../platform/db.ts';

/** A site that anybody may find, and when its latest version was published. */
export interface NamedSite {
    site: string;
    publishedAt: Date;
}

/** The first name of each range of `size` sites, in order of names. Only sites with a usable version count, and no blocked ones. */
export async function siteRanges(db: Db, size: number): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { site: string }[] }>(
        `select site from (select s.site, row_number() over (order by s.site) as place from ${FINDABLE}) as named
         where (place - 1) % ? = 0 order by site`,
        [size],
    );
    return rows.map(({ site }) => site);
}

/** Those from one name on, to before another, in the order of names. */
export async function sitesBetween(db: Db, range: { from: string; before?: string | undefined; limit: number }): Promise<NamedSite[]> {
    const { rows } = await db.raw<{ rows: NamedSite[] }>(
        `select s.site, s.published_at as "publishedAt" from ${FINDABLE}
         and s.site >= :from ${range.before === undefined ? '' : 'and s.site < :before'} order by s.site limit :limit`,
        { ...range, before: range.before ?? '' },
    );
    return rows;
}

const FINDABLE = `sites s join domains d on d.registrable = s.registrable and not d.is_blocked
         where s.latest_version_id is not null and s.published_at is not null`;
