import { type BindingAsText, bindParams } from '../domain/fetch/bind-params.ts';
import { createParamValidator } from '../domain/fetch/validate-params.ts';
import { parseExact } from '../domain/json/exact-numbers.ts';
import type { Endpoint, JsonObject } from '../domain/types.ts';
import { answerTasks } from '../platform/side-thread.ts';

answerTasks(({ endpoint, params }: { endpoint: Endpoint; params: string }): BindingAsText => {
    const bound = bindParams(endpoint, parseExact<JsonObject>(params), createParamValidator());
    return bound.ok ? { ok: true, values: JSON.stringify(bound.values) } : bound;
});
