import type { EndpointSummary } from '../../domain/package/content.ts';
import type { Claim } from '../../domain/site/claim.ts';
import { columnList, columns, type Db } from '../../platform/db.ts';
import { type PreparedQuery, runPrepared } from '../../platform/prepared-query.ts';
import { claimOf } from './ownership.ts';

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
    /** Price of one unit, in credits. */
    siteCredits: number;
    /** The workspace that has maintained the domain for longest. */
    maintainer: string;
    maintainerId: string;
    claim: Claim;
}

/** The card of the site's latest version; undefined if there is none. */
export async function cardOf(db: Db, site: string): Promise<CardRow | undefined> {
    const [row] = await cardsOf(db, [site]);
    return row;
}

/** The cards of these sites, in the given order. Sites without a usable version are left out. */
export async function cardsOf(db: Db, sites: readonly string[]): Promise<CardRow[]> {
    return runPrepared<CardRow>(db, CARDS, [sites], TIMEOUT_MS);
}

const TIMEOUT_MS = 5000;

const CARD: Record<keyof CardRow, string> = {
    ...columns('s', 'site registrable title description intent_category published_at verified_at'),
    ...columns('v', 'version version_hash hosts'),
    endpoints: 'v.summary',
    siteCredits: 'd.credits',
    maintainer: 'first.name',
    maintainerId: 'first.id',
    claim: claimOf('s.registrable'),
};

const CARDS: PreparedQuery = {
    name: 'cards',
    text: `select ${columnList(CARD)}
         from unnest((select $1::text[])) with ordinality as asked (site, place)
         join sites s on s.site = asked.site
         join versions v on v.id = s.latest_version_id
         join domains d on d.registrable = s.registrable
         cross join lateral (select w.id, w.name from maintainers m join workspaces w on w.id = m.workspace_id
                             where m.registrable = s.registrable order by m.added_at, w.id limit 1) as first
         order by place`,
};
