import { createHash } from 'node:crypto';
import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import { type AnyContract, BODY_BYTES, type Contract } from '../shared/contracts/contract.ts';
import { newId } from '../shared/domain/text/ids.ts';
import { sendTagged, type Tagged } from './answers/etag.ts';
import { answerOnce, type OnceRules } from './answers/idempotency.ts';
import { judgeKeyAgain } from './auth/api-key.ts';
import { judgeTarget } from './auth/key-scopes.ts';
import { type Call, goneSignal, type Input, type Rendered, type Reply } from './call.ts';
import { prepareSchemas, readInput } from './validate.ts';

export type { Call, Reply };

export interface ServedRoute {
    contract: AnyContract;
    toHapi(app: App): ServerRoute;
}

/**
 * A contract and a function become a route: input is validated as the contract says, every problem reported at once,
 * and the answer put into its envelope. `rules` are for routes whose contract is `idempotent`.
 */
export function serve<Params, Query, Body, Answer>(
    contract: Contract<Params, Query, Body, Answer>,
    handle: (call: Call<Params, Query, Body>) => Promise<Reply<NoInfer<Answer>>>,
    rules: OnceRules<Body> = {},
): ServedRoute {
    const run = async (call: Call<Params, Query, Body>) => render(contract, await handle(call));
    return route(contract, async (call, request, h) => {
        const answer = contract.idempotent ? await answerOnce({ call, request, route: contract.name, rules }, run) : await run(call);
        return toResponse(contract, answer, request, h);
    });
}

/** The same for large answers: `handle` returns a tag, and builds the bytes only for clients without a current copy. */
export function serveTagged<Params, Query, Body, Answer>(
    contract: Contract<Params, Query, Body, Answer>,
    handle: (call: Call<Params, Query, Body>) => Promise<Tagged>,
): ServedRoute {
    const how = { status: contract.answer.status, seconds: contract.cacheSeconds ?? 0 };
    return route(contract, async (call, request, h) => sendTagged(await handle(call), how, request, h));
}

function route<Params, Query, Body, Answer>(
    contract: Contract<Params, Query, Body, Answer>,
    answer: (call: Call<Params, Query, Body>, request: Request, h: ResponseToolkit) => Promise<ResponseObject>,
): ServedRoute {
    const schemas = prepareSchemas(contract);
    const erased = contract as unknown as AnyContract;
    return {
        contract: erased,
        toHapi: (app) => ({
            method: contract.method,
            path: contract.path,
            options: {
                id: contract.name,
                app: { contract: erased },
                ...(contract.method === 'GET'
                    ? {}
                    : {
                          payload: {
                              parse: false,
                              // bodies/json-body.ts checks the media type; hapi must not refuse a malformed one first.
                              override: 'application/octet-stream',
                              output: 'stream',
                              maxBytes: contract.body?.maxBytes ?? BODY_BYTES,
                          },
                      }),
                handler: async (request, h) => {
                    const input = await readInput(contract, schemas, request);
                    await judgeKeyAgain(app, request, erased);
                    const { caller } = request.app;
                    // Checked before a stored answer is looked up.
                    if (caller !== undefined) judgeTarget(erased, caller, input);
                    return answer(toCall(app, request, input), request, h);
                },
            },
        }),
    };
}

function toCall<P, Q, B>(app: App, request: Request, input: Input<P, Q, B>): Call<P, Q, B> {
    const operation = newId('op');
    request.app.call = { operation, body: input.body };
    return {
        ...input,
        app,
        caller: request.app.caller,
        requestId: request.app.requestId,
        startedAt: request.app.startedAt,
        span: request.app.span,
        operation,
        clientAddress: request.app.clientAddress,
        header: (name) => request.raw.req.headers[name.toLowerCase()]?.toString(),
        gone: request.app.gone ?? goneSignal(request),
        setHeaders: (headers) => {
            Object.assign(request.app.headers, headers);
        },
        setCreditsRemaining: (credits) => {
            request.app.creditsRemaining = credits;
        },
        setFinal: (isFinal) => {
            request.app.isFinal = isFinal;
        },
        setLogged: () => {
            request.app.isLogged = true;
        },
    };
}

function render<P, Q, B, A>(contract: Contract<P, Q, B, A>, reply: Reply<A>): Rendered {
    const { status = contract.answer.status, headers = {}, pagination } = reply;
    if ('text' in reply) return { text: reply.text, status, headers, isKept: reply.isKept };
    const { answer } = reply;
    const isWhole = contract.answer.shape === 'whole';
    const body = isWhole ? answer : { success: true, data: answer, ...(pagination ? { meta: { pagination } } : {}) };
    return { text: JSON.stringify(body), status, headers, isKept: false };
}

function toResponse<P, Q, B, A>(
    contract: Contract<P, Q, B, A>,
    { text, status, headers }: Rendered,
    request: Request,
    h: ResponseToolkit,
): Promise<ResponseObject> | ResponseObject {
    const { cacheSeconds: seconds } = contract;
    if (seconds !== undefined) {
        const tag = createHash('sha256').update(text).digest('hex');
        return sendTagged({ tag, read: async () => ({ plain: text }) }, { status, seconds }, request, h);
    }
    const response = h.response(text).type('application/json; charset=utf-8').code(status);
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    return response.header('cache-control', 'no-store');
}
