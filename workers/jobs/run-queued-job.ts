import type { App } from '../../shared/app.ts';
import { canRoleHave } from '../../shared/domain/accounts/roles.ts';
import { missingScope } from '../../shared/domain/accounts/scopes.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/fetch-job.ts';
import { MAX_RESULT_BYTES, STORED_RESULT_BYTES } from '../../shared/domain/jobs/bounds.ts';
import { nextStep } from '../../shared/domain/jobs/next-step.ts';
import type { PausedReason, WaitingFor } from '../../shared/domain/jobs/states.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import { type Admitted, admitFresh } from '../../shared/fetch/admit.ts';
import { asResult, storedText } from '../../shared/fetch/answer-text.ts';
import { timesOf } from '../../shared/fetch/deadlines.ts';
import { withFetchCursor } from '../../shared/fetch/fetch-cursor.ts';
import { holdOrder, insufficientCredits } from '../../shared/fetch/hold.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { passCircuit } from '../../shared/fetch/pass-circuit.ts';
import { recordStored } from '../../shared/fetch/record.ts';
import { fetchJobOf } from '../../shared/fetch/run-job.ts';
import { findStored, resultKeyOf } from '../../shared/fetch/stored-results.ts';
import { invalidFields, Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { Balance } from '../../shared/store/credits/accounts.ts';
import { pauseRunning } from '../../shared/store/jobs/batch-ends.ts';
import { checkBudget, type NotStarted } from '../../shared/store/jobs/begins.ts';
import { type ClaimedJob, storedBytes } from '../../shared/store/jobs/claims.ts';
import { endUnstarted, endWithStored } from '../../shared/store/jobs/ends.ts';
import { makeSpace } from '../../shared/store/jobs/retention.ts';
import { openRequest, sealResult } from '../../shared/store/jobs/sealed.ts';
import { checkLimits, countJob, type LimitTools, leaseOf } from './job-limits.ts';
import { NotYet, WAIT_MS, type Waiting } from './not-yet.ts';
import { boundOutcome, factsOf, idOf, type Sent, sealRefusal, settleJob } from './settle-job.ts';
import type { Attempts, Slice } from './slice.ts';

/** The worker's functions that a job uses. */
export interface JobTools extends LimitTools {
    attempts: Attempts;
    send(job: FetchJob, signal: AbortSignal): Promise<FetchOutcome>;
}

/** Why a job waits, by the code that a fetch would get. */
const WAITS: Readonly<Record<string, WaitingFor>> = {
    SITE_UNAVAILABLE: 'site',
    SITE_BUSY: 'site',
    INSUFFICIENT_CREDITS: 'credits',
    SPENDING_LIMIT: 'credits',
};

/**
 * Runs a claimed job or puts it back (docs/jobs.md, "Jobs"): key and block → circuit → rate limits, concurrency and share → hold → send →
 * settle. If a step refuses, everything that earlier steps acquired is released.
 * @returns what its account waits for; undefined if the job started or ended
 */
export async function runQueuedJob(tools: JobTools, slice: Slice, job: ClaimedJob, signal: AbortSignal): Promise<Waiting | undefined> {
    const { app } = tools;
    try {
        const caller = await slice.caller();
        if (caller === undefined || caller.suspended) {
            if (job.batchId !== null) throw new NotYet(await pausedFor(app, job.batchId, 'key'));
            await endUnstarted(app.db, job, { status: 'cancelled' });
            return undefined;
        }
        await attempt(tools, slice, job, await orderOf(app, job, caller), signal);
        return undefined;
    } catch (error) {
        // The connection was deleted after the job was created.
        const isGone = error instanceof Refusal && error.code === 'CONNECTION_NOT_FOUND';
        return waitOn(tools, job, isGone ? new Refusal('CONNECTION_REQUIRED', 'The connection of this job is gone.') : error);
    }
}

async function attempt(tools: JobTools, slice: Slice, job: ClaimedJob, order: FetchOrder, signal: AbortSignal): Promise<void> {
    const { app, attempts } = tools;
    checkScopes(order);
    const admitted = await admitAtPriceOfOrder(app, job, order);
    await needSpace(app, slice, order.caller);
    if (await answerFromStored(app, job, order, admitted)) return;

    const { backlogMs, passage } = await passCircuit(app, order, admitted);
    try {
        if (backlogMs > 0) throw new NotYet({ waitingFor: 'site', afterMs: backlogMs });
        // Credits are checked before the rate limits, so that these count an attempt once, however often it waits for credits.
        await needCredits(app, slice, job, order.caller, admitted);
        const lease = await leaseOf(tools, order, admitted);
        const turn = await countJob(tools, order.caller, admitted, lease);
        let sent: Sent;
        try {
            const hold = await attempts.begin({ ...idOf(job), order: holdOrder(order, admitted, { isChecked: true }) });
            if (typeof hold === 'string' || 'limit' in hold) throw await whyNotStarted(app, job, hold);
            const fetchJob = fetchJobOf(app, order, admitted, { units: hold.units, backlogMs: 0, queued: { turn } });
            const outcome = boundOutcome(await withFetchCursor(app, order, admitted, await tools.send(fetchJob, signal)));
            passage(outcome);
            sent = { admitted, hold, fetchJob, outcome };
        } finally {
            // Before the charge, which takes longer.
            await app.limits.end(lease);
        }
        await settleJob(tools, job, order, sent);
    } finally {
        passage();
    }
}

async function whyNotStarted(app: App, { batchId }: Pick<ClaimedJob, 'batchId'>, reason: NotStarted): Promise<NotYet> {
    if (reason === 'credits') return new NotYet({ waitingFor: 'credits', afterMs: WAIT_MS.credits });
    if (reason === 'stale') return new NotYet({ waitingFor: null, afterMs: WAIT_MS.changed });
    if (reason === 'gone' || batchId === null) return new NotYet(undefined);
    if (reason === 'paused') return new NotYet({ waitingFor: null, afterMs: 0 });
    // Other items of the batch may release credits.
    if (reason.limit.held > 0) return new NotYet({ waitingFor: 'credits', afterMs: WAIT_MS.limits });
    return new NotYet(await pausedFor(app, batchId, 'max_credits'));
}

async function pausedFor(app: App, batchId: string, reason: PausedReason): Promise<Waiting> {
    await pauseRunning(app.db, batchId, reason);
    return { waitingFor: null, afterMs: 0 };
}

async function orderOf(app: App, job: ClaimedJob, caller: Caller): Promise<FetchOrder> {
    const body = await openRequest<FetchOrder['body']>(app.secrets, job.request, (text) => parseExact(text));
    if (body === undefined) throw new Refusal('INTERNAL', 'The params of this job cannot be decrypted.');
    return {
        operation: job.operation,
        requestId: job.jobId,
        // The price was confirmed when the job was created.
        caller: { ...caller, confirmAbove: null },
        body,
        sessionId: job.sessionId ?? undefined,
        times: timesOf(app, body, performance.now()),
    };
}

/** Checks the scopes as they are now, and the role. Effects are checked with the endpoint. @throws Refusal FORBIDDEN */
function checkScopes({ caller: { scopes, role }, body: { site, endpoint } }: FetchOrder): void {
    const { routes, sites, endpoints } = scopes.listed;
    if (!routes.includes('jobs') || !canRoleHave(role, 'jobs')) throw missingScope({ part: 'routes', needs: 'jobs' });
    if (sites !== null && !sites.includes(site)) throw missingScope({ part: 'sites', needs: site });
    if (endpoints !== null && !endpoints.includes(endpoint)) throw missingScope({ part: 'endpoints', needs: endpoint });
}

/** Admits the call at the lower of the price at creation and the current price. @throws Refusal */
async function admitAtPriceOfOrder(app: App, { unit, unitsCap }: ClaimedJob, order: FetchOrder): Promise<Admitted> {
    const { max_credits: maxCredits, ...body } = order.body;
    // Without the spending cap, which is compared with the lower price only.
    const asked = await admitFresh(app, { ...order, body });
    if (!asked.ok) throw asked.refusal;
    const { max_results: maxResults, max_pages: maxPages } = body;
    const found = { ...asked.found, siteCredits: Math.min(asked.found.siteCredits, unit), unitsCap: unitsCap ?? undefined };
    const price = pricing.priceOrder({ ...found, maxCredits, maxResults, maxPages });
    if (!price.ok) throw invalidFields([price.problem]);
    return { ...asked, found, price };
}

/** @throws NotYet if the account's results fill its storage and are all too young to delete */
async function needSpace({ db }: App, slice: Slice, { accountId, plan }: Caller): Promise<void> {
    const max = STORED_RESULT_BYTES[plan];
    if ((await slice.storedBytes(accountId)) < max) return;
    await makeSpace(db, accountId, max - MAX_RESULT_BYTES);
    if ((await storedBytes(db, accountId)) >= max) throw new NotYet({ waitingFor: 'storage', afterMs: WAIT_MS.storage });
}

/** Whether a stored result that the account already paid for answers the job. */
async function answerFromStored(app: App, job: ClaimedJob, order: FetchOrder, admitted: Admitted): Promise<boolean> {
    const kept = await findStored(app, order, admitted);
    if (kept === undefined) return false;
    const result = await sealResult(app.secrets, asResult(storedText(order, admitted.found, kept)));
    const available = (await app.credits.balance(order.caller.accountId))?.available ?? 0;
    const question = resultKeyOf(order, admitted);
    if (await endWithStored(app.db, job, { result, question, available })) recordStored(app, order, admitted.found, kept.results);
    return true;
}

/**
 * Checks the balance and the budget of the batch, and subtracts what the job will hold for the next items of the slice. A job that lacks
 * both credits and limits reports the limits.
 * @throws NotYet, Refusal INSUFFICIENT_CREDITS or SERVICE_UNAVAILABLE
 */
async function needCredits(app: App, slice: Slice, { batchId }: ClaimedJob, caller: Caller, { price }: Admitted): Promise<void> {
    const balance = await slice.balance(caller.accountId);
    const expected = expectedHold(price, balance);
    if (expected === undefined) {
        await checkLimits(app, caller);
        throw insufficientCredits(app, caller, price.unit, balance.available);
    }
    const over = batchId === null ? undefined : checkBudget(await slice.budget(batchId), expected);
    if (over !== undefined) {
        if (over !== 'paused') await checkLimits(app, caller);
        throw await whyNotStarted(app, { batchId }, over);
    }
    slice.expect(expected);
}

/** The credits to hold; undefined if the job must wait for credits. */
function expectedHold({ unit, maxUnits }: Admitted['price'], { available, held }: Pick<Balance, 'available' | 'held'>): number | undefined {
    if (available >= unit * maxUnits) return unit * maxUnits;
    return held > 0 || available < unit ? undefined : Math.floor(available / unit) * unit;
}

/** Handles an error before anything was sent: the job waits again, or ends with the refusal. */
async function waitOn({ app, attempts }: JobTools, job: ClaimedJob, error: unknown): Promise<Waiting | undefined> {
    if (!(error instanceof Refusal || error instanceof NotYet)) {
        app.log.warn({ part: 'jobs', job_id: job.jobId, err: error }, 'a job failed to start; it will be taken back');
        return undefined;
    }
    const waiting = error instanceof NotYet ? error.waiting : waitAfter(error);
    if (waiting !== undefined) {
        await attempts.putBack({ ...idOf(job), waitingFor: waiting.waitingFor, afterMs: waiting.afterMs });
        return waiting;
    }
    if (error instanceof NotYet) return undefined;
    await endUnstarted(app.db, job, { status: 'failed', code: error.code, error: await sealRefusal(app, error) });
    return undefined;
}

/** How a job waits after a temporary refusal; undefined if the refusal ends it. */
function waitAfter(refusal: Refusal): Waiting | undefined {
    const waitingFor = WAITS[refusal.code] ?? null;
    if (waitingFor === 'credits') return { waitingFor, afterMs: WAIT_MS.credits };
    const step = nextStep({ ...factsOf(refusal), effect: 'read', isFinal: false, failures: Number.POSITIVE_INFINITY }, 0);
    return step.step === 'wait' ? { waitingFor, afterMs: step.afterMs } : undefined;
}
