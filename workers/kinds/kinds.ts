import { buildRequest } from '../../shared/domain/build-request.ts';
import type { Kind } from '../../shared/domain/types.ts';
import type { Executor } from './executor.ts';

/** One request that the endpoint describes whole. */
const single: Executor = { plan: buildRequest };

/** Kinds that `isExecutable` turns away before a job is made. */
const notYet: Executor = {
    plan(endpoint) {
        throw new Error(`a job for ${endpoint.name}, whose kind ${endpoint.kind} no worker can run yet`);
    },
};

/** Every kind of endpoint and how it is called; a new kind does not compile until it stands here. */
export const KIND_EXECUTORS: Readonly<Record<Kind, Executor>> = {
    api_call: single,
    navigate: single,
    search: single,
    paginate: notYet,
    submit_form: notYet,
};
