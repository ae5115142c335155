import type { ClaimDeleted, ClaimEntry, ClaimParams, DomainParams } from '../../shared/contracts/claims.ts';
import type { PageQuery } from '../../shared/contracts/vocabulary.ts';
import { proofLine, proofName, proofUrl } from '../../shared/domain/site/proof.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { presentFields } from '../../shared/domain/text/snake-case.ts';
import type { RowPage } from '../../shared/platform/row-page.ts';
import { Refusal } from '../../shared/refusals.ts';
import * as claims from '../../shared/store/registry/claims.ts';
import { writeInTurn } from '../admission/writes.ts';
import { answerPage } from '../answers/paging.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';

/** POST /v1/sites/{domain}/claims */
export async function createClaim(call: Call<DomainParams, object, undefined>): Promise<Reply<ClaimEntry>> {
    const { app, params } = call;
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId, accountId } = call.caller;
    const created = await claims.createClaim(app.db, { registrable, workspaceId, accountId, by: byCall(call) });
    if (!created.ok) {
        const message = `This account has ${claims.OPEN_CLAIMS} unproven claims, which is the limit: prove or delete one.`;
        throw new Refusal('RATE_LIMITED', message, { retryAfter: created.retryAfter });
    }
    return { answer: presentClaim(created.claim), headers: { location: `/v1/sites/${registrable}/claims` } };
}

/** GET /v1/sites/{domain}/claims */
export async function listClaims(call: Call<DomainParams, PageQuery, undefined>): Promise<Reply<ClaimEntry[]>> {
    const { registrable } = readSite(call.params.domain, '/domain');
    const { workspaceId } = call.caller;
    const list = (page: RowPage) => claims.listClaims(call.app.browse, { registrable, workspaceId }, page);
    return answerPage(call, [workspaceId, registrable], list, (rows) => rows.map(presentClaim));
}

/** DELETE /v1/sites/{domain}/claims/{claim_id} */
export async function deleteClaim(call: Call<ClaimParams, object, undefined>): Promise<Reply<ClaimDeleted>> {
    const { app, params } = call;
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId } = call.caller;
    const name = { claimId: params.claim_id, registrable, workspaceId };
    const isDeleted = await writeInTurn(call, registrable, () => claims.deleteClaim(app.db, name, byCall(call)));
    if (!isDeleted) throw new Refusal('CLAIM_NOT_FOUND');
    return { answer: { claim_id: params.claim_id, deleted: true } };
}

function presentClaim(claim: claims.Claim): ClaimEntry {
    const { registrable, token, provenAt } = claim;
    return {
        domain: registrable,
        ...presentFields(claim, 'claim_id status reason created_at checked_at proven_at'),
        value: proofLine(token),
        methods: [{ dns: `${proofName(registrable)} TXT ${proofLine(token)}` }, { url: proofUrl(registrable) }],
        expires_at: provenAt === null ? claim.expiresAt.toISOString() : null,
    };
}
