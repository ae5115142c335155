import type { Db } from '../db.ts';
import { contentOf } from '../domain/package-content.ts';
import { normaliseSite } from '../domain/site-name.ts';
import type { PackageDocument } from '../domain/types.ts';
import { versionHash } from '../domain/version-hash.ts';
import { isProven } from './claim.ts';
import { type Published, publish } from './publish.ts';

/**
 * Publishes a package of the starter registry. Left alone, and answered with undefined: content that was published before
 * (also where it was yanked since), and a site that the workspace does not maintain, that an owner has proved or an operator blocked.
 * @param options.mayReturn whether content may become the latest again after other content; then only the newest version is compared
 * @param options.loadedFor the workspace that it belongs to; Routebook's by default
 */
export async function publishStarter(
    db: Db,
    document: PackageDocument,
    { mayReturn = false, loadedFor }: { mayReturn?: boolean; loadedFor?: string } = {},
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
    if (rows.length > 0 || (await isProven(db, name.registrable))) return undefined;
    const published = await publish(db, {
        document,
        content: contentOf(document),
        versionHash: hash,
        registrable: name.registrable,
        publisher: undefined,
        loadedFor,
    });
    return published.ok ? published : undefined;
}
