import type { DownloadedPackage, SiteParams } from '../../shared/contracts/schemas.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as schemas from '../../shared/store/schemas.ts';
import type { Call } from '../serve.ts';
import { readSite, siteNotFound } from '../site.ts';

/** GET /v1/schemas/{site}/package: the package as it was published, and which version it is. */
export async function downloadPackage({ app, params, query }: Call<SiteParams, { version?: string }, unknown>): Promise<DownloadedPackage> {
    const { site, registrable } = readSite(params.site, '/site');
    const standing = await app.latest.find({ site, registrable });
    if (!standing.isKnown || (query.version === undefined && standing.version === undefined)) throw siteNotFound(app);
    const version = query.version === undefined ? standing.version : await schemas.findVersion(app.db, site, readVersion(query.version));
    // A version that was yanked for legal reasons may not even be read.
    if (version === undefined || version.yankReason === 'legal') throw new Refusal('VERSION_NOT_FOUND');
    const document = await schemas.readPackage(app.db, version.versionId);
    if (document === undefined) throw new Refusal('VERSION_NOT_FOUND');
    return {
        ...document,
        version: version.version,
        version_hash: version.versionHash,
        published_at: version.publishedAt.toISOString(),
    };
}

/** A hash has 64 digits, a number at most nine. */
function readVersion(text: string): number | string {
    return text.length === 64 ? text : Number(text);
}
