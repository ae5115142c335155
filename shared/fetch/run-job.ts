import type { App } from '../app.ts';
import { type GuardState, turnOfConnection } from '../coordination/circuits/circuits.ts';
import type { FetchJob, FetchOutcome } from '../domain/fetch/call.ts';
import { type CircuitVerdict, hostVerdicts } from '../domain/fetch/circuit-verdict.ts';
import { hostsOfEndpoint } from '../domain/package/hosts.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { Span } from '../platform/tracing.ts';
import { Refusal } from '../refusals.ts';
import { type Admitted, admitFresh, type Found } from './admit.ts';
import { chargeTime, PROBE_GRACE_MS } from './deadlines.ts';
import type { FetchOrder } from './order.ts';

/** Call it when the fetch has ended, with its outcome if it was sent. Only the first call counts. */
export type Passage = (outcome?: FetchOutcome) => void;

/**
 * Lets a fetch pass unless the endpoint is quarantined or the circuit of one of its hosts is open. After an open circuit, one fetch of all
 * processes passes as the probe.
 * @returns with the call as it is admitted now, since a newer version ends a quarantine, and how long the next request has to wait
 * @throws Refusal SITE_UNAVAILABLE with the time left
 */
export async function passCircuit(
    app: App,
    order: FetchOrder,
    asked: Admitted,
): Promise<{ admitted: Admitted; backlogMs: number; passage: Passage }> {
    let admitted = asked;
    let guardState = await look(app, asked);
    if (guardState.quarantineMs > 0) {
        admitted = await newerVersion(app, order, asked, guardState.quarantineMs);
        guardState = await look(app, admitted);
        if (guardState.quarantineMs > 0) throw unavailable(guardState.quarantineMs, QUARANTINED);
    }
    if (guardState.openMs > 0) throw unavailable(guardState.openMs);
    const probes = await takeProbes(app, order, guardState.halfOpen);
    let isOver = false;
    const passage: Passage = (outcome) => {
        if (isOver) return;
        isOver = true;
        endPassage(app, order, probes, outcome);
    };
    return { admitted, backlogMs: guardState.backlogMs, passage };
}

function look({ circuits }: App, { found: { versionId, endpoint }, connection }: Admitted): Promise<GuardState> {
    const hosts = hostsOfEndpoint(endpoint);
    const own = connection === undefined ? [] : hosts.map((host) => turnOfConnection(connection.connectionId, host));
    return circuits.look([...hosts, ...own], { versionId, endpoint: endpoint.name });
}

/** @returns the hosts for which this call is the probe */
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

/** A probe reports its own host, wherever the call ended. Other calls report the host where they ended. */
function endPassage({ circuits }: App, { operation, times }: FetchOrder, probes: readonly string[], outcome?: FetchOutcome): void {
    const { arrivedAt: admittedAt, deadlineAt } = times;
    const verdicts = outcome === undefined ? new Map<string, CircuitVerdict>() : hostVerdicts(outcome, { admittedAt, deadlineAt });
    for (const host of probes) circuits.ended(host, verdicts.get(host) ?? 'none', operation);
    const last = outcome?.hosts?.at(-1);
    if (last !== undefined && !probes.includes(last)) circuits.ended(last, verdicts.get(last) ?? 'none');
}

/** A quarantine belongs to one version: a newer one is free of it. */
async function newerVersion(app: App, order: FetchOrder, asked: Admitted, quarantineMs: number): Promise<Admitted> {
    const current = await admitFresh(app, order);
    if (!current.ok) throw current.refusal;
    if (current.found.versionId === asked.found.versionId) throw unavailable(quarantineMs, QUARANTINED);
    return current;
}

function unavailable(waitMs: number, message?: string): Refusal {
    return new Refusal('SITE_UNAVAILABLE', message, { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
}

const QUARANTINED = 'This endpoint is paused, since calls of it ended two workers; a new version of the schema lifts that.';

/** The job for the workers. @param ordered.units units that are held */
export function jobOf(
    app: App,
    { body, operation, requestId, times: { deadlineAt, admittedAt } }: FetchOrder,
    { found, values, price, connection, cursor }: Admitted,
    { units, backlogMs, queued }: { units: number; backlogMs: number; queued?: FetchJob['queued'] },
): FetchJob {
    const wanted = { endpoint: found.endpoint, maxResults: body.max_results, maxPages: body.max_pages };
    const limits = pricing.limitsFor(wanted, price, units);
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
        ...limits,
        ...(pricing.isCut(limits, wanted) ? { isCutByCredits: true as const } : {}),
        ...(cursor === undefined ? {} : { from: cursor.next }),
        ...(body.partial === true ? { partial: true as const } : {}),
        ...paceOf(found, backlogMs),
        ...(queued === undefined ? {} : { queued }),
        ...(found.policy === null || found.policy.blocked_paths.length === 0 ? {} : { blockedPaths: found.policy.blocked_paths }),
        ...(connection === undefined ? {} : { connection: connection.connectionId, connectionRevision: connection.revision }),
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

/** A call waits for turns only where the domain has a pace, or after one of its hosts asked us to slow down. */
export function paceOf({ siteRate, paces }: Found, backlogMs: number): Pick<FetchJob, 'pace'> {
    const pace = paceOfDomain({ siteRate, paces });
    return backlogMs === 0 && Object.keys(pace).length === 0 ? {} : { pace };
}

/** The paces of a domain as jobs carry them; nothing where it has none. */
export function paceOfDomain({ siteRate, paces }: Pick<Found, 'siteRate' | 'paces'>): NonNullable<FetchJob['pace']> {
    return { ...(siteRate === null ? {} : { rate: siteRate }), ...(Object.keys(paces).length === 0 ? {} : { hosts: paces }) };
}
