import { createHash } from 'node:crypto';
import { contentOf } from '../../shared/domain/package/content.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import { publish } from '../../shared/store/registry/publish.ts';
import type { Person } from './people.ts';
import type { World } from './world.ts';

/** Stores a package past the rules of publishing, as one is that was published before they were made. */
export async function storePackage(world: World, document: PackageDocument, { workspaceId, userId }: Person): Promise<void> {
    const versionHash = createHash('sha256').update(JSON.stringify(document)).digest('hex');
    const publisher = { workspaceId, userId, accountId: userId, isGuarded: false };
    const content = contentOf(document);
    const stored = await publish(world.app.db, { document, content, versionHash, registrable: document.site, publisher });
    if (!stored.ok) throw new Error(`${document.site} was refused: ${stored.code}`);
}
