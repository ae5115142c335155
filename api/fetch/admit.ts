import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { type Binding, bindParams } from '../../shared/domain/fetch/bind-params.ts';
import { buildUrl } from '../../shared/domain/fetch/build-request.ts';
import { createParamJudge, WORK_OF_A_TURN } from '../../shared/domain/fetch/judge-params.ts';
import { TooMuchWork } from '../../shared/domain/json/schema/patterns.ts';
import * as pricing from '../../shared/domain/package/pricing.ts';
import type { JsonObject, Values } from '../../shared/domain/types.ts';
import { SideThreadFailure } from '../../shared/platform/side-thread.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { workOnPackage } from '../packages/work.ts';
import type { FetchCall } from './fetch-call.ts';
import { type Found, findEndpoint, type Kept } from './find-endpoint.ts';
import { judgeFound } from './judge-found.ts';
import { judgeUrl } from './judge-policy.ts';

/** A call that its package accepts: endpoint, params and price. */
export interface Admitted {
    found: Found;
    values: Values;
    price: pricing.Price;
}

/**
 * Resolves a call to its endpoint and price, or to the reason why its package refuses it. It uses the remembered site state where the call
 * passes and the hold checks that state. In all other cases it reads the database.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, FORBIDDEN, INVALID_PARAMS, VALIDATION_ERROR: these end the call uncounted.
 */
export async function admit(call: FetchCall): Promise<Admitted | { found: Kept }> {
    const { body: order } = call;
    const isJudgedAgain = order.dry_run !== true && (order.max_age ?? 0) === 0;
    const admitted = isJudgedAgain ? await fromMemory(call) : undefined;
    return admitted ?? admitFresh(call);
}

/** Does the same with the current state from the database. */
export async function admitFresh(call: FetchCall): Promise<Admitted | { found: Kept }> {
    const { app, body: order } = call;
    const found = await findEndpoint(app, order, (question) => app.latest.find(question));
    return found.ok ? await suit(found, call) : { found };
}

async function fromMemory(call: FetchCall): Promise<Admitted | undefined> {
    const { app, body: order } = call;
    try {
        const found = await findEndpoint(app, order, app.latest.recall);
        return found?.ok === true ? await suit(found, call) : undefined;
    } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
    }
}

async function suit(found: Found, { app, caller, body: order }: FetchCall): Promise<Admitted> {
    await judgeFound(app, caller as Caller, found);
    const values = await bindValues(found, order);
    judgeUrl(found.policy, () => buildUrl(found.endpoint, values));
    return { found, values, price: priceOf(found, order) };
}

/**
 * Validates the params of a call: on the event loop within the step limit of one turn, otherwise in a thread.
 * @throws Refusal INVALID_PARAMS, SERVICE_UNAVAILABLE
 */
export async function bindValues(found: Found, { params = {} }: FetchRequest): Promise<Values> {
    const bound = bindHere(found, params) ?? (await bindAside(found, params));
    if (bound.ok) return bound.values;
    throw new Refusal('INVALID_PARAMS', undefined, { details: bound.problems });
}

function bindHere({ endpoint }: Found, params: JsonObject): Binding | undefined {
    try {
        return bindParams(endpoint, params, createParamJudge({ steps: WORK_OF_A_TURN }));
    } catch (error) {
        if (error instanceof TooMuchWork) return undefined;
        throw error;
    }
}

/** Queues by site, since the site's own package causes the work. @throws Refusal SERVICE_UNAVAILABLE */
async function bindAside({ endpoint, registrable }: Found, params: JsonObject): Promise<Binding> {
    try {
        const { answer } = await workOnPackage('bind', registrable, { endpoint, params });
        // Structured clones have the usual prototype; values have none.
        return answer.ok ? { ok: true, values: Object.assign(Object.create(null), answer.values) } : answer;
    } catch (cause) {
        if (!(cause instanceof SideThreadFailure)) throw cause;
        throw new Refusal('SERVICE_UNAVAILABLE', 'The params could not be judged in time.', { retryAfter: 10 }, { cause });
    }
}

function priceOf(found: Found, { max_credits: maxCredits, max_results: maxResults }: FetchRequest): pricing.Price {
    const priced = pricing.priceOrder({ ...found, maxCredits, maxResults });
    if (priced.ok) return priced;
    throw new Refusal('VALIDATION_ERROR', undefined, { details: [priced.problem] });
}
