import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { type Binding, type BindingAsText, bindParams } from '../domain/fetch/bind-params.ts';
import { buildUrl } from '../domain/fetch/build-request.ts';
import { createParamJudge, WORK_OF_A_TURN } from '../domain/fetch/judge-params.ts';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { TooMuchWork } from '../domain/json/schema/patterns.ts';
import * as pricing from '../domain/package/pricing.ts';
import type { JsonObject, Values } from '../domain/types.ts';
import { createSideThread, SideThreadFailure } from '../platform/side-thread.ts';
import { Refusal } from '../refusals.ts';
import { type Found, findEndpoint, type Kept } from './find-endpoint.ts';
import { judgeEffect, judgeUrl } from './judge-rights.ts';
import type { FetchOrder } from './order.ts';

/** A call that its package accepts: endpoint, params and price. */
export interface Admitted {
    ok: true;
    found: Found;
    values: Values;
    price: pricing.Price;
}

/** Who asks for what; the parts of an order that decide whether it is admitted. */
type Question = Pick<FetchOrder, 'caller' | 'body'>;

/**
 * Resolves a call to its endpoint and price, or to the reason why its package refuses it. It uses the remembered site state where the call
 * passes and the hold checks that state. In all other cases it reads the database.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, FORBIDDEN, INVALID_PARAMS, VALIDATION_ERROR: these end the call uncounted.
 */
export async function admit(app: App, question: Question): Promise<Admitted | Kept> {
    const { dry_run: isDry, max_age: maxAge = 0 } = question.body;
    const isJudgedAgain = isDry !== true && maxAge === 0;
    return (isJudgedAgain ? await fromMemory(app, question) : undefined) ?? admitFresh(app, question);
}

/** Does the same with the current state from the database. */
export async function admitFresh(app: App, { caller, body }: Question): Promise<Admitted | Kept> {
    const found = await findEndpoint(app, body, (question) => app.latest.find(question));
    return found.ok ? judge(app, { caller, body }, found) : found;
}

async function fromMemory(app: App, { caller, body }: Question): Promise<Admitted | undefined> {
    try {
        const found = await findEndpoint(app, body, app.latest.recall);
        return found?.ok === true ? await judge(app, { caller, body }, found) : undefined;
    } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
    }
}

async function judge(app: App, { caller, body }: Question, found: Found): Promise<Admitted> {
    await judgeEffect(app, caller, found);
    const values = await bindValues(found, body);
    judgeUrl(found.policy, () => buildUrl(found.endpoint, values));
    const price = pricing.priceOrder({ ...found, maxCredits: body.max_credits, maxResults: body.max_results });
    if (!price.ok) throw new Refusal('VALIDATION_ERROR', undefined, { details: [price.problem] });
    return { ok: true, found, values, price };
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

const thread = createSideThread(new URL('./bind-thread.ts', import.meta.url));

/** Queues by site, since the site's own package causes the work. @throws Refusal SERVICE_UNAVAILABLE */
async function bindAside({ endpoint, registrable }: Found, params: JsonObject): Promise<Binding> {
    try {
        const answer = await thread.run<BindingAsText>(registrable, { endpoint, params: JSON.stringify(params) });
        // Values have no prototype.
        return answer.ok ? { ok: true, values: Object.assign(Object.create(null), parseExact(answer.values)) } : answer;
    } catch (cause) {
        if (!(cause instanceof SideThreadFailure)) throw cause;
        throw new Refusal('SERVICE_UNAVAILABLE', 'The params could not be judged in time.', { retryAfter: 10 }, { cause });
    }
}
