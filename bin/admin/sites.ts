import { Argument, type Command, Option } from 'commander';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import { grantMaintainer, removeAsOperator, transferDomain } from '../../shared/store/registry/maintainer-orders.ts';
import { listMaintainers, type Maintainer } from '../../shared/store/registry/maintainers.ts';
import * as schemas from '../../shared/store/registry/schemas.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { reclaimBonus } from '../../shared/store/registry/sites.ts';
import {
    type Done,
    fields,
    idOf,
    line,
    type OrDefault,
    orDefault,
    positiveNumber,
    type Run,
    readSite,
    table,
    type Work,
    wholeNumber,
} from './command.ts';
import { AdminFault, audited, type Operator } from './operator.ts';
import { addPolicyCommand } from './site-policy.ts';
import { addVerifyCommand } from './verify.ts';
import { workspaceOrFault } from './workspaces.ts';

/** `site set | show | policy | block | unblock | transfer`, `schema yank | unyank | verify`, `maintainer add | remove`. All act on the registrable domain. */
export function addSiteCommands(program: Command, run: Run): void {
    const site = program.command('site').description('registrable domains and every site on them');
    site.command('set')
        .description('set price, share and pace of a domain')
        .argument('<domain>')
        .option('--credits <n>', 'credits of one unit', wholeNumber(1, 1_000_000))
        .option('--concurrency <n>', 'fetches in flight, or default', orDefault(wholeNumber(1, 1_000_000)))
        .option('--rate <n>', 'upstream requests a second, or default', orDefault(positiveNumber(1_000_000)))
        .action((domain: string, settings: SetOptions, command: Command) => {
            if (Object.keys(settings).length === 0) command.error('error: give at least one of --credits, --concurrency, --rate');
            return run(set(domain, settings));
        });
    site.command('show')
        .description('show a domain, its sites and who maintains it')
        .argument('<domain>')
        .action((domain: string) => run(show(domain)));
    site.command('block')
        .description('stop everything on a domain, within a second')
        .argument('<domain>')
        .requiredOption('--reason <text>', 'why', line(500))
        .option('--reclaim', 'take the bonus for its schema back, once, as far as it is not spent')
        .action((domain: string, options: { reason: string; reclaim?: true }) => run(block(domain, options)));
    site.command('unblock')
        .description('let a blocked domain work again')
        .argument('<domain>')
        .option('--reason <text>', 'why', line(500))
        .action((domain: string, { reason }: { reason?: string }) => run(unblock(domain, reason)));
    site.command('transfer')
        .description('make a workspace the only maintainer of a domain')
        .argument('<domain>')
        .argument('<workspace>', 'wsp_…', idOf('wsp'))
        .action((domain: string, workspaceId: string) => run(changeMaintainers('site transfer', domain, workspaceId, transferDomain)));
    addPolicyCommand(site, run);

    const schema = program.command('schema').description('versions of schemas');
    schema
        .command('yank')
        .description('take a version out of use')
        .argument('<site>')
        .addArgument(new Argument('<version>').argParser(wholeNumber(1, 2_147_483_647)))
        .addOption(new Option('--reason <reason>').choices(schemas.YANK_REASONS).makeOptionMandatory())
        .action((name: string, version: number, { reason }: { reason: schemas.YankReason }) => run(yank(name, version, reason)));
    schema
        .command('unyank')
        .description('put a yanked version back into use')
        .argument('<site>')
        .addArgument(new Argument('<version>').argParser(wholeNumber(1, 2_147_483_647)))
        .action((name: string, version: number) => run(unyank(name, version)));
    addVerifyCommand(schema, run);

    const maintainer = program.command('maintainer').description('workspaces that may publish on a domain');
    maintainer
        .command('add')
        .argument('<site>')
        .argument('<workspace>', 'wsp_…', idOf('wsp'))
        .action((name: string, workspaceId: string) => run(changeMaintainers('maintainer add', name, workspaceId, grantMaintainer)));
    maintainer
        .command('remove')
        .argument('<site>')
        .argument('<workspace>', 'wsp_…', idOf('wsp'))
        .action((name: string, workspaceId: string) => run(changeMaintainers('maintainer remove', name, workspaceId, removeMaintainer)));
}

interface SetOptions {
    credits?: number;
    concurrency?: OrDefault;
    rate?: OrDefault;
}

function set(text: string, { credits, concurrency, rate }: SetOptions): Work {
    const settings = {
        ...(credits !== undefined && { credits }),
        ...(concurrency !== undefined && { concurrency: concurrency === 'default' ? null : concurrency }),
        ...(rate !== undefined && { rate: rate === 'default' ? null : rate }),
    };
    return async (operator) => changeDomain(operator, 'site set', text, (trx, registrable) => sites.setDomain(trx, registrable, settings));
}

function block(text: string, { reason, reclaim = false }: { reason: string; reclaim?: boolean }): Work {
    const change = (trx: Db, registrable: string) => sites.blockDomain(trx, registrable, reason);
    const reclaimed = async (trx: Db, registrable: string) => ({ reclaimed_credits: await reclaimBonus(trx, registrable) });
    return (operator) => changeDomain(operator, 'site block', text, change, { reason, ...(reclaim && { also: reclaimed }) });
}

