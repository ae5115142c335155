import { proofName, proofUrl } from '../../../shared/domain/site/proof.ts';
import { isOnDomain, normaliseSite } from '../../../shared/domain/site/site-name.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { claimedDomains, OPEN_CLAIMS } from '../../../shared/store/registry/claims.ts';
import { keepTyped } from '../fields.ts';
import type { Shown, WorkspaceVisit } from '../page.ts';
import { dateOf } from '../read-api.ts';
import { findClaimed } from './find-claimed.ts';

const DOMAINS = 50;

/** GET /dashboard/domains: the domains that this workspace claims, by name. The query `domain` fills in the form. */
export async function listDomains(visit: WorkspaceVisit, problem?: string, retryAfter?: number): Promise<Shown> {
    const { app, fields, query, workspace } = visit;
    const domains = await claimedDomains(app.db, workspace.workspaceId, { limit: DOMAINS + 1, after: query('after') });
    const shown = domains.slice(0, DOMAINS);
    return {
        view: 'domains/list',
        title: 'Domains',
        retryAfter,
        model: {
            domains: shown,
            next: domains.length > DOMAINS ? shown.at(-1)?.registrable : undefined,
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
export async function showDomain(visit: WorkspaceVisit, about?: string, refused?: ErrorBody): Promise<Shown> {
    const { domain, claims } = await findClaimed(visit);
    return {
        view: 'domains/one',
        title: domain,
        status: refused === undefined ? 200 : refused.retry_after === undefined ? 422 : 429,
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
