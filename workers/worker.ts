import { setTimeout as pause } from 'node:timers/promises';
import type { App } from '../shared/app.ts';
import type { Consumer } from '../shared/coordination/queue/queue.ts';
import type { FetchJob, FetchOutcome } from '../shared/domain/fetch/fetch-job.ts';
import { registrableDomain } from '../shared/domain/site/site-name.ts';
import { newId } from '../shared/domain/text/ids.ts';
import type { Endpoint } from '../shared/domain/types.ts';
import { connect } from '../shared/health/connect.ts';
import { isOutage } from '../shared/platform/pg-errors.ts';
import type { Span } from '../shared/platform/tracing.ts';
import { userAgent } from '../shared/platform/user-agent.ts';
import { startReadingDocuments } from './apps/read-documents.ts';
import { startClaimChecks } from './claims/check-claims.ts';
import { startConsents } from './credentials/consents.ts';
import { type CallCredential, createCallCredential, type Opened } from './credentials/credential.ts';
import { createGrants, type Grants } from './credentials/grants.ts';
import { createGuardedFetch } from './credentials/guarded-fetch.ts';
import { createConnector, type EgressConnector, egressRules } from './egress.ts';
import { startEmbedding } from './index/embed-endpoints.ts';
import { startIndexing } from './index/index-endpoints.ts';
import { startJobs } from './jobs/job-turns.ts';
import { startMonitors } from './monitors/watch-monitors.ts';
import { createPaces } from './pace.ts';
import { recordDeath } from './record-death.ts';
import { every, openDueLooks } from './repeat.ts';
import { runFetchJob } from './run-fetch-job.ts';
import { createReader } from './select/reader.ts';
import { startSpreadingEvents } from './spread-events.ts';
import { createMemoryBudget } from './upstream/memory-budget.ts';
import { createUpstream, type RequestFigures } from './upstream.ts';
import { startDeliveries } from './webhooks/deliver.ts';

/** Interval of heartbeats. A worker counts as gone after five missed ones. */
const BEAT_MS = 1000;
const FIRST_BEAT_TRIES = 20;
const FIRST_BEAT_PAUSE_MS = 50;
const NOTICE_MS = 60_000;

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
    /** How often to look for due work. Only tests change it. */
    lookMs?: number;
}

/** Opens a worker, which takes fetch jobs. @param options only for tests: an unguarded connector shows that tests of the guard can fail */
export async function openWorker(app: App, { isWarm = true, lookMs, connector: given }: WorkerOptions = {}): Promise<OpenWorker> {
    const { config } = app;
    const rules = egressRules(config);
    // One for all: its lookups of names share the threads of this process.
    const connector = given ?? createConnector(rules);
    const reader = createReader();
    const upstream = createUpstream({ rules, connector, onRequest: (figures) => recordRequest(app, figures) });
    const tokenFetch = createGuardedFetch(rules, () => userAgent(app.publicUrl()), connector);
    const grants = createGrants(app, tokenFetch);
    const looks = openDueLooks(app, lookMs);
    const tools = {
        loadEndpoint: (versionId: number, name: string) => loadEndpoint(app, versionId, name),
        markSent: (operation: string) => app.credits.markSent(operation),
        paceFor: createPaces(app.turns, app.log),
        memoryBudget: createMemoryBudget({ onFull: createFullNotice(app.log) }),
        upstream,
        reader,
        credentialOf: (job: FetchJob, endpoint: Endpoint) => credentialOf(app, grants, job, endpoint),
        userAgent: () => userAgent(app.publicUrl()),
    };
    // Connections are opened before the first job, so that it does not wait for them.
    await Promise.all([connect(partsOfJobs(app)), isWarm && reader.start()]);
    let lastLiveAt = Number.NEGATIVE_INFINITY;
    const consumer = app.queue.consume(
        (job, signal, trace, afterwards) => {
            lastLiveAt = performance.now();
            return runWatched(app, job, trace, (span) => runFetchJob(tools, job, signal, { span, afterwards }));
        },
        { concurrency: config.workerConcurrency, onDeath: (job) => recordDeath(app, job) },
    );
    const heartbeat = await startHeartbeat(app, consumer);
    const background = [
        startClaimChecks(app, looks, connector),
        startReadingDocuments(app, looks, connector),
        startConsents(app, looks, tokenFetch),
        startMonitors(app, looks, reader),
        startIndexing(app, looks),
        startEmbedding(app),
        startSpreadingEvents(app, looks),
        startDeliveries(app, looks, connector),
    ];
    const jobs = startJobs(
        {
            app,
            send: (job, signal) => runWatched(app, job, undefined, (span) => runFetchJob(tools, job, signal, { span })),
            fleetSlots: createFleetSlots(app),
            paceFor: tools.paceFor,
        },
        looks,
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
            await looks.stop();
            await consumer.close();
            await reader.close();
            upstream.close();
        },
    };
}

