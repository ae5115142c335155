import { proofName, proofUrl } from '../../../shared/domain/site/proof.ts';
import { isOnDomain, normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { claimedDomains, OPEN_CLAIMS } from '../../../shared/store/registry/claims.ts';
import { keepTyped } from '../fields.ts';
import type { ApiError } from '../internal-api.ts';
import type { Shown, WorkspaceVisit } from '../page.ts';
import { dateOf } from '../read-api.ts';
import { findClaimed } from './find-claimed.ts';

const DOMAINS = 50;

/** GET /dashboard/domains: what this workspace claims, by name; `domain` fills the form in. */
export async function listDomains(visit: WorkspaceVisit, problem?: string, retryAfter?: number): Promise<Shown> {
    const { app, fields, query, workspace } = visit;
    const domains = await claimedDomains(app.db, workspace.workspaceId, { limit: DOMAINS + 1, after: query('after') });
    const shown = domains.slice(0, DOMAINS);
    return {
        view: 'domains/list',
        title: 'Domains',
        status: problem === undefined ? 200 : retryAfter === undefined ? 422 : 429,
        ...(retryAfter === undefined ? {} : { retryAfter }),
        model: {
            domains: shown,
            next: domains.length > DOMAINS ? shown.at(-1)?.registrable : undefined,
            isFirst: query('after') === undefined,
            most: OPEN_CLAIMS,
            problems: problem === undefined ? {} : { domain: problem },
            typed: keepTyped(fields),
            wanted: nameOf(query('domain')),
        },
    };
}

/** Of a site the domain that its owner would prove. */
function nameOf(written = ''): string {
    const name = normaliseSite(written);
    return name.ok ? name.registrable : '';
}

/** GET /dashboard/domains/{domain}: the claims of this workspace on it, how to prove them, and what became of that. */
export async function showDomain(visit: WorkspaceVisit, about?: string, refused?: ApiError): Promise<Shown> {
    const { domain, claims } = await findClaimed(visit);
    return {
        view: 'domains/one',
        title: domain,
        status: refused === undefined ? 200 : refused.retry_after === undefined ? 422 : 429,
        ...(refused?.retry_after === undefined ? {} : { retryAfter: refused.retry_after }),
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
            // Of a public suffix the name of the record is a customer's.
            record: isOnDomain(proofName(domain), domain) ? proofName(domain) : undefined,
            file: proofUrl(domain),
        },
    };
}
