import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../shared/app.ts';
import type { Consumer } from '../shared/coordination/queue/queue.ts';
import { newId } from '../shared/domain/text/ids.ts';
import { connect } from '../shared/health/connect.ts';
import { userAgent } from '../shared/platform/user-agent.ts';
import { startReadingDocuments } from './apps/read-documents.ts';
import { startClaimChecks } from './claims/check-claims.ts';
import { startConsents } from './credentials/consents.ts';
import { createGrants } from './credentials/grants.ts';
import { createGuardedFetch } from './credentials/guarded-fetch.ts';
import { createConnector, type EgressConnector, egressRules } from './egress.ts';
import { createFetchTools } from './fetch-tools.ts';
import { startEmbedding } from './index/embed-endpoints.ts';
import { startIndexing } from './index/index-endpoints.ts';
import { startJobs } from './jobs/job-turns.ts';
import { startMonitors } from './monitors/watch-monitors.ts';
import { recordDeath } from './record-death.ts';
import { every, openDuePoller } from './repeat.ts';
import { runFetchJob } from './run-fetch-job.ts';
import { runTraced } from './run-traced.ts';
import { createReader } from './select/reader.ts';
import { startSpreadingEvents } from './spread-events.ts';
import { createUpstream, type RequestFigures } from './upstream.ts';
import { startDeliveries } from './webhooks/deliver.ts';

/** Interval of heartbeats. A worker counts as gone after five missed ones. */
const BEAT_MS = 1000;
const FIRST_BEAT_TRIES = 20;
const FIRST_BEAT_PAUSE_MS = 50;

export interface OpenWorker {
    /** Takes no more jobs, and resolves when the running ones have ended. */
    drain(): Promise<void>;
    /** Drains, then closes all resources of the worker. */
    close(): Promise<void>;
}

interface WorkerOptions {
    connector?: EgressConnector;
    /** Whether the process that reads JSON starts before the first job. */
    isWarm?: boolean;
    /** How often to poll for due work. Only tests change it. */
    pollMs?: number;
}

/** Opens a worker, which takes fetch jobs. @param options only for tests: an unguarded connector proves that the tests of the guard can fail */
export async function openWorker(app: App, { isWarm = true, pollMs, connector: given }: WorkerOptions = {}): Promise<OpenWorker> {
    const { config } = app;
    const rules = egressRules(config);
    // Shared by all, because DNS look-ups share the threads of this process.
    const connector = given ?? createConnector(rules);
    const reader = createReader();
    const upstream = createUpstream({ rules, connector, onRequest: (figures) => recordRequest(app, figures) });
    const tokenFetch = createGuardedFetch(rules, () => userAgent(app.publicUrl()), connector);
    const grants = createGrants(app, tokenFetch);
    const poller = openDuePoller(app, pollMs);
    const tools = createFetchTools(app, { upstream, reader, grants });
    // Connections are opened before the first job, so that it does not wait for them.
    await Promise.all([connect(warmUps(app)), isWarm && reader.start()]);
    let lastLiveAt = Number.NEGATIVE_INFINITY;
    const consumer = app.queue.consume(
        (job, signal, trace, afterwards) => {
            lastLiveAt = performance.now();
            return runTraced(app, job, trace, (span) => runFetchJob(tools, job, signal, { span, afterwards }));
        },
        { concurrency: config.workerConcurrency, onDeath: (job) => recordDeath(app, job) },
    );
    const heartbeat = await startHeartbeat(app, consumer);
    const background = [
        startClaimChecks(app, poller, connector),
        startReadingDocuments(app, poller, connector),
        startConsents(app, poller, tokenFetch),
        startMonitors(app, poller, reader),
        startIndexing(app, poller),
        startEmbedding(app),
        startSpreadingEvents(app, poller),
        startDeliveries(app, poller, connector),
    ];
    const jobs = startJobs(
        {
            app,
            send: (job, signal) => runTraced(app, job, undefined, (span) => runFetchJob(tools, job, signal, { span })),
            fleetSlots: createFleetSlots(app),
            paceFor: tools.paceFor,
        },
        poller,
        { all: config.workerConcurrency, live: () => consumer.inFlight(), lastLiveAt: () => lastLiveAt },
    );

    const drain = async () => {
        heartbeat.stop();
        await Promise.all([consumer.drain(), jobs.stop()]);
    };
    return {
        drain,
        async close() {
            await drain();
            for (const work of background) await work?.stop();
            await grants.settled();
            tokenFetch.close();
            await poller.stop();
            await consumer.close();
            await reader.close();
            upstream.close();
        },
    };
}

/** Reports the worker's slots every second. They count from the first report on, which is retried. */
async function startHeartbeat({ config, fleet, log, metrics }: App, consumer: Consumer): Promise<{ stop(): void }> {
    const id = newId('op').replace('op_', 'worker_');
    const slots = config.workerConcurrency;
    const report = () => fleet.report({ id, slots, busy: consumer.inFlight(), progressAt: consumer.lastProgressAt() });
    await untilReported(report);
    const timer = setInterval(() => {
        metrics.workerSlots.set({ state: 'busy' }, consumer.inFlight());
        metrics.workerSlots.set({ state: 'free' }, slots - consumer.inFlight());
        report().catch((error: unknown) => log.warn({ part: 'fleet', err: error }, 'the heartbeat was not recorded'));
    }, BEAT_MS);
    log.info({ worker: id, slots }, 'the worker takes jobs');
    return { stop: () => clearInterval(timer) };
}

function recordRequest({ metrics, config }: App, { site, result, seconds, bytesIn, bytesOut }: RequestFigures): void {
    const label = metrics.siteLabel(site);
    metrics.upstreamRequests.inc({ site: label, result });
    metrics.upstreamSeconds.inc({ site: label }, seconds);
    metrics.upstreamBytes.inc({ site: label, direction: 'in' }, bytesIn);
    metrics.upstreamBytes.inc({ site: label, direction: 'out' }, bytesOut);
    const { perRequest, perSecond, perGb } = config.cost;
    metrics.siteCost.inc({ site: label }, perRequest + perSecond * seconds + (perGb * (bytesIn + bytesOut)) / 1e9);
}

/** Opens the connections and prepared queries that every job uses. Clocks are compared twice: the first comparison includes the time to connect. */
function warmUps({ db, credits, secrets, queue }: App): (() => PromiseLike<unknown>)[] {
    return [
        () => db.raw('select 1'),
        () => credits.stateOf('op_nobody'),
        () => secrets.hmac('', 'start'),
        () => queue.ping().then(queue.ping),
    ];
}

/** The slots of all live workers, read at most once a second. */
function createFleetSlots({ fleet, config }: App): () => Promise<number> {
    const isDue = every(BEAT_MS);
    let slots = Promise.resolve(config.workerConcurrency);
    return () => {
        if (isDue()) slots = fleet.slots().catch(() => config.workerConcurrency);
        return slots;
    };
}

/** Sends the first report, with retries while the connection opens. */
async function untilReported(report: () => Promise<void>): Promise<void> {
    for (let tries = 0; tries < FIRST_BEAT_TRIES; tries++) {
        try {
            return await report();
        } catch {
            await pause(FIRST_BEAT_PAUSE_MS);
        }
    }
}
