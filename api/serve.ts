import { createHash } from 'node:crypto';
import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import { type AnyContract, BODY_BYTES, type Contract } from '../shared/contracts/contract.ts';
import { newId } from '../shared/domain/ids.ts';
import type { KeyedCall } from '../shared/store/idempotency.ts';
import type { Caller } from '../shared/store/keys.ts';
import type { Span } from '../shared/tracing.ts';
import { answerOnce, type OnceRules } from './plugins/idempotency.ts';
import { judgeTarget } from './plugins/key-scopes.ts';
import { sendTagged, type Tagged } from './tagged.ts';
import { type Input, prepareSchemas, readInput } from './validate.ts';

/** What a handler is given: validated input, and who asks. */
export interface Call<Params, Query, Body> extends Input<Params, Query, Body> {
    app: App;
    /** Undefined without a key, which only `optional` and `ignored` routes allow. */
    caller: Caller | undefined;
    requestId: string;
    /** When it came, by the monotonic clock. */
    startedAt: number;
    /** Of the whole request. */
    span: Span;
    /** `op_…`, our own id of this call, new for every one: equal request ids never meet. */
    operation: string;
    /** The call's Idempotency-Key, where it has one and the route honours it. */
    keyed?: KeyedCall;
    /** The client's address, as far as TRUST_PROXY lets us know it. */
    clientAddress: string;
    /** One header of the request, or undefined. */
    header(name: string): string | undefined;
    /** Aborted when the caller hangs up. */
    gone: AbortSignal;
    /** Headers of the answer, refusals included. */
    setHeaders(headers: Record<string, string>): void;
    /** The two credit fields of a refusal's envelope, once they are known. */
    setCreditsRemaining(credits: number): void;
    /** Whether a failure from here on is kept under the call's key: a write may have been sent. */
    setFinal(isFinal: boolean): void;
    /** The call stands in the request log with its outcome: what it is refused with is not written there again. */
    setLogged(): void;
}

export type Reply<Answer> = {
    status?: number;
    headers?: Record<string, string>;
    pagination?: { limit: number; next_cursor: string | null; total: number };
} & (
    | {
          /** What stands in `data`, or the whole body where the contract says so. */
          answer: Answer;
      }
    | {
          /** The whole body. */
          text: string;
          /** Whether it stands under the call's key already. */
          isKept: boolean;
      }
);

/** An answer as it goes out. */
export interface Rendered {
    text: string;
    status: number;
    headers: Record<string, string>;
    /** Whether it stands under the call's key already. */
    isKept: boolean;
}

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

/** The same where the answer is large: `handle` names its bytes, and makes them only for callers who do not have them yet. */
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
                              // The media type is judged in one place, input-guard.ts; hapi must not refuse a malformed one before it.
                              override: 'application/octet-stream',
                              output: 'stream',
                              maxBytes: contract.body?.maxBytes ?? BODY_BYTES,
                          },
                      }),
                handler: async (request, h) => {
                    const input = await readInput(contract, schemas, request);
                    const { caller } = request.app;
                    // Before the body of a remembered answer is looked for.
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

/** Aborted when the connection closes before the answer was written; made only for routes that ask. */
export function goneSignal(request: Request): AbortSignal {
    const controller = new AbortController();
    const { res } = request.raw;
    res.once('close', () => {
        if (!res.writableFinished) controller.abort();
    });
    return controller.signal;
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
