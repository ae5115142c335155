import type { SiteGuardState } from '../../shared/coordination/limits/limits.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch/call.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import type { Span } from '../../shared/platform/tracing.ts';
import type { Admitted } from './admit.ts';
import { chargeTime, type Times } from './deadlines.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';

/** The job for the workers. @param ordered.units units that are held */
export function jobOf(
    { app, body, operation, requestId }: FetchCall,
    { found, values, price }: Admitted,
    { units, guardState, times }: { units: number; guardState: SiteGuardState; times: Times },
): FetchJob {
    const { deadlineAt, admittedAt } = times;
    return {
        operation,
        requestId,
        site: found.site,
        versionId: found.versionId,
        endpoint: found.endpoint.name,
        effect: found.endpoint.effect,
        values: JSON.stringify(values),
        deadlineAt: deadlineAt - chargeTime(app, deadlineAt),
        admittedAt,
        ...pricing.limitsFor({ endpoint: found.endpoint, maxResults: body.max_results }, price, units),
        ...paceOf(found, guardState),
        ...(found.policy === null || found.policy.blocked_paths.length === 0 ? {} : { blockedPaths: found.policy.blocked_paths }),
        run: 1,
    };
}

/** Waits for the outcome. A read whose worker died runs once more while there is time; a write never does. */
export async function runJob(call: FetchCall, job: FetchJob): Promise<FetchOutcome> {
    const outcome = await queueJob(call, job);
    const mayRunAgain = !outcome.ok && outcome.lost === 'worker' && job.effect === 'read' && Date.now() < job.deadlineAt;
    return mayRunAgain ? queueJob(call, { ...job, run: 2 }) : outcome;
}

function queueJob({ app, span, gone }: FetchCall, job: FetchJob): Promise<FetchOutcome> {
    const queue = async (part: Span) => {
        const outcome = await app.queue.run(job, { signal: gone, trace: part.context });
        if (!outcome.ok) part.fail(outcome.code);
        return outcome;
    };
    return span.during('queue', queue, 'producer');
}

/** A job waits for turns only where an operator set a pace, or after the site asked us to slow down. */
function paceOf({ siteRate: rate }: Found, { backlogMs }: SiteGuardState): Pick<FetchJob, 'pace'> {
    if (rate === null && backlogMs === 0) return {};
    return { pace: rate === null ? {} : { rate } };
}
