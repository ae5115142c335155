import { changePolicy, type PolicyFlags, policyRows } from '../../shared/domain/site/policy-flags.ts';
import type { SitePolicy } from '../client/index.ts';
import { wrongUsage } from '../failures.ts';
import type { CommonOptions, Done, Session } from '../session.ts';
import type { Paint } from '../terminal.ts';

interface PolicyOptions extends PolicyFlags, CommonOptions {
    clear?: true;
}

/** `routebook policy DOMAIN`: shows the owner's policy, or changes the parts that options name. */
export async function showOrChangePolicy({ client, terminal: { paint } }: Session, domain: string, options: PolicyOptions): Promise<Done> {
    const { clear, server: _server, json: _json, ...flags } = options;
    const isChange = Object.keys(flags).length > 0;
    if (clear === true && isChange) throw wrongUsage('--clear allows everything and cannot be used with other options');
    if (flags.block === true && flags.unblock === true) throw wrongUsage('--block and --unblock contradict each other');
    const api = client();
    if (clear === true) return presentPolicy(domain, await api.policies.set(domain, {}), paint, true);
    const before = await api.policies.get(domain);
    if (!isChange) return presentPolicy(domain, before, paint, false);
    const changed = changePolicy(before, flags);
    if (!changed.ok) throw wrongUsage(changed.problem);
    return presentPolicy(domain, await api.policies.set(domain, changed.policy), paint, true);
}

function presentPolicy(domain: string, policy: SitePolicy, paint: Paint, isChanged: boolean): Done {
    const rows = policyRows(policy).map(([name, value]) => `${paint('dim', name.padEnd(13))}  ${value}`);
    return {
        result: policy,
        lines: [...(isChanged ? [`${paint('green', '✓')} the policy of ${paint('bold', domain)} is set`] : []), ...rows],
    };
}
