import { type Columns, columns, type Db, orNow } from '../../platform/db.ts';
import { recordAct } from '../accounts/workspace-audit.ts';
import { reclaimContribution } from '../credits/bonuses.ts';

/** An operator's settings for a registrable domain and all its sites (docs/api.md, "Credits"). */
export interface Domain {
    registrable: string;
    /** Price of one unit, in credits. */
    credits: number;
    /** Maximum number of concurrent fetches; null: half of all slots. */
    concurrency: number | null;
    /** Upstream requests a second. */
    rate: number | null;
    /** Whether connections may hold session cookies. */
    takesCookies: boolean;
    /** Hosts outside of the domain that its OAuth URLs may use. */
    authHosts: string[];
    blockedAt: Date | null;
    blockReason: string | null;
}

const DOMAIN: Columns<Domain> = {
    ...columns('', 'registrable credits concurrency rate takes_cookies auth_hosts blocked_at block_reason'),
};

export interface DomainSettings {
    credits?: number;
    /** Null: resets to half of all slots. */
    concurrency?: number | null;
    /** Null: removes the limit. */
    rate?: number | null;
    /** Hosts outside of the domain that its OAuth URLs may use. */
    auth_hosts?: string[];
    takes_cookies?: boolean;
}

/** Creates the row of a registrable domain if necessary, and locks it until the end of the transaction. */
export async function lockRegistrable(db: Db, registrable: string): Promise<void> {
    await db('domains').insert({ registrable }).onConflict().ignore();
    await db('domains').where({ registrable }).forUpdate().select('registrable');
}

/** The settings of a domain; defaults if nobody has changed them. */
export async function findDomain(db: Db, registrable: string): Promise<Domain> {
    return (
        (await db('domains').where({ registrable }).first(DOMAIN)) ?? {
            registrable,
            credits: 1,
            concurrency: null,
            rate: null,
            takesCookies: true,
            authHosts: [],
            blockedAt: null,
            blockReason: null,
        }
    );
}

/** Hosts that an operator allowed for the OAuth of a domain. */
export async function findAuthHosts(db: Db, registrable: string): Promise<string[]> {
    return (await db('domains').where({ registrable }).first('auth_hosts'))?.auth_hosts ?? [];
}

/** Changes only the given settings. Takes effect with the next call. */
export async function setDomain(db: Db, registrable: string, settings: DomainSettings): Promise<Domain> {
    return changeDomain(db, registrable, { ...settings });
}

/** Blocks a domain. Its sites can no longer be looked up, fetched, published or verified. Repeating it changes only the reason. */
export async function blockDomain(db: Db, registrable: string, reason: string): Promise<Domain> {
    return changeDomain(db, registrable, { blocked_at: orNow(db, 'blocked_at'), block_reason: reason });
}

/** Removes a block. Does nothing if the domain is not blocked. */
export async function unblockDomain(db: Db, registrable: string): Promise<Domain> {
    return changeDomain(db, registrable, { blocked_at: null, block_reason: null });
}

async function changeDomain(db: Db, registrable: string, change: Record<string, unknown>): Promise<Domain> {
    await lockRegistrable(db, registrable);
    await db('domains').where({ registrable }).update(change);
    return findDomain(db, registrable);
}

/** Takes back the bonus of a blocked domain, and records it for its first publisher. Call it last. Returns the credits. */
export async function reclaimBonus(db: Db, registrable: string): Promise<number> {
    const credits = await reclaimContribution(db, registrable);
    if (credits === 0) return 0;
    const first = await db('sites as s')
        .join('versions as v', 'v.site', 's.site')
        .where({ 's.registrable': registrable })
        .whereNotNull('v.published_by_account')
        .orderBy('v.id')
        .first('v.published_by_workspace');
    const act = { actor: 'operator', action: 'bonus.reclaimed', target: registrable, details: { credits } } as const;
    if (first !== undefined) await recordAct(db, { ...act, workspaceId: first.published_by_workspace });
    return credits;
}

interface SiteOfDomain {
    site: string;
    /** Null if all versions are yanked. */
    latest: number | null;
    versions: number;
    /** Whether the examples of the latest version work; `drift`: they worked before but no longer do. */
    verified: boolean;
    drift: boolean;
}

