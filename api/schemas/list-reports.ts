import type { Report } from '../../shared/contracts/reports.ts';
import type { SiteParams } from '../../shared/contracts/schemas.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import type { RowPlace } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { isMaintainer } from '../../shared/store/registry/maintainers.ts';
import { reportsOf } from '../../shared/store/registry/problem-reports.ts';
import { readPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';

/** GET /v1/schemas/{site}/reports: callers' reports, for maintainers of the domain. */
export async function listReports(call: Call<SiteParams, PageQuery, undefined>): Promise<Reply<Report[]>> {
    const { app, params } = call;
    const { site, registrable } = readSite(params.site, '/site');
    const { isKnown } = await app.latest.find({ site, registrable });
    if (!isKnown) throw siteNotFound(site);
    if (!(await isMaintainer(app.db, registrable, (call.caller as Caller).workspaceId))) throw new Refusal('NOT_MAINTAINER');
    const page = await readPage(call, 'getReports', site);
    const listed = await reportsOf(app.db, site, { limit: page.limit, after: page.from as RowPlace | undefined });
    return {
        answer: listed.reports.map(({ id, createdAt, ...report }) => ({ report_id: id, ...report, created_at: createdAt.toISOString() })),
        pagination: await page.end(listed.next, listed.total),
    };
}
