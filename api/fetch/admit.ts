import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { bindParams } from '../../shared/domain/bind-params.ts';
import { openParamJudge } from '../../shared/domain/judge-params.ts';
import * as pricing from '../../shared/domain/pricing.ts';
import type { Values } from '../../shared/domain/types.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { judgeEffect } from '../plugins/key-scopes.ts';
import type { FetchCall } from './fetch-call.ts';
import { type Found, findEndpoint, type Kept } from './find-endpoint.ts';

/** A call that its package takes: what is called, with what, and for how much. */
export interface Admitted {
    found: Found;
    values: Values;
    price: pricing.Price;
}

/**
 * What a call asks for, or what its package says no to. What was found a moment ago serves where nothing is refused by it and the
 * hold looks at it again: everything else is found anew.
 * @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, FORBIDDEN, INVALID_PARAMS, VALIDATION_ERROR: these end the call uncounted.
 */
export async function admit(call: FetchCall): Promise<Admitted | { found: Kept }> {
    const { body: order } = call;
    const isJudgedAgain = order.dry_run !== true && (order.max_age ?? 0) === 0;
    const admitted = isJudgedAgain ? await fromMemory(call) : undefined;
    return admitted ?? admitAnew(call);
}

/** The same by what stands in the database now. */
export async function admitAnew(call: FetchCall): Promise<Admitted | { found: Kept }> {
    const { app, body: order } = call;
    const found = await findEndpoint(app, order, (question) => app.latest.find(question));
    return found.ok ? suit(found, call) : { found };
}

async function fromMemory(call: FetchCall): Promise<Admitted | undefined> {
    const { app, body: order } = call;
    try {
        const found = await findEndpoint(app, order, app.latest.recall);
        return found?.ok === true ? suit(found, call) : undefined;
    } catch (error) {
        if (error instanceof Refusal) return undefined;
        throw error;
    }
}

function suit(found: Found, { caller, body: order }: FetchCall): Admitted {
    judgeEffect(caller as Caller, found.endpoint, found.isTrusted);
    return { found, values: bindValues(found, order), price: priceOf(found, order) };
}

function bindValues(found: Found, { params = {} }: FetchRequest): Values {
    const bound = bindParams(found.endpoint, params, openParamJudge());
    if (bound.ok) return bound.values;
    throw new Refusal('INVALID_PARAMS', undefined, { details: bound.problems });
}

function priceOf(found: Found, { max_credits: maxCredits, max_results: maxResults }: FetchRequest): pricing.Price {
    const priced = pricing.priceOrder({ ...found, maxCredits, maxResults });
    if (priced.ok) return priced;
    throw new Refusal('VALIDATION_ERROR', undefined, { details: [priced.problem] });
}
