import { z } from 'zod';
import { type Ask, AskFailure } from '../ask.ts';
import { type AddTool, budget, endpoint, params, READS, site, WRITES } from '../tool-box.ts';

const order = {
    site,
    endpoint,
    params,
    version: z.number().int().min(1).optional().describe('A version of the schema; the latest by default'),
    max_credits: z.number().int().min(1).optional().describe('Spending cap of this call'),
    max_results: z.number().int().min(1).max(1000).optional(),
    session_id: z.string().max(64).optional().describe('The session_id of the look-up that led here'),
};

/** POST /v1/fetch of what only reads; what may write is refused before anything is sent. */
export const fetchRead: AddTool = (server, { answer, ask, findEffect }) => {
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
};

/** POST /v1/fetch of what may change something. */
export const fetchWrite: AddTool = (server, { answer, ask }) => {
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
};

/** POST /v1/fetch with `dry_run`. */
export const dryRun: AddTool = (server, { answer, ask }) => {
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
};

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
