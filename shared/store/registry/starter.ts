import { contentOf } from '../../domain/package/content.ts';
import { versionHash } from '../../domain/package/version-hash.ts';
import { normaliseSite } from '../../domain/site/site-name.ts';
import type { PackageDocument } from '../../domain/types.ts';
import type { Db } from '../../platform/db.ts';
import { isProven } from './claim.ts';
import { publish } from './publish.ts';

/**
 * What became of a package. Left alone: `unchanged` content, published before (also where it was yanked since); a domain that an
 * owner has proved (`owned`), that others maintain (`maintained`), or that is `blocked`.
 */
export type StarterLoad = { outcome: 'published'; version: number } | { outcome: 'unchanged' | 'owned' | 'maintained' | 'blocked' };

/**
 * Publishes a package of the starter registry, where nothing is in the way.
 * @param options.mayReturn whether content may become the latest again after other content; then only the newest version is compared
 * @param options.loadedFor the workspace that it belongs to; Routebook's by default
 */
export async function publishStarter(
    db: Db,
    document: PackageDocument,
    { mayReturn = false, loadedFor }: { mayReturn?: boolean; loadedFor?: string } = {},
): Promise<StarterLoad> {
    const name = normaliseSite(document.site);
    if (!name.ok) throw new TypeError(name.message);
    const hash = versionHash(document);
    const { rows } = await db.raw<{ rows: unknown[] }>(
        `select from versions
         where site = :site and version_hash = :hash
           and (not :mayReturn or version = (select max(version) from versions where site = :site))
         limit 1`,
        { site: name.site, hash, mayReturn },
    );
    if (rows.length > 0) return { outcome: 'unchanged' };
    if (await isProven(db, name.registrable)) return { outcome: 'owned' };
    const published = await publish(db, {
        document,
        content: contentOf(document),
        versionHash: hash,
        registrable: name.registrable,
        publisher: undefined,
        loadedFor,
    });
    if (published.ok) return published.isCreated ? { outcome: 'published', version: published.version } : { outcome: 'unchanged' };
    return { outcome: published.code === 'SITE_BLOCKED' ? 'blocked' : 'maintained' };
}
