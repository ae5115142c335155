import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Config } from './config.ts';
import { SERVER_FAULTS } from './pg-errors.ts';

/** All metrics of docs/operations.md, "Monitoring", by the part that emits them. Only this file defines names, help texts and labels. */
export type Metrics = ReturnType<typeof createMetrics>;

// prom-client exposes these three as gauges whose names end in _total. `promtool check metrics` refuses such names.
const MISNAMED_DEFAULTS = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** Buckets of route durations. There are a hundred routes, so each bucket adds a hundred series. */
const ROUTE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

/**
 * Creates a registry with all metrics of the process, except the gauges of shared state and the durations of fetches. An API process
 * registers those (api/health/shared-gauges.ts), because a worker would report 0 for a value that it does not measure.
 */
export function createMetrics(config: Pick<Config, 'metricsMaxSites'>) {
    const registry = new Registry();
    const registers = [registry];
    const siteLabel = siteLabels(config.metricsMaxSites);
    collectDefaultMetrics({ register: registry });
    for (const name of MISNAMED_DEFAULTS) registry.removeSingleMetric(name);

    const counter = <L extends string>(name: string, help: string, labelNames: L[]) => new Counter({ name, help, labelNames, registers });
    const gauge = <L extends string>(name: string, help: string, labelNames: L[]) => new Gauge({ name, help, labelNames, registers });
    const shared = <L extends string>(name: string, help: string, labelNames: L[]) => new Gauge({ name, help, labelNames, registers: [] });
    const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets = SECONDS) =>
        new Histogram({ name, help, labelNames, buckets, registers });
    const ofApi = (name: string, help: string) => new Histogram({ name, help, buckets: SECONDS, registers: [] });

    const metrics = {
        registry,
        siteLabel,
        httpRequests: counter('routebook_http_requests_total', 'Answers of the API by route and status.', ['method', 'route', 'status']),
        httpSeconds: histogram(
            'routebook_http_request_duration_seconds',
            'Time from request to answer of the API.',
            ['method', 'route'],
            ROUTE_SECONDS,
        ),
        connectionsRefused: counter(
            'routebook_connections_refused_total',
            'Connections closed unanswered: open or rate (bounds of a client address), idle (to make room), full.',
            ['reason'],
        ),
        fetches: counter('routebook_fetches_total', 'Hosted fetches by site and outcome: success or the code.', ['site', 'outcome']),
        fetchSeconds: ofApi('routebook_fetch_duration_seconds', 'Time from admission to answer of a hosted fetch.'),
        fetchQueueSeconds: ofApi('routebook_fetch_queue_seconds', 'Time that a hosted fetch waited for a worker.'),
        creditsCharged: counter('routebook_credits_charged_total', 'Credits charged, by site.', ['site']),
        creditsHeld: shared('routebook_credits_held', 'Credits held for fetches in flight, over all accounts.', []),
        rateLimited: counter('routebook_rate_limited_total', 'Refusals by limits, by plan and window.', ['plan', 'window']),
        queueJobs: shared('routebook_queue_jobs', 'Jobs in the queue by state.', ['state']),
        queueOldestWait: shared('routebook_queue_oldest_wait_seconds', 'How long the oldest waiting job has waited.', []),
        openJobs: shared(
            'routebook_open_jobs',
            'Jobs of callers, items of batches too: running, or waiting for what: worker, later (another attempt), paused, credits, limits, site, storage.',
            ['state'],
        ),
        openJobsOldest: shared('routebook_open_jobs_oldest_seconds', 'How long the oldest job of each state has waited.', ['state']),
        monitors: shared('routebook_monitors', 'Monitors by status: active, failing, paused.', ['status']),
        monitorsOldestDue: shared('routebook_monitors_oldest_due_seconds', 'How long the run that is due first has been due.', []),
        clockAhead: gauge(
            'routebook_clock_ahead_seconds',
            'How far the clock of this machine is ahead of that of the store of the queue.',
            [],
        ),
        databaseFaults: counter(
            'routebook_database_faults_total',
            'Statements that PostgreSQL refused for a reason of its own, by SQLSTATE.',
            ['code'],
        ),
        workerSlots: gauge('routebook_worker_slots', 'Slots of this worker by state.', ['state']),
        upstreamRequests: counter('routebook_upstream_requests_total', 'Requests sent to sites by result.', ['site', 'result']),
        upstreamSeconds: counter('routebook_upstream_seconds_total', 'Seconds spent on requests to sites.', ['site']),
        upstreamBytes: counter('routebook_upstream_bytes_total', 'Body bytes to and from sites.', ['site', 'direction']),
        siteCost: counter('routebook_site_cost_usd_total', 'What the calls of a site cost the operator, at the prices set.', ['site']),
        circuitOpen: shared('routebook_site_circuit_open', '1 while the circuit of one of its hosts is not closed.', ['site']),
        webhookAttempts: counter('routebook_webhook_attempts_total', 'Requests that sent an event to a webhook, by result.', ['result']),
        webhookDeliveries: shared('routebook_webhook_deliveries', 'Deliveries that wait: due now, or for another attempt.', ['state']),
        webhookOldestDue: shared('routebook_webhook_oldest_due_seconds', 'How long the oldest delivery that is due has been due.', []),
        verificationRuns: counter('routebook_verification_runs_total', 'Verification runs that ended, by outcome.', ['outcome']),
        schemasDrifted: shared('routebook_schemas_drifted', 'Sites whose schema is no longer verified, since it no longer fits them.', []),
        ledgerDrift: shared('routebook_ledger_drift_accounts', 'Accounts whose ledger does not sum to their balance.', []),
    };
    // Alerts see the first fault only if the series was there before.
    for (const code of SERVER_FAULTS) metrics.databaseFaults.inc({ code }, 0);
    return metrics;
}

/** Limits the values of the `site` label. The first `max` registered sites keep their names. All other sites share the value `other`. */
function siteLabels(max: number): (site: string | undefined) => string {
    const known = new Set<string>();
    return (site) => {
        if (site === undefined) return 'other';
        if (known.has(site)) return site;
        if (known.size >= max) return 'other';
        known.add(site);
        return site;
    };
}
