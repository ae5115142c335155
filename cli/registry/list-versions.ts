import type { VersionEntry } from '../client/index.ts';
import type { Done, Session } from '../session.ts';
import { table } from '../table.ts';

/** `routebook versions SITE`: lists versions, newest first. */
export async function listVersions({ client, terminal: { paint } }: Session, site: string, { limit }: { limit: number }): Promise<Done> {
    const versions: VersionEntry[] = [];
    for await (const version of client().schemas.versions(site, { limit: Math.min(limit, 100) })) {
        versions.push(version);
        if (versions.length >= limit) break;
    }
    const heads = ['version', 'published', 'change', 'verified', 'yanked', 'by', 'hash'];
    const rows = versions.map(({ version, published_at, change, verified, yanked, published_by, version_hash }) => {
        return [version, published_at, change, verified ? 'yes' : 'no', yanked ? 'yes' : 'no', published_by, version_hash.slice(0, 12)];
    });
    return { result: { site, versions }, lines: table(heads, rows, paint) };
}
