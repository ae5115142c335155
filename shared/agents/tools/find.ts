import { type AgentTool, gives, maxCharacters, READS, site, takes, text } from '../tool.ts';

/** The fields of an endpoint that agents see. The other fields are for people. */
const SHOWN = ['site', 'endpoint', 'effect', 'description', 'required', 'optional', 'returns', 'credits', 'verified', 'hosted'] as const;

const list = { type: 'array' } as const;

/** GET /v1/endpoints: finds endpoints of all sites by task. */
export const findEndpoint: AgentTool = {
    name: 'find_endpoint',
    description:
        'Start here: finds endpoints of all sites by what you want to know or do, best first, each with the call to make in fetch. Take one only if its description fits; if none does, request_schema.',
    inputSchema: takes(
        {
            task: { type: 'string', minLength: 3, maxLength: 1000, description: 'In your own words' },
            site,
            effect: { enum: ['read', 'write'] },
            limit: { type: 'integer', minimum: 1, maximum: 50, default: 5 },
            ...maxCharacters,
        },
        ['task'],
    ),
    outputSchema: gives({ endpoints: list, session_id: text }),
    annotations: READS,
    needsKey: false,
    async run({ limit = 5, task, site: domain, effect }, ask) {
        const query = { task, site: domain, effect, limit } as Record<string, string | number | undefined>;
        const found = await ask({ method: 'GET', path: '/v1/endpoints', query, isRepeatable: true });
        const { data, meta } = found as { data: Record<string, unknown>[]; meta: Record<string, unknown> };
        const { pagination: _, suggestion, ...rest } = meta;
        const shown = suggestion === undefined ? {} : { suggestion: presentSuggestion(suggestion as Suggestion) };
        return { ...rest, ...shown, endpoints: data.map(presentRow) };
    },
};

interface Suggestion {
    request: { domain?: string; task: string };
    missing?: unknown;
}

/** The suggested request with the names and arguments of request_schema. */
function presentSuggestion({ request: { domain, task }, missing }: Suggestion) {
    const request = domain === undefined ? { task } : { site: domain, task };
    return missing === undefined ? { request } : { request, missing: ['site'] };
}

function presentRow(row: Record<string, unknown>): Record<string, unknown> {
    const shown = Object.fromEntries(SHOWN.map((name) => [name, row[name]]));
    const example = row['fetch'] as Record<string, unknown> | null;
    if (row['needs_connection'] === true) shown['needs_connection'] = true;
    if (example === null) return { ...shown, fetch: null };
    // The API suggests a dry run for writes; agents use price_fetch for that.
    const { dry_run: _, ...call } = example;
    return { ...shown, fetch: call };
}

/** GET /v1/catalog/{domain}: the endpoints of a site, the best matches for an intent first. */
export const lookUpSite: AgentTool = {
    name: 'look_up_site',
    description: 'Every endpoint of a site with its params, best matches of the intent first.',
    inputSchema: takes(
        { site, intent: { type: 'string', maxLength: 4000, description: '5 words, 20 characters or more' }, ...maxCharacters },
        ['site', 'intent'],
    ),
    outputSchema: gives({ domain: text, session_id: text, endpoints: list, schema: { type: 'object' } }),
    annotations: READS,
    needsKey: false,
    async run({ site: domain, intent }, ask) {
        const path = `/v1/catalog/${encodeURIComponent(domain as string)}`;
        const { success: _, ...found } = await ask({ method: 'GET', path, query: { intent: intent as string }, isRepeatable: false });
        return found;
    },
};
