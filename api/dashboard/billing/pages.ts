import { type Answer, BILLING_VIEWERS, MEMBERS, openPage, PAYERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { setCapByForm } from './caps.ts';
import { askChange, comeBack, confirmChange, goToPortal } from './change.ts';
import { dismissByForm } from './notices.ts';
import { showBilling } from './show.ts';
import { beginUpgrade, showUpgrade } from './upgrade.ts';

/** Pages for plans, payment and invoices. Owners, admins and billing members may view them; only payers may change something. */
export const billingPages = [
    openPage({ method: 'GET', path: '/upgrade', respond: showUpgrade }),
    workspacePage({ method: 'POST', path: '/upgrade', audience: PAYERS, respond: beginUpgrade }),
    workspacePage({ method: 'GET', path: '/dashboard/billing', audience: BILLING_VIEWERS, respond: showBillingOrReturn }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/portal', audience: PAYERS, respond: goToPortal }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/plan', audience: PAYERS, respond: askChange }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/plan/confirm', audience: PAYERS, respond: confirmChange }),
    workspacePage({ method: 'POST', path: '/dashboard/billing/cap', audience: PAYERS, respond: setCapByForm }),
    workspacePage({ method: 'POST', path: '/dashboard/notices/dismiss', audience: MEMBERS, respond: dismissByForm }),
];

async function showBillingOrReturn(visit: WorkspaceVisit): Promise<Answer> {
    const sessionId = visit.query('checkout');
    return sessionId === undefined ? showBilling(visit) : comeBack(visit, sessionId);
}
