import type { SiteParams } from '../../shared/contracts/schemas.ts';
import type { VersionEntry } from '../../shared/contracts/versions.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import { readPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';
import { presentVersion } from './present-version.ts';

/** GET /v1/schemas/{site}/versions: newest first. Version numbers never change, so paging down returns each version exactly once. */
export async function listVersions(call: Call<SiteParams, PageQuery, undefined>): Promise<Reply<VersionEntry[]>> {
    const { app, params } = call;
    const { site } = readSite(params.site, '/site');
    const page = await readPage(call, 'getVersions', site);
    const before = page.from as number | undefined;
    const { versions, total } = await schemas.history(app.browse, site, { limit: page.limit, before });
    if (total === 0) throw siteNotFound(site);
    const lowest = versions.at(-1)?.version ?? 1;
    return {
        answer: versions.map(presentVersion),
        pagination: await page.end(lowest > 1 ? lowest : undefined, total),
    };
}
