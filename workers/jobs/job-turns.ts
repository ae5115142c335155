import type { App } from '../../shared/app.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import { type ClaimedJob, claimJobs, renewLeases } from '../../shared/store/jobs/claims.ts';
import { sweepDrafts } from '../../shared/store/jobs/drafts.ts';
import { type AttemptEnd, endCancelling, expireJobs, type HoldEnd, type LostJob, reapJobs } from '../../shared/store/jobs/ends.ts';
import { sweepJobs } from '../../shared/store/jobs/retention.ts';
import { sealError } from '../../shared/store/jobs/sealed.ts';
import { type Repeated, repeat } from '../repeat.ts';
import { createJobWindow, watchLoopDelay } from './job-window.ts';
import { type JobTools, runQueuedJob } from './run-queued-job.ts';
import { openAttempts, openSlice, type Slice } from './slice.ts';

/** How often to claim jobs and renew leases, in milliseconds. */
const LOOK_MS = 200;
const BEAT_MS = 1000;
/** The most jobs of one claim. */
const MAX = 50;

/** A worker's slots. */
export interface Slots {
    all: number;
    /** The number of running live calls. */
    live(): number;
    /** When the last live call began, on the clock of `performance.now`. */
    lastLiveAt(): number;
}

/**
 * Claims due jobs and runs them in slots that live calls leave free, and fewer of them while they would slow live calls down. Live calls
 * have their own slots and never wait for a job. Each second it renews leases, takes jobs back from dead workers and expires jobs.
 */
export function startJobs(given: Omit<JobTools, 'attempts'>, slots: Slots): Repeated {
    const { app } = given;
    const tools: JobTools = { ...given, attempts: openAttempts(app) };
    const { db, log, config } = app;
    const running = new Map<string, { job: ClaimedJob; stop: AbortController; done: Promise<void> }>();
    const accounts = createBackoffs();
    const sites = createBackoffs();
    const status = watchConnection(log, 'jobs');
    let isStopped = false;

    const loop = watchLoopDelay();
    const window = createJobWindow(Math.max(1, Math.floor(slots.all * config.workerJobShare)), loop.delay);
    const mayRun = () => Math.min(window.size(), slots.all - slots.live());
    const free = () => Math.min(MAX, mayRun() - running.size);
    // When jobs end, new ones are claimed once half of the slots are free: larger claims took 30 % less CPU per item. The regular claims
    // fill the rest.
    const isWorthClaiming = () => free() >= Math.min(MAX, Math.ceil(mayRun() / 2));
    const begin = (job: ClaimedJob, slice: Slice) => {
        const stop = new AbortController();
        const done = runQueuedJob(tools, slice, job, stop.signal)
            .then((waiting) => {
                if (waiting?.waitingFor == null) {
                    accounts.ended(job.accountId);
                    sites.ended(job.site);
                    return;
                }
                const backoff = {
                    ms: waiting.isForSlot ? BEAT_MS : Math.min(waiting.afterMs, BEAT_MS),
                    isForSlot: waiting.isForSlot ?? false,
                };
                if (waiting.waitingFor === 'site') sites.begin(job.site, backoff);
                else accounts.begin(job.accountId, backoff);
            })
            .catch((error: unknown) =>
                log.warn({ part: 'jobs', job_id: job.jobId, err: error }, 'a job could not be settled; it will be taken back'),
            )
            .finally(() => {
                running.delete(job.operation);
                if (!isStopped && isWorthClaiming()) void looking.now();
            });
        running.set(job.operation, { job, stop, done });
    };
    const look = async () => {
        try {
            for (let asked = free(); asked > 0 && !isStopped; asked = free()) {
                const operations = Array.from({ length: asked }, () => newId('op'));
                const claimed = await claimJobs(db, operations, { accounts: accounts.free(), sites: sites.free() });
                const slices = new Map<string, Slice>();
                for (const job of claimed) {
                    accounts.taken(job.accountId);
                    sites.taken(job.site);
                    const slice = slices.get(job.batchId ?? job.jobId) ?? openSlice(app, job);
                    slices.set(job.batchId ?? job.jobId, slice);
                    begin(job, slice);
                }
                if (claimed.length < asked) break;
            }
            status.up();
        } catch (error) {
            status.down(error);
        }
    };
    const looking = oneAtATime(look);
    const looks = repeat(LOOK_MS, () => {
        window.adapt(performance.now() - slots.lastLiveAt());
        return looking.now();
    });
    // Leases have a timer of their own, since the other work may take longer than a lease.
    const renewals = repeat(BEAT_MS, async () => {
        const mine = [...running.values()];
        if (mine.length === 0) return;
        try {
            const kept = await renewLeases(
                db,
                mine.map(({ job }) => job),
            );
            for (const { job, stop } of mine) if (!kept.has(job.operation)) stop.abort();
        } catch (error) {
            status.down(error);
        }
    });
    const care = repeat(BEAT_MS, async () => {
        try {
            const begun = await reapJobs(db, (job, hold) => afterDeath(app, job, hold));
            if (begun > 0) log.warn({ part: 'jobs', jobs: begun }, 'a worker died while running jobs');
            await expireJobs(db);
            await endCancelling(db);
            await sweepJobs(db, config.resultsKeepDays);
            await sweepDrafts(db);
        } catch (error) {
            status.down(error);
        }
    });
    return {
        async stop() {
            isStopped = true;
            await looks.stop();
            loop.stop();
            await looking.idle();
            await Promise.all([...running.values()].map(({ done }) => done));
            await Promise.all([renewals.stop(), care.stop()]);
        },
    };
}

