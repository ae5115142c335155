import type { App } from '../../shared/app.ts';
import { circuitVerdict } from '../../shared/domain/circuit-verdict.ts';
import type { FetchOutcome } from '../../shared/domain/fetch.ts';
import type { SiteStanding } from '../../shared/limits.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Found } from './find-endpoint.ts';

/** A probe may report until so long after its deadline. */
const PROBE_GRACE_MS = 1000;

/** To be called when the fetch ended, with its outcome where it was sent; only the first call counts. */
export type Passage = (outcome?: FetchOutcome) => void;

/**
 * Lets a fetch through to its site, unless the endpoint is quarantined or the site's circuit is open; after an open one, a single
 * fetch of all processes as the probe.
 * @param standing as the step that counted the call found it
 * @throws Refusal SITE_UNAVAILABLE with the time left
 */
export async function passCircuit(
    app: App,
    { registrable }: Pick<Found, 'registrable'>,
    standing: SiteStanding,
    call: { operation: string; admittedAt: number; deadlineAt: number },
): Promise<Passage> {
    const { circuits } = app;
    const unavailable = (waitMs: number, message?: string) =>
        new Refusal('SITE_UNAVAILABLE', message, { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) });
    if (standing.quarantineMs > 0) throw unavailable(standing.quarantineMs, QUARANTINED);
    const { circuitMs } = standing;
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
