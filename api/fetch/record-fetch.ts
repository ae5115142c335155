import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/call.ts';
import type { RefusalCode } from '../../shared/refusals.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';

/** The request log and the metrics of a fetch that reached the queue; the log is written within a second, off the hot path. */
export function recordFetch(
    call: FetchCall,
    done: { job: FetchJob; found: Found; code: 'success' | RefusalCode; credits: number; outcome: FetchOutcome; durationMs: number },
): void {
    const { job, found, code, credits, outcome, durationMs } = done;
    const { metrics, usage } = call.app;
    call.setLogged();
    const site = metrics.siteLabel(found.site);
    const queueMs = outcome.startedAt === undefined ? undefined : Math.max(0, outcome.startedAt - job.admittedAt);
    metrics.fetches.inc({ site, outcome: code });
    metrics.fetchSeconds.observe(durationMs / 1000);
    if (queueMs !== undefined) metrics.fetchQueueSeconds.observe(queueMs / 1000);
    if (credits > 0) metrics.creditsCharged.inc({ site }, credits);
    usage.record({
        ...whoAndWhat(call, found),
        outcome: code,
        credits,
        durationMs,
        queueMs,
        ...(outcome.ok ? { results: outcome.results, upstream: outcome.upstream } : {}),
    });
}

/** The same of a fetch that was answered from what the account had paid for before. */
export function recordKept(call: FetchCall, { found, results, durationMs }: { found: Found; results: number; durationMs: number }): void {
    const { metrics, usage } = call.app;
    metrics.fetches.inc({ site: metrics.siteLabel(found.site), outcome: 'success' });
    metrics.fetchSeconds.observe(durationMs / 1000);
    usage.record({ ...whoAndWhat(call, found), outcome: 'success', credits: 0, results, cached: true, durationMs });
}

function whoAndWhat({ caller, header, operation }: FetchCall, found: Found) {
    return {
        kind: 'fetch' as const,
        operation,
        accountId: caller?.accountId,
        workspaceId: caller?.workspaceId,
        userId: caller?.userId,
        keyId: caller?.keyId,
        sessionId: header('x-service-session')?.slice(0, 64),
        site: found.site,
        registrable: found.registrable,
        endpoint: found.endpoint.name,
        version: found.version,
    };
}
