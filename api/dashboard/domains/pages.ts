import { MANAGERS, workspacePage } from '../page.ts';
import { checkClaim, deleteClaim, startClaim } from './claims.ts';
import { policyForm, savePolicy } from './policy.ts';
import { listDomains, showDomain } from './show.ts';

/** A form encodes many characters of a policy's 100 long paths as three bytes each. */
const POLICY_BYTES = 400 * 1024;

/** Pages of the domains that a workspace claims and of their policies, for owners and admins. */
export const domainPages = [
    workspacePage({ method: 'GET', path: '/dashboard/domains', audience: MANAGERS, respond: (visit) => listDomains(visit) }),
    workspacePage({ method: 'POST', path: '/dashboard/domains', audience: MANAGERS, needsRecentSignIn: true, respond: startClaim }),
    workspacePage({ method: 'GET', path: '/dashboard/domains/{domain}', audience: MANAGERS, respond: (visit) => showDomain(visit) }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/domains/{domain}/claims/{claim_id}/check',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: checkClaim,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/domains/{domain}/claims/{claim_id}/delete',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: deleteClaim,
    }),
    // The page itself needs a recent sign-in, so that people confirm before they type. A form sent too late would be lost.
    workspacePage({
        method: 'GET',
        path: '/dashboard/domains/{domain}/policy',
        audience: MANAGERS,
        needsRecentSignIn: true,
        respond: policyForm,
    }),
    workspacePage({
        method: 'POST',
        path: '/dashboard/domains/{domain}/policy',
        audience: MANAGERS,
        needsRecentSignIn: true,
        formBytes: POLICY_BYTES,
        respond: savePolicy,
    }),
];
