import { changesOfPolicy } from '../../../shared/domain/site/policy-changes.ts';
import { NO_POLICY } from '../../../shared/domain/site/site-policy.ts';
import { isOwner } from '../../../shared/store/registry/ownership.ts';
import { readOperatorPolicy, readPolicy } from '../../../shared/store/registry/site-policies.ts';
import { policyFacts } from '../audit/facts.ts';
import type { Problems } from '../fields.ts';
import type { Answer, Shown, WorkspaceVisit } from '../page.ts';
import { findClaimed } from './find-claimed.ts';
import { orderOf, type PolicyFields, problemsOf, shownPolicy, typedPolicy } from './policy-fields.ts';

/** The time zones that this platform knows. The form adds the stored zone if the list does not contain it. */
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** GET /dashboard/domains/{domain}/policy: the form of the policy. Redirects to the claim if it is not proved yet. */
export async function policyForm(visit: WorkspaceVisit): Promise<Answer> {
    const { domain } = await findClaimed(visit);
    if (!(await isOwnDomain(visit, domain))) return { to: `/dashboard/domains/${domain}` };
    const isTyped = visit.fields.size > 0;
    const fields = isTyped ? typedPolicy(visit.fields) : shownPolicy(await readPolicy(visit.app.db, domain));
    return form(visit, domain, { fields, problems: {} });
}

/** POST …/policy: stores the policy through the API. If the API refuses it, shows the form again with the problems. */
export async function savePolicy(visit: WorkspaceVisit): Promise<Answer> {
    const { domain } = await findClaimed(visit);
    if (!(await isOwnDomain(visit, domain))) return { to: `/dashboard/domains/${domain}` };
    const { body, rows } = orderOf(visit.fields);
    const path = `/v1/sites/${domain}/policy`;
    const answer = await visit.ask({ method: 'PUT', path, body });
    if (answer.ok) return { to: `/dashboard/domains/${domain}/policy`, notice: 'policy-saved' };
    return form(visit, domain, { fields: typedPolicy(visit.fields), problems: problemsOf(answer.refused, { domain, rows }) });
}

function isOwnDomain({ app, workspace }: WorkspaceVisit, domain: string): Promise<boolean> {
    return isOwner(app.db, domain, workspace.workspaceId);
}

async function form(
    { app }: WorkspaceVisit,
    domain: string,
    { fields, problems }: { fields: PolicyFields; problems: Problems },
): Promise<Shown> {
    const operators = changesOfPolicy(NO_POLICY, await readOperatorPolicy(app.db, domain));
    const zones = ZONES.includes(fields.timezone) ? ZONES : [fields.timezone, ...ZONES];
    return {
        view: 'domains/policy',
        title: `What ${domain} allows`,
        model: {
            domain,
            operators: policyFacts(operators),
            fields,
            zones: zones.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
            problems,
        },
    };
}
