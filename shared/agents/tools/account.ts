import type { AddTool } from '../tool-box.ts';

/** GET /v1/account. */
export const account: AddTool = (server, { answer, dataOf }) => {
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
};
