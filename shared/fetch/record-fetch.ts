import type { App } from '../app.ts';
import type { FetchOutcome } from '../domain/fetch/call.ts';
import type { RefusalCode } from '../refusals.ts';
import type { Found } from './find-endpoint.ts';
import type { FetchOrder } from './order.ts';

/** The request log and the metrics of a fetch that reached the queue; the log is written within a second, off the hot path. */
export function recordFetch(
    { metrics, usage }: App,
    order: FetchOrder,
    done: { found: Found; code: 'success' | RefusalCode; credits: number; outcome: FetchOutcome; durationMs: number },
): void {
    const { found, code, credits, outcome, durationMs } = done;
    const site = metrics.siteLabel(found.site);
    const queueMs = outcome.startedAt === undefined ? undefined : Math.max(0, outcome.startedAt - order.times.admittedAt);
    metrics.fetches.inc({ site, outcome: code });
    metrics.fetchSeconds.observe(durationMs / 1000);
    if (queueMs !== undefined) metrics.fetchQueueSeconds.observe(queueMs / 1000);
    if (credits > 0) metrics.creditsCharged.inc({ site }, credits);
    usage.record({
        ...whoAndWhat(order, found),
        outcome: code,
        credits,
        durationMs,
        queueMs,
        ...(outcome.ok ? { results: outcome.results, upstream: outcome.upstream } : {}),
    });
}

/** The same of a fetch that was answered from what the account had paid for before. */
export function recordKept({ metrics, usage }: App, order: FetchOrder, found: Found, results: number): void {
    const durationMs = performance.now() - order.times.began;
    metrics.fetches.inc({ site: metrics.siteLabel(found.site), outcome: 'success' });
    metrics.fetchSeconds.observe(durationMs / 1000);
    usage.record({ ...whoAndWhat(order, found), outcome: 'success', credits: 0, results, cached: true, durationMs });
}

function whoAndWhat({ caller, operation, sessionId }: FetchOrder, found: Found) {
    return {
        kind: 'fetch' as const,
        operation,
        accountId: caller.accountId,
        workspaceId: caller.workspaceId,
        userId: caller.userId,
        keyId: caller.keyId,
        sessionId,
        site: found.site,
        registrable: found.registrable,
        endpoint: found.endpoint.name,
        version: found.version,
    };
}
