import type { ClaimChecked, ClaimEntry } from '../../../shared/contracts/claims.ts';
import { line, readFields } from '../fields.ts';
import type { Notice } from '../notices.ts';
import { type Answer, pageNotFound, type Sent, type WorkspaceVisit } from '../page.ts';
import { change } from '../read-api.ts';
import { findClaimed } from './find-claimed.ts';
import { listDomains, showDomain } from './show.ts';

const AFTER_CHECK: Readonly<Record<ClaimChecked['status'], Notice>> = {
    proven: 'claim-proved',
    failed: 'claim-failed',
    pending: 'claim-pending',
};

/** POST /dashboard/domains: claims a domain for the workspace and shows how to prove it. A claim that waits for its proof is kept. */
export async function startClaim(visit: WorkspaceVisit): Promise<Answer> {
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
export async function checkClaim(visit: WorkspaceVisit): Promise<Answer> {
    const { domain, id, path } = await findClaim(visit);
    const sent = ({ status }: ClaimChecked): Sent => ({ to: `/dashboard/domains/${domain}`, notice: AFTER_CHECK[status] });
    return change(visit, { method: 'POST', path: `${path}/check` }, sent, (refused) => showDomain(visit, id, refused));
}

/** POST …/claims/{claim_id}/delete: deletes a claim, even a proved one. */
export async function deleteClaim(visit: WorkspaceVisit): Promise<Answer> {
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