/** Reports the slots of the worker every second. They count from the first report on, which has several tries. */
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

/** Opens the connections and prepared queries that every job uses. The first ping waits for the connection, so it is a rough comparison of clocks. */
function partsOfJobs({ db, credits, secrets, queue }: App): (() => PromiseLike<unknown>)[] {
    return [
        () => db.raw('select 1'),
        () => credits.stateOf('op_nobody'),
        () => secrets.hmac('', 'start'),
        () => queue.ping().then(queue.ping),
    ];
}

/** Loads the endpoint of a job, and the domain that its requests stay on; undefined if the version is gone. */
async function loadEndpoint(
    { versions }: App,
    versionId: number,
    name: string,
): Promise<{ endpoint: Endpoint; registrable: string } | undefined> {
    const version = await versions.load(versionId);
    const endpoint = version?.endpoints.get(name);
    const registrable = version === undefined ? undefined : registrableDomain(version.site);
    return endpoint === undefined || registrable === undefined ? undefined : { endpoint, registrable };
}

/** The credential of a job. Its value is decrypted only when a request is about to use it. */
async function credentialOf(
    { versions, vault, config }: App,
    grants: Grants,
    { connection, connectionRevision = 1, versionId }: FetchJob,
    endpoint: Endpoint,
): Promise<CallCredential | undefined> {
    const offer = connection === undefined ? undefined : await versions.load(versionId);
    if (connection === undefined || offer === undefined) return undefined;
    const open = async (): Promise<Opened | undefined> => {
        const found = await vault.open(connection, connectionRevision);
        if (found === undefined) return undefined;
        const { connection: kept, secret } = found;
        if (!('grant' in secret)) return { connection: kept, secret };
        const { accessToken = '', refreshToken, clientSecret } = await grants.fresh(kept, secret.grant);
        const also = [refreshToken, clientSecret].filter((text) => text !== undefined);
        return { connection: kept, secret: { value: accessToken }, also };
    };
    return createCallCredential({ open, offer, endpoint, rules: { hosts: config.egressHosts } });
}

/** The slots of all live workers, read at most once a second. */
function createFleetSlots({ fleet, config }: App): () => Promise<number> {
    let known = { slots: Promise.resolve(config.workerConcurrency), at: Number.NEGATIVE_INFINITY };
    return () => {
        if (performance.now() - known.at > BEAT_MS) {
            const slots = fleet.slots().catch(() => config.workerConcurrency);
            known = { slots, at: performance.now() };
        }
        return known.slots;
    };
}

/** Logs that large answers are waiting, at most once a minute. */
function createFullNotice(log: App['log']): () => void {
    const isNoticeDue = every(NOTICE_MS);
    return () => {
        if (isNoticeDue()) log.warn({ part: 'worker' }, 'large answers wait: the memory budget of this worker is full');
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

/**
 * Runs a job with one log line and one span. A bug is logged with its stack, and the caller gets INTERNAL; where the database does not
 * answer, SERVICE_UNAVAILABLE.
 * @param trace trace context of the caller, if the API traces
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
    const fields = { operation, request_id: requestId, site, endpoint, trace_id: span.traceId };
    try {
        const outcome = await run(span);
        if (!outcome.ok) span.fail(outcome.code);
        const duration_ms = Math.round(performance.now() - began);
        app.log.info({ ...fields, outcome: outcome.ok ? 'success' : outcome.code, duration_ms }, 'job done');
        return outcome;
    } catch (error) {
        const isOut = isOutage(error);
        if (isOut) app.log.warn({ ...fields, err: error }, 'a job failed, since the database does not answer');
        else app.log.error({ ...fields, err: error }, 'a job failed with an unexpected error');
        const code = isOut ? 'SERVICE_UNAVAILABLE' : 'INTERNAL';
        span.fail(code);
        return { ok: false, code };
    } finally {
        span.end();
    }
}
