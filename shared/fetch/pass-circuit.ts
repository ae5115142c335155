import type { App } from '../app.ts';
import { turnOfConnection } from '../coordination/circuits/circuits.ts';
import type { GuardState } from '../coordination/circuits/guard-states.ts';
import { type CircuitVerdict, hostVerdicts } from '../domain/fetch/circuit-verdict.ts';
import type { FetchOutcome } from '../domain/fetch/fetch-job.ts';
import { hostsOfEndpoint } from '../domain/package/hosts.ts';
import { Refusal } from '../refusals.ts';
import { type Admitted, admitFresh } from './admit.ts';
import { PROBE_GRACE_MS } from './deadlines.ts';
import type { FetchOrder } from './order.ts';

/** Call this when the fetch has ended. Pass its outcome if it was sent. Only the first call has an effect. */
export type Passage = (outcome?: FetchOutcome) => void;

/**
 * Lets a fetch pass unless its endpoint is in quarantine or the circuit of one of its hosts is open. When an open circuit may be probed,
 * one fetch of all processes passes as the probe.
 * @returns the call, admitted again if only a newer version is not in quarantine, and the wait of its next request in milliseconds
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

const QUARANTINED = 'This endpoint is paused because calls to it ended two workers. A new version of the schema ends the pause.';
