import type { App } from '../shared/app.ts';
import type { FetchJob, FetchOutcome } from '../shared/domain/fetch/fetch-job.ts';
import { isOutage } from '../shared/platform/pg-errors.ts';
import type { Span } from '../shared/platform/tracing.ts';

/**
 * Runs a job with one log line and one span. A bug is logged with its stack, and the caller gets INTERNAL; if the database does not
 * answer, SERVICE_UNAVAILABLE.
 * @param trace trace context of the caller, if the API traces
 */
export async function runTraced(
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
        if (isOut) app.log.warn({ ...fields, err: error }, 'a job failed because the database does not answer');
        else app.log.error({ ...fields, err: error }, 'a job failed with an unexpected error');
        const code = isOut ? 'SERVICE_UNAVAILABLE' : 'INTERNAL';
        span.fail(code);
        return { ok: false, code };
    } finally {
        span.end();
    }
}
