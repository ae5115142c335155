import { contentOf } from '../../domain/package/content.ts';
import type { Change } from '../../domain/package/diff.ts';
import { versionHash } from '../../domain/package/version-hash.ts';
import { normaliseSite } from '../../domain/site/site-name.ts';
import type { PackageDocument } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { ownersOf } from './ownership.ts';
import { publishPackage } from './publish.ts';

/**
 * The result for a package. Not published: `unchanged` content; content that was published before (even if it was yanked since); a domain
 * that an owner has proven (`owned`), that others maintain (`maintained`), or that is `blocked`.
 */
export type StarterLoad =
    | { outcome: 'published'; version: number; change: Change }
    | { outcome: 'unchanged' | 'owned' | 'maintained' | 'blocked' };

/**
 * Publishes a package of the starter registry, unless a reason of `StarterLoad` prevents it.
 * @param options.mayReturn whether the content of an older version may be published again; then only the newest version is compared
 * @param options.loadedFor the workspace to which it belongs; Routebook's by default
 */
export async function publishStarter(
    db: Db,
    document: PackageDocument,
    { mayReturn = false, loadedFor }: { mayReturn?: boolean; loadedFor?: string } = {},
): Promise<StarterLoad> {
    const name = normaliseSite(document.site);
    if (!name.ok) throw new TypeError(name.message);
    const hash = versionHash(document);
    const known: { version: number }[] = await db('versions').where({ site: name.site, version_hash: hash }).select('version');
    const newest = mayReturn ? await db('versions').where({ site: name.site }).max({ version: 'version' }).first() : undefined;
    if (known.some(({ version }) => !mayReturn || version === newest?.version)) return { outcome: 'unchanged' };
    if ((await ownersOf(db, name.registrable)).length > 0) return { outcome: 'owned' };
    const published = await publishPackage(db, {
        document,
        content: contentOf(document),
        versionHash: hash,
        registrable: name.registrable,
        publisher: undefined,
        loadedFor,
    });
    if (published.ok && !published.isCreated) return { outcome: 'unchanged' };
    if (published.ok) return { outcome: 'published', version: published.version, change: published.change };
    return { outcome: published.code === 'SITE_BLOCKED' ? 'blocked' : 'maintained' };
}
