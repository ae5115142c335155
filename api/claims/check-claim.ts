import type { ClaimChecked, ClaimParams } from '../../shared/contracts/claims.ts';
import { readSite } from '../../shared/domain/site/read-site.ts';
import { pollUntil } from '../../shared/platform/poll-until.ts';
import { Refusal } from '../../shared/refusals.ts';
import { takeAttempts } from '../../shared/store/accounts/attempts.ts';
import * as claims from '../../shared/store/registry/claims.ts';
import { writeInTurn } from '../admission/writes.ts';
import type { Call, Reply } from '../call.ts';

/** How long a caller waits for the check. */
const LOOKS = { everyMs: 150, maxMs: 9000 };

/** POST /v1/sites/{domain}/claims/{claim_id}/check: a worker checks the proof while the caller waits. */
export async function checkClaim(call: Call<ClaimParams, object, undefined>): Promise<Reply<ClaimChecked>> {
    const { app, params, gone } = call;
    const { registrable } = readSite(params.domain, '/domain');
    const { workspaceId, accountId } = call.caller;
    const name = { claimId: params.claim_id, registrable, workspaceId };
    const claim = await claims.findClaim(app.db, name);
    if (claim === undefined) throw new Refusal('CLAIM_NOT_FOUND');
    if (claim.status === 'proven') return { answer: { status: 'proven', reason: null } };
    await writeInTurn(call, undefined, async () => {
        await countCheck(call, claim.claimId, accountId);
        await claims.askForCheck(app.db, claim.claimId);
    });

    const look = () => claims.findClaim(app.db, name);
    const now = await pollUntil(LOOKS, look, (seen) => seen === undefined || seen.checks > claim.checks || gone.aborted);
    if (now === undefined) throw new Refusal('CLAIM_NOT_FOUND');
    if (now.checks > claim.checks) return { answer: { status: now.status, reason: now.reason } };
    return { answer: { status: 'pending', reason: 'The lookup has not ended yet. List the claims later to see its result.' } };
}

async function countCheck({ app }: Call<ClaimParams, object, undefined>, claimId: string, accountId: string): Promise<void> {
    const retryAfter = await takeAttempts(app.db, [
        ['claim check by claim', claimId],
        ['claim check by account', accountId],
    ]);
    if (retryAfter === 0) return;
    throw new Refusal('RATE_LIMITED', 'A claim can be checked once a minute, and an account can check 20 times an hour.', { retryAfter });
}
