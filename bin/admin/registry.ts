import type { RequestStatus } from '../../shared/domain/site/schema-request.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { recordChange } from '../../shared/store/accounts/audit.ts';
import { listShared } from '../../shared/store/registry/maintainers.ts';
import * as schemaRequests from '../../shared/store/registry/schema-requests.ts';
import { listStarterSites } from '../../shared/store/registry/starter-sites.ts';
import { requestRun } from '../../shared/store/registry/verification.ts';
import { type LoadedPackage, LoadFault, loadPackages, readPackages } from '../starter-packages.ts';
import { type Done, done, table } from './command.ts';
import { AdminFault, audited, type Operator } from './operator.ts';
import type { SiteName } from './sites.ts';

export async function load(
    operator: Operator,
    { from, only, verify, dryRun }: { from: string; only?: SiteName[]; verify?: true; dryRun?: true },
): Promise<Done> {
    const documents = filterBySite(documentsAt(from, operator.egressAllow), only);
    const then = async (trx: Db, loaded: LoadedPackage) => {
        await recordLoad(operator, trx, loaded);
        if (verify === true && isOurs(loaded)) await requestRun(trx, loaded.site);
    };
    const loaded = await loadPackages(operator.db, documents, { then, isDryRun: dryRun === true });
    const shown = loaded.map(({ site, outcome, ...published }) => ({ site, outcome, version: null, change: null, ...published }));
    const changes = loaded.filter(({ outcome }) => outcome === 'published').length;
    return {
        result: shown.map((one) => ({ ...one, ...(verify === true && { verify: isOurs(one) }) })),
        lines: table(
            ['site', 'outcome', 'version', 'change'],
            shown.map(({ site, outcome, version, change }) => [site, WORDS[outcome], version, change]),
        ),
        note:
            dryRun === true
                ? `admin: dry run, nothing was stored; ${changes} of ${loaded.length} packages would be published`
                : `admin: ${changes} of ${loaded.length} packages published${verify === true ? '; workers call their examples now' : ''}`,
    };
}

/** @throws AdminFault SITE_NOT_FOUND for a site that has no package there */
function filterBySite(documents: readonly PackageDocument[], only: readonly SiteName[] | undefined): readonly PackageDocument[] {
    if (only === undefined) return documents;
    const wanted = new Set(only.map(({ site }) => site));
    for (const { site } of documents) wanted.delete(site);
    const [missing] = wanted;
    if (missing !== undefined) throw new AdminFault('SITE_NOT_FOUND', `There is no package for ${missing} to load.`);
    return documents.filter(({ site }) => only.some((one) => one.site === site));
}

async function recordLoad({ actor, command }: Operator, trx: Db, loaded: LoadedPackage): Promise<void> {
    if (loaded.outcome !== 'published') return;
    const { site, version } = loaded;
    const before = { version: version === 1 ? null : version - 1 };
    await recordChange(trx, { actor, command, target: `${site} ${version}`, reason: null, before, after: { version } });
}

/** Whether Routebook published the latest version and may verify it. */
function isOurs({ outcome }: Pick<LoadedPackage, 'outcome'>): boolean {
    return outcome === 'published' || outcome === 'unchanged';
}

const WORDS: Readonly<Record<LoadedPackage['outcome'], string>> = {
    published: 'published',
    unchanged: 'published before',
    owned: 'skipped: an owner has proved the domain',
    maintained: 'skipped: others maintain the domain',
    blocked: 'skipped: the domain is blocked',
};

function documentsAt(...order: Parameters<typeof readPackages>): ReturnType<typeof readPackages> {
    try {
        return readPackages(...order);
    } catch (error) {
        if (error instanceof LoadFault) throw new AdminFault(error.code, error.message);
        throw error;
    }
}

/** `registry status`: lists the sites that Routebook maintains, the state of their verification, and their other maintainers. */
export async function status({ db }: Operator): Promise<Done> {
    const [sites, shared] = [await listStarterSites(db), await listShared(db)];
    const others = new Map(shared.map((one) => [one.registrable, one.others]));
    const counts = [...Map.groupBy(sites, ({ state }) => state)].map(([state, { length }]) => `${length} ${state}`);
    return {
        result: sites.map(({ registrable, verifiedAt, lastRunAt, ...site }) => ({
            ...site,
            domain: registrable,
            verified_at: verifiedAt?.toISOString() ?? null,
            last_run_at: lastRunAt?.toISOString() ?? null,
            others: (others.get(registrable) ?? []).map((one) => presentFields(one, 'workspace_id name')),
        })),
        lines: table(
            ['site', 'state', 'others who maintain it', 'version', 'last run'],
            sites.map(({ site, registrable, version, state, lastRunAt }) => [
                ...[
                    site,
                    state,
                    (others.get(registrable) ?? []).map(({ workspaceId, name }) => `${workspaceId} ${name}`).join(', ') || null,
                ],
                ...[version, lastRunAt?.toISOString() ?? null],
            ]),
        ),
        note: `admin: ${counts.join(', ') || 'nothing is loaded'}`,
    };
}

export async function listRequests({ db }: Operator, { status: wanted, limit }: { status?: RequestStatus; limit: number }): Promise<Done> {
    const requests = await schemaRequests.list(db, { status: wanted, limit });
    return {
        result: requests.map((request) => ({
            request_id: request.id,
            ...presentFields(request, 'domain status demand task workspace_id created_at'),
        })),
        lines: table(
            ['request', 'domain', 'demand', 'status', 'task', 'since'],
            requests.map(({ id, domain, task, status: state, demand, createdAt }) => [
                ...[id, domain, demand, state, task.replaceAll(/\s+/g, ' ')],
                createdAt.toISOString().slice(0, 10),
            ]),
        ),
    };
}

export async function moveRequest(operator: Operator, id: string, { status: wanted }: { status: RequestStatus }): Promise<Done> {
    await audited(operator, async (trx) => {
        const moved = await schemaRequests.move(trx, id, wanted);
        if (moved.outcome === 'absent') throw new AdminFault('REQUEST_NOT_FOUND', `There is no schema request ${id}.`);
        if (moved.outcome === 'refused')
            throw new AdminFault('VALIDATION_ERROR', `${id} is ${moved.before}, and a request only moves forward.`);
        return { target: id, before: { status: moved.before }, after: { status: wanted }, result: undefined };
    });
    return done({ request_id: id, status: wanted });
}
