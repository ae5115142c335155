import type { YankReason } from '../../shared/domain/package/registry-choices.ts';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { findVersion } from '../../shared/store/registry/history.ts';
import { grantMaintainer, removeAsOperator, transferDomain } from '../../shared/store/registry/maintainer-orders.ts';
import { listMaintainers, type Maintainer } from '../../shared/store/registry/maintainers.ts';
import { findLatest } from '../../shared/store/registry/site-states.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { yankAsOperator } from '../../shared/store/registry/yank.ts';
import { type Done, done, fields, table } from './command.ts';
import { AdminFault, audited, type Operator, workspaceOrFault } from './operator.ts';

export interface SiteName {
    site: string;
    registrable: string;
}

interface SiteOptions {
    credits?: number;
    concurrency?: number | 'default';
    rate?: number | 'default';
    authHost?: string[];
    cookies?: 'allow' | 'forbid';
}

export async function set(operator: Operator, name: SiteName, { authHost, cookies, ...figures }: SiteOptions): Promise<Done> {
    const settings = {
        ...Object.fromEntries(Object.entries(figures).map(([setting, value]) => [setting, value === 'default' ? null : value])),
        ...(authHost !== undefined && { auth_hosts: authHost }),
        ...(cookies !== undefined && { takes_cookies: cookies === 'allow' }),
    };
    return changeDomain(operator, name, (trx, registrable) => sites.setDomain(trx, registrable, settings));
}

export async function block(operator: Operator, name: SiteName, options: { reason: string; reclaim?: true }): Promise<Done> {
    const { reason, reclaim } = options;
    const reclaimed = async (trx: Db, registrable: string) => ({ reclaimed_credits: await sites.reclaimBonus(trx, registrable) });
    const change = (trx: Db, registrable: string) => sites.blockDomain(trx, registrable, reason);
    return changeDomain(operator, name, change, reason, reclaim && reclaimed);
}

export async function unblock(operator: Operator, name: SiteName, { reason }: { reason?: string }): Promise<Done> {
    return changeDomain(operator, name, sites.unblockDomain, reason);
}

async function changeDomain(
    operator: Operator,
    { registrable }: SiteName,
    change: (trx: Db, registrable: string) => Promise<sites.Domain>,
    reason?: string,
    also?: (trx: Db, registrable: string) => Promise<{ [name: string]: number }>,
): Promise<Done> {
    const work = async (trx: Db) => {
        const before = present(await sites.findDomain(trx, registrable));
        const after = { ...present(await change(trx, registrable)), ...(await also?.(trx, registrable)) };
        return { target: registrable, before, after, result: after };
    };
    const result = await audited(operator, work, reason);
    return { result, lines: fields(inWords(result)) };
}

export async function show({ db }: Operator, { registrable }: SiteName): Promise<Done> {
    const domain = present(await sites.findDomain(db, registrable));
    const [shown, maintainers] = [await sites.sitesOf(db, registrable), await listMaintainers(db, registrable)];
    const lines = [
        ...fields(inWords(domain)),
        '',
        ...table(
            ['site', 'latest', 'versions', 'verified', 'drift'],
            shown.map((site) => [site.site, site.latest, site.versions, site.verified, site.drift]),
        ),
        '',
        ...table(
            ['maintainer', 'name', 'removed at'],
            maintainers.map(({ workspaceId, name, removalAt }) => [workspaceId, name, removalAt?.toISOString() ?? '']),
        ),
    ];
    const result = { ...domain, sites: shown.map((site) => ({ ...site })), maintainers: maintainers.map(presentMaintainer) };
    return { result, lines };
}

export async function list({ db }: Operator, { only, limit }: { only?: sites.SiteFilter; limit: number }): Promise<Done> {
    const listed = await sites.listSites(db, { only, limit });
    const state = ({ isBlocked, latest, drift, verified }: sites.ListedSite) =>
        isBlocked ? 'blocked' : latest === null ? 'yanked' : drift ? 'drift' : verified ? 'verified' : 'unverified';
    return {
        result: listed.map(({ registrable, isBlocked, publishedAt, ...site }) => ({
            ...site,
            domain: registrable,
            blocked: isBlocked,
            published_at: publishedAt?.toISOString() ?? null,
        })),
        lines: table(
            ['site', 'state', 'latest', 'published', 'maintainers'],
            listed.map((site) => [
                ...[site.site, state(site), site.latest, site.publishedAt?.toISOString().slice(0, 10) ?? null],
                site.maintainers.join(', '),
            ]),
        ),
    };
}

