import { createHash } from 'node:crypto';
import { contentOf } from '../../shared/domain/package/content.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { publishPackage } from '../../shared/store/registry/publish.ts';
import type { Person } from './people.ts';
import type { World } from './world.ts';

/** Stores a package without checking the rules of publishing, like a package that was published before a rule existed. */
export async function storePackage(world: World, document: PackageDocument, { workspaceId, userId }: Person): Promise<void> {
    const versionHash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
    const publisher = { workspaceId, userId, accountId: userId, isLimited: false };
    const content = contentOf(document);
    const stored = await publishPackage(world.app.db, { document, content, versionHash, registrable: document.site, publisher });
    if (!stored.ok) throw new Error(`${document.site} was refused: ${stored.code}`);
}
