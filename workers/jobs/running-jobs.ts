import { getOrMake } from '../../shared/domain/get-or-make.ts';
import { type ClaimedJob, renewLeases } from '../../shared/store/jobs/claims.ts';
import type { Waiting } from './not-yet.ts';
import { type JobTools, runQueuedJob } from './run-queued-job.ts';
import { openSlice, type Slice } from './slice.ts';

/** How often leases are renewed. A job that waits for a slot waits no longer than this. */
export const BEAT_MS = 1000;

interface RunningJob {
    job: ClaimedJob;
    stop: AbortController;
    done: Promise<void>;
}

/** Creates the list of the jobs that a worker runs. @param onEnd called after each job */
export function createRunningJobs(tools: JobTools, onEnd: () => void) {
    const { db, log } = tools.app;
    const running = new Map<string, RunningJob>();
    const accounts = createBackoffs();
    const sites = createBackoffs();

    function run(job: ClaimedJob, slice: Slice): void {
        const stop = new AbortController();
        const done = runQueuedJob(tools, slice, job, stop.signal)
            .then((waiting) => backOff(job, waiting))
            .catch((error: unknown) =>
                log.warn({ part: 'jobs', job_id: job.jobId, err: error }, 'a job could not be settled; it will be taken back'),
            )
            .finally(() => {
                running.delete(job.operation);
                onEnd();
            });
        running.set(job.operation, { job, stop, done });
    }

    function backOff({ accountId, site }: ClaimedJob, waiting: Waiting | undefined): void {
        if (waiting?.waitingFor == null) {
            accounts.jobEnded(accountId);
            sites.jobEnded(site);
            return;
        }
        const { waitingFor, afterMs, isForSlot = false } = waiting;
        const backoff = { ms: isForSlot ? BEAT_MS : Math.min(afterMs, BEAT_MS), isForSlot };
        if (waitingFor === 'site') sites.begin(site, backoff);
        else accounts.begin(accountId, backoff);
    }

    return {
        count: () => running.size,
        /** How many jobs of accounts and of sites at a limit may be claimed. */
        mayClaim: () => ({ accounts: accounts.allowed(), sites: sites.allowed() }),
        start(claimed: readonly ClaimedJob[]): void {
            const slices = new Map<string, Slice>();
            for (const job of claimed) {
                accounts.jobStarted(job.accountId);
                sites.jobStarted(job.site);
                const slice = getOrMake(slices, job.batchId ?? job.jobId, () => openSlice(tools.app, job));
                run(job, slice);
            }
        },
        /** Renews the leases, and stops the jobs that were taken back. */
        async renewLeases(): Promise<void> {
            const mine = [...running.values()];
            if (mine.length === 0) return;
            const kept = await renewLeases(
                db,
                mine.map(({ job }) => job),
            );
            for (const { job, stop } of mine) if (!kept.has(job.operation)) stop.abort();
        },
        /** Resolves when the jobs that run now have ended. */
        ended: () => Promise.all([...running.values()].map(({ done }) => done)),
    };
}

/** Accounts or sites that were at a limit. Until their backoff is over, each job that ends lets another start, if they lacked a slot. */
function createBackoffs() {
    const backoffs = new Map<string, { until: number; allowed: number; isForSlot: boolean }>();
    return {
        begin(id: string, { ms, isForSlot }: { ms: number; isForSlot: boolean }) {
            backoffs.set(id, { until: performance.now() + ms, allowed: 0, isForSlot });
        },
        jobEnded(id: string) {
            const backoff = backoffs.get(id);
            if (backoff?.isForSlot) backoff.allowed += 1;
        },
        jobStarted(id: string) {
            const backoff = backoffs.get(id);
            if (backoff !== undefined) backoff.allowed = Math.max(0, backoff.allowed - 1);
        },
        /** The number of jobs that may be claimed, by account or site. */
        allowed(): Map<string, number> {
            const now = performance.now();
            for (const [id, { until }] of backoffs) if (until <= now) backoffs.delete(id);
            return new Map([...backoffs].map(([id, { allowed }]) => [id, allowed]));
        },
    };
}
