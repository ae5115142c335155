import type { Health } from '../../shared/contracts/vocabulary.ts';
import type { TrafficHealth } from '../../shared/store/usage/traffic.ts';

/** The health of an endpoint or site, computed from its traffic. All fields are null without traffic. */
export function presentHealth(traffic: TrafficHealth | undefined): Health {
    return {
        success_rate_7d: traffic?.successRate ?? null,
        p95_ms: traffic?.p95Ms ?? null,
        last_success_at: traffic?.lastSuccessAt?.toISOString() ?? null,
    };
}