/** The sites of a domain, ordered by name. */
export async function sitesOf(db: Db, registrable: string): Promise<SiteOfDomain[]> {
    return db('sites as s')
        .leftJoin('versions as v', 'v.id', 's.latest_version_id')
        .where({ registrable })
        .orderBy('s.site')
        .select(siteColumns(db));
}

function siteColumns(db: Db): Columns<SiteOfDomain> {
    return {
        site: 's.site',
        latest: 'v.version',
        versions: 's.versions',
        verified: db.raw('v.verified_at is not null'),
        drift: db.raw('v.drifted_at is not null'),
    };
}

export interface ListedSite extends SiteOfDomain {
    registrable: string;
    isBlocked: boolean;
    /** Names of the workspaces that maintain its domain. */
    maintainers: string[];
    publishedAt: Date | null;
}

export type SiteFilter = 'verified' | 'unverified' | 'drift' | 'blocked';

/** Sites of all domains, last published first. */
export async function listSites(db: Db, { only, limit }: { only: SiteFilter | undefined; limit: number }): Promise<ListedSite[]> {
    const maintainers = db('maintainers as m')
        .join('workspaces as w', 'w.id', 'm.workspace_id')
        .whereRaw('m.registrable = s.registrable')
        .select(db.raw("coalesce(array_agg(w.name order by m.added_at, w.id), '{}')"));
    const columns: Columns<ListedSite> = {
        ...siteColumns(db),
        registrable: 's.registrable',
        isBlocked: 'd.is_blocked',
        maintainers,
        publishedAt: 's.published_at',
    };
    const sites = db('sites as s')
        .join('domains as d', 'd.registrable', 's.registrable')
        .leftJoin('versions as v', 'v.id', 's.latest_version_id')
        .orderBy([{ column: 's.published_at', order: 'desc', nulls: 'last' }, 's.site'])
        .limit(limit)
        .select(columns);
    if (only === 'verified') sites.whereNotNull('v.verified_at');
    if (only === 'unverified') sites.whereNull('v.verified_at');
    if (only === 'drift') sites.whereNotNull('v.drifted_at');
    if (only === 'blocked') sites.where({ 'd.is_blocked': true });
    return sites;
}

interface OwnSite {
    site: string;
    title: string;
    versions: number;
    /** The latest version; null if all versions are yanked. */
    latest: number | null;
    publishedAt: Date | null;
    verifiedAt: Date | null;
    driftedAt: Date | null;
}

const OWN_SITE: Columns<OwnSite> = {
    ...columns('s', 'site title versions published_at verified_at'),
    latest: 'v.version',
    driftedAt: 'v.drifted_at',
};

/** Sites on the domains that a workspace maintains, ordered by name, after `after`. */
export async function ownSites(
    db: Db,
    workspaceId: string,
    { limit, after = '' }: { limit: number; after?: string | undefined },
): Promise<OwnSite[]> {
    return db('maintainers as m')
        .join('sites as s', 's.registrable', 'm.registrable')
        .leftJoin('versions as v', 'v.id', 's.latest_version_id')
        .where({ 'm.workspace_id': workspaceId })
        .where('s.site', '>', after)
        .orderBy('s.site')
        .limit(limit)
        .select(OWN_SITE);
}

/** The first name of each range of `size` sites, ordered by name. Only sites with a usable version that are not blocked count. */
export async function siteRanges(db: Db, size: number): Promise<string[]> {
    const named = findable(db).select('s.site', { place: db.raw('row_number() over (order by s.site)') });
    return db.from(named.as('named')).whereRaw('(place - 1) % ? = 0', [size]).orderBy('site').pluck('site');
}

/** The sites from one name (inclusive) to another (exclusive), ordered by name. */
export async function sitesBetween(
    db: Db,
    { from, before, limit }: { from: string; before?: string | undefined; limit: number },
): Promise<{ site: string; publishedAt: Date }[]> {
    const sites = findable(db).where('s.site', '>=', from).orderBy('s.site').limit(limit);
    if (before !== undefined) sites.where('s.site', '<', before);
    return sites.select({ site: 's.site', publishedAt: 's.published_at' });
}

function findable(db: Db) {
    return db('sites as s')
        .join('domains as d', 'd.registrable', 's.registrable')
        .where({ 'd.is_blocked': false })
        .whereNotNull('s.latest_version_id')
        .whereNotNull('s.published_at');
}
