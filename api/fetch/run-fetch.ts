import type { FetchAnswer, FetchRequest } from '../../shared/contracts/fetch.ts';
import { type Admitted, admit } from '../../shared/fetch/admit.ts';
import { answerText } from '../../shared/fetch/answer-text.ts';
import { timesOf } from '../../shared/fetch/deadlines.ts';
import { withFetchCursor } from '../../shared/fetch/fetch-cursor.ts';
import { holdCredits } from '../../shared/fetch/hold.ts';
import { leaseOf } from '../../shared/fetch/lease.ts';
import { type FetchOrder, mayEndUnsent } from '../../shared/fetch/order.ts';
import { passCircuit } from '../../shared/fetch/pass-circuit.ts';
import { fetchJobOf, runJob } from '../../shared/fetch/run-job.ts';
import { type Settled, settle } from '../../shared/fetch/settle.ts';
import { keepResult } from '../../shared/fetch/stored-results.ts';
import { Refusal } from '../../shared/refusals.ts';
import { countCall } from '../admission/count-call.ts';
import { refuseTooLate } from '../admission/overload.ts';
import { type Call, type Reply, sessionOf } from '../call.ts';
import { answerUnsent } from './answer-unsent.ts';

/** A call of POST /v1/fetch, or of the tool that does the same. */
type FetchCall = Call<object, object, FetchRequest>;

/** POST /v1/fetch: admit, count, hold, run, settle (docs/api.md, "Order of checks"). */
export async function runFetch(call: FetchCall): Promise<Reply<FetchAnswer>> {
    const { app, body, span, notes } = call;
    const order = orderOf(call);
    const asked = await admit(app, order);
    notes.isKnownSite = asked.ok || asked.isKnown;
    if (order.times.deadlineAt <= Date.now()) throw new Refusal('DEADLINE_EXCEEDED');
    if (asked.ok && !mayEndUnsent(body)) refuseTooLate(app, order.times.deadlineAt);

    const lease = body.dry_run === true ? undefined : leaseOf(order, asked.ok ? asked.found : undefined);
    const counted = await span.during('limits', () => countCall(call, lease));
    try {
        // A 404 or 422 counts in the rate limits.
        if (!asked.ok) throw asked.refusal;
        return (await answerUnsent(app, order, asked)) ?? (await sendFetch(call, order, asked, counted.end));
    } finally {
        // Ends the lease before the answer is sent. The call still counts in the rate limits.
        await counted.end();
    }
}

/** Passes the circuit, holds the credits, runs the job and settles. After credits moved, the code of a failure does not change. */
async function sendFetch(call: FetchCall, order: FetchOrder, asked: Admitted, endLease: () => Promise<void>): Promise<Reply<FetchAnswer>> {
    const { app, span, notes } = call;
    const passed = await passCircuit(app, order, asked);
    try {
        const { admitted, hold } = await span.during('hold', () => holdCredits(app, order, passed.admitted));
        notes.creditsRemaining = hold.availableAfter;

        const job = fetchJobOf(app, order, admitted, { units: hold.units, backlogMs: passed.backlogMs });
        notes.isFinal = job.effect === 'write';
        const outcome = await withFetchCursor(app, order, admitted, await runJob(app, job, call));
        notes.ranMs = outcome.ranMs;
        passed.passage(outcome);
        // Ends the lease before the charge, which takes longer.
        void endLease();

        const settled = await settle(app, order, { admitted, hold, job, outcome }, call);
        notes.isRecorded = true;
        if (!settled.ok) {
            notes.isFinal = settled.isFinal;
            notes.creditsRemaining = settled.available ?? notes.creditsRemaining;
            throw settled.refusal;
        }
        await keepResult(app, order, admitted, settled);
        return presentFetch(order, admitted, settled);
    } finally {
        passed.passage();
    }
}

function orderOf(call: FetchCall): FetchOrder {
    const { app, operation, requestId, caller, body, startedAt } = call;
    return { operation, requestId, caller, body, sessionId: sessionOf(call), times: timesOf(app, body, startedAt) };
}

function presentFetch(order: FetchOrder, admitted: Admitted, settled: Settled & { ok: true }): Reply<FetchAnswer> {
    if (settled.kept !== undefined) return { text: settled.kept, isKept: true };
    const { head, tail } = answerText(order, admitted, settled);
    return { text: `${head}${settled.available}${tail}`, isKept: false };
}
