import type { App } from '../../shared/app.ts';
import { SideThreadFailure } from '../../shared/platform/side-thread.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { networkOf } from '../admission/client-address.ts';
import { perApp } from '../admission/per-app.ts';
import { createTokenBuckets } from '../admission/token-buckets.ts';
import type { Call } from '../call.ts';
import type { JudgedPackage, PackageTasks } from '../packages/tasks.ts';
import { workOnPackage } from '../packages/work.ts';
import { createFairQueue } from './fair-queue.ts';

/**
 * Packages that an account may have judged in an hour, dry runs and refused ones among them; of new versions there may be 60. One a
 * second for an hour is more than anybody's editor or pipeline sends, and keeps a loop from judging all day in the process of others.
 */
export const JUDGED_AN_HOUR = 3600;

/** Counts one package of the caller's account, also a rejected one; enterprise accounts have no limit. @throws Refusal RATE_LIMITED */
export async function guardJudging(app: App, caller: Caller): Promise<void> {
    if (caller.plan === 'enterprise') return;
    const windows = [{ name: 'hour', limit: JUDGED_AN_HOUR, seconds: 3600 }] as const;
    // Publishing works without the counters.
    const verdict = await app.limits.take({ identity: `packages:${caller.accountId}`, windows }).catch(() => undefined);
    if (verdict === undefined || verdict.ok) return;
    throw refusal(app, caller, `this account has sent ${JUDGED_AN_HOUR} packages within an hour.`, verdict.retryAfter);
}

/** The queue of the thread that judges and compares packages. */
const line = createFairQueue();

/** The owner of the package. */
export type Judged = Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'clientAddress' | 'gone'>;

/**
 * Has a package judged beside the event loop. A made-up one takes up to half a second, so that an account is also held to its share of
 * a thread; enterprise accounts are not.
 * @throws Refusal RATE_LIMITED, OVERLOADED, SERVICE_UNAVAILABLE
 */
export async function judgeInTurn(judged: Judged, bytes: Buffer): Promise<JudgedPackage> {
    const { app } = judged;
    const caller = judged.caller as Caller;
    const waitMs = caller.plan === 'enterprise' ? 0 : judgingTimeOf(app).waitMs(caller.accountId);
    if (waitMs > 0) throw refusal(app, caller, 'the packages of this account took too long to judge.', Math.ceil(waitMs / 1000));
    return workInTurn(judged, 'judge', { bytes, allowed: app.config.egressAllow });
}

/**
 * Has a package compared with the version before, beside the event loop.
 * @param isUrgent it waits for nobody: the domain is locked meanwhile
 * @throws Refusal OVERLOADED, SERVICE_UNAVAILABLE
 */
export function compareInTurn(
    judged: Judged,
    task: PackageTasks['compare']['task'],
    { isUrgent }: { isUrgent: boolean },
): Promise<PackageTasks['compare']['answer']> {
    return workInTurn(judged, 'compare', task, { isUrgent });
}

async function workInTurn<Name extends 'judge' | 'compare'>(
    { app, caller, clientAddress, gone }: Judged,
    name: Name,
    task: PackageTasks[Name]['task'],
    { isUrgent = false } = {},
): Promise<PackageTasks[Name]['answer']> {
    const { accountId, plan } = caller as Caller;
    const turn = { network: networkOf(clientAddress), owner: accountId, isFree: plan === 'free', gone };
    const work = async () => {
        const began = performance.now();
        const took = (ms: number) => plan !== 'enterprise' && judgingTimeOf(app).spend(accountId, ms);
        try {
            const done = await workOnPackage(name, accountId, task);
            took(done.ms);
            return done;
        } catch (cause) {
            if (!(cause instanceof SideThreadFailure)) throw cause;
            took(performance.now() - began);
            throw new Refusal('SERVICE_UNAVAILABLE', 'The package could not be judged in time.', { retryAfter: 10 }, { cause });
        }
    };
    return (await (isUrgent ? work() : line.run(turn, work))).answer;
}

/** The judging time of one account, in milliseconds, that it may have at once: enough for hundreds of usual packages, or thirty of the slowest. */
export const AT_ONCE_MS = 15_000;

/** The judging time of the accounts of this process; who has used what it may have at once gets a tenth of a thread. */
export const judgingTimeOf = perApp(() => createTokenBuckets({ capacity: AT_ONCE_MS, perSecond: 100 }));

function refusal(app: App, { plan }: Caller, why: string, retryAfter: number): Refusal {
    app.metrics.rateLimited.inc({ plan, window: 'packages' });
    return new Refusal('RATE_LIMITED', `The window packages is full: ${why}`, { retryAfter });
}
