import type { PackageContent, PackageHead } from '../../domain/package/content.ts';
import type { Change, PackageChanges } from '../../domain/package/diff.ts';
import { SEARCH_RULES, searchEntry } from '../../domain/search/search-text.ts';
import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import { ago, type Db, type Interval, lockName } from '../../platform/db.ts';
import type { By } from '../accounts/workspace-audit.ts';
import { addWords } from './search-index.ts';
import type { LookAlike } from './site-warnings.ts';

/** Types for publishing (publish.ts). */

/** The publishing workspace, and the account that pays for it. The publishing limits and the bonus apply to the account. */
export interface Publisher {
    workspaceId: string;
    userId: string;
    accountId: string;
    /** Whether the publishing limits apply. False for enterprise accounts. */
    isLimited: boolean;
    /** The actor for the audit log of the workspace; absent: an operator's tool. */
    by?: By;
}

export interface PublishOrder {
    /** A package that passed the package rules; `site` is normalised. */
    document: PackageHead;
    /** The full package. It is stored exactly like this. */
    content: PackageContent;
    versionHash: string;
    registrable: string;
    /** Undefined for a package that the installation loads. The publishing limits do not count it and it earns nothing. */
    publisher: Publisher | undefined;
    /** The domain or host that needs a proof or an operator's permission (`reservedName`), if any does. */
    needsProof?: string | undefined;
    /** For a package that the installation loads: the workspace to which it belongs. Routebook's by default. */
    loadedFor?: string | undefined;
    /** The hash in If-Match, or `*` for any version. */
    ifMatch?: string | undefined;
    /** Checks everything except the publishing limits, and stores nothing. */
    isDryRun?: boolean;
}

export type PublishRefusal =
    | { ok: false; code: 'SITE_BLOCKED' }
    /** `isOperators`: Routebook itself is one of the maintainers. */
    | { ok: false; code: 'NOT_MAINTAINER'; isOperators: boolean }
    /** `name`: the name that requires a proof. */
    | { ok: false; code: 'CLAIM_REQUIRED'; name: string }
    /** `latestHash` null: there is no version. */
    | { ok: false; code: 'VERSION_CONFLICT'; latestHash: string | null }
    /** `retryAfter` is in whole seconds. */
    | { ok: false; code: 'RATE_LIMITED'; window: 'versions_per_hour' | 'bytes_per_day' | 'sites_per_day'; retryAfter: number };

export type Published =
    | PublishRefusal
    | {
          ok: true;
          /** False if the content equals the latest version, and for a dry run. */
          isCreated: boolean;
          /** Absent for a dry run of new content. */
          versionId?: number;
          version: number;
          versionHash: string;
          change: Change;
          changes: PackageChanges;
          /** Null for a dry run of new content. */
          publishedAt: Date | null;
          verifiedAt: Date | null;
          creditsEarned: number;
          /** The domain is new, but the account has used up its bonuses of this month. */
          isBonusUsedUp: boolean;
          /** The domain is new. Its bonus is paid after a passed verification run, or after a call by another account. */
          bonusOwed?: 'verification' | 'call';
          /** Registered domains with which this one may be confused. They are searched only until something has been published on it. */
          lookAlikes: LookAlike[];
      };

type Outcome = Extract<Published, { ok: true }>;

/** The state of a site and its domain before a publish. */
export interface Publication {
    isBlocked: boolean;
    isMaintained: boolean;
    /** Whether the publishing workspace is among the maintainers. */
    isMaintainer: boolean;
    /** Whether it has proven the domain, or an operator made it a maintainer. */
    isTrusted: boolean;
    /** Whether Routebook itself is one of the maintainers. */
    isOperators: boolean;
    /** Whether nothing has ever been published on this registrable domain. */
    isNewDomain: boolean;
    /** Whether a latest version of the domain declares a rate limit. */
    hasPaces: boolean;
    /** The highest version number of the site so far. */
    versions: number;
    latest: LatestPublication | undefined;
}

export interface LatestPublication extends Pick<Outcome, 'version' | 'versionHash' | 'change' | 'changes' | 'verifiedAt'> {
    versionId: number;
    publishedAt: Date;
    /** As JSON, if it was requested. */
    document: string | undefined;
}

