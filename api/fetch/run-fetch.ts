import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import type { Lease } from '../../shared/coordination/limits/limits.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { countCall } from '../admission/count-call.ts';
import type { Reply } from '../serve.ts';
import { admit, admitFresh } from './admit.ts';
import { checkQueueDelay } from './deadline-check.ts';
import { LEASE_GRACE_MS, timesOf } from './deadlines.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';
import { holdCredits } from './hold.ts';
import { findKept } from './kept-results.ts';
import { type Passage, passCircuit } from './pass-circuit.ts';
import { presentDryRun, presentKept } from './present-fetch.ts';
import { recordKept } from './record-fetch.ts';
import { jobOf, runJob } from './run-job.ts';
import { settle } from './settle.ts';

/**
 * POST /v1/fetch: admit, count, hold, run, settle (docs/api.md, "Order of checks").
 * A call that fails is free; its code does not change after credits moved.
 */
export async function runFetch(call: FetchCall): Promise<Reply<FetchAnswer>> {
    const { app, body, operation, span } = call;
    const times = timesOf(call);
    const { began, arrivedAt, deadlineAt } = times;

    const asked = await admit(call);
    if (deadlineAt <= Date.now()) throw new Refusal('DEADLINE_EXCEEDED');
    if ('values' in asked) checkQueueDelay(call, deadlineAt);

    const lease = body.dry_run === true ? undefined : leaseOf(call, asked.found, deadlineAt);
    const { guardState } = await span.during('limits', () => countCall(call, lease));
    let leaseEnd: Promise<void> | undefined;
    const endLease = () => {
        leaseEnd ??= lease === undefined ? Promise.resolve() : app.limits.end(lease);
        return leaseEnd;
    };
    let passage: Passage | undefined;
    try {
        if (!('values' in asked)) throw asked.found.refusal;
        if (body.dry_run) return await presentDryRun(call, asked.found, asked.values, asked.price);
        const kept = await findKept(call, asked.found, asked.values);
        if (kept !== undefined) {
            recordKept(call, { found: asked.found, results: kept.results, durationMs: performance.now() - began });
            return await presentKept(call, asked.found, kept, began);
        }

        const current = guardState.quarantineMs > 0 ? await admitFresh(call) : asked;
        if (!('values' in current)) throw current.found.refusal;
        // A quarantine belongs to one version: a newer one is free of it.
        const isNewer = current.found.versionId !== asked.found.versionId;
        const ofSite = isNewer ? { ...guardState, quarantineMs: 0 } : guardState;
        passage = await passCircuit(app, current.found, ofSite, { operation, admittedAt: arrivedAt, deadlineAt });

        const { admitted, hold } = await span.during('hold', () => holdCredits(call, current, deadlineAt));
        call.setCreditsRemaining(hold.availableAfter);

        const job = jobOf(call, admitted, { units: hold.units, guardState, times });
        call.setFinal(job.effect === 'write');
        const outcome = await runJob(call, job);
        passage(outcome);
        // Releases the concurrency lease before the charge, which takes longer.
        void endLease();

        return await settle(call, { admitted, hold, job, outcome, times });
    } finally {
        passage?.();
        // The lease is free before the answer is sent. The windows stay taken.
        await endLease();
    }
}

function leaseOf({ operation, caller }: FetchCall, found: Found | { ok: false }, deadlineAt: number): Lease {
    const { accountId, figures } = caller as Caller;
    const lease = { operation, account: accountId, concurrency: figures.concurrency, expiresAt: deadlineAt + LEASE_GRACE_MS };
    if (!found.ok) return lease;
    const { registrable: site, siteConcurrency, versionId, endpoint } = found;
    const share = siteConcurrency === null ? {} : { share: siteConcurrency };
    return { ...lease, site, target: { versionId, endpoint: endpoint.name }, ...share };
}
