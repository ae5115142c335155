import type { App } from '../app.ts';
import type { SiteGuardState } from '../coordination/limits/limits.ts';
import type { FetchOutcome } from '../domain/fetch/call.ts';
import { circuitVerdict } from '../domain/fetch/circuit-verdict.ts';
import { Refusal } from '../refusals.ts';
import { type Admitted, admitFresh } from './admit.ts';
import { PROBE_GRACE_MS } from './deadlines.ts';
import type { FetchOrder } from './order.ts';

/** Call it when the fetch has ended, with its outcome if it was sent. Only the first call counts. */
export type Passage = (outcome?: FetchOutcome) => void;

/**
 * Lets a fetch pass unless the endpoint is quarantined or the site's circuit is open. After an open circuit, one fetch of all processes
 * passes as the probe.
 * @param guardState the state that the counting step returned
 * @returns with the call as it is admitted now, since a newer version ends a quarantine
 * @throws Refusal SITE_UNAVAILABLE with the time left
 */
export async function passCircuit(
    app: App,
    order: FetchOrder,
    asked: Admitted,
    guardState: SiteGuardState,
): Promise<{ admitted: Admitted; passage: Passage }> {
    const admitted = guardState.quarantineMs > 0 ? await newerVersion(app, order, asked, guardState.quarantineMs) : asked;
    const { circuits } = app;
    const { registrable } = admitted.found;
    const { arrivedAt: admittedAt, deadlineAt } = order.times;
    const { circuitMs } = guardState;
    if (circuitMs !== undefined && circuitMs > 0) throw unavailable(circuitMs);

    let probe: string | undefined;
    if (circuitMs !== undefined) {
        const admission = await circuits.takeProbe(registrable, order.operation, deadlineAt - Date.now() + PROBE_GRACE_MS);
        if (!admission.ok) throw unavailable(admission.waitMs);
        if (admission.isProbe) probe = order.operation;
    }
    let isOver = false;
    const passage: Passage = (outcome) => {
        if (isOver) return;
        isOver = true;
        circuits.ended(registrable, outcome === undefined ? 'none' : circuitVerdict(outcome, { admittedAt, deadlineAt }), probe);
    };
    return { admitted, passage };
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
