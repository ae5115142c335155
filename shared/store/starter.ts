import type { Db } from '../db.ts';
import { normaliseSite } from '../domain/site-name.ts';
import type { PackageDocument } from '../domain/types.ts';
import { versionHash } from '../domain/version-hash.ts';
import { type Published, publish } from './publish.ts';

/**
 * Publishes a package of the starter registry. Left alone, and answered with undefined: content that was published before
 * (also where it was yanked since), and a site that a contributor maintains or an operator blocked.
 * @param options.mayReturn whether content may become the latest again after other content; then only the newest version is compared
 */
export async function publishStarter(
    db: Db,
    document: PackageDocument,
    { mayReturn = false }: { mayReturn?: boolean } = {},
): Promise<Published | undefined> {
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
    if (rows.length > 0) return undefined;
    const published = await publish(db, { document, versionHash: hash, registrable: name.registrable, publisher: undefined });
    return published.ok ? published : undefined;
}
