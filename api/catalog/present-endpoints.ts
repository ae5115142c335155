import type { CatalogEndpoint } from '../../shared/contracts/catalog.ts';
import * as pricing from '../../shared/domain/pricing.ts';
import { type Experience, rankEndpoints } from '../../shared/domain/ranking.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import type * as usage from '../../shared/store/usage.ts';
import { presentHealth } from '../present-health.ts';

/** What is known of a site beside its package, and what is sought there. */
export interface Look {
    /** As `soughtWords` found them. */
    words: readonly string[];
    siteCredits: number;
    health: usage.EndpointHealth;
    outcomes: Experience['outcomes'];
    verdicts: Experience['verdicts'];
}

/** All endpoints as the catalog shows them, best matches first. */
export function presentEndpoints(
    inOrder: readonly Endpoint[],
    { words, siteCredits, health, outcomes, verdicts }: Look,
): CatalogEndpoint[] {
    return rankEndpoints(inOrder, words, { outcomes, verdicts, successRates: ratesOf(health) }).map((endpoint) =>
        presentEndpoint(endpoint, siteCredits, health.get(endpoint.name)),
    );
}

function ratesOf(health: usage.EndpointHealth): Experience['successRates'] {
    const rates = new Map<string, number>();
    for (const [name, { successRate }] of health) if (successRate !== null) rates.set(name, successRate);
    return rates;
}

function presentEndpoint(endpoint: Endpoint, siteCredits: number, traffic: usage.TrafficHealth | undefined): CatalogEndpoint {
    return {
        name: endpoint.name,
        method: endpoint.method,
        url: endpoint.url,
        headers: { ...endpoint.headers },
        kind: endpoint.kind,
        description: endpoint.description,
        params: endpoint.params.map(({ name, source, required, description, schema, default: fallback }) => ({
            name,
            source,
            required,
            description,
            ...(schema === undefined ? {} : { schema }),
            ...(fallback === undefined ? {} : { default: fallback }),
        })),
        hosted: endpoint.hosted,
        effect: endpoint.effect,
        credits: siteCredits,
        credits_max: siteCredits * pricing.greatestUnits(endpoint),
        health: presentHealth(traffic),
    };
}
