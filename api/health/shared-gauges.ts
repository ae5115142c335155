import type { Gauge } from 'prom-client';
import type { App } from '../../shared/app.ts';
import { registrableDomain } from '../../shared/domain/site/site-name.ts';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { countWaiting } from '../../shared/store/events/delivery-queue.ts';
import { countOpenJobs } from '../../shared/store/jobs/open-jobs.ts';
import { countByStatus } from '../../shared/store/monitors/monitors.ts';
import * as verification from '../../shared/store/registry/verification.ts';

/** The stores are queried at most this often, however often metrics are scraped. */
const FRESH_MS = 1000;
/** Summing the whole ledger is expensive; goal R17 asks for once a minute. */
const DRIFT_MS = 60_000;
/** Counting a million open jobs takes a second. */
const JOBS_MS = 15_000;

/**
 * Registers the gauges of shared state (queue, held credits, circuits, drifted schemas, ledger drift) and updates them at each scrape. Only
 * APIs report them, and each API reports the same values. If a store is down, the gauge keeps its last value and the scrape succeeds. The
 * durations of fetches are also reported only by APIs.
 */
export function gatherSharedState(app: App): void {
    const { metrics, queue, circuits, db, log } = app;
    const refresh = (gauge: Gauge<string>, everyMs: number, read: () => Promise<void>) => {
        let readAt = Number.NEGATIVE_INFINITY;
        metrics.registry.registerMetric(gauge);
        Object.assign(gauge, {
            collect: async () => {
                if (performance.now() - readAt < everyMs) return;
                readAt = performance.now();
                await read().catch((error: unknown) => log.warn({ part: 'metrics', err: error }, 'a gauge could not be read'));
            },
        });
    };
    metrics.registry.registerMetric(metrics.fetchSeconds);
    metrics.registry.registerMetric(metrics.fetchQueueSeconds);
    refresh(metrics.queueJobs, FRESH_MS, async () => {
        for (const [state, jobs] of Object.entries(await queue.counts())) metrics.queueJobs.set({ state }, jobs);
    });
    refresh(metrics.queueOldestWait, FRESH_MS, async () => metrics.queueOldestWait.set(await queue.oldestWaitSeconds()));
    refresh(metrics.openJobs, JOBS_MS, async () => {
        for (const { state, jobs, oldestSeconds } of await countOpenJobs(db)) {
            metrics.openJobs.set({ state }, jobs);
            metrics.openJobsOldest.set({ state }, oldestSeconds);
        }
    });
    metrics.registry.registerMetric(metrics.openJobsOldest);
    refresh(metrics.monitors, JOBS_MS, async () => {
        const { counts, oldestDueSeconds } = await countByStatus(db);
        for (const [status, monitors] of Object.entries(counts)) metrics.monitors.set({ status }, monitors);
        metrics.monitorsOldestDue.set(oldestDueSeconds);
    });
    metrics.registry.registerMetric(metrics.monitorsOldestDue);
    refresh(metrics.creditsHeld, FRESH_MS, async () => metrics.creditsHeld.set(await ledger.totalHeld(db)));
    const tripped = new Set<string>();
    refresh(metrics.circuitOpen, FRESH_MS, async () => {
        // The label is a registrable domain. It is open if the circuit of one of its hosts is open.
        const open = new Set((await circuits.open()).map((host) => metrics.siteLabel(registrableDomain(host) ?? host)));
        for (const site of open) tripped.add(site);
        // A closed circuit reports 0, so that its series has no gap.
        for (const site of tripped) metrics.circuitOpen.set({ site }, open.has(site) ? 1 : 0);
    });
    refresh(metrics.webhookDeliveries, FRESH_MS, async () => {
        const { due, later, oldestDueSeconds } = await countWaiting(db);
        metrics.webhookDeliveries.set({ state: 'due' }, due);
        metrics.webhookDeliveries.set({ state: 'later' }, later);
        metrics.webhookOldestDue.set(oldestDueSeconds);
    });
    metrics.registry.registerMetric(metrics.webhookOldestDue);
    refresh(metrics.schemasDrifted, FRESH_MS, async () => metrics.schemasDrifted.set(await verification.countDrifted(db)));
    // No result is reported before the first sum of the ledger.
    metrics.ledgerDrift.set(Number.NaN);
    refresh(metrics.ledgerDrift, DRIFT_MS, async () => metrics.ledgerDrift.set((await ledger.checkLedger(db)).length));
}