export async function transfer(operator: Operator, name: SiteName, workspaceId: string): Promise<Done> {
    return changeMaintainers(operator, name, workspaceId, transferDomain);
}

export async function addMaintainer(operator: Operator, name: SiteName, workspaceId: string): Promise<Done> {
    return changeMaintainers(operator, name, workspaceId, grantMaintainer);
}

export async function removeMaintainer(operator: Operator, name: SiteName, workspaceId: string): Promise<Done> {
    return changeMaintainers(operator, name, workspaceId, async (trx, registrable) => {
        const outcome = await removeAsOperator(trx, registrable, workspaceId);
        if (outcome === 'last')
            throw new AdminFault('LAST_MAINTAINER', `${workspaceId} is the last maintainer of ${registrable}; add another one first.`);
        if (outcome === 'absent') throw new AdminFault('NOT_FOUND', `${workspaceId} does not maintain ${registrable}.`);
    });
}

async function changeMaintainers(
    operator: Operator,
    { registrable }: SiteName,
    workspaceId: string,
    change: (trx: Db, registrable: string, workspaceId: string) => Promise<void>,
): Promise<Done> {
    const ids = (listed: readonly Maintainer[]) => ({ maintainers: listed.map((maintainer) => maintainer.workspaceId) });
    const listed = await audited(operator, async (trx) => {
        if (workspaceId !== ROUTEBOOK_WORKSPACE) await workspaceOrFault(trx, workspaceId);
        const before = ids(await listMaintainers(trx, registrable));
        await change(trx, registrable, workspaceId);
        const result = await listMaintainers(trx, registrable);
        return { target: registrable, before, after: ids(result), result };
    });
    return {
        result: { domain: registrable, maintainers: listed.map(presentMaintainer) },
        lines: table(
            ['maintainer', 'name'],
            listed.map(({ workspaceId: id, name }) => [id, name]),
        ),
    };
}

/** `schema yank`. Without a reason: `schema unyank`. */
export async function yank(
    operator: Operator,
    { site, registrable }: SiteName,
    version: number,
    { reason }: { reason?: YankReason },
): Promise<Done> {
    const work = async (trx: Db) => {
        const before = await findVersion(trx, site, version);
        if (before === undefined) throw new AdminFault('VERSION_NOT_FOUND', `There is no version ${version} of ${site}.`);
        await yankAsOperator(trx, { site, version, ...(reason !== undefined && { reason }) });
        const latest = (await findLatest(trx, { site, registrable })).version?.version ?? null;
        return {
            target: `${site} ${version}`,
            before: { yank_reason: before.yankReason },
            after: { yank_reason: reason ?? null, latest },
            result: { site, version, yanked: reason !== undefined, reason: reason ?? null, latest },
        };
    };
    return done(await audited(operator, work, reason));
}

function present(domain: sites.Domain): { [name: string]: string | number | boolean | null } {
    return {
        domain: domain.registrable,
        credits: domain.credits,
        concurrency: domain.concurrency,
        rate: domain.rate,
        blocked: domain.blockedAt !== null,
        block_reason: domain.blockReason,
        ...(!domain.takesCookies && { cookies: 'forbidden' }),
        ...(domain.authHosts.length > 0 && { auth_hosts: domain.authHosts.join(',') }),
    };
}

/** In the words of `site set`. */
function inWords({ concurrency, rate, ...others }: ReturnType<typeof present>): ReturnType<typeof present> {
    const { domain = null, credits = null, ...further } = others;
    return { domain, credits, concurrency: concurrency ?? 'default', rate: rate ?? 'default', ...further };
}

function presentMaintainer({ workspaceId, name, removalAt }: Maintainer): JsonObject {
    return { workspace_id: workspaceId, name, ...(removalAt !== null && { removal_at: removalAt.toISOString() }) };
}
