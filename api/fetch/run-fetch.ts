import type { FetchAnswer, FetchRequest } from '../../shared/contracts/fetch.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { type Admitted, admit } from '../../shared/fetch/admit.ts';
import { answerText } from '../../shared/fetch/answer-text.ts';
import { timesOf } from '../../shared/fetch/deadlines.ts';
import { withFetchCursor } from '../../shared/fetch/fetch-cursor.ts';
import { holdCredits } from '../../shared/fetch/hold.ts';
import { leaseOf } from '../../shared/fetch/lease.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { fetchJobOf, type Passage, passCircuit, runJob } from '../../shared/fetch/run-job.ts';
import { type Settled, settle } from '../../shared/fetch/settle.ts';
import { keepResult } from '../../shared/fetch/stored-results.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { AnswerToKeep } from '../../shared/store/credits/moves.ts';
import { countCall } from '../admission/count-call.ts';
import { refuseTooLate } from '../admission/overload.ts';
import { type Call, type Reply, sessionOf } from '../call.ts';
import { answerUnsent } from './answer-unsent.ts';

/** A call of POST /v1/fetch, or of the tool that does the same. */
type FetchCall = Call<object, object, FetchRequest>;

/** POST /v1/fetch: admit, count, hold, run, settle (docs/api.md, "Order of checks"). After credits moved, its code does not change. */
export async function runFetch(call: FetchCall): Promise<Reply<FetchAnswer>> {
    const { app, body, span, notes } = call;
    const order = orderOf(call);
    // Dry runs, and calls that a stored result may answer, need not run in a worker.
    const isForWorker = body.dry_run !== true && (body.max_age ?? 0) === 0;

    const asked = await admit(app, order);
    notes.isKnownSite = asked.ok || asked.isKnown;
    if (order.times.deadlineAt <= Date.now()) throw new Refusal('DEADLINE_EXCEEDED');
    if (asked.ok && isForWorker) refuseTooLate(app, order.times.deadlineAt);

    const lease = body.dry_run === true ? undefined : leaseOf(order, asked.ok ? asked.found : undefined);
    const counted = await span.during('limits', () => countCall(call, lease));
    let passage: Passage | undefined;
    try {
        if (!asked.ok) throw asked.refusal;
        const unsent = isForWorker ? undefined : await answerUnsent(app, order, asked);
        if (unsent !== undefined) return unsent;
        const passed = await passCircuit(app, order, asked);
        ({ passage } = passed);

        const { admitted, hold } = await span.during('hold', () => holdCredits(app, order, passed.admitted));
        notes.creditsRemaining = hold.availableAfter;

        const job = fetchJobOf(app, order, admitted, { units: hold.units, backlogMs: passed.backlogMs });
        notes.isFinal = job.effect === 'write';
        const outcome = await withFetchCursor(app, order, admitted, await runJob(app, job, call));
        notes.ranMs = outcome.ranMs;
        passage(outcome);
        // Releases the concurrency lease before the charge, which takes longer.
        void counted.end();

        const keep = answerToKeep(call, order, admitted, outcome);
        const settled = await settle(app, order, { admitted, hold, job, outcome }, { span, keep });
        notes.isRecorded = true;
        if (!settled.ok) {
            notes.isFinal = settled.isFinal;
            notes.creditsRemaining = settled.available ?? notes.creditsRemaining;
            throw settled.refusal;
        }
        if (!isForWorker) await keepResult(app, order, admitted, settled);
        return presentFetch(order, admitted, settled);
    } finally {
        passage?.();
        // Releases the lease before the answer is sent. The call still counts in the rate limits.
        await counted.end();
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

/** Returns a function that encrypts the answer before the statement that charges and stores it. Undefined without an Idempotency-Key. */
function answerToKeep(
    { app: { idempotency }, keyed }: Pick<Call<unknown, unknown, unknown>, 'app' | 'keyed'>,
    order: FetchOrder,
    admitted: Admitted,
    outcome: FetchOutcome,
): ((charged: number) => Promise<AnswerToKeep>) | undefined {
    if (keyed === undefined || !outcome.ok) return undefined;
    return async (charged) => {
        const { head, tail } = answerText(order, admitted, { outcome, charged, durationMs: performance.now() - order.times.began });
        return { call: keyed, head, tail, sealed: await idempotency.seal({ headers: {}, head, tail }) };
    };
}
