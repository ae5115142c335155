import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import type { Lease } from '../../shared/limits.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { countCall } from '../plugins/count-call.ts';
import type { Reply } from '../serve.ts';
import { admit, admitAnew } from './admit.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';
import { holdAhead, setPrecedent } from './hold-ahead.ts';
import { holdCredits } from './hold-credits.ts';
import { findKept } from './kept-results.ts';
import { type Passage, passCircuit } from './pass-circuit.ts';
import { presentDryRun, presentKept } from './present-fetch.ts';
import { recordKept } from './record-fetch.ts';
import { refuseInVain } from './refuse-in-vain.ts';
import { runHeld } from './run-held.ts';

/** Leases outlive the deadline by so much, for the answer of a process that died. */
const LEASE_GRACE_MS = 5000;

/**
 * POST /v1/fetch: check, count, hold, run, then charge or release (CONTRACT section 2, "Order of checks", and section 4).
 * Whatever goes wrong is free; a code never changes after the money moved.
 */
export async function runFetch(call: FetchCall): Promise<Reply<FetchAnswer>> {
    const { app, body, operation, span } = call;
    const caller = call.caller as Caller;
    const began = performance.now();
    const admittedAt = Date.now();
    // The caller's whole wait: it began when the call came, and its body was read and its key looked up since.
    const arrivedAt = admittedAt - Math.round(began - call.startedAt);
    const deadlineAt = arrivedAt + (body.timeout_ms ?? app.config.fetchTimeoutMs);

    const asked = await admit(call);
    if (deadlineAt <= Date.now()) throw new Refusal('DEADLINE_EXCEEDED');
    if ('values' in asked) refuseInVain(call, deadlineAt);

    const leased = body.dry_run !== true;
    const lease = {
        operation,
        account: caller.accountId,
        concurrency: caller.figures.concurrency,
        expiresAt: deadlineAt + LEASE_GRACE_MS,
        ...shareOf(asked.found),
    };
    const ahead = 'values' in asked ? holdAhead(call, asked, deadlineAt) : undefined;
    const counted = span.during('limits', () => countCall(call, leased ? lease : undefined));
    const { standing, windows } = await counted.catch(async (error: unknown) => {
        await ahead?.giveBack();
        throw error;
    });
    let passage: Passage | undefined;
    let leaseEnd: Promise<void> | undefined;
    const endLease = () => {
        leaseEnd ??= leased ? app.limits.end(lease) : Promise.resolve();
        return leaseEnd;
    };
    try {
        if (!('values' in asked)) throw asked.found.refusal;
        if (body.dry_run) return await presentDryRun(call, asked.found, asked.values, asked.price);
        const kept = await findKept(call, asked.found, asked.values);
        if (kept !== undefined) {
            recordKept(call, { found: asked.found, results: kept.results, durationMs: performance.now() - began });
            return await presentKept(call, asked.found, kept, began);
        }
        const now = standing.quarantineMs > 0 ? await admitAnew(call) : asked;
        if (!('values' in now)) throw now.found.refusal;
        // A quarantine is of the version that was counted: another one has a clean slate.
        const isLifted = now.found.versionId !== asked.found.versionId;
        // Its credits are held for the old one: the next call finds the new one at once.
        if (isLifted && ahead !== undefined) throw new Refusal('SITE_UNAVAILABLE', undefined, { retryAfter: 1 });
        const seen = isLifted ? { ...standing, quarantineMs: 0 } : standing;
        passage = await passCircuit(app, now.found, seen, { operation, admittedAt: arrivedAt, deadlineAt });
        const { admitted, hold } = await span.during('hold', () => holdCredits(call, now, { deadlineAt, ahead }));
        call.setCreditsRemaining(hold.availableAfter);
        if (standing.circuitMs === undefined)
            setPrecedent(call, admitted, { windows, available: hold.availableAfter, amount: hold.amount });
        return await runHeld(call, { admitted, hold, standing, began, admittedAt, deadlineAt }, (outcome) => {
            passage?.(outcome);
            // Beside the movement of credits, which takes longer.
            void endLease();
        });
    } finally {
        passage?.();
        // The windows stay taken; concurrency and share are free before the answer is sent, and so are credits that were not wanted.
        await Promise.all([endLease(), ahead?.giveBack()]);
    }
}

function shareOf(found: Found | { ok: false }): Pick<Lease, 'site' | 'share' | 'target'> {
    if (!found.ok) return {};
    const { registrable: site, siteConcurrency, versionId, endpoint } = found;
    return { site, target: { versionId, endpoint: endpoint.name }, ...(siteConcurrency === null ? {} : { share: siteConcurrency }) };
}
