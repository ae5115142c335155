import type { ClaimEntry } from '../../../shared/contracts/claims.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { pageNotFound, type WorkspaceVisit } from '../page.ts';

/** How many claims of one workspace the page of a domain shows. */
const CLAIMS = 100;

/** The domain of the path and the claims that the workspace has on it. @throws Refusal NOT_FOUND if there are none */
export async function findClaimed(visit: WorkspaceVisit): Promise<{ domain: string; claims: ClaimEntry[] }> {
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
