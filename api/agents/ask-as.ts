import type { Request } from '@hapi/hapi';
import { type Ask, AskFailure } from '../../shared/agents/ask.ts';
import { callOwnApi } from '../answers/own-api.ts';

/** Calls our own routes with the key of the agent's request. */
export function askAs(request: Request): Ask {
    const { authorization } = request.raw.req.headers;
    return async ({ method, path, query = {}, body, headers, confirmed }) => {
        const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
        const answer = await callOwnApi(request, {
            method,
            path: pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`,
            body,
            headers: { ...(authorization !== undefined && { authorization }), ...headers },
            app: { confirmed },
        });
        if (answer.error !== undefined) throw new AskFailure(answer.error);
        return answer.body;
    };
}
