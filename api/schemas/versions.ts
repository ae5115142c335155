import type { SiteParams } from '../../shared/contracts/schemas.ts';
import type { VersionEntry, VersionParams, YankOrder } from '../../shared/contracts/versions.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { YANKS } from '../../shared/domain/accounts/plans.ts';
import { notMaintainer, readSite, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { PageOrder } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import { findHistory, type HistoryRow } from '../../shared/store/registry/history.ts';
import { yankAsMaintainer } from '../../shared/store/registry/yank.ts';
import { takeFrom } from '../admission/count-call.ts';
import { writeInTurn } from '../admission/writes.ts';
import { answerPage } from '../answers/paging.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, OpenCall, Reply } from '../call.ts';

/** POST …/yank and DELETE …/yank: for maintainers of the domain. Takes effect with the next call in every process. */
export async function yankVersion(call: Call<VersionParams, unknown, YankOrder | undefined>): Promise<Reply<VersionEntry>> {
    const { app, params, body } = call;
    const { workspaceId } = call.caller;
    const { site, registrable } = readSite(params.site, '/site');
    const { isKnown } = await app.latest.find({ site, registrable });
    if (!isKnown) throw siteNotFound(site);
    const order = {
        site,
        version: Number(params.version),
        workspaceId,
        by: byCall(call),
        ...(body === undefined ? {} : { reason: body.reason }),
    };
    if (body !== undefined) await countYank(call);
    const yanked = await writeInTurn(call, registrable, () => yankAsMaintainer(app.db, order));
    if (yanked.ok) return { answer: presentVersion(yanked.version) };
    if (yanked.code === 'FORBIDDEN') throw new Refusal('FORBIDDEN', 'An operator yanked this version. Only an operator can restore it.');
    throw yanked.code === 'NOT_MAINTAINER' ? notMaintainer(registrable) : new Refusal(yanked.code);
}

/**
 * Counts the yank. Enterprise accounts have no rate limit. People are counted separately from the keys of their account, so a stolen key
 * does not stop them.
 * @throws Refusal RATE_LIMITED
 */
async function countYank(call: Call<VersionParams, unknown, unknown>): Promise<void> {
    const { accountId, userId, keyId, plan } = call.caller;
    if (plan === 'enterprise') return;
    const message = `The window yanks is full: ${YANKS.limit} yanks an hour of one account.`;
    const identity = keyId === '' ? `yanks:user:${userId}` : `yanks:account:${accountId}`;
    await takeFrom(call, { name: 'yanks', identity, window: YANKS, message });
}

/** GET /v1/schemas/{site}/versions: newest first. Version numbers never change, so paging down returns each version exactly once. */
export async function listVersions(call: OpenCall<SiteParams, PageQuery, undefined>): Promise<Reply<VersionEntry[]>> {
    const { app, params } = call;
    const { site } = readSite(params.site, '/site');
    const list = async (page: PageOrder<number>) => {
        const found = await findHistory(app.browse, site, page);
        if (found.total === 0) throw siteNotFound(site);
        return found;
    };
    return answerPage(call, site, list, (rows) => rows.map(presentVersion));
}

function presentVersion(version: HistoryRow): VersionEntry {
    const { added, removed, changed, hosts_added } = version.changes;
    return {
        ...presentFields(version, 'version version_hash published_at published_by'),
        verified: version.verifiedAt !== null,
        yanked: version.yankedAt !== null,
        change: version.change,
        changes: { added, removed, changed, hosts_added },
    };
}
