import { z } from 'zod';
import { type AddTool, budget, READS, site } from '../tool-box.ts';

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