export function workspaceOf({ publisher, loadedFor = ROUTEBOOK_WORKSPACE }: PublishOrder): string {
    return publisher?.workspaceId ?? loadedFor;
}

/** Serialises publishing: locks the account first, then the domain. */
export async function lockDomain(db: Db, registrable: string, accountId: string | undefined): Promise<void> {
    if (accountId !== undefined) await lockName(db, `publish ${accountId}`);
    // An update without changes locks even a new row, but not its key, to which endpoints that are being indexed refer.
    await db('domains')
        .insert({ registrable })
        .onConflict('registrable')
        .merge({ credits: db.ref('domains.credits') });
}

/** Raw: the state that a publish depends on, in one round trip while the domain is locked. */
const READ = `
    select exists (select from domains where registrable = :registrable and is_blocked) as "isBlocked",
           exists (select from maintainers where registrable = :registrable) as "isMaintained",
           exists (select from maintainers where registrable = :registrable and workspace_id = :workspace) as "isMaintainer",
           exists (select from maintainers where registrable = :registrable and workspace_id = :routebook) as "isOperators",
           exists (select from maintainers where registrable = :registrable and workspace_id = :workspace
                   and (proven_at is not null or granted is not null)) as "isTrusted",
           not exists (select from sites where registrable = :registrable and versions > 0) as "isNewDomain",
           exists (select from domains where registrable = :registrable and paces is not null) as "hasPaces",
           coalesce(s.versions, 0) as versions,
           v.id as "versionId", v.version, v.version_hash as "versionHash", v.change, v.changes, v.published_at as "publishedAt",
           v.verified_at as "verifiedAt", case when :withDocument then v.document::text end as document
    from (select) as one
    left join sites s on s.site = :site
    left join versions v on v.id = s.latest_version_id`;

/** Reads the state that a publish depends on. @param withDocument also read the latest version, which may be large */
export async function readPublication(db: Db, order: PublishOrder, { withDocument }: { withDocument: boolean }): Promise<Publication> {
    const { registrable, document } = order;
    const { rows } = await db.raw<{ rows: [PublicationRow] }>(READ, {
        registrable,
        site: document.site,
        workspace: workspaceOf(order),
        routebook: ROUTEBOOK_WORKSPACE,
        withDocument,
    });
    const { versionId, version, versionHash, change, changes, publishedAt, verifiedAt, document: text, ...before } = rows[0];
    if (versionId === null) return { ...before, latest: undefined };
    return {
        ...before,
        latest: { versionId, version, versionHash, change, changes, publishedAt, verifiedAt, document: text ?? undefined },
    };
}

type PublicationRow = Omit<Publication, 'latest'> &
    Omit<LatestPublication, 'versionId' | 'document'> & {
        /** Null if there is no version yet. All other columns of the version are then null too. */
        versionId: number | null;
        /** As JSON; null if it was not requested. */
        document: string | null;
    };

const VERSIONS_AN_HOUR = 60;
const SITES_A_DAY = 20;
/** As stored, that is compressed. Versions are never deleted, so without it an account could add gigabytes a day. */
const BYTES_A_DAY = 64 * 1024 * 1024;

/**
 * Checks the publishing limits per account: new versions an hour, their bytes and new sites a day, over a sliding window; undefined if the
 * publish is allowed. `lockDomain` serialises the publishes of an account, so the count is exact.
 */
export async function checkPublishingLimits(
    db: Db,
    publisher: Publisher | undefined,
    isNewSite: boolean,
): Promise<PublishRefusal | undefined> {
    if (publisher === undefined || !publisher.isLimited) return undefined;
    const own = { published_by_account: publisher.accountId };
    const versionWait = await waitFor(db, own, '1 hours', VERSIONS_AN_HOUR);
    const siteWait = isNewSite ? await waitFor(db, { ...own, version: 1 }, '24 hours', SITES_A_DAY) : 0;
    const waits = [
        { window: 'versions_per_hour', retryAfter: versionWait },
        { window: 'sites_per_day', retryAfter: siteWait },
        { window: 'bytes_per_day', retryAfter: await waitForBytes(db, publisher.accountId) },
    ] as const;
    const longest = waits.reduce((one, other) => (other.retryAfter > one.retryAfter ? other : one));
    return longest.retryAfter === 0 ? undefined : { ok: false, code: 'RATE_LIMITED', ...longest };
}

