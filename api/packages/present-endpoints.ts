import type { CatalogEndpoint } from '../../shared/contracts/catalog.ts';
import { getOrMake } from '../../shared/domain/get-or-make.ts';
import { shortenSchema } from '../../shared/domain/json/schema/shorten.ts';
import { needOf } from '../../shared/domain/package/auth.ts';
import { sendsBody, writtenSteps } from '../../shared/domain/package/endpoint.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import { type Experience, rankEndpoints } from '../../shared/domain/search/ranking.ts';
import { refusesEndpoint, type StrictestPolicy } from '../../shared/domain/site/site-policy.ts';
import type { Endpoint, JsonSchema, PackageAuth } from '../../shared/domain/types.ts';
import type * as usage from '../../shared/store/usage/traffic.ts';
import { presentHealth } from '../answers/present-health.ts';

/** The words of a search, and facts about the site that are needed in addition to its endpoints. */
export interface CatalogContext {
    /** The words of the search, from `soughtWords`. */
    words: readonly string[];
    siteCredits: number;
    policy: StrictestPolicy | null;
    /** Whether a workspace that speaks for the site published the version. */
    isPublishedForSite: boolean;
    auth: readonly PackageAuth[];
    health: usage.EndpointHealth;
    outcomes: Experience['outcomes'];
    verdicts: Experience['verdicts'];
}

/** All endpoints as the catalog shows them, best matches first. `hidden` is the number of endpoints that the owner's policy hides. */
export function presentEndpoints(
    inOrder: readonly Endpoint[],
    { words, siteCredits, policy, isPublishedForSite, auth, health, outcomes, verdicts }: CatalogContext,
): { endpoints: CatalogEndpoint[]; hidden: number } {
    const offered = policy === null ? inOrder : inOrder.filter((endpoint) => !refusesEndpoint(policy, endpoint, isPublishedForSite));
    const ranked = rankEndpoints(offered, words, { outcomes, verdicts, successRates: ratesOf(health) });
    return {
        endpoints: ranked.map((endpoint) => presentEndpoint(endpoint, { auth, siteCredits, traffic: health.get(endpoint.name) })),
        hidden: inOrder.length - offered.length,
    };
}

/** Describes the body that the endpoint sends. Empty if it sends none. */
function presentBody(endpoint: Endpoint): Pick<CatalogEndpoint, 'body_format' | 'body' | 'body_required'> {
    const { body, bodyFormat, bodyRequired } = endpoint;
    if (!sendsBody(endpoint)) return {};
    return {
        body_format: bodyFormat,
        ...(body === undefined ? {} : { body }),
        ...(bodyRequired ? {} : { body_required: bodyRequired }),
    };
}

/** Maximum number of bytes of the JSON Schema of an endpoint's result. */
const MAX_RETURNS = 4 * 1024;
const MAX_EXAMPLE = 2 * 1024;

type Returns = Pick<CatalogEndpoint, 'returns' | 'returns_truncated'>;

/** Cached, so that a schema is shortened only once and not for each look-up. */
const shortened = new WeakMap<object, Returns>();

function presentReturns(schema: JsonSchema | undefined): Returns {
    if (schema === undefined) return {};
    if (typeof schema === 'boolean') return { returns: schema };
    return getOrMake(shortened, schema, () => {
        const { schema: returns, isShortened } = shortenSchema(schema, MAX_RETURNS);
        return isShortened ? { returns, returns_truncated: true } : { returns };
    });
}

function presentExamples([first]: Endpoint['examples']): CatalogEndpoint['examples'] {
    return first === undefined || Buffer.byteLength(JSON.stringify(first.params)) > MAX_EXAMPLE ? [] : [{ params: first.params }];
}

function presentBilling({ unit, results, maxResults }: Endpoint['billing']): CatalogEndpoint['billing'] {
    return unit === 'result' ? { unit, results, max_results: maxResults } : { unit };
}

/**
 * Writes the endpoints as JSON. To stay within `max` bytes, leaves out the result schemas and examples of the last endpoints. Never drops
 * what a call needs, so the result can exceed `max`.
 */
export function writeEndpoints(endpoints: readonly CatalogEndpoint[], max: number): string {
    const bare = endpoints.map(({ returns, ...endpoint }) =>
        JSON.stringify({ ...endpoint, examples: [], ...(returns === undefined ? {} : { returns_truncated: true }) }),
    );
    let length = bare.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 1);
    const written = bare.map((text, place) => {
        const whole = JSON.stringify(endpoints[place]);
        const more = Buffer.byteLength(whole) - Buffer.byteLength(text);
        if (length + more > max) {
            // All later endpoints stay bare.
            length = Number.POSITIVE_INFINITY;
            return text;
        }
        length += more;
        return whole;
    });
    return `[${written.join(',')}]`;
}

function ratesOf(health: usage.EndpointHealth): Experience['successRates'] {
    const rates = new Map<string, number>();
    for (const [name, { successRate }] of health) if (successRate !== null) rates.set(name, successRate);
    return rates;
}

function presentEndpoint(
    endpoint: Endpoint,
    { auth, siteCredits, traffic }: Pick<CatalogContext, 'auth' | 'siteCredits'> & { traffic: usage.TrafficHealth | undefined },
): CatalogEndpoint {
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
        ...(endpoint.prepare === undefined ? {} : { prepare: writtenSteps(endpoint.prepare) }),
        hosted: endpoint.hosted,
        effect: endpoint.effect,
        auth: needOf(endpoint, auth),
        ...presentReturns(endpoint.response.schema),
        billing: presentBilling(endpoint.billing),
        credits: siteCredits,
        credits_max: siteCredits * pricing.greatestUnits(endpoint),
        pagination: endpoint.pagination === undefined ? null : { max_pages: endpoint.pagination.maxPages },
        examples: presentExamples(endpoint.examples),
        health: presentHealth(traffic),
    };
}
