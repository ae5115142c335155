import { defined } from '../../domain/defined.ts';
import type { Ask } from '../ask.ts';
import {
    type AgentTool,
    type Arguments,
    count,
    dataOf,
    endpoint,
    gives,
    maxCharacters,
    params,
    READS,
    site,
    takes,
    text,
    WRITES,
} from '../tool.ts';

const order = { site, endpoint, params, version: count, max_credits: count, max_results: count } as const;
const sent = { ...order, connection: text, max_age: { type: 'integer', description: 'Seconds' }, session_id: text, cursor: text } as const;
const key = { idempotency_key: text } as const;
const answer = gives({ data: { type: 'object' }, meta: { type: 'object' } });
const job = gives({ job_id: text, status: text, result: { type: ['object', 'null'] }, error: { type: ['object', 'null'] } });

/** POST /v1/fetch. */
export const fetchEndpoint: AgentTool = {
    name: 'fetch',
    description:
        'Calls an endpoint; costs credits on success. One with effect write changes something at the site: only if your person wants it, and with an idempotency_key, which makes repeats safe.',
    inputSchema: takes({ ...sent, ...key, ...maxCharacters }, ['site', 'endpoint']),
    outputSchema: answer,
    annotations: WRITES,
    needsKey: true,
    run: (args, ask) => fetchOf(ask, args),
};

/** POST /v1/fetch with `dry_run`. */
export const priceFetch: AgentTool = {
    name: 'price_fetch',
    description: 'Checks a fetch, shows its request and greatest price. Sends and charges nothing.',
    inputSchema: takes({ ...order, connection: text }, ['site', 'endpoint']),
    outputSchema: answer,
    annotations: READS,
    needsKey: true,
    run: (args, ask) => fetchOf(ask, { ...args, dry_run: true }),
};

/** POST /v1/jobs. */
export const startJob: AgentTool = {
    name: 'start_job',
    description: 'Fetch for slow or busy sites: same arguments as fetch, returns a job_id at once.',
    inputSchema: takes({ ...sent, ...key, expires_in: { type: 'integer', description: 'Seconds' } }, ['site', 'endpoint']),
    outputSchema: job,
    annotations: WRITES,
    needsKey: true,
    run: start('/v1/jobs'),
};

/** POST /v1/batches. */
export const runBatch: AgentTool = {
    name: 'run_batch',
    description: 'Many fetches as one job; returns a batch_id for get_job.',
    inputSchema: takes(
        {
            items: { type: 'array', minItems: 1, maxItems: 1000, description: '{site, endpoint, params}; defaults fill in' },
            defaults: { type: 'object' },
            max_credits: count,
            ...key,
        },
        ['items'],
    ),
    outputSchema: gives({ batch_id: text, status: text }),
    annotations: WRITES,
    needsKey: true,
    run: start('/v1/batches'),
};

/** GET /v1/jobs/{job_id}, or GET /v1/batches/{batch_id} with the ended items. */
export const getJob: AgentTool = {
    name: 'get_job',
    description: 'State and result of a job or batch.',
    inputSchema: takes(
        {
            job_id: { type: 'string', description: 'Or a batch_id' },
            wait: { type: 'integer', minimum: 0, maximum: 30, description: 'Seconds to wait for its end' },
            ...maxCharacters,
        },
        ['job_id'],
    ),
    outputSchema: job,
    annotations: READS,
    needsKey: true,
    async run({ job_id: id, wait = 0 }, ask) {
        const isBatch = (id as string).startsWith('bat_');
        const path = `/v1/${isBatch ? 'batches' : 'jobs'}/${encodeURIComponent(id as string)}`;
        const state = await dataOf(ask, { method: 'GET', path, query: { wait: wait as number }, isRepeatable: true });
        if (!isBatch) return state;
        const { data: results } = await ask({ method: 'GET', path: `${path}/results`, isRepeatable: true });
        return { ...state, results };
    },
};

async function fetchOf(ask: Ask, args: Arguments): Promise<Record<string, unknown>> {
    const { data, meta } = await ask({ method: 'POST', path: '/v1/fetch', ...messageOf(args), isRepeatable: false });
    return { data, meta };
}

/** Sends the arguments of a tool as the order of jobs. */
function start(path: string): AgentTool['run'] {
    return (args, ask) => dataOf(ask, { method: 'POST', path, ...messageOf(args), isRepeatable: false });
}

function messageOf({ max_characters: _, session_id: session, idempotency_key: once, ...body }: Arguments) {
    return {
        body,
        headers: defined<Record<string, string>>({ 'x-service-session': session as string, 'idempotency-key': once as string }),
    };
}
