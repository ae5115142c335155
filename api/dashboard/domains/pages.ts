import { MANAGERS, workspacePage } from '../page.ts';
import { checkClaim, deleteClaim, startClaim } from './claims.ts';
import { policyForm, savePolicy } from './policy.ts';
import { listDomains, showDomain } from './show.ts';

/** In a form almost every second letter of a hundred long paths takes three. */
const POLICY_BYTES = 400 * 1024;

/** The domains that a workspace claims as its own, and what it allows there; for owners and admins. */
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
    // Confirmed before anything is typed: a form that is sent later does nothing.
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
