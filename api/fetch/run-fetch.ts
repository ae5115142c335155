import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import type { FetchAnswer, FetchRequest } from '../../shared/contracts/fetch.ts';
import type { FetchFailure, FetchJob, FetchOutcome } from '../../shared/domain/fetch.ts';
import * as pricing from '../../shared/domain/pricing.ts';
import type { Lease, SiteStanding } from '../../shared/limits.ts';
import { Refusal, type RefusalCode } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import type { Span } from '../../shared/tracing.ts';
import type { AroundBalance } from '../fetch-answer.ts';
import { countCall } from '../plugins/count-call.ts';
import type { Call, Reply } from '../serve.ts';
import { admit, admitAnew } from './admit.ts';
import type { Found } from './find-endpoint.ts';
import { holdAhead, setPrecedent } from './hold-ahead.ts';
import { holdCredits } from './hold-credits.ts';
import { findKept, keepResult } from './kept-results.ts';
import { type Passage, passCircuit } from './pass-circuit.ts';
import { presentDryRun, presentFetch, presentKept } from './present-fetch.ts';
import { recordFetch, recordKept } from './record-fetch.ts';

/** So late after its deadline a caller may be answered (GOALS R1): a charge that takes longer takes it from the site's time. */
const LATE_MS = 250;
/** So long a verdict may take at least: what became of a write hangs on it, and usually it takes a few milliseconds. */
const VERDICT_MS = 300;
/** Leases outlive the deadline by so much, for the answer of a process that died. */
const LEASE_GRACE_MS = 5000;

type FetchCall = Call<object, object, FetchRequest>;

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

    const asked = await admit(app, body);
    if (deadlineAt <= Date.now()) throw new Refusal('DEADLINE_EXCEEDED');

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
        const now = standing.quarantineMs > 0 ? await admitAnew(app, body) : asked;
        if (!('values' in now)) throw now.found.refusal;
        // A quarantine is of the version that was counted: another one has a clean slate.
        const isLifted = now.found.versionId !== asked.found.versionId;
        // Its credits are held for the old one: the next call finds the new one at once.
        if (isLifted && ahead !== undefined) throw new Refusal('SITE_UNAVAILABLE', undefined, { retryAfter: 1 });
        const seen = isLifted ? { ...standing, quarantineMs: 0 } : standing;
        passage = await passCircuit(app, now.found, seen, { operation, admittedAt: arrivedAt, deadlineAt });
        const { admitted, hold } = await span.during('hold', () => holdCredits(call, now, { deadlineAt, ahead }));
        const { found, values, price } = admitted;
        call.setCreditsRemaining(hold.availableAfter);
        if (standing.circuitMs === undefined)
            setPrecedent(call, admitted, { windows, available: hold.availableAfter, amount: hold.amount });

        const job: FetchJob = {
            operation,
            requestId: call.requestId,
            site: found.site,
            versionId: found.versionId,
            endpoint: found.endpoint.name,
            effect: found.endpoint.effect,
            values: { ...values },
            deadlineAt: deadlineAt - chargeTime(app, deadlineAt),
            admittedAt,
            ...pricing.limitsFor({ endpoint: found.endpoint, maxResults: body.max_results }, price, hold.units),
            ...paceOf(found, standing),
            run: 1,
        };
        call.setFinal(job.effect === 'write');
        const outcome = await runJob(call, job);
        passage(outcome);
        // Beside the movement of credits, which takes longer.
        void endLease();
        const present = (success: FetchOutcome & { ok: true }, charged: number, durationMs = performance.now() - began) =>
            presentFetch({ call, found, outcome: success, charged, admittedAt, durationMs });
        const cost = outcome.ok ? pricing.costOf(found.endpoint, found.siteCredits, outcome, hold.amount) : 0;
        const ending = outcome.ok
            ? await span.during('charge', () => charge(call, job, cost, () => present(outcome, cost)))
            : await span.during('release', () => releaseInTime(call, job, { deadlineAt, available: hold.availableAfter + hold.amount }));
        const durationMs = performance.now() - began;
        if (!outcome.ok || !ending.isBilled) {
            const refusal = refusalOf(call, job, outcome, !ending.isBilled && ending.marked);
            recordFetch(call, { job, found, code: refusal.code, credits: 0, outcome, durationMs });
            throw refusal;
        }
        recordFetch(call, { job, found, code: 'success', credits: ending.charged, outcome, durationMs });
        await keepResult(call, found, values, outcome, ending.charged);
        if (ending.kept !== undefined) return { text: ending.kept, isKept: true };
        const { head, tail } = present(outcome, ending.charged, durationMs);
        return { text: `${head}${ending.available}${tail}`, isKept: false };
    } finally {
        passage?.();
        // The windows stay taken; concurrency and share are free before the answer is sent, and so are credits that were not wanted.
        await Promise.all([endLease(), ahead?.giveBack()]);
    }
}

/** What of the time that is left has to be kept for the charge; half of it at the most. */
function chargeTime(app: App, deadlineAt: number): number {
    return Math.round(Math.max(0, Math.min(app.credits.settlingMs() - LATE_MS, (deadlineAt - Date.now()) / 2)));
}

