import type { App } from '../../shared/app.ts';
import type { SiteGuardState } from '../../shared/coordination/limits/limits.ts';
import type { FetchOutcome } from '../../shared/domain/fetch/call.ts';
import { circuitVerdict } from '../../shared/domain/fetch/circuit-verdict.ts';
import { Refusal } from '../../shared/refusals.ts';
import { PROBE_GRACE_MS } from './deadlines.ts';
import type { Found } from './find-endpoint.ts';

/** Call it when the fetch has ended, with its outcome if it was sent. Only the first call counts. */
export type Passage = (outcome?: FetchOutcome) => void;

/**
 * Admits a fetch unless the endpoint is quarantined or the site's circuit is open. After an open circuit, one fetch of all processes is
 * admitted as the probe.
 * @param guardState the state that the counting step returned
 * @throws Refusal SITE_UNAVAILABLE with the time left
 */
export async function passCircuit(
    app: App,
    { registrable }: Pick<Found, 'registrable'>,
    guardState: SiteGuardState,
    call: { operation: string; admittedAt: number; deadlineAt: number },
): Promise<Passage> {
    const { circuits } = app;
    const unavailable = (waitMs: number, message?: string) =>
        new Refusal('SITE_UNAVAILABLE', message, { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
    if (guardState.quarantineMs > 0) throw unavailable(guardState.quarantineMs, QUARANTINED);
    const { circuitMs } = guardState;
    if (circuitMs !== undefined && circuitMs > 0) throw unavailable(circuitMs);

    let probe: string | undefined;
    if (circuitMs !== undefined) {
        const admission = await circuits.takeProbe(registrable, call.operation, call.deadlineAt - Date.now() + PROBE_GRACE_MS);
        if (!admission.ok) throw unavailable(admission.waitMs);
        if (admission.isProbe) probe = call.operation;
    }
    let isOver = false;
    return (outcome) => {
        if (isOver) return;
        isOver = true;
        circuits.ended(registrable, outcome === undefined ? 'none' : circuitVerdict(outcome, call), probe);
    };
}

const QUARANTINED = 'This endpoint is paused, since calls of it ended two workers; a new version of the schema lifts that.';
