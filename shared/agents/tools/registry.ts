import { z } from 'zod';
import { type AddTool, budget, READS, site } from '../tool-box.ts';

/** What an agent is shown of an endpoint; the rest is for people. */
const SHOWN = [
    'site',
    'endpoint',
    'effect',
    'description',
    'required',
    'optional',
    'returns',
    'credits',
    'verified',
    'hosted',
    'fetch',
] as const;

/** GET /v1/endpoints: endpoints of all sites by what somebody wants to do. */
export const findEndpoint: AddTool = (server, { answer, ask }) => {
    server.registerTool(
        'find_endpoint',
        {
            title: 'Find an endpoint by task',
            description:
                'Start here. Say what you want to know or do; the endpoints of all sites that fit come best first, each with its params, and with the call to make in fetch. An empty list means that nothing fits.',
            inputSchema: {
                task: z.string().min(3).max(1000).describe('In your own words, such as: currency rates of last year'),
                site: z.string().max(1024).optional().describe('Only of this domain'),
                effect: z.enum(['read', 'write']).optional(),
                limit: z.number().int().min(1).max(50).optional().describe('5 by default'),
                ...budget,
            },
            annotations: READS,
        },
        ({ max_characters: most, limit, ...query }) =>
            answer(most, async () => {
                const found = await ask({
                    method: 'GET',
                    path: '/v1/endpoints',
                    query: { ...query, limit: limit ?? 5 },
                    isRepeatable: true,
                });
                const { data, meta } = found as { data: Record<string, unknown>[]; meta: Record<string, unknown> };
                const { pagination: _, ...told } = meta;
                return { ...told, endpoints: data.map((row) => Object.fromEntries(SHOWN.map((name) => [name, row[name]]))) };
            }),
    );
};

/** GET /v1/schemas: sites by name, title and category. */
export const searchSchemas: AddTool = (server, { answer, dataOf }) => {
    server.registerTool(
        'search_schemas',
        {
            title: 'Search the registry',
            description: 'Find sites whose endpoints are known, by name, title or category.',
            inputSchema: {
                query: z.string().max(256).optional().describe('A part of a site name or title; typing mistakes are forgiven'),
                category: z.string().max(128).optional().describe('Such as commerce, or commerce/product-search'),
                verified: z.boolean().optional().describe('Only schemas whose examples were called and fit'),
                limit: z.number().int().min(1).max(100).optional(),
                ...budget,
            },
            annotations: READS,
        },
        ({ query: q, category, verified, limit, max_characters: most }) =>
            answer(most, () =>
                dataOf({ method: 'GET', path: '/v1/schemas', query: { q, category, verified, limit: limit ?? 10 }, isRepeatable: true }),
            ),
    );
};

/** GET /v1/catalog/{domain}: what can be called there, the best matches of an intent first. */
export const lookUpSite: AddTool = (server, { answer, ask }) => {
    server.registerTool(
        'look_up_site',
        {
            title: 'Look a site up',
            description:
                'Every endpoint of a site with its params, the best matches of your intent first. Say what you want to do in 5 words or more.',
            inputSchema: { site, intent: z.string().max(4000).describe('At least 20 characters and 5 distinct words'), ...budget },
            annotations: READS,
        },
        ({ site: domain, intent, max_characters: most }) =>
            answer(most, async () => {
                const { success: _, ...found } = await ask({
                    method: 'GET',
                    path: `/v1/catalog/${encodeURIComponent(domain)}`,
                    query: { intent },
                    isRepeatable: false,
                });
                return found;
            }),
    );
};
