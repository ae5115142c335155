import type { FoundEndpoint } from '../../shared/contracts/endpoints.ts';
import { fieldsWith } from '../../shared/domain/find/endpoint-words.ts';
import type { EndpointRow } from '../../shared/store/registry/list-endpoints.ts';

/** The searched task, and how well an endpoint fits it. */
interface Fit {
    /** The significant words of the task. */
    words: readonly string[];
    score: number;
}

/** An endpoint as GET /v1/endpoints returns it. @param fit undefined without a task */
export function presentFound(row: EndpointRow, fit: Fit | undefined): FoundEndpoint {
    const { site, name: endpoint, entry, effect } = row;
    const { title, description, required, optional, fields, hosted, unit, maxResults, example } = entry;
    return {
        site,
        title,
        endpoint,
        kind: row.kind,
        effect,
        description,
        required,
        optional,
        returns: { fields },
        credits: row.siteCredits,
        billing_unit: unit,
        max_results: unit === 'result' ? maxResults : null,
        verified: row.verifiedAt !== null,
        verified_at: row.verifiedAt?.toISOString() ?? null,
        claim: row.claim,
        health: { success_rate_7d: row.successRate, p95_ms: row.p95Ms },
        needs_connection: entry.needsConnection ?? false,
        hosted,
        score: fit === undefined ? null : Math.round(fit.score * 1000) / 1000,
        matched: fit === undefined ? [] : fieldsWith(fit.words, row.search),
        fetch:
            hosted && example !== null
                ? { site, endpoint, params: example, ...(effect === 'write' ? { dry_run: true as const } : {}) }
                : null,
    };
}
