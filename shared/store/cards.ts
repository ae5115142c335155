import type { Db } from '../db.ts';
import type { Kind, Method } from '../domain/types.ts';

export interface EndpointSummary {
    name: string;
    kind: Kind;
    method: Method;
    description: string;
    hosted: boolean;
}

export interface CardRow {
    site: string;
    registrable: string;
    title: string;
    description: string;
    intentCategory: string;
    version: number;
    versionHash: string;
    publishedAt: Date;
    verifiedAt: Date | null;
    endpoints: EndpointSummary[];
    /** Credits of one unit. */
    siteCredits: number;
    /** Name of the workspace that maintains the domain longest; null where nobody does (the starter registry). */
    maintainer: string | null;
}

/** What the card of a site's latest version shows; undefined without one. */
export async function card(db: Db, site: string): Promise<CardRow | undefined> {
    const { rows } = await db.raw<{ rows: CardColumns[] }>(
        `select s.site, s.registrable, s.title, s.description, s.intent_category, s.published_at, s.verified_at,
                v.version, v.version_hash, v.summary, d.credits,
                (select w.name from maintainers m join workspaces w on w.id = m.workspace_id
                 where m.registrable = s.registrable order by m.added_at, w.id limit 1) as maintainer
         from sites s join versions v on v.id = s.latest_version_id join domains d on d.registrable = s.registrable
         where s.site = ?`,
        [site],
    );
    return rows[0] && toCard(rows[0]);
}

interface CardColumns {
    site: string;
    registrable: string;
    title: string;
    description: string;
    intent_category: string;
    version: number;
    version_hash: string;
    published_at: Date;
    verified_at: Date | null;
    summary: EndpointSummary[];
    credits: number;
    maintainer: string | null;
}

function toCard(row: CardColumns): CardRow {
    return {
        site: row.site,
        registrable: row.registrable,
        title: row.title,
        description: row.description,
        intentCategory: row.intent_category,
        version: row.version,
        versionHash: row.version_hash,
        publishedAt: row.published_at,
        verifiedAt: row.verified_at,
        endpoints: row.summary,
        siteCredits: row.credits,
        maintainer: row.maintainer,
    };
}
