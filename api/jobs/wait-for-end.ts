import { setTimeout as sleep } from 'node:timers/promises';
import type { App } from '../../shared/app.ts';
import { WAITING_READS } from '../../shared/domain/jobs/bounds.ts';
import { endedOf } from '../../shared/store/jobs/jobs.ts';
import { perApp } from '../admission/per-app.ts';

/** How often a process looks whether jobs have ended that somebody waits for, in milliseconds. */
const LOOK_MS = 200;

interface Waits {
    /** Reads that wait, by account. */
    ofAccount: Map<string, number>;
    /** Who waits for a job. */
    ofJob: Map<string, Set<() => void>>;
    isLooking: boolean;
}

const waitsOf = perApp((): Waits => ({ ofAccount: new Map(), ofJob: new Map(), isLooking: false }));

/**
 * Waits until the job ends or this process is told to stop, for at most `seconds`; not at all where the account has as many waiting reads
 * here as it may.
 * @param gone the caller hung up
 */
export async function waitForEnd(
    app: App,
    { jobId, accountId, seconds, gone }: { jobId: string; accountId: string; seconds: number; gone: AbortSignal },
): Promise<void> {
    const { ofAccount, ofJob } = waitsOf(app);
    const waiting = ofAccount.get(accountId) ?? 0;
    if (waiting >= WAITING_READS) return;
    ofAccount.set(accountId, waiting + 1);
    const ends = ofJob.get(jobId) ?? new Set();
    ofJob.set(jobId, ends);
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
        end = resolve;
        ends.add(end);
    });
    const timer = new AbortController();
    const late = sleep(seconds * 1000, undefined, { signal: AbortSignal.any([timer.signal, gone]) }).catch(() => undefined);
    void look(app);
    await Promise.race([ended, late]);
    timer.abort();
    ends.delete(end);
    if (ends.size === 0) ofJob.delete(jobId);
    const left = (ofAccount.get(accountId) ?? 1) - 1;
    if (left === 0) ofAccount.delete(accountId);
    else ofAccount.set(accountId, left);
}

/** One query for all waiting reads, until there are none. A look that fails is repeated. */
async function look(app: App): Promise<void> {
    const waits = waitsOf(app);
    if (waits.isLooking) return;
    waits.isLooking = true;
    while (waits.ofJob.size > 0) {
        const ended = await endedOf(app.db, [...waits.ofJob.keys()]).catch(() => new Set<string>());
        const over = app.isDraining() ? [...waits.ofJob.keys()] : ended;
        for (const jobId of over) for (const end of waits.ofJob.get(jobId) ?? []) end();
        await sleep(LOOK_MS);
    }
    waits.isLooking = false;
}