function shareOf(found: Found | { ok: false }): Pick<Lease, 'site' | 'share' | 'target'> {
    if (!found.ok) return {};
    const { registrable: site, siteConcurrency, versionId, endpoint } = found;
    return { site, target: { versionId, endpoint: endpoint.name }, ...(siteConcurrency === null ? {} : { share: siteConcurrency }) };
}

/** Only who has to wait for turns asks for them: where an operator set a pace, and after the site asked us to slow down. */
function paceOf({ siteRate: rate }: Found, { backlogMs }: SiteStanding): Pick<FetchJob, 'pace'> {
    if (rate === null && backlogMs === 0) return {};
    return { pace: rate === null ? {} : { rate } };
}

/** A read whose worker died runs once more while there is time; a write never does. */
async function runJob(call: FetchCall, job: FetchJob): Promise<FetchOutcome> {
    const outcome = await queueJob(call, job);
    const mayRunAgain = !outcome.ok && outcome.lost === 'worker' && job.effect === 'read' && Date.now() < job.deadlineAt;
    return mayRunAgain ? queueJob(call, { ...job, run: 2 }) : outcome;
}

function queueJob({ app, span, gone }: FetchCall, job: FetchJob): Promise<FetchOutcome> {
    const queue = async (part: Span) => {
        const outcome = await app.queue.run(job, { signal: gone, trace: part.context });
        if (!outcome.ok) part.fail(outcome.code);
        return outcome;
    };
    return span.during('queue', queue, 'producer');
}

type Ending = { isBilled: true; charged: number; available: number; kept?: string } | { isBilled: false; marked: boolean };

/**
 * The charge, and with it the answer under the call's key. Where it could not be recorded the hold is released instead: then the
 * call is not billed, and its outcome not delivered. The release also tells where it was recorded after all: what is billed is delivered.
 */
async function charge(call: FetchCall, job: FetchJob, amount: number, present: () => AroundBalance): Promise<Ending> {
    const { app, operation, keyed } = call;
    try {
        const answer = keyed === undefined ? undefined : { call: keyed, ...present() };
        const charged = await app.credits.charge({ operation, amount, answer });
        if (charged.ok) return { isBilled: true, ...charged };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'whether a charge was recorded is not known');
    }
    return release(call, job, amount);
}

/**
 * Gives the hold back. The release is also the verdict about a write that nobody reported: where the worker had marked it as
 * sent before, its outcome is not known. @param wanted what we tried to charge before
 */
async function release(call: FetchCall, { effect }: FetchJob, wanted?: number): Promise<Ending> {
    const { app, operation } = call;
    try {
        const { before, marked, available } = await app.credits.release({ operation });
        call.setCreditsRemaining(available);
        if (before === 'charged' && wanted !== undefined) return { isBilled: true, charged: wanted, available };
        return { isBilled: false, marked };
    } catch (error) {
        app.log.error({ part: 'credits', operation, err: error }, 'a hold could not be released; the sweep will do it');
        return { isBilled: false, marked: effect === 'write' };
    }
}

/**
 * Gives the hold of a failed call back, and waits for that until shortly after the deadline: where the database is slow the caller hears
 * what is certain, that nothing was charged, and the release goes on without it. @param available to spend once it is done
 */
async function releaseInTime(call: FetchCall, job: FetchJob, until: { deadlineAt: number; available: number }): Promise<Ending> {
    const patience = new AbortController();
    const ms = Math.max(VERDICT_MS, until.deadlineAt + LATE_MS / 2 - Date.now());
    const late = sleep(ms, undefined, { signal: patience.signal }).then((): Ending => {
        call.setCreditsRemaining(until.available);
        return { isBilled: false, marked: job.effect === 'write' };
    });
    late.catch(() => undefined);
    const ending = await Promise.race([release(call, job), late]);
    patience.abort();
    return ending;
}

/** Why the call is not billed; what became of a write that was marked as sent stays the answer of its key. */
function refusalOf(call: FetchCall, job: FetchJob, outcome: FetchOutcome, marked: boolean): Refusal {
    const isReported = !outcome.ok && outcome.lost === undefined;
    // A write runs once, and its one worker tells: it was marked when no time was left to send it.
    const mayBeSent = marked && !(isReported && outcome.code === 'DEADLINE_EXCEEDED');
    call.setFinal(mayBeSent);
    if (isReported) return toRefusal(outcome, job, mayBeSent);
    return new Refusal(marked ? 'OUTCOME_UNKNOWN' : 'DEADLINE_EXCEEDED');
}

const RETRYABLE_READS: readonly RefusalCode[] = ['UPSTREAM_UNREACHABLE', 'UPSTREAM_TIMEOUT', 'UPSTREAM_RATE_LIMITED'];

function toRefusal({ code, message, details, retryAfter, upstream }: FetchFailure, { effect }: FetchJob, marked: boolean): Refusal {
    const isServerError = code === 'UPSTREAM_STATUS' && (upstream?.status ?? 0) >= 500;
    const isRetryableRead = effect === 'read' && (isServerError || RETRYABLE_READS.includes(code));
    return new Refusal(code, message, {
        ...(details === undefined ? {} : { details }),
        ...(retryAfter === undefined ? {} : { retryAfter }),
        ...(upstream === undefined ? {} : { upstream }),
        ...(isRetryableRead ? { retryable: true } : {}),
        ...(marked ? { retryable: false } : {}),
    });
}