/** Seconds until the first version of the last 24 hours leaves the window; 0 if their packages are within the limit. */
async function waitForBytes(db: Db, accountId: string): Promise<number> {
    const { rows } = await db.raw<{ rows: [{ wait: number }] }>(
        `select case when sum(pg_column_size(document)) < ? then 0
                     else coalesce(ceil(extract(epoch from min(published_at) + interval '24 hours' - app_now()))::integer, 0) end as wait
         from versions where published_by_account = ? and published_at > app_now() - interval '24 hours'`,
        [BYTES_A_DAY, accountId],
    );
    return rows[0].wait;
}

/** Seconds until the oldest of the last `limit` rows leaves the window; 0 if there are fewer rows in it. */
async function waitFor(db: Db, which: object, window: Interval, limit: number): Promise<number> {
    const oldest = await db('versions')
        .where(which)
        .where('published_at', '>', ago(db, window))
        .orderBy('published_at', 'desc')
        .offset(limit - 1)
        .first({ wait: db.raw('greatest(1, ceil(extract(epoch from published_at + ?::interval - app_now())))::integer', [window]) });
    return oldest?.wait ?? 0;
}

/** Raw: one round trip while the domain is locked. Yanks do the same by `pointToLatest`, but read the package again. */
const ADD_VERSION = `
    with made as (
        insert into versions (site, version, version_hash, document, summary, change, changes, origin,
                              published_by_workspace, published_by_user, published_by_account, hosts, pace)
        values (:site, :version, :versionHash, :document, :summary, :change, :changes, :origin, :workspace, :user, :account, :hosts, :pace)
        returning id, published_at
    ), site as (
        insert into sites (site, registrable, versions, latest_version_id, title, description, intent_category, published_at, verified_at,
                           label, search, search_rules)
        select :site, :registrable, :version, id, :title, :description, :category, published_at, null,
               :label, array_to_tsvector(:lexemes), :rules from made
        on conflict (site) do update
        set versions = excluded.versions, latest_version_id = excluded.latest_version_id, title = excluded.title,
            description = excluded.description, intent_category = excluded.intent_category,
            published_at = excluded.published_at, verified_at = null,
            label = excluded.label, search = excluded.search, search_rules = excluded.search_rules
    ), maintainer as (
        insert into maintainers (registrable, workspace_id)
        select :registrable, id from workspaces
        where id = :workspace and not exists (select from maintainers where registrable = :registrable)
    ), former as (
        update latest_spells set ended_at = app_now() where site = :site and ended_at is null
    )
    select id, published_at from made`;

/** Writes the next version of a site and makes it the latest. The first publisher of a domain becomes its maintainer. */
export async function addVersion(
    db: Db,
    order: PublishOrder,
    { version, change, changes }: Pick<Outcome, 'version' | 'change' | 'changes'>,
): Promise<{ versionId: number; publishedAt: Date }> {
    const { document, content, versionHash, registrable, publisher } = order;
    const { label, lexemes } = searchEntry(document.site, document.title);
    const { rows } = await db.raw<{ rows: [{ id: number; published_at: Date }] }>(ADD_VERSION, {
        site: document.site,
        registrable,
        version,
        versionHash,
        document: content.text,
        summary: content.summary,
        title: document.title,
        description: document.description ?? '',
        category: document.intent_category,
        change,
        changes: JSON.stringify(changes),
        origin: publisher === undefined ? 'starter' : 'published',
        workspace: workspaceOf(order),
        user: publisher?.userId ?? null,
        account: publisher?.accountId ?? null,
        label,
        lexemes,
        rules: SEARCH_RULES,
        hosts: content.hosts,
        pace: document.pace?.requests_per_minute ?? null,
    });
    const { id, published_at } = rows[0];
    await db('latest_spells').insert({ site: document.site, version_id: id });
    await addWords(db, lexemes);
    return { versionId: id, publishedAt: published_at };
}
