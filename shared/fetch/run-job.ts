import type { App } from '../app.ts';
import { turnOfConnection } from '../coordination/circuits/circuits.ts';
import type { GuardState } from '../coordination/circuits/guard-states.ts';
import { type CircuitVerdict, hostVerdicts } from '../domain/fetch/circuit-verdict.ts';
import type { FetchJob, FetchOutcome } from '../domain/fetch/fetch-job.ts';
import { hostsOfEndpoint } from '../domain/package/hosts.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Span } from '../platform/tracing.ts';
import { Refusal } from '../refusals.ts';
import { type Admitted, admitFresh, type Found } from './admit.ts';
import { chargeTime, PROBE_GRACE_MS } from './deadlines.ts';
import type { FetchOrder } from './order.ts';

/** Call this when the fetch has ended. Pass its outcome if it was sent. Only the first call has an effect. */
export type Passage = (outcome?: FetchOutcome) => void;

/**
 * Lets a fetch pass unless its endpoint is in quarantine or the circuit of one of its hosts is open. When an open circuit may be probed,
 * one fetch of all processes passes as the probe.
 * @returns the call as it is admitted now, because a newer version ends a quarantine; and the wait of the next request in milliseconds
 * @throws Refusal SITE_UNAVAILABLE with the remaining time
 */
export async function passCircuit(
    app: App,
    order: FetchOrder,
    admittedBefore: Admitted,
): Promise<{ admitted: Admitted; backlogMs: number; passage: Passage }> {
    let admitted = admittedBefore;
    let guardState = await look(app, admittedBefore);
    if (guardState.quarantineMs > 0) {
        admitted = await admitNewerVersion(app, order, admittedBefore, guardState.quarantineMs);
        guardState = await look(app, admitted);
        if (guardState.quarantineMs > 0) throw unavailable(guardState.quarantineMs, QUARANTINED);
    }
    if (guardState.openMs > 0) throw unavailable(guardState.openMs);
    const probes = await takeProbes(app, order, guardState.halfOpen);
    let hasEnded = false;
    const passage: Passage = (outcome) => {
        if (hasEnded) return;
        hasEnded = true;
        endPassage(app, order, probes, outcome);
    };
    return { admitted, backlogMs: guardState.backlogMs, passage };
}

function look({ circuits }: App, { found: { versionId, endpoint }, connection }: Admitted): Promise<GuardState> {
    const hosts = hostsOfEndpoint(endpoint);
    const own = connection === undefined ? [] : hosts.map((host) => turnOfConnection(connection.connectionId, host));
    return circuits.look([...hosts, ...own], { versionId, endpoint: endpoint.name });
}

/** @returns the hosts that this call probes */
async function takeProbes({ circuits }: App, { operation, times }: FetchOrder, halfOpen: readonly string[]): Promise<string[]> {
    const probes: string[] = [];
    for (const host of halfOpen) {
        const admission = await circuits.takeProbe(host, operation, times.deadlineAt - Date.now() + PROBE_GRACE_MS);
        if (!admission.ok) {
            for (const probe of probes) circuits.ended(probe, 'none', operation);
            throw unavailable(admission.waitMs);
        }
        if (admission.isProbe) probes.push(host);
    }
    return probes;
}

/** A probe always reports the host that it probes, even if the call ended at another host. Other calls report the host where they ended. */
function endPassage({ circuits }: App, { operation, times }: FetchOrder, probes: readonly string[], outcome?: FetchOutcome): void {
    const { arrivedAt: admittedAt, deadlineAt } = times;
    const verdicts = outcome === undefined ? new Map<string, CircuitVerdict>() : hostVerdicts(outcome, { admittedAt, deadlineAt });
    for (const host of probes) circuits.ended(host, verdicts.get(host) ?? 'none', operation);
    const last = outcome?.hosts?.at(-1);
    if (last !== undefined && !probes.includes(last)) circuits.ended(last, verdicts.get(last) ?? 'none');
}

/** A quarantine applies to one version only. Admits the call again if a newer version exists. */
async function admitNewerVersion(app: App, order: FetchOrder, admittedBefore: Admitted, quarantineMs: number): Promise<Admitted> {
    const current = await admitFresh(app, order);
    if (!current.ok) throw current.refusal;
    if (current.found.versionId === admittedBefore.found.versionId) throw unavailable(quarantineMs, QUARANTINED);
    return current;
}

function unavailable(waitMs: number, message?: string): Refusal {
    return new Refusal('SITE_UNAVAILABLE', message, { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}

const QUARANTINED = 'This endpoint is paused, since calls of it ended two workers; a new version of the schema lifts that.';

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

/** The rate limits of a job; undefined unless the domain has a rate limit, or one of its hosts asked us to slow down. */
export function paceOf(found: Found, backlogMs: number): FetchJob['pace'] {
    const pace = paceOfDomain(found);
    return backlogMs === 0 && pace.rate === undefined && pace.hosts === undefined ? undefined : pace;
}

/** The rate limits of a domain in the format of jobs. */
export function paceOfDomain({ siteRate, paces }: Pick<Found, 'siteRate' | 'paces'>): NonNullable<FetchJob['pace']> {
    return { rate: siteRate ?? undefined, hosts: Object.keys(paces).length === 0 ? undefined : paces };
}