function unblock(text: string, reason: string | undefined): Work {
    return (operator) => changeDomain(operator, 'site unblock', text, sites.unblockDomain, { reason });
}

async function changeDomain(
    operator: Operator,
    command: string,
    text: string,
    change: (trx: Db, registrable: string) => Promise<sites.Domain>,
    { reason, also }: { reason?: string | undefined; also?: (trx: Db, registrable: string) => Promise<{ [name: string]: number }> } = {},
): Promise<Done> {
    const { registrable } = readSite(text);
    const result = await audited(operator, { command, ...(reason !== undefined && { reason }) }, async (trx) => {
        const before = present(await sites.findDomain(trx, registrable));
        const after = { ...present(await change(trx, registrable)), ...(await also?.(trx, registrable)) };
        return { target: registrable, before, after, result: after };
    });
    return { result, lines: fields(result) };
}

function show(text: string): Work {
    return async ({ db }) => {
        const { registrable } = readSite(text);
        const domain = present(await sites.findDomain(db, registrable));
        const [shown, maintainers] = [await sites.sitesOf(db, registrable), await listMaintainers(db, registrable)];
        const lines = [
            ...fields(domain),
            '',
            ...table(
                ['site', 'latest', 'versions', 'verified', 'drift'],
                shown.map((site) => [site.site, site.latest, site.versions, yesOrNo(site.verified), yesOrNo(site.drift)]),
            ),
            '',
            ...table(
                ['maintainer', 'name', 'removed at'],
                maintainers.map(({ workspaceId, name, removalAt }) => [workspaceId, name, removalAt?.toISOString() ?? '']),
            ),
        ];
        return { result: { ...domain, sites: shown.map((site) => ({ ...site })), maintainers: presentMaintainers(maintainers) }, lines };
    };
}

function yesOrNo(claim: boolean): string {
    return claim ? 'yes' : 'no';
}

function changeMaintainers(
    command: string,
    text: string,
    workspaceId: string,
    change: (trx: Db, registrable: string, workspaceId: string) => Promise<void>,
): Work {
    return async (operator) => {
        const { registrable } = readSite(text);
        const listed = await audited(operator, { command }, async (trx) => {
            if (workspaceId !== ROUTEBOOK_WORKSPACE) await workspaceOrFault(trx, workspaceId);
            const before = await listMaintainers(trx, registrable);
            await change(trx, registrable, workspaceId);
            const after = await listMaintainers(trx, registrable);
            return {
                target: registrable,
                before: { maintainers: before.map((maintainer) => maintainer.workspaceId) },
                after: { maintainers: after.map((maintainer) => maintainer.workspaceId) },
                result: after,
            };
        });
        return {
            result: { domain: registrable, maintainers: presentMaintainers(listed) },
            lines: table(
                ['maintainer', 'name'],
                listed.map(({ workspaceId: id, name }) => [id, name]),
            ),
        };
    };
}

async function removeMaintainer(trx: Db, registrable: string, workspaceId: string): Promise<void> {
    const outcome = await removeAsOperator(trx, registrable, workspaceId);
    if (outcome === 'last')
        throw new AdminFault('LAST_MAINTAINER', `${workspaceId} is the last maintainer of ${registrable}; add another one first.`);
    if (outcome === 'absent') throw new AdminFault('NOT_FOUND', `${workspaceId} does not maintain ${registrable}.`);
}

function yank(text: string, version: number, reason: schemas.YankReason): Work {
    return changeVersion('schema yank', text, version, reason);
}

function unyank(text: string, version: number): Work {
    return changeVersion('schema unyank', text, version);
}

function changeVersion(command: string, text: string, version: number, reason?: schemas.YankReason): Work {
    return async (operator) => {
        const { site, registrable } = readSite(text);
        const result = await audited(operator, { command, ...(reason !== undefined && { reason }) }, async (trx) => {
            const before = await schemas.findVersion(trx, site, version);
            if (before === undefined) throw new AdminFault('VERSION_NOT_FOUND', `There is no version ${version} of ${site}.`);
            await schemas.yankAsOperator(trx, { site, version, ...(reason !== undefined && { reason }) });
            const latest = (await schemas.findLatest(trx, { site, registrable })).version?.version ?? null;
            return {
                target: `${site} ${version}`,
                before: { yank_reason: before.yankReason },
                after: { yank_reason: reason ?? null, latest },
                result: { site, version, yanked: reason !== undefined, reason: reason ?? null, latest },
            };
        });
        return { result, lines: fields(result) };
    };
}

function present(domain: sites.Domain): { [name: string]: string | number | boolean | null } & JsonObject {
    return {
        domain: domain.registrable,
        credits: domain.credits,
        concurrency: domain.concurrency,
        rate: domain.rate,
        blocked: domain.blockedAt !== null,
        block_reason: domain.blockReason,
    };
}

function presentMaintainers(listed: readonly Maintainer[]): JsonObject[] {
    return listed.map(({ workspaceId, name, removalAt }) => ({
        workspace_id: workspaceId,
        name,
        ...(removalAt !== null && { removal_at: removalAt.toISOString() }),
    }));
}
