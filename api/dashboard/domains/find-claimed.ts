import type { ClaimEntry } from '../../../shared/contracts/claims.ts';
import { normaliseSite } from '../../../shared/domain/site/site-name.ts';
import { memberCaller } from '../callers.ts';
import { pageNotFound, type WorkspaceVisit } from '../page.ts';

/** Claims of one workspace on one domain that its page shows. */
const CLAIMS = 100;

/** The domain that the path names, where the workspace has a claim on it. @throws Refusal NOT_FOUND */
export async function findClaimed(visit: WorkspaceVisit): Promise<{ domain: string; claims: ClaimEntry[] }> {
    const name = normaliseSite(visit.params['domain'] ?? '');
    if (!name.ok || name.registrable !== visit.params['domain']) throw pageNotFound();
    const { registrable: domain } = name;
    const path = `/v1/sites/${domain}/claims?limit=${CLAIMS}`;
    const answer = await visit.ask({ method: 'GET', path, as: memberCaller(visit) });
    if (!answer.ok) throw new Error(`the claims on ${domain} answered ${answer.refused.code}`);
    const claims = answer.body['data'] as ClaimEntry[];
    if (claims.length === 0) throw pageNotFound();
    return { domain, claims };
}
