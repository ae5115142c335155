import type { Report, ReportCreated, ReportOrder } from '../../shared/contracts/reports.ts';
import type { SiteParams } from '../../shared/contracts/schemas.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { REPORTS } from '../../shared/domain/accounts/plans.ts';
import { notMaintainer, readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { didYouMean } from '../../shared/domain/text/suggestions.ts';
import { normaliseNewlines } from '../../shared/domain/text/text-rule.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import { isMaintainer } from '../../shared/store/registry/maintainers.ts';
import { addReport, reportsOf } from '../../shared/store/registry/problem-reports.ts';
import { takeFrom } from '../admission/count-call.ts';
import { inAccountTurn, inDomainTurn } from '../admission/writes.ts';
import { answerPage } from '../answers/paging.ts';
import type { Call, Reply } from '../call.ts';

type ReportCall = Call<SiteParams, object, ReportOrder>;

/** POST /v1/schemas/{site}/reports: anyone with a key may report a problem with the latest version. */
export async function reportProblem(call: ReportCall): Promise<Reply<ReportCreated>> {
    const { app, params, body } = call;
    const { site, registrable } = readSite(params.site, '/site');
    const { isKnown, version } = await app.latest.find({ site, registrable });
    if (!isKnown || version === undefined) throw siteNotFound(site);
    await requireEndpoint(call, version.versionId);
    const { workspaceId } = call.caller;
    const id = newId('rep');
    const { endpoint = null, kind } = body;
    const text = normaliseNewlines(body.text).trim();
    const report = { id, site, registrable, version: version.version, endpoint, kind, text, workspaceId };
    const createdAt = await inAccountTurn(call, async () => {
        await countReport(call);
        return inDomainTurn(call, undefined, () => addReport(app.db, report));
    });
    const headers = { location: `/v1/schemas/${site}/reports` };
    return { headers, answer: { report_id: id, site, version: version.version, endpoint, kind, created_at: createdAt.toISOString() } };
}

async function requireEndpoint({ app, body: { endpoint } }: ReportCall, versionId: number): Promise<void> {
    if (endpoint === undefined) return;
    const endpoints = (await app.versions.load(versionId))?.endpoints;
    if (endpoints?.has(endpoint)) return;
    throw new Refusal('ENDPOINT_NOT_FOUND', undefined, { didYouMean: didYouMean(endpoint, [...(endpoints?.keys() ?? [])]) });
}

/** Counts the report. Enterprise accounts have no rate limit. @throws Refusal RATE_LIMITED */
async function countReport(call: ReportCall): Promise<void> {
    const { accountId, plan } = call.caller;
    if (plan === 'enterprise') return;
    const message = `The window reports is full: ${REPORTS.limit} problem reports an hour of one account.`;
    await takeFrom(call, { name: 'reports', identity: `reports:account:${accountId}`, window: REPORTS, message });
}

/** GET /v1/schemas/{site}/reports: callers' reports, for maintainers of the domain. */
export async function listReports(call: Call<SiteParams, PageQuery, undefined>): Promise<Reply<Report[]>> {
    const { app, params } = call;
    const { site, registrable } = readSite(params.site, '/site');
    const { isKnown } = await app.latest.find({ site, registrable });
    if (!isKnown) throw siteNotFound(site);
    if (!(await isMaintainer(app.db, registrable, call.caller.workspaceId))) throw notMaintainer(registrable);
    const list = (page: RowPage) => reportsOf(app.db, site, page);
    return answerPage(call, site, list, (rows) =>
        rows.map(({ id, createdAt, ...report }) => ({ report_id: id, ...report, created_at: createdAt.toISOString() })),
    );
}
