import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../shared/app.ts';
import type { FetchJob, FetchOutcome } from '../shared/domain/fetch.ts';
import { newId } from '../shared/domain/ids.ts';
import type { Span } from '../shared/tracing.ts';
import { userAgent } from '../shared/user-agent.ts';
import { startClaimChecks } from './claims/check-claims.ts';
import type { EgressConnector } from './egress.ts';
import { loadEndpoint } from './load-endpoint.ts';
import { openPaces } from './pace.ts';
import { recordDeath } from './record-death.ts';
import { runFetchJob } from './run-fetch-job.ts';
import { createReader } from './select/reader.ts';
import { openRoom } from './upstream/room.ts';
import { createUpstream } from './upstream.ts';

/** How often a worker says that it lives; it counts as gone after five silent beats. */
const BEAT_MS = 1000;
const FIRST_BEAT_TRIES = 20;
const FIRST_BEAT_PAUSE_MS = 50;
const NOTICE_MS = 60_000;

export interface OpenWorker {
    /** Takes no more jobs and resolves when those in flight have ended. */
    drain(): Promise<void>;
    /** Drains, then closes everything that the worker opened. */
    close(): Promise<void>;
}

/**
 * Starts taking fetch jobs.
 * @param connector only tests pass another than the guarded one, to show that the guard's tests can fail.
 */
export async function openWorker(app: App, { connector }: { connector?: EgressConnector } = {}): Promise<OpenWorker> {
    const { config, metrics, log } = app;
    const id = newId('op').replace('op_', 'worker_');
    const reader = createReader();
    const upstream = createUpstream({
        rules: { allow: config.egressAllow, hosts: config.egressHosts, proxyUrl: config.egressProxyUrl },
        ...(connector === undefined ? {} : { connector }),
        onRequest: ({ site, result, seconds, bytesIn, bytesOut }) => {
            const label = metrics.siteLabel(site);
            metrics.upstreamRequests.inc({ site: label, result });
            metrics.upstreamSeconds.inc({ site: label }, seconds);
            metrics.upstreamBytes.inc({ site: label, direction: 'in' }, bytesIn);
            metrics.upstreamBytes.inc({ site: label, direction: 'out' }, bytesOut);
            const { perRequest, perSecond, perGb } = config.cost;
            metrics.siteCost.inc({ site: label }, perRequest + perSecond * seconds + (perGb * (bytesIn + bytesOut)) / 1e9);
        },
    });
    const tools = {
        loadEndpoint: (versionId: number, name: string) => loadEndpoint(app, versionId, name),
        markSent: (operation: string) => app.credits.markSent(operation),
        openPace: openPaces(app.turns, log),
        room: openRoom({ onFull: openNotice(log) }),
        upstream,
        reader,
        userAgent: () => userAgent(app.publicUrl()),
    };
    const consumer = app.queue.consume(
        (job, signal, trace) => runWatched(app, job, trace, (span) => runFetchJob(tools, job, signal, span)),
        { concurrency: config.workerConcurrency, onDeath: (job) => recordDeath(app, job) },
    );
    const report = () =>
        app.fleet.report({ id, slots: config.workerConcurrency, busy: consumer.inFlight(), progressAt: consumer.lastProgressAt() });
    await untilReported(report);
    const claimChecks = startClaimChecks(app, connector);
    const timer = setInterval(() => {
        metrics.workerSlots.set({ state: 'busy' }, consumer.inFlight());
        metrics.workerSlots.set({ state: 'free' }, config.workerConcurrency - consumer.inFlight());
        report().catch((error: unknown) => log.warn({ part: 'fleet', err: error }, 'the heartbeat was not recorded'));
    }, BEAT_MS);
    log.info({ worker: id, slots: config.workerConcurrency }, 'the worker takes jobs');

    const drain = async () => {
        clearInterval(timer);
        await consumer.drain();
    };
    return {
        drain,
        async close() {
            await drain();
            await claimChecks.stop();
            await consumer.close();
            await reader.close();
            upstream.close();
        },
    };
}

/** Says that large answers wait, once a minute at most. */
function openNotice(log: App['log']): () => void {
    let saidAt = Number.NEGATIVE_INFINITY;
    return () => {
        if (performance.now() - saidAt < NOTICE_MS) return;
        saidAt = performance.now();
        log.warn({ part: 'worker' }, 'large answers wait for others to end: this worker holds as many as it may');
    };
}

/** Its slots count from the first report on, so that it is tried again at once while the connection is being opened. */
async function untilReported(report: () => Promise<void>): Promise<void> {
    for (let tries = 0; tries < FIRST_BEAT_TRIES; tries++) {
        try {
            return await report();
        } catch {
            await pause(FIRST_BEAT_PAUSE_MS);
        }
    }
}

/**
 * One line and one span a job; a bug is logged with its stack here, and the caller is told INTERNAL.
 * @param trace of the caller, where the API traces
 */
async function runWatched(
    app: App,
    job: FetchJob,
    trace: string | undefined,
    run: (span: Span) => Promise<FetchOutcome>,
): Promise<FetchOutcome> {
    const began = performance.now();
    const { operation, requestId, site, endpoint } = job;
    const span = app.tracing.begin('job', {
        kind: 'consumer',
        parent: trace,
        traits: {
            'routebook.operation': operation,
            'routebook.request_id': requestId,
            'routebook.site': site,
            'routebook.endpoint': endpoint,
            'routebook.run': job.run,
        },
    });
    const fields = {
        operation,
        request_id: requestId,
        site,
        endpoint,
        ...(span.traceId === undefined ? {} : { trace_id: span.traceId }),
    };
    try {
        const outcome = await run(span);
        if (!outcome.ok) span.fail(outcome.code);
        const duration_ms = Math.round(performance.now() - began);
        app.log.info({ ...fields, outcome: outcome.ok ? 'success' : outcome.code, duration_ms }, 'job done');
        return outcome;
    } catch (error) {
        app.log.error({ ...fields, err: error }, 'a bug: unexpected error in a job');
        span.fail('INTERNAL');
        return { ok: false, code: 'INTERNAL' };
    } finally {
        span.end();
    }
}
