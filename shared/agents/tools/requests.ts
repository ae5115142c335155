import { z } from 'zod';
import { type AddTool, site } from '../tool-box.ts';

/** POST /v1/schema-requests. */
export const requestSchema: AddTool = (server, { answer, dataOf }) => {
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
                source_url: z.string().max(2048).optional().describe('An http or https URL'),
            },
            annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
        },
        ({ site: domain, ...rest }) =>
            answer(undefined, () =>
                dataOf({ method: 'POST', path: '/v1/schema-requests', body: { domain, ...rest }, isRepeatable: false }),
            ),
    );
};

/** GET /v1/schema-requests/{id}. */
export const checkRequest: AddTool = (server, { answer, dataOf }) => {
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
};
