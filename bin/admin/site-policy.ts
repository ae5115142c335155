import { changePolicy, type PolicyFlags, policyRows } from '../../shared/domain/site/policy-flags.ts';
import { checkPolicy } from '../../shared/domain/site/policy-rules.ts';
import type { SitePolicy } from '../../shared/domain/site/site-policy.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Db } from '../../shared/platform/db.ts';
import * as policies from '../../shared/store/registry/site-policies.ts';
import { blockDomain, unblockDomain } from '../../shared/store/registry/sites.ts';
import type { Done } from './command.ts';
import { AdminFault, audited, type Operator } from './operator.ts';
import type { SiteName } from './sites.ts';

interface PolicyOptions extends PolicyFlags {
    show?: true;
    clear?: true;
    clearOwner?: true;
    reason?: string;
}

/** Why options of `site policy` cannot be combined; undefined if they can. */
export function contradiction({ show, ...options }: PolicyOptions): string | undefined {
    const { clear, clearOwner: _clearOwner, reason, ...flags } = options;
    const isChange = Object.keys(flags).length > 0;
    if (show === true && Object.keys(options).length > 0) return '--show changes nothing, and takes no other option';
    if (clear === true && isChange) return "--clear deletes the operator's whole policy; only --clear-owner and --reason may go with it";
    if (flags.block === true && flags.unblock === true) return '--block and --unblock contradict each other';
    if (flags.block === true && reason === undefined) return '--block needs --reason';
    return undefined;
}

/** `site policy`: shows or changes what the operator allows on a domain. The owner's policy is separate. */
export async function changeOrShow(
    operator: Operator,
    { registrable }: SiteName,
    { show: _show, ...options }: PolicyOptions,
): Promise<Done> {
    const { reason, ...flags } = options;
    if (Object.keys(flags).length === 0) return presentPolicies(registrable, await read(operator.db, registrable));
    const work = async (trx: Db) => {
        const before = await read(trx, registrable);
        await change(trx, registrable, before.operator, options);
        const result = await read(trx, registrable);
        return { target: registrable, before: present(before), after: present(result), result };
    };
    return presentPolicies(registrable, await audited(operator, work, reason));
}

async function change(trx: Db, registrable: string, before: SitePolicy, options: PolicyOptions): Promise<void> {
    const { clear, clearOwner, reason, ...flags } = options;
    if (clearOwner === true) await policies.setPolicy(trx, registrable, null);
    if (clear === true) await policies.setOperatorPolicy(trx, registrable, null);
    if (Object.keys(flags).length === 0) return;
    const changed = changePolicy(before, flags);
    if (!changed.ok) throw new AdminFault('VALIDATION_ERROR', `${changed.problem}.`);
    const checked = checkPolicy(changed.policy, registrable);
    if (!checked.ok) {
        throw new AdminFault('VALIDATION_ERROR', checked.details.map(({ path, message }) => `${path}: ${message}`).join(' '));
    }
    await policies.setOperatorPolicy(trx, registrable, checked.policy);
    if (flags.block === true) await blockDomain(trx, registrable, reason ?? '');
    if (flags.unblock === true) await unblockDomain(trx, registrable);
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

function presentPolicies(registrable: string, both: Policies): Done {
    // Not a table, which would cut a long path.
    const lines = (['operator', 'owner'] as const).flatMap((who) =>
        policyRows(both[who]).map(([name, value]) => `${who.padEnd(8)}  ${name.padEnd(13)}  ${value}`),
    );
    return { result: { domain: registrable, ...present(both) }, lines };
}
