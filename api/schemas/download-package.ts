import type { PackageQuery, SiteParams } from '../../shared/contracts/schemas.ts';
import { readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { perApp } from '../admission/per-app.ts';
import type { AnswerWithETag } from '../answers/etag.ts';
import type { Call } from '../call.ts';
import { createPackageFiles } from './package-files.ts';

/** GET /v1/schemas/{site}/package: the published package with its version, or an export in another `format`. */
export async function downloadPackage({ app, params, query }: Call<SiteParams, PackageQuery, unknown>): Promise<AnswerWithETag> {
    const { site, registrable } = readSite(params.site, '/site');
    const siteState = await app.latest.find({ site, registrable });
    if (!siteState.isKnown || (query.version === undefined && siteState.version === undefined)) throw siteNotFound(site);
    const version =
        query.version === undefined ? siteState.version : await schemas.findVersion(app.browse, site, readVersion(query.version));
    // Nobody may read a version that was yanked for legal reasons.
    if (version === undefined || version.yankReason === 'legal') throw new Refusal('VERSION_NOT_FOUND');
    return filesOf(app).find(version, query.format ?? 'routebook');
}

const filesOf = perApp(({ browse, publicUrl }) => createPackageFiles(browse, publicUrl));

/** Reads a version number or hash. A hash has 64 digits, a number at most nine. */
function readVersion(text: string): number | string {
    return text.length === 64 ? text : Number(text);
}
