import type { App } from '../app.ts';
import type { FetchOutcome } from '../domain/fetch/fetch-job.ts';
import type { RefusalCode } from '../refusals.ts';
import type { Found } from './find-endpoint.ts';
import type { FetchOrder } from './order.ts';

/** Writes the request log and the metrics of a fetch that was sent. The log is written within a second, off the hot path. */
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
        ...usageFields(order, found),
        outcome: code,
        credits,
        durationMs,
        queueMs,
        ...(outcome.ok
            ? {
                  results: outcome.results,
                  upstream: outcome.upstream,
                  failedPage: outcome.failedPage?.code,
                  isCallers: outcome.failedPage?.isCallers === true,
              }
            : { isCallers: outcome.isCallers === true }),
    });
}

/** Like `recordFetch`, for a fetch that was answered from a stored result. */
export function recordStored({ metrics, usage }: App, order: FetchOrder, found: Found, results: number): void {
    const durationMs = performance.now() - order.times.began;
    metrics.fetches.inc({ site: metrics.siteLabel(found.site), outcome: 'success' });
    metrics.fetchSeconds.observe(durationMs / 1000);
    usage.record({ ...usageFields(order, found), outcome: 'success', credits: 0, results, cached: true, durationMs });
}

function usageFields({ caller, operation, requestId, sessionId }: FetchOrder, found: Found) {
    return {
        kind: 'fetch' as const,
        operation,
        requestId,
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
