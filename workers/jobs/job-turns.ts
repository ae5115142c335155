import type { App } from '../../shared/app.ts';
import { newTimedId } from '../../shared/domain/text/ids.ts';
import { watchConnection } from '../../shared/platform/connection-log.ts';
import { createSerialRuns } from '../../shared/platform/serial-runs.ts';
import { claimJobs, JOB_IS_QUEUED } from '../../shared/store/jobs/claims.ts';
import { DRAFTS_ARE_OLD, sweepDrafts } from '../../shared/store/jobs/drafts.ts';
import * as ends from '../../shared/store/jobs/ends.ts';
import { jobsAreOld, sweepJobs } from '../../shared/store/jobs/retention.ts';
import { sealError } from '../../shared/store/jobs/sealed.ts';
import type { AttemptEnd, HoldEnd } from '../../shared/store/jobs/write-ends.ts';
import { type DuePoller, openDuePoller, type Repeated, repeat, together } from '../repeat.ts';
import { createJobWindow, watchLoopDelay } from './job-window.ts';
import type { JobTools } from './run-queued-job.ts';
import { BEAT_MS, createRunningJobs } from './running-jobs.ts';
import { MAX_SLICE, openAttempts } from './slice.ts';

/** How often the window adapts. */
const ADAPT_MS = 200;

interface Slots {
    all: number;
    live(): number;
    /** When the last live call began, on the clock of `performance.now`. */
    lastLiveAt(): number;
}

/**
 * Claims due jobs and runs them in slots that live calls leave free, and fewer of them while they would slow live calls down. Live calls
 * have their own slots and never wait for a job. Each second it renews leases, takes jobs back from dead workers and expires jobs.
 */
export function startJobs(tools: Omit<JobTools, 'attempts'>, poller: DuePoller, slots: Slots): Repeated {
    const { app } = tools;
    const status = watchConnection(app.log, 'jobs');
    const loop = watchLoopDelay();
    const window = createJobWindow(Math.max(1, Math.floor(slots.all * app.config.workerJobShare)), loop.delay);
    const running = createRunningJobs({ ...tools, attempts: openAttempts(app) }, claimIfWorthIt);
    const claims = createSerialRuns(logged(claim), isWorthIt);
    let isStopped = false;

    const mayRun = () => Math.min(window.size(), slots.all - slots.live());
    const free = () => Math.min(MAX_SLICE, mayRun() - running.count());

    async function claim(): Promise<void> {
        let asked = free();
        while (asked > 0 && !isStopped) {
            const operations = Array.from({ length: asked }, () => newTimedId('op', Date.now()));
            const claimed = await claimJobs(app.db, operations, running.mayClaim());
            running.start(claimed);
            asked = claimed.length === asked && isWorthIt() ? free() : 0;
        }
        status.up();
    }

    function claimIfWorthIt(): void {
        if (!isStopped && isWorthIt()) void claims.now();
    }

    /**
     * When jobs end, new ones are claimed once half of the slots are free: a claim of one job, with its start, takes as many statements as
     * one of a hundred. The regular claims fill the rest.
     */
    function isWorthIt(): boolean {
        return free() >= Math.min(MAX_SLICE, Math.ceil(mayRun() / 2));
    }

    function logged(work: () => Promise<void>): () => Promise<void> {
        return () => work().catch(status.down);
    }

    const adapting = repeat(ADAPT_MS, async () => window.adapt(performance.now() - slots.lastLiveAt()));
    const claiming = poller.add({ part: 'jobs', due: JOB_IS_QUEUED, work: claims.now });
    // Leases have a timer of their own, since the other work may take longer than a lease.
    const renewals = repeat(BEAT_MS, logged(running.renewLeases));
    const care = careForJobs(app);
    return {
        async stop() {
            isStopped = true;
            await claiming.stop();
            await adapting.stop();
            loop.stop();
            await claims.idle();
            await running.ended();
            await Promise.all([renewals.stop(), care.stop()]);
        },
    };
}

/** Takes jobs back from dead workers, expires jobs, and deletes expired data. */
function careForJobs(app: App): Repeated {
    const { db, log, config } = app;
    const poller = openDuePoller(app, BEAT_MS);
    const kinds = together([
        poller.add({ part: 'lost jobs', due: ends.JOB_IS_LOST, work: takeBack }),
        poller.add({ part: 'late jobs', due: ends.JOB_EXPIRES, work: () => ends.expireJobs(db) }),
        poller.add({ part: 'cancelled batches', due: ends.BATCH_IS_CANCELLING, work: () => ends.endCancelling(db) }),
        poller.add({ part: 'old jobs', due: jobsAreOld(config.resultsKeepDays), work: () => sweepJobs(db, config.resultsKeepDays) }),
        poller.add({ part: 'old drafts', due: DRAFTS_ARE_OLD, work: () => sweepDrafts(db) }),
    ]);

    async function takeBack(): Promise<void> {
        const begun = await ends.reapJobs(db, (job, hold) => afterDeath(app, job, hold));
        if (begun > 0) log.warn({ part: 'jobs', jobs: begun }, 'a worker died while running jobs');
    }

    return {
        async stop() {
            await kinds.stop();
            await poller.stop();
        },
    };
}

/** A write marked as sent may have reached its site, so its job ends. Other jobs get another attempt; a second death ends them. */
async function afterDeath({ secrets }: App, { effect, deaths }: ends.LostJob, { marked }: HoldEnd): Promise<AttemptEnd> {
    if (effect === 'write' && marked) return { status: 'failed', code: 'OUTCOME_UNKNOWN', error: await sealError(secrets, {}) };
    const message = 'The worker that ran this job died.';
    const failure = { code: 'DEADLINE_EXCEEDED', error: await sealError(secrets, { message }) };
    if (deaths > 0) return { status: 'failed', ...failure };
    return { status: 'queued', ...failure, afterMs: 0, isDeath: true };
}
