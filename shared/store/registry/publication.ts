import { SEARCH_RULES, searchEntry } from '../../domain/search/search-text.ts';
import { ROUTEBOOK_WORKSPACE } from '../../domain/site/routebook.ts';
import type { Db } from '../../platform/db.ts';
import type { Published, PublishOrder } from './publish-order.ts';
import { addWords } from './search-index.ts';

type Outcome = Extract<Published, { ok: true }>;

/** The state of a site and its domain before a publish. */
export interface Publication {
    isBlocked: boolean;
    isMaintained: boolean;
    /** Whether the publishing workspace is among the maintainers. */
    isMaintainer: boolean;
    /** Whether it has proved the domain, or an operator made it a maintainer. */
    isTrusted: boolean;
    /** Whether Routebook itself is among them. */
    isOperators: boolean;
    /** Nothing was ever published on this registrable domain. */
    isNewDomain: boolean;
    /** The site's highest number so far. */
    versions: number;
    latest: LatestPublication | undefined;
}

export interface LatestPublication extends Pick<Outcome, 'version' | 'versionHash' | 'change' | 'changes' | 'verifiedAt'> {
    versionId: number;
    publishedAt: Date;
    /** As JSON, where it was asked for. */
    document: string | undefined;
}

/** The workspace that a publish is made for. */
export function workspaceOf({ publisher, loadedFor = ROUTEBOOK_WORKSPACE }: PublishOrder): string {
    return publisher?.workspaceId ?? loadedFor;
}

/** Serialises publishing: locks the account first, then the domain. */
export async function lockDomain(db: Db, registrable: string, accountId: string | undefined): Promise<void> {
    if (accountId !== undefined) await db.raw("select pg_advisory_xact_lock(hashtextextended('publish ' || ?, 0))", [accountId]);
    // An update without changes locks the row, even if it is new.
    await db.raw(
        'insert into domains (registrable) values (?) on conflict (registrable) do update set registrable = excluded.registrable',
        [registrable],
    );
}

/** Reads the state that a publish is judged by. @param withDocument also read the latest version, which may be large */
export async function readPublication(db: Db, order: PublishOrder, { withDocument }: { withDocument: boolean }): Promise<Publication> {
    const { registrable, document } = order;
    const { rows } = await db.raw<{ rows: [PublicationColumns] }>(
        `select exists (select from domains where registrable = :registrable and is_blocked) as is_blocked,
                exists (select from maintainers where registrable = :registrable) as is_maintained,
                exists (select from maintainers where registrable = :registrable and workspace_id = :workspace) as is_maintainer,
                exists (select from maintainers where registrable = :registrable and workspace_id = :routebook) as is_operators,
                exists (select from maintainers where registrable = :registrable and workspace_id = :workspace
                        and (proven_at is not null or granted is not null)) as is_trusted,
                not exists (select from sites where registrable = :registrable and versions > 0) as is_new_domain,
                coalesce(s.versions, 0) as versions,
                v.id, v.version, v.version_hash, v.change, v.changes, v.published_at, v.verified_at,
                case when :withDocument then v.document::text end as document
         from (select) as one
         left join sites s on s.site = :site
         left join versions v on v.id = s.latest_version_id`,
        { registrable, site: document.site, workspace: workspaceOf(order), routebook: ROUTEBOOK_WORKSPACE, withDocument },
    );
    return toPublication(rows[0]);
}

/**
 * Writes the next version of a site and makes it the latest. The first publisher of a domain becomes its maintainer. (`pointToLatest` does
 * the same for yanks, but reads the package again.)
 */
export async function addVersion(
    db: Db,
    order: PublishOrder,
    { version, change, changes }: Pick<Outcome, 'version' | 'change' | 'changes'>,
): Promise<{ versionId: number; publishedAt: Date }> {
    const { document, content, versionHash, registrable, publisher } = order;
    const { label, lexemes } = searchEntry(document.site, document.title);
    const { rows } = await db.raw<{ rows: [{ id: number; published_at: Date }] }>(
        `with made as (
             insert into versions (site, version, version_hash, document, summary, change, changes, origin,
                                   published_by_workspace, published_by_user, published_by_account, hosts)
             values (:site, :version, :versionHash, :document, :summary, :change, :changes, :origin, :workspace, :user, :account, :hosts)
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
         select id, published_at from made`,
        {
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
        },
    );
    const { id, published_at } = rows[0];
    await db.raw('insert into latest_spells (site, version_id) values (?, ?)', [document.site, id]);
    await addWords(db, lexemes);
    return { versionId: id, publishedAt: published_at };
}

interface PublicationColumns {
    is_blocked: boolean;
    is_maintained: boolean;
    is_maintainer: boolean;
    is_operators: boolean;
    is_trusted: boolean;
    is_new_domain: boolean;
    versions: number;
    id: number | null;
    version: number;
    version_hash: string;
    change: Outcome['change'];
    changes: Outcome['changes'];
    published_at: Date;
    verified_at: Date | null;
    /** As JSON; null where it was not asked for. */
    document: string | null;
}

function toPublication(row: PublicationColumns): Publication {
    return {
        isBlocked: row.is_blocked,
        isMaintained: row.is_maintained,
        isMaintainer: row.is_maintainer,
        isOperators: row.is_operators,
        isTrusted: row.is_trusted,
        isNewDomain: row.is_new_domain,
        versions: row.versions,
        latest:
            row.id === null
                ? undefined
                : {
                      versionId: row.id,
                      version: row.version,
                      versionHash: row.version_hash,
                      change: row.change,
                      changes: row.changes,
                      publishedAt: row.published_at,
                      verifiedAt: row.verified_at,
                      document: row.document ?? undefined,
                  },
    };
}
