import { MANAGERS, workspacePage } from '../page.ts';
import { checkClaim, deleteClaim, startClaim } from './claims.ts';
import { policyForm, savePolicy } from './policy.ts';
import { listDomains, showDomain } from './show.ts';

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
