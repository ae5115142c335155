import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { VERSION } from '../version.ts';
import { type Ask, AskFailure } from './ask.ts';
import type { FindEffect } from './effects.ts';
import { whatToDo } from './what-to-do.ts';
import { withinBudget } from './within-budget.ts';

const DEFAULT_CHARACTERS = 20_000;

const site = z.string().min(1).max(1024).describe('A domain name, such as shop.example.com');
const endpoint = z.string().min(1).max(64).describe('Name of an endpoint, as look_up_site gives it');
const params = z.record(z.string(), z.unknown()).optional().describe('Param name to value, as look_up_site describes them');
const budget = {
    max_characters: z.number().int().min(500).max(200_000).optional().describe(`Longest result; ${DEFAULT_CHARACTERS} by default`),
};
const order = {
    site,
    endpoint,
    params,
    version: z.number().int().min(1).optional().describe('A version of the schema; the latest by default'),
    max_credits: z.number().int().min(1).optional().describe('Spending cap of this call'),
    max_results: z.number().int().min(1).max(1000).optional(),
    session_id: z.string().max(64).optional().describe('The session_id of the look-up that led here'),
};

const READS: ToolAnnotations = { readOnlyHint: true, openWorldHint: true };
const WRITES: ToolAnnotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

const INSTRUCTIONS =
    'Routebook knows the callable endpoints of websites and calls them for you. Look a site up with what you want to do, then fetch. ' +
    'Reads go through fetch; what changes something at the site goes through fetch_write, and only when your person wants it. ' +
    'Successful fetches cost credits; dry_run shows the request and its price for nothing.';

/**
 * Routebook as tools of the Model Context Protocol, over whatever transport.
 * @param ask calls the API with the key, limits and credits of whoever runs the agent
 * @param findEffect tells reads from writes before anything is sent
 */
export function agentServer(ask: Ask, findEffect: FindEffect): McpServer {
    const server = new McpServer({ name: 'routebook', title: 'Routebook', version: VERSION }, { instructions: INSTRUCTIONS });
    const answer = async (most: number | undefined, work: () => Promise<unknown>): Promise<CallToolResult> => {
        try {
            return { content: [{ type: 'text', text: withinBudget(await work(), most ?? DEFAULT_CHARACTERS).text }] };
        } catch (error) {
            if (!(error instanceof AskFailure)) throw error;
            const { told } = error;
            const text = JSON.stringify({ error: { ...told, what_to_do: whatToDo(told) } });
            return { isError: true, content: [{ type: 'text', text }] };
        }
    };
    const dataOf = async (call: Parameters<Ask>[0]) => (await ask(call))['data'];

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

    server.registerTool(
        'fetch',
        {
            title: 'Fetch from a site',
            description: 'Calls an endpoint that only reads, and returns its result. Costs credits when it succeeds.',
            inputSchema: {
                ...order,
                max_age: z.number().int().min(0).max(86_400).optional().describe('Seconds; an equal result no older is free'),
                ...budget,
            },
            annotations: READS,
        },
        ({ max_characters: most, session_id: session, ...body }) =>
            answer(most, async () => {
                const found = await findEffect(body);
                if (found?.effect === 'write') throw new AskFailure(IS_WRITE);
                // The version is fixed by what was read, so that a publish in between cannot turn the read into a write.
                if (found !== undefined) return send(ask, { ...body, version: found.version }, session);
                // The API says best what is missing, and what was meant. A dry run is never a write, whatever is published meanwhile.
                await send(ask, { ...body, dry_run: true }, session);
                throw new AskFailure(IS_NEW);
            }),
    );

    server.registerTool(
        'fetch_write',
        {
            title: 'Change something at a site',
            description:
                'Calls an endpoint that may change something at the site: place, post, submit, delete. Sent at most once. Only when the person you work for wants it.',
            inputSchema: {
                ...order,
                idempotency_key: z
                    .string()
                    .min(1)
                    .max(255)
                    .optional()
                    .describe('The same key again never does it twice; give one if you may repeat'),
                ...budget,
            },
            annotations: WRITES,
        },
        ({ max_characters: most, session_id: session, idempotency_key: key, ...body }) => answer(most, () => send(ask, body, session, key)),
    );

    server.registerTool(
        'dry_run',
        {
            title: 'Show a fetch without sending it',
            description: 'Checks the params, and shows the request that would be sent and the most it can cost. Sends and charges nothing.',
            inputSchema: { site, endpoint, params, version: order.version, max_results: order.max_results, ...budget },
            annotations: { readOnlyHint: true, openWorldHint: false },
        },
        ({ max_characters: most, ...body }) => answer(most, () => send(ask, { ...body, dry_run: true })),
    );

    server.registerTool(
        'request_schema',
        {
            title: 'Ask for a schema',
            description: 'Asks contributors to describe a site that is missing. Say which workflow is brittle today.',
            inputSchema: {
                site,
                task: z.string().min(1).max(4000).describe('The workflow, in 20 characters or more; no keys, cookies or tokens'),
                read_or_write: z.enum(['read', 'write', 'read_write']).optional(),
                frequency: z.enum(['once', 'daily', 'hourly', 'continuous']).optional(),
                source_url: z.string().max(2048).optional(),
            },
            annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
        },
        ({ site: domain, ...rest }) =>
            answer(undefined, () =>
                dataOf({ method: 'POST', path: '/v1/schema-requests', body: { domain, ...rest }, isRepeatable: false }),
            ),
    );

    server.registerTool(
        'check_request',
        {
            title: 'See what became of a request',
            description: 'The state of a request for a schema: open, in progress, fulfilled or declined.',
            inputSchema: { request_id: z.string().min(1).max(64).describe('srq_…') },
            annotations: { readOnlyHint: true, openWorldHint: false },
        },
        ({ request_id: id }) =>
            answer(undefined, () => dataOf({ method: 'GET', path: `/v1/schema-requests/${encodeURIComponent(id)}`, isRepeatable: true })),
    );

    server.registerTool(
        'account',
        {
            title: 'Credits and limits',
            description: 'Plan, credits left, and what is left of the rate limits.',
            inputSchema: {},
            annotations: { readOnlyHint: true, openWorldHint: false },
        },
        () => answer(undefined, () => dataOf({ method: 'GET', path: '/v1/account', isRepeatable: true })),
    );
    return server;
}

const IS_WRITE = {
    code: 'ENDPOINT_WRITES',
    message: 'This endpoint may change something at the site, and was not called. Use fetch_write if the person you work for wants it.',
    retryable: false,
};

const IS_NEW = { code: 'ENDPOINT_NEW', message: 'This endpoint was published at this very moment, and was not called.', retryable: true };

async function send(ask: Ask, body: object, session?: string, key?: string): Promise<unknown> {
    const { data, meta } = await ask({
        method: 'POST',
        path: '/v1/fetch',
        body,
        headers: {
            ...(session === undefined ? {} : { 'x-service-session': session }),
            ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        isRepeatable: false,
    });
    return { data, meta };
}
