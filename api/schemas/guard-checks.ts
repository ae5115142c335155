import type { App } from '../../shared/app.ts';
import { SideThreadFailure } from '../../shared/platform/side-thread.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { networkOf } from '../admission/client-address.ts';
import { perApp } from '../admission/per-app.ts';
import { createTokenBuckets } from '../admission/token-buckets.ts';
import type { Call } from '../call.ts';
import type { CheckedPackage, PackageTasks } from '../packages/tasks.ts';
import { workOnPackage } from '../packages/work.ts';
import { createFairQueue } from './fair-queue.ts';

/**
 * The most packages per account and hour that are checked, including dry runs and refused ones. Only 60 of them may be new versions. No
 * editor or pipeline sends more than one per second for an hour, and the limit stops endless loops from using the process of others all
 * day.
 */
export const CHECKED_AN_HOUR = 3600;

/** Counts a package, even if it is rejected later. Enterprise accounts have no limit. @throws Refusal RATE_LIMITED */
export async function guardChecks(app: App, caller: Caller): Promise<void> {
    if (caller.plan === 'enterprise') return;
    const windows = [{ name: 'hour', limit: CHECKED_AN_HOUR, seconds: 3600 }] as const;
    // If the counters are unavailable, publishing still works.
    const verdict = await app.limits.take({ identity: `packages:${caller.accountId}`, windows }).catch(() => undefined);
    if (verdict === undefined || verdict.ok) return;
    throw refusal(app, caller, `this account has sent ${CHECKED_AN_HOUR} packages within an hour.`, verdict.retryAfter);
}

const fairQueue = createFairQueue();

type PackageCall = Pick<Call<unknown, unknown, unknown>, 'app' | 'caller' | 'clientAddress' | 'gone'>;

/**
 * Checks a package in a thread. A malicious package may take half a second, so each account also has a limit on its checking time.
 * Enterprise accounts have none.
 * @throws Refusal RATE_LIMITED, OVERLOADED, SERVICE_UNAVAILABLE
 */
export async function checkInTurn(call: PackageCall, bytes: Buffer): Promise<CheckedPackage> {
    const { app, caller } = call;
    const waitMs = caller.plan === 'enterprise' ? 0 : checkingTimeOf(app).waitMs(caller.accountId);
    if (waitMs > 0) throw refusal(app, caller, 'the packages of this account took too long to check.', Math.ceil(waitMs / 1000));
    return workInTurn(call, 'check', { bytes, allowed: app.config.egressAllow });
}

/**
 * Compares a package with the previous version, in a thread.
 * @param isUrgent skips the queue, since the domain is locked meanwhile
 * @throws Refusal OVERLOADED, SERVICE_UNAVAILABLE
 */
export function compareInTurn(
    call: PackageCall,
    task: PackageTasks['diffForPublish']['task'],
    { isUrgent }: { isUrgent: boolean },
): Promise<PackageTasks['diffForPublish']['answer']> {
    return workInTurn(call, 'diffForPublish', task, { isUrgent });
}

async function workInTurn<Name extends 'check' | 'diffForPublish'>(
    { app, caller, clientAddress, gone }: PackageCall,
    name: Name,
    task: PackageTasks[Name]['task'],
    { isUrgent = false } = {},
): Promise<PackageTasks[Name]['answer']> {
    const { accountId, plan } = caller;
    const turn = { network: networkOf(clientAddress), owner: accountId, isFree: plan === 'free', gone };
    const work = async () => {
        const began = performance.now();
        const took = (ms: number) => plan !== 'enterprise' && checkingTimeOf(app).spend(accountId, ms);
        try {
            const done = await workOnPackage(name, accountId, task);
            took(done.ms);
            return done;
        } catch (cause) {
            if (!(cause instanceof SideThreadFailure)) throw cause;
            took(performance.now() - began);
            throw new Refusal('SERVICE_UNAVAILABLE', 'The package could not be checked in time.', { retryAfter: 10 }, { cause });
        }
    };
    return (await (isUrgent ? work() : fairQueue.run(turn, work))).answer;
}

/** The checking time that an account may use at once. It is enough for hundreds of usual packages or thirty of the slowest. */
export const AT_ONCE_MS = 15_000;

/** The checking time used by each account in this process. An account that has used its time gets a tenth of a thread. */
export const checkingTimeOf = perApp(() => createTokenBuckets({ capacity: AT_ONCE_MS, perSecond: 100 }));

function refusal(app: App, { plan }: Caller, why: string, retryAfter: number): Refusal {
    app.metrics.rateLimited.inc({ plan, window: 'packages' });
    return new Refusal('RATE_LIMITED', `The window packages is full: ${why}`, { retryAfter });
}
