import { ADDS, type AgentTool, dataOf, endpoint, gives, READS, site, takes, text } from '../tool.ts';

export const requestSchema: AgentTool = {
    name: 'request_schema',
    description: 'Asks contributors to describe a site that is missing.',
    inputSchema: takes({ site, task: { type: 'string', minLength: 20, maxLength: 4000, description: 'The workflow, without secrets' } }, [
        'site',
        'task',
    ]),
    outputSchema: gives({ request_id: text, status: text }),
    annotations: ADDS,
    needsKey: false,
    run: ({ site: domain, task }, ask) =>
        dataOf(ask, { method: 'POST', path: '/v1/schema-requests', body: { domain, task }, isRepeatable: false }),
};

/** GET /v1/schema-requests/{request_id}. */
export const checkRequest: AgentTool = {
    name: 'check_request',
    description: 'What became of a request for a schema.',
    inputSchema: takes({ request_id: text }, ['request_id']),
    outputSchema: gives({ request_id: text, status: text }),
    annotations: READS,
    needsKey: false,
    run: ({ request_id: id }, ask) =>
        dataOf(ask, { method: 'GET', path: `/v1/schema-requests/${encodeURIComponent(id as string)}`, isRepeatable: true }),
};

/** POST /v1/schemas/{site}/reports. */
export const reportProblem: AgentTool = {
    name: 'report_problem',
    description: 'Tells the maintainers of a site that an endpoint is broken or answers wrongly.',
    inputSchema: takes(
        {
            site,
            endpoint,
            kind: { type: 'string', description: 'broken, wrong_result, outdated or other' },
            text: { type: 'string', maxLength: 1000 },
        },
        ['site', 'endpoint', 'kind', 'text'],
    ),
    outputSchema: gives({ report_id: text }),
    annotations: ADDS,
    needsKey: true,
    run: ({ site: domain, ...body }, ask) =>
        dataOf(ask, { method: 'POST', path: `/v1/schemas/${encodeURIComponent(domain as string)}/reports`, body, isRepeatable: false }),
};
