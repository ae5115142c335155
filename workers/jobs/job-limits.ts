import type { App } from '../../shared/app.ts';
import type { Lease, TakeOrder } from '../../shared/coordination/limits/limits.ts';
import { type RateWindow, sharesSlotsOfFree, windowsOf } from '../../shared/domain/accounts/plans.ts';
import { jobShareOf, jobSlotsOf, jobsOfWindow } from '../../shared/domain/jobs/bounds.ts';
import { hostsOfEndpoint } from '../../shared/domain/package/hosts.ts';
import type { Admitted } from '../../shared/fetch/admit.ts';
import { LEASE_GRACE_MS } from '../../shared/fetch/deadlines.ts';
import type { FetchOrder } from '../../shared/fetch/order.ts';
import { paceOf } from '../../shared/fetch/run-job.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import type { PaceFor } from '../pace.ts';
import { NotYet, WAIT_MS } from './not-yet.ts';

export interface LimitTools {
    app: App;
    fleetSlots(): Promise<number>;
    paceFor: PaceFor;
}

/** The longest pause between two attempts while a rate limit is exhausted. */
const MAX_LIMITS_MS = 5000;

/** Reserves one slot of the account and a quarter of the site's share for live calls. */
export async function leaseOf({ fleetSlots }: LimitTools, { operation, caller, times }: FetchOrder, { found }: Admitted): Promise<Lease> {
    const share = found.siteConcurrency ?? Math.max(2, Math.floor((await fleetSlots()) / 2));
    return {
        operation,
        account: caller.accountId,
        concurrency: jobSlotsOf(caller.figures.concurrency),
        site: found.registrable,
        share: jobShareOf(share),
        isFree: sharesSlotsOfFree(caller),
        expiresAt: times.deadlineAt + LEASE_GRACE_MS,
    };
}

/**
 * Takes the slots and counts the job in the rate limits. If the site has a pace, takes a turn that is free now in between: without a slot the
 * turn would be lost, and an attempt counts once, however often it waits for a turn.
 * @returns the host whose turn was taken @throws NotYet, Refusal SERVICE_UNAVAILABLE
 */
export async function countJob(
    { app, paceFor }: LimitTools,
    caller: Caller,
    { found, connection }: Admitted,
    lease: Lease,
): Promise<string | undefined> {
    const windows = windowsOfJobs(caller.figures);
    const pace = paceOf(found, 0);
    const [host] = hostsOfEndpoint(found.endpoint);
    if (pace === undefined || host === undefined) {
        await takeLimits(app, caller, { windows, lease });
        return undefined;
    }
    await checkLimits(app, caller);
    await takeLimits(app, caller, { windows: [], lease });
    try {
        const asked = { pace, queued: {}, connection: connection?.connectionId };
        const { granted, waitMs } = await paceFor(found.registrable, asked).turn(host, 0);
        if (!granted) throw new NotYet({ waitingFor: 'site', afterMs: waitMs });
        await takeLimits(app, caller, { windows });
        return host;
    } catch (error) {
        await app.limits.end(lease);
        throw error;
    }
}

async function takeLimits({ limits }: App, { accountId }: Caller, asked: Pick<TakeOrder, 'windows' | 'lease'>): Promise<void> {
    const verdict = await limits.take({ identity: `account:${accountId}`, ...asked });
    if (verdict.ok) return;
    const waitingFor = verdict.reason === 'share' ? 'site' : 'limits';
    if (verdict.reason === 'free') throw new NotYet({ waitingFor, afterMs: WAIT_MS.limits });
    if (verdict.reason !== 'window') throw new NotYet({ waitingFor, afterMs: 0, isForSlot: true });
    throw new NotYet({ waitingFor, afterMs: untilNextTry(verdict.retryAfter) });
}

/** Checks the same limits without counting and without the site's share. @throws NotYet, Refusal SERVICE_UNAVAILABLE */
export async function checkLimits({ limits }: App, { accountId, figures }: Caller): Promise<void> {
    const { windows, inFlight } = await limits.peek(`account:${accountId}`, windowsOfJobs(figures), accountId);
    const full = windows.filter(({ remaining }) => remaining === 0).map(({ resetsIn }) => resetsIn);
    if (full.length > 0) throw new NotYet({ waitingFor: 'limits', afterMs: untilNextTry(Math.max(...full)) });
    if (inFlight >= jobSlotsOf(figures.concurrency)) throw new NotYet({ waitingFor: 'limits', afterMs: 0, isForSlot: true });
}

/** A fifth of each rate limit is reserved for live calls. */
function windowsOfJobs(figures: Caller['figures']): RateWindow[] {
    return windowsOf(figures).map((window) => ({ ...window, limit: jobsOfWindow(window.limit) }));
}

/** Milliseconds until the next try. @param seconds until the full window ends */
function untilNextTry(seconds: number): number {
    return Math.max(WAIT_MS.limits, Math.min(seconds * 1000, MAX_LIMITS_MS));
}
