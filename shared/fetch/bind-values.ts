import type { FetchRequest } from '../contracts/fetch.ts';
import { type Binding, type BindingAsText, bindParams } from '../domain/fetch/bind-params.ts';
import { createParamValidator, STEPS_PER_TURN } from '../domain/fetch/validate-params.ts';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { TooMuchWork } from '../domain/json/schema/patterns.ts';
import type { JsonObject, Values } from '../domain/types.ts';
import { createSideThread, SideThreadFailure } from '../platform/side-thread.ts';
import { Refusal } from '../refusals.ts';
import type { Found } from './find-endpoint.ts';

/** Validates params, on the event loop or, if they take long, in a thread. @throws Refusal INVALID_PARAMS, SERVICE_UNAVAILABLE */
export async function bindValues(found: Found, { params = {} }: FetchRequest, suggests = true): Promise<Values> {
    const bound = bindOnEventLoop(found, params, suggests) ?? (await bindInThread(found, params));
    if (bound.ok) return bound.values;
    throw new Refusal('INVALID_PARAMS', undefined, { details: bound.problems });
}

function bindOnEventLoop({ endpoint }: Found, params: JsonObject, suggests: boolean): Binding | undefined {
    try {
        return bindParams(endpoint, params, createParamValidator({ steps: STEPS_PER_TURN }), suggests);
    } catch (error) {
        if (error instanceof TooMuchWork) return undefined;
        throw error;
    }
}

const thread = createSideThread(new URL('./bind-thread.ts', import.meta.url));

/** The thread has one queue per site, because the package of the site causes the work. @throws Refusal SERVICE_UNAVAILABLE */
async function bindInThread({ endpoint, registrable }: Found, params: JsonObject): Promise<Binding> {
    try {
        const answer = await thread.run<BindingAsText>(registrable, { endpoint, params: JSON.stringify(params) });
        // Values are objects without a prototype.
        return answer.ok ? { ok: true, values: Object.assign(Object.create(null), parseExact(answer.values)) } : answer;
    } catch (cause) {
        if (!(cause instanceof SideThreadFailure)) throw cause;
        throw new Refusal('SERVICE_UNAVAILABLE', 'The params could not be checked in time.', { retryAfter: 10 }, { cause });
    }
}
