import type { ClaimChecked, ClaimEntry } from '../../../shared/contracts/claims.ts';
import { changesOfPolicy } from '../../../shared/domain/site/policy-changes.ts';
import { proofName, proofUrl } from '../../../shared/domain/site/proof.ts';
import { isOnDomain, normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { NO_POLICY } from '../../../shared/domain/site/site-policy.ts';
import { cutPage } from '../../../shared/platform/db.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { claimedDomains, OPEN_CLAIMS } from '../../../shared/store/registry/claims.ts';
import { isOwner } from '../../../shared/store/registry/ownership.ts';
import { readOperatorPolicy, readPolicy } from '../../../shared/store/registry/site-policies.ts';
import { policyFacts } from '../audit/pages.ts';
import { keepTyped, line, type Problems, readFields } from '../fields.ts';
import type { Notice } from '../notices.ts';
import { type Answer, MANAGERS, pageNotFound, type Sent, type Shown, type WorkspaceVisit, workspacePage } from '../page.ts';
import { change, dateOf } from '../read-api.ts';
import { orderOf, type PolicyFields, problemsOf, shownPolicy, typedPolicy } from './policy-fields.ts';

/** A form encodes many characters of a policy's 100 long paths as three bytes each. */
const POLICY_BYTES = 400 * 1024;

const ONE = '/dashboard/domains/{domain}';
const SHOWN = { method: 'GET', audience: MANAGERS } as const;
const CONFIRMED = { method: 'POST', audience: MANAGERS, needsRecentSignIn: true } as const;

/** Pages of the domains that a workspace claims and of their policies, for owners and admins. */
export const domainPages = [
    workspacePage({ ...SHOWN, path: '/dashboard/domains', respond: (visit) => listDomains(visit) }),
    workspacePage({ ...CONFIRMED, path: '/dashboard/domains', respond: startClaim }),
    workspacePage({ ...SHOWN, path: ONE, respond: (visit) => showDomain(visit) }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/claims/{claim_id}/check`, respond: checkClaim }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/claims/{claim_id}/delete`, respond: deleteClaim }),
    // The page itself needs a recent sign-in, so that people confirm before they type: a long policy sent too late would be lost.
    workspacePage({ ...SHOWN, path: `${ONE}/policy`, needsRecentSignIn: true, respond: policyForm }),
    workspacePage({ ...CONFIRMED, path: `${ONE}/policy`, formBytes: POLICY_BYTES, respond: savePolicy }),
];

/** The number of domains on one page. */
const DOMAINS = 12;

/** GET /dashboard/domains: the domains that this workspace claims, by name. The query `domain` fills in the form. */
async function listDomains(visit: WorkspaceVisit, problem?: string, retryAfter?: number): Promise<Shown> {
    const { app, fields, query, workspace } = visit;
    const domains = await claimedDomains(app.db, workspace.workspaceId, { limit: DOMAINS + 1, after: query('after') });
    const { shown, last } = cutPage(domains, DOMAINS);
    return {
        view: 'domains/list',
        title: 'Domains',
        retryAfter,
        model: {
            domains: shown,
            next: last?.registrable,
            isFirst: query('after') === undefined,
            max: OPEN_CLAIMS,
            problems: problem === undefined ? {} : { domain: problem },
            typed: keepTyped(fields),
            wanted: nameOf(query('domain')),
        },
    };
}

/** The registrable domain of a site: its owner would prove this one. */
function nameOf(written = ''): string {
    const name = normaliseSite(written);
    return name.ok ? name.registrable : '';
}

/** GET /dashboard/domains/{domain}: this workspace's claims on the domain, how to prove them, and the result of each check. */
async function showDomain(visit: WorkspaceVisit, about?: string, refused?: ErrorBody): Promise<Shown> {
    const { domain, claims } = await findClaimed(visit);
    return {
        view: 'domains/one',
        title: domain,
        status: refused && (refused.retry_after === undefined ? 422 : 429),
        retryAfter: refused?.retry_after,
        model: {
            domain,
            claims: claims.map((claim) => ({
                ...claim,
                problem: claim.claim_id === about ? refused?.message : undefined,
                checkedAt: dateOf(claim.checked_at),
                provenAt: dateOf(claim.proven_at),
                expiresAt: dateOf(claim.expires_at),
            })),
            isOwner: claims.some(({ status }) => status === 'proven'),
            // On a public suffix the name of the DNS record could belong to a customer of the suffix, so only a file is offered.
            record: isOnDomain(proofName(domain), domain) ? proofName(domain) : undefined,
            file: proofUrl(domain),
        },
    };
}

