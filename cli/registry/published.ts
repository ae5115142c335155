import type { PackageDocument } from '../../shared/domain/types.ts';
import { type DownloadedPackage, type Routebook, RoutebookError } from '../client/index.ts';

export interface PublishedPackage {
    document: PackageDocument;
    version: number;
    versionHash: string;
}

/** The package as somebody could push it again: without what the download tells about the version. */
export function withoutVersion(downloaded: DownloadedPackage): PublishedPackage {
    const { version, version_hash: versionHash, published_at: _publishedAt, ...document } = downloaded;
    return { document, version, versionHash };
}

/** The latest version of a site; undefined where there is none yet. */
export async function findPublished(client: Routebook, site: string): Promise<PublishedPackage | undefined> {
    try {
        return withoutVersion(await client.schemas.package(site));
    } catch (error) {
        if (error instanceof RoutebookError && error.code === 'SITE_NOT_FOUND') return undefined;
        throw error;
    }
}
