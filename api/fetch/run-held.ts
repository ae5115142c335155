import type { FetchAnswer } from '../../shared/contracts/fetch.ts';
import type { FetchJob, FetchOutcome } from '../../shared/domain/fetch.ts';
import * as pricing from '../../shared/domain/pricing.ts';
import type { SiteStanding } from '../../shared/limits.ts';
import type { HoldVerdict } from '../../shared/store/credits.ts';
import type { Span } from '../../shared/tracing.ts';
import type { Reply } from '../serve.ts';
import type { Admitted } from './admit.ts';
import type { FetchCall } from './fetch-call.ts';
import type { Found } from './find-endpoint.ts';
import { keepResult } from './kept-results.ts';
import { presentFetch } from './present-fetch.ts';
import { recordFetch } from './record-fetch.ts';
import { charge, chargeTime, releaseInTime } from './settle.ts';
import { refusalOf } from './tell-failure.ts';

/** A call whose greatest possible cost is put aside. */
export interface Held {
    admitted: Admitted;
    hold: HoldVerdict & { ok: true };
    standing: SiteStanding;
    /** By the monotonic clock. */
    began: number;
    /** In ms since the epoch. */
    admittedAt: number;
    deadlineAt: number;
}

/**
 * Sends a held call to the workers, then charges what its answer costs, or gives the hold back.
 * @param arrived told of the outcome before the money moves: what others may have again by then, they need not wait for
 * @throws Refusal of whatever went wrong, all of it free
 */
export async function runHeld(call: FetchCall, held: Held, arrived: (outcome: FetchOutcome) => void): Promise<Reply<FetchAnswer>> {
    const { span } = call;
    const { admitted, hold, began, admittedAt, deadlineAt } = held;
    const { found, values } = admitted;
    const job = toJob(call, held);
    call.setFinal(job.effect === 'write');
    const outcome = await runJob(call, job);
    arrived(outcome);
    const present = (success: FetchOutcome & { ok: true }, charged: number, durationMs = performance.now() - began) =>
        presentFetch({ call, found, outcome: success, charged, admittedAt, durationMs });
    const cost = outcome.ok ? pricing.costOf(found.endpoint, found.siteCredits, outcome, hold.amount) : 0;
    const ending = outcome.ok
        ? await span.during('charge', () => charge(call, job, cost, () => present(outcome, cost)))
        : await span.during('release', () => releaseInTime(call, job, { deadlineAt, available: hold.availableAfter + hold.amount }));
    const durationMs = performance.now() - began;
    if (!outcome.ok || !ending.isBilled) {
        const refusal = refusalOf(call, job, outcome, !ending.isBilled && ending.marked);
        recordFetch(call, { job, found, code: refusal.code, credits: 0, outcome, durationMs });
        throw refusal;
    }
    recordFetch(call, { job, found, code: 'success', credits: ending.charged, outcome, durationMs });
    await keepResult(call, found, values, outcome, ending.charged);
    if (ending.kept !== undefined) return { text: ending.kept, isKept: true };
    const { head, tail } = present(outcome, ending.charged, durationMs);
    return { text: `${head}${ending.available}${tail}`, isKept: false };
}

function toJob({ app, body, operation, requestId }: FetchCall, { admitted, hold, standing, admittedAt, deadlineAt }: Held): FetchJob {
    const { found, values, price } = admitted;
    return {
        operation,
        requestId,
        site: found.site,
        versionId: found.versionId,
        endpoint: found.endpoint.name,
        effect: found.endpoint.effect,
        values: { ...values },
        deadlineAt: deadlineAt - chargeTime(app, deadlineAt),
        admittedAt,
        ...pricing.limitsFor({ endpoint: found.endpoint, maxResults: body.max_results }, price, hold.units),
        ...paceOf(found, standing),
        ...(found.policy === null || found.policy.blocked_paths.length === 0 ? {} : { blockedPaths: found.policy.blocked_paths }),
        run: 1,
    };
}

/** Only who has to wait for turns asks for them: where an operator set a pace, and after the site asked us to slow down. */
function paceOf({ siteRate: rate }: Found, { backlogMs }: SiteStanding): Pick<FetchJob, 'pace'> {
    if (rate === null && backlogMs === 0) return {};
    return { pace: rate === null ? {} : { rate } };
}

/** A read whose worker died runs once more while there is time; a write never does. */
async function runJob(call: FetchCall, job: FetchJob): Promise<FetchOutcome> {
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