const AFTER_CHECK: Readonly<Record<ClaimChecked['status'], Notice>> = {
    proven: 'claim-proved',
    failed: 'claim-failed',
    pending: 'claim-pending',
};

/** POST /dashboard/domains: claims a domain for the workspace and shows how to prove it. An unproven claim is reused. */
async function startClaim(visit: WorkspaceVisit): Promise<Answer> {
    const read = readFields(visit.fields, { domain: line({ maxLength: 253 }) });
    if (!read.ok) return listDomains(visit, read.problems['domain']);
    const path = `/v1/sites/${encodeURIComponent(nameIn(read.values.domain))}/claims`;
    const before = await visit.ask({ method: 'GET', path });
    const open = before.ok ? (before.body['data'] as ClaimEntry[]).find(({ status }) => status !== 'proven') : undefined;
    if (open !== undefined) return { to: `/dashboard/domains/${open.domain}`, notice: 'claim-open' };
    const sent = ({ domain }: ClaimEntry): Sent => ({ to: `/dashboard/domains/${domain}`, notice: 'claim-made' });
    return change(visit, { method: 'POST', path }, sent, ({ message, retry_after: wait }) => listDomains(visit, message, wait));
}

/** Extracts the host name, since people may also paste the URL of a page. */
function nameIn(text: string): string {
    const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
    return url === null ? text : url.hostname;
}

/** POST …/claims/{claim_id}/check: checks the proof now, which takes up to ten seconds. */
async function checkClaim(visit: WorkspaceVisit): Promise<Answer> {
    const { domain, id, path } = await findClaim(visit);
    const sent = ({ status }: ClaimChecked): Sent => ({ to: `/dashboard/domains/${domain}`, notice: AFTER_CHECK[status] });
    return change(visit, { method: 'POST', path: `${path}/check` }, sent, (refused) => showDomain(visit, id, refused));
}

/** POST …/claims/{claim_id}/delete: deletes a claim, even a proved one. */
async function deleteClaim(visit: WorkspaceVisit): Promise<Answer> {
    const { domain, id, path, isLast } = await findClaim(visit);
    const sent: Sent = { to: isLast ? '/dashboard/domains' : `/dashboard/domains/${domain}`, notice: 'claim-deleted' };
    return change(visit, { method: 'DELETE', path }, sent, (refused) => showDomain(visit, id, refused));
}

async function findClaim(visit: WorkspaceVisit): Promise<{ domain: string; id: string; path: string; isLast: boolean }> {
    const { domain, claims } = await findClaimed(visit);
    const id = visit.params['claim_id'] ?? '';
    if (!claims.some((claim) => claim.claim_id === id)) throw pageNotFound();
    return { domain, id, path: `/v1/sites/${domain}/claims/${id}`, isLast: claims.length === 1 };
}

/** How many claims of one workspace the page of a domain shows. */
const CLAIMS = 100;

/** The domain of the path and the claims that the workspace has on it. @throws Refusal NOT_FOUND if there are none */
async function findClaimed(visit: WorkspaceVisit): Promise<{ domain: string; claims: ClaimEntry[] }> {
    const name = normaliseSite(visit.params['domain'] ?? '');
    if (!name.ok || name.registrable !== visit.params['domain']) throw pageNotFound();
    const { registrable: domain } = name;
    const path = `/v1/sites/${domain}/claims?limit=${CLAIMS}`;
    const answer = await visit.ask({ method: 'GET', path });
    if (!answer.ok) throw new Error(`the claims on ${domain} answered ${answer.refused.code}`);
    const claims = answer.body['data'] as ClaimEntry[];
    if (claims.length === 0) throw pageNotFound();
    return { domain, claims };
}

/** The time zones that this platform knows. The form adds the stored zone if the list does not contain it. */
const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** GET /dashboard/domains/{domain}/policy: the form of the policy. Redirects to the claim if it is not proved yet. */
async function policyForm(visit: WorkspaceVisit): Promise<Answer> {
    const { domain } = await findClaimed(visit);
    if (!(await isOwnDomain(visit, domain))) return { to: `/dashboard/domains/${domain}` };
    const isTyped = visit.fields.size > 0;
    const fields = isTyped ? typedPolicy(visit.fields) : shownPolicy(await readPolicy(visit.app.db, domain));
    return form(visit, domain, { fields, problems: {} });
}

/** POST …/policy: stores the policy through the API. If the API refuses it, shows the form again with the problems. */
async function savePolicy(visit: WorkspaceVisit): Promise<Answer> {
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
