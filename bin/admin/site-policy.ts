import { type Command, InvalidArgumentError, Option } from 'commander';
import { changePolicy, type PolicyOrder, policyRows, readBlockedPath, readTimes } from '../../shared/domain/site/policy-order.ts';
import { checkPolicy } from '../../shared/domain/site/policy-rules.ts';
import { type BlockedPath, MOST_REQUESTS_PER_MINUTE, type SitePolicy } from '../../shared/domain/site/site-policy.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import * as policies from '../../shared/store/registry/site-policies.ts';
import { blockDomain, unblockDomain } from '../../shared/store/registry/sites.ts';
import { type Done, line, type Run, readSite, table, type Work, wholeNumber } from './command.ts';
import { AdminFault, audited } from './operator.ts';

interface PolicyOptions extends PolicyOrder {
    clear?: true;
    clearOwner?: true;
    reason?: string;
}

/** `site policy`: what the operator allows on a domain, beside its owner. */
export function addPolicyCommand(site: Command, run: Run): void {
    site.command('policy')
        .description("show the policies of owner and operator, change the operator's, or clear one; of both the strictest holds")
        .argument('<domain>')
        .option('--show', 'change nothing; so it is without options')
        .option('--block', 'as site block; needs --reason')
        .option('--unblock', 'as site unblock')
        .addOption(new Option('--writes <state>', 'whether calls may change the site').choices(['on', 'off']))
        .option('--rpm <n>', 'requests a minute, all calls together, or none for no limit', readPace)
        .option('--hours <from-to>', 'when calls are welcome, such as 22:00-06:00', readHours)
        .option('--timezone <name>', 'of the hours, such as Europe/Berlin')
        .option('--no-hours', 'calls are welcome at any time')
        .option('--block-path <host/path>', 'nothing that begins like this is called; may be repeated', collectPaths)
        .option('--unblock-path <host/path>', 'take that back; may be repeated', collectPaths)
        .option('--clear', "take the operator's policy back; a block stays until site unblock")
        .option('--clear-owner', "take the owner's policy back; its block too")
        .option('--reason <text>', 'why', line(500))
        .action((domain: string, { show, ...options }: PolicyOptions & { show?: true }, command: Command) => {
            const problem = contradiction(show === true, options);
            if (problem !== undefined) command.error(`error: ${problem}`);
            return run(policy(domain, options));
        });
}

function contradiction(isShown: boolean, options: PolicyOptions): string | undefined {
    const { clear, clearOwner: _clearOwner, reason, ...order } = options;
    const isChange = Object.keys(order).length > 0;
    if (isShown && Object.keys(options).length > 0) return '--show changes nothing, and takes no other option';
    if (clear === true && isChange) return "--clear takes the operator's whole policy back, and goes with --clear-owner and --reason alone";
    if (order.block === true && order.unblock === true) return '--block and --unblock contradict each other';
    if (order.block === true && reason === undefined) return '--block needs --reason';
    return undefined;
}

function policy(text: string, { reason, ...options }: PolicyOptions): Work {
    return async (operator) => {
        const { registrable } = readSite(text);
        if (Object.keys(options).length === 0) return shown(registrable, await read(operator.db, registrable));
        const entry = { command: 'site policy', ...(reason !== undefined && { reason }) };
        const after = await audited(operator, entry, async (trx) => {
            const before = await read(trx, registrable);
            await change(trx, registrable, before.operator, { ...options, ...(reason !== undefined && { reason }) });
            const result = await read(trx, registrable);
            return { target: registrable, before: present(before), after: present(result), result };
        });
        return shown(registrable, after);
    };
}

async function change(trx: Db, registrable: string, before: SitePolicy, options: PolicyOptions): Promise<void> {
    const { clear, clearOwner, reason, ...order } = options;
    if (clearOwner === true) await policies.setPolicy(trx, registrable, null);
    if (clear === true) await policies.setOperatorPolicy(trx, registrable, null);
    if (Object.keys(order).length === 0) return;
    const changed = changePolicy(before, order);
    if (!changed.ok) throw new AdminFault('VALIDATION_ERROR', `${changed.problem}.`);
    const checked = checkPolicy(changed.policy, registrable);
    if (!checked.ok) {
        throw new AdminFault('VALIDATION_ERROR', checked.details.map(({ path, message }) => `${path}: ${message}`).join(' '));
    }
    await policies.setOperatorPolicy(trx, registrable, checked.policy);
    if (order.block === true) await blockDomain(trx, registrable, reason ?? '');
    if (order.unblock === true) await unblockDomain(trx, registrable);
}

interface Policies {
    operator: SitePolicy;
    owner: SitePolicy;
}

async function read(db: Db, registrable: string): Promise<Policies> {
    return { operator: await policies.readOperatorPolicy(db, registrable), owner: await policies.readPolicy(db, registrable) };
}

function present({ operator, owner }: Policies): JsonObject {
    return { operator: toJson(operator), owner: toJson(owner) };
}

function toJson({ blocked_paths: paths, hours, ...rest }: SitePolicy): JsonObject {
    return { ...rest, blocked_paths: paths.map((path) => ({ ...path })), hours: hours && { ...hours } };
}

function shown(registrable: string, both: Policies): Done {
    const rows = (['operator', 'owner'] as const).flatMap((who) => policyRows(both[who]).map(([name, value]) => [who, name, value]));
    return { result: { domain: registrable, ...present(both) }, lines: table(['policy of', 'part', 'value'], rows) };
}

function readPace(text: string): number | 'none' {
    return text === 'none' ? text : wholeNumber(1, MOST_REQUESTS_PER_MINUTE)(text);
}

function readHours(text: string): { from: string; to: string } {
    const times = readTimes(text);
    if (times !== undefined) return times;
    throw new InvalidArgumentError('It is two different times of day, such as 22:00-06:00.');
}

function collectPaths(text: string, before: readonly BlockedPath[] = []): BlockedPath[] {
    const path = readBlockedPath(text);
    if (path !== undefined) return [...before, path];
    throw new InvalidArgumentError('It is a host and the beginning of a path, such as www.shop.example/admin.');
}