/**
 * A write marked as sent may have reached its site, so its job ends. Other jobs get another attempt; the second death of a worker ends
 * them.
 */
async function afterDeath({ secrets }: App, { effect, deaths }: LostJob, { marked }: HoldEnd): Promise<AttemptEnd> {
    if (effect === 'write' && marked) return { status: 'failed', code: 'OUTCOME_UNKNOWN', error: await sealError(secrets, {}) };
    const message = 'The worker that ran this job died.';
    const failure = { code: 'DEADLINE_EXCEEDED', error: await sealError(secrets, { message }) };
    if (deaths > 0) return { status: 'failed', ...failure };
    return { status: 'queued', ...failure, afterMs: 0, isDeath: true };
}

/**
 * Accounts or sites that were at a limit a moment ago. Until the backoff is over, each job of theirs that ends lets one other job start, if
 * they lacked a slot.
 */
function createBackoffs() {
    const backoffs = new Map<string, { until: number; free: number; isForSlot: boolean }>();
    return {
        begin(id: string, { ms, isForSlot }: { ms: number; isForSlot: boolean }) {
            backoffs.set(id, { until: performance.now() + ms, free: 0, isForSlot });
        },
        ended(id: string) {
            const backoff = backoffs.get(id);
            if (backoff?.isForSlot) backoff.free += 1;
        },
        taken(id: string) {
            const backoff = backoffs.get(id);
            if (backoff !== undefined) backoff.free = Math.max(0, backoff.free - 1);
        },
        /** The number of jobs that may be claimed, by account or site. */
        free(): Map<string, number> {
            const now = performance.now();
            for (const [id, { until }] of backoffs) if (until <= now) backoffs.delete(id);
            return new Map([...backoffs].map(([id, { free }]) => [id, free]));
        },
    };
}

/** Runs `work` serially. Requests during a run share the next run. */
function oneAtATime(work: () => Promise<void>): { now(): Promise<void>; idle(): Promise<void> } {
    let running: Promise<void> | undefined;
    let isWanted = false;
    const run = async () => {
        do {
            isWanted = false;
            await work();
        } while (isWanted);
    };
    return {
        now() {
            if (running !== undefined) isWanted = true;
            running ??= run().finally(() => {
                running = undefined;
            });
            return running;
        },
        idle: async () => running,
    };
}
