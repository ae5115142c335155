import type { CatalogEndpoint } from '../../shared/contracts/catalog.ts';
import { sendsBody } from '../../shared/domain/package/endpoint.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import { type Experience, rankEndpoints } from '../../shared/domain/search/ranking.ts';
import { refusesEndpoint, type StrictestPolicy } from '../../shared/domain/site/site-policy.ts';
import type { Endpoint } from '../../shared/domain/types.ts';
import type * as usage from '../../shared/store/usage/traffic.ts';
import { presentHealth } from '../answers/present-health.ts';

/** The facts about a site besides its package, and the search there. */
export interface Look {
    /** As `soughtWords` found them. */
    words: readonly string[];
    siteCredits: number;
    /** The policy of the site's owner. */
    policy: StrictestPolicy | null;
    /** Whether a workspace that proved the domain published the version. */
    isOwners: boolean;
    health: usage.EndpointHealth;
    outcomes: Experience['outcomes'];
    verdicts: Experience['verdicts'];
}

/** All endpoints as the catalog shows them, best matches first, and the number of those that the owner's policy hides. */
export function presentEndpoints(
    inOrder: readonly Endpoint[],
    { words, siteCredits, policy, isOwners, health, outcomes, verdicts }: Look,
): { endpoints: CatalogEndpoint[]; refused: number } {
    const offered = policy === null ? inOrder : inOrder.filter((endpoint) => !refusesEndpoint(policy, endpoint, isOwners));
    const ranked = rankEndpoints(offered, words, { outcomes, verdicts, successRates: ratesOf(health) });
    return {
        endpoints: ranked.map((endpoint) => presentEndpoint(endpoint, siteCredits, health.get(endpoint.name))),
        refused: inOrder.length - offered.length,
    };
}

/** How a caller makes the body that the endpoint sends; nothing where it sends none. */
function presentBody(endpoint: Endpoint): Pick<CatalogEndpoint, 'body_format' | 'body' | 'body_required'> {
    const { body, bodyFormat, bodyRequired } = endpoint;
    if (!sendsBody(endpoint)) return {};
    return {
        body_format: bodyFormat,
        ...(body === undefined ? {} : { body }),
        ...(bodyRequired ? {} : { body_required: bodyRequired }),
    };
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
        params: endpoint.params.map(({ name, source, required, description, schema, default: fallback, style, segments }) => ({
            name,
            source,
            required,
            description,
            ...(schema === undefined ? {} : { schema }),
            ...(fallback === undefined ? {} : { default: fallback }),
            ...(style === 'repeat' ? {} : { style }),
            ...(segments ? { segments } : {}),
        })),
        ...presentBody(endpoint),
        hosted: endpoint.hosted,
        effect: endpoint.effect,
        credits: siteCredits,
        credits_max: siteCredits * pricing.greatestUnits(endpoint),
        health: presentHealth(traffic),
    };
}
