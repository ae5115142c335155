import type { EndpointSummary } from '../../domain/package/content.ts';
import type { Claim } from '../../domain/site/claim.ts';
import type { Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { claimOf } from './claim.ts';

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
    /** Names of all hosts that the version calls, sorted. */
    hosts: string[];
    /** Credits of one unit. */
    siteCredits: number;
    /** The workspace that maintains the domain longest. */
    maintainer: string;
    maintainerId: string;
    claim: Claim;
}

/** What the card of a site's latest version shows; undefined without one. */
export async function card(db: Db, site: string): Promise<CardRow | undefined> {
    const [row] = await cards(db, [site]);
    return row;
}

/** The cards of these sites, in their order; sites without a version in use are left out. */
export async function cards(db: Db, sites: readonly string[]): Promise<CardRow[]> {
    const rows = await runPrepared<CardColumns>(db, CARDS, [sites], TIMEOUT_MS);
    return rows.map(toCard);
}

const TIMEOUT_MS = 5000;

const CARDS: PreparedQuery = {
    name: 'cards',
    text: `select s.site, s.registrable, s.title, s.description, s.intent_category, s.published_at, s.verified_at,
                v.version, v.version_hash, v.summary, v.hosts, d.credits,
                first.name as maintainer, first.id as maintainer_id, ${claimOf('s.registrable')} as claim
         from unnest((select $1::text[])) with ordinality as asked (site, place)
         join sites s on s.site = asked.site
         join versions v on v.id = s.latest_version_id
         join domains d on d.registrable = s.registrable
         cross join lateral (select w.id, w.name from maintainers m join workspaces w on w.id = m.workspace_id
                             where m.registrable = s.registrable order by m.added_at, w.id limit 1) as first
         order by place`,
};

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
    hosts: string[];
    credits: number;
    maintainer: string;
    maintainer_id: string;
    claim: Claim;
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
        hosts: row.hosts,
        siteCredits: row.credits,
        maintainer: row.maintainer,
        maintainerId: row.maintainer_id,
        claim: row.claim,
    };
}
