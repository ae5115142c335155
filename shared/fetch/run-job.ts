import type { App } from '../app.ts';
import type { FetchJob, FetchOutcome } from '../domain/fetch/fetch-job.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Span } from '../platform/tracing.ts';
import type { Admitted } from './admit.ts';
import { chargeTime } from './deadlines.ts';
import type { Found } from './find-endpoint.ts';
import type { FetchOrder } from './order.ts';

/** Creates the job for the workers. @param ordered.units number of held units */
export function fetchJobOf(
    app: App,
    { body, caller, operation, requestId, times: { deadlineAt, admittedAt } }: FetchOrder,
    { found, values, price, connection, cursor }: Admitted,
    { units, backlogMs, queued }: { units: number; backlogMs: number; queued?: FetchJob['queued'] },
): FetchJob {
    const wanted = { endpoint: found.endpoint, maxResults: body.max_results, maxPages: body.max_pages };
    const limits = pricing.limitsFor(wanted, price, units);
    return {
        operation,
        requestId,
        account: caller.accountId,
        site: found.site,
        versionId: found.versionId,
        endpoint: found.endpoint.name,
        effect: found.endpoint.effect,
        values: JSON.stringify(values),
        deadlineAt: deadlineAt - chargeTime(app, deadlineAt),
        admittedAt,
        ...limits,
        isCutByCredits: pricing.isCut(limits, wanted) || undefined,
        from: cursor?.next,
        partial: body.partial || undefined,
        pace: paceOf(found, backlogMs),
        queued,
        blockedPaths: found.policy?.blocked_paths,
        connection: connection?.connectionId,
        connectionRevision: connection?.revision,
        run: 1,
    };
}

/** Waits for the outcome. A read whose worker died runs once more if the deadline allows it. A write never runs again. */
export async function runJob(app: App, job: FetchJob, caller: WaitingCaller): Promise<FetchOutcome> {
    const outcome = await queueJob(app, job, caller);
    const mayRunAgain = !outcome.ok && outcome.lost === 'worker' && job.effect === 'read' && Date.now() < job.deadlineAt;
    return mayRunAgain ? queueJob(app, { ...job, run: 2 }, caller) : outcome;
}

/** Who waits for the outcome: the span, a signal that aborts when the caller disconnects, and the priority (`Queue.run`). */
interface WaitingCaller {
    span: Span;
    gone: AbortSignal;
    priority?: number;
}

function queueJob(app: App, job: FetchJob, { span, gone, priority }: WaitingCaller): Promise<FetchOutcome> {
    const queue = async (part: Span) => {
        const outcome = await app.queue.run(job, { signal: gone, trace: part.context, priority });
        if (!outcome.ok) part.fail(outcome.code);
        return outcome;
    };
    return span.during('queue', queue, 'producer');
}

/** The rate limits of a job. Undefined if its domain and hosts have none and no request waits: then the worker does not ask the store. */
export function paceOf(found: Found, backlogMs: number): FetchJob['pace'] {
    const pace = paceOfDomain(found);
    return backlogMs === 0 && pace.rate === undefined && pace.hosts === undefined ? undefined : pace;
}

/** The rate limits of a domain in the format of jobs. */
export function paceOfDomain({ siteRate, paces }: Pick<Found, 'siteRate' | 'paces'>): NonNullable<FetchJob['pace']> {
    return { rate: siteRate ?? undefined, hosts: Object.keys(paces).length === 0 ? undefined : paces };
}
