import type { PackageDocument } from '../../shared/domain/types.ts';
import { type DownloadedPackage, type Routebook, RoutebookError } from '../client/index.ts';

interface PublishedPackage {
    document: PackageDocument;
    version: number;
    versionHash: string;
}

/** The package without the version fields of the download, so that it can be pushed again. */
export function withoutVersion(downloaded: DownloadedPackage): PublishedPackage {
    const { version, version_hash: versionHash, published_at: _publishedAt, ...document } = downloaded;
    return { document, version, versionHash };
}

/** The latest version of a site; undefined if there is none. */
export async function findPublished(client: Routebook, site: string): Promise<PublishedPackage | undefined> {
    try {
        return withoutVersion(await client.schemas.package(site));
    } catch (error) {
        if (error instanceof RoutebookError && error.code === 'SITE_NOT_FOUND') return undefined;
        throw error;
    }
}
