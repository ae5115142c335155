import type { App } from '../app.ts';
import type { SiteGuardState } from '../coordination/limits/limits.ts';
import type { FetchJob, FetchOutcome } from '../domain/fetch/call.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Span } from '../platform/tracing.ts';
import type { Admitted } from './admit.ts';
import { chargeTime } from './deadlines.ts';
import type { Found } from './find-endpoint.ts';
import type { FetchOrder } from './order.ts';

/** The job for the workers. @param ordered.units units that are held */
export function jobOf(
    app: App,
    { body, operation, requestId, times: { deadlineAt, admittedAt } }: FetchOrder,
    { found, values, price }: Admitted,
    { units, guardState }: { units: number; guardState: SiteGuardState },
): FetchJob {
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
export async function runJob(app: App, job: FetchJob, caller: Waiting): Promise<FetchOutcome> {
    const outcome = await queueJob(app, job, caller);
    const mayRunAgain = !outcome.ok && outcome.lost === 'worker' && job.effect === 'read' && Date.now() < job.deadlineAt;
    return mayRunAgain ? queueJob(app, { ...job, run: 2 }, caller) : outcome;
}

/** Who waits for the outcome: its part of the trace, and whether it is still there. */
interface Waiting {
    span: Span;
    gone: AbortSignal;
}

function queueJob(app: App, job: FetchJob, { span, gone }: Waiting): Promise<FetchOutcome> {
    const queue = async (part: Span) => {
        const outcome = await app.queue.run(job, { signal: gone, trace: part.context });
        if (!outcome.ok) part.fail(outcome.code);
        return outcome;
    };
    return span.during('queue', queue, 'producer');
}

/** A job waits for turns only where the domain has a pace, or after the site asked us to slow down. */
function paceOf({ siteRate, paces }: Found, { backlogMs }: SiteGuardState): Pick<FetchJob, 'pace'> {
    const pace = paceOfDomain({ siteRate, paces });
    return backlogMs === 0 && Object.keys(pace).length === 0 ? {} : { pace };
}

/** The paces of a domain as jobs carry them; nothing where it has none. */
export function paceOfDomain({ siteRate, paces }: Pick<Found, 'siteRate' | 'paces'>): NonNullable<FetchJob['pace']> {
    return { ...(siteRate === null ? {} : { rate: siteRate }), ...(Object.keys(paces).length === 0 ? {} : { hosts: paces }) };
}
