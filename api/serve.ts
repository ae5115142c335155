import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { App } from '../shared/app.ts';
import type { AnyContract, Contract, KeyUse } from '../shared/contracts/contract.ts';
import { newTimedId } from '../shared/domain/text/ids.ts';
import { bytesInTurns, inTurns } from '../shared/platform/turns.ts';
import type { Caller } from '../shared/store/accounts/callers.ts';
import { countInWindow } from './admission/count-call.ts';
import { inClientTurn } from './admission/streamed-parts.ts';
import { type AnswerWithETag, sendWithETag } from './answers/etag.ts';
import { answerOnce, type OnceRules } from './answers/idempotency.ts';
import { packed } from './answers/packed.ts';
import { callerOf } from './auth/caller.ts';
import { type Call, type CallerOf, goneSignal, type Rendered, type Reply } from './call.ts';
import { inputOptions } from './plugins/input.ts';

const NOTHING = Buffer.alloc(0);
/** In characters. Longer texts are encoded in several turns of the event loop. */
const LONG = 256 * 1024;

export interface ServedRoute {
    contract: AnyContract;
    toHapi(app: App): ServerRoute;
}

/**
 * Makes a route of a contract and a handler. Validates the input by the contract, reports all problems at once, and wraps the answer in its
 * envelope. `rules` are for routes whose contract is `idempotent`. A replay of a stored answer counts in no window.
 */
export function serve<Params, Query, Body, Answer, Auth extends KeyUse>(
    contract: Contract<Params, Query, Body, Answer, Auth>,
    respond: (call: Call<Params, Query, Body, CallerOf<Auth>>) => Promise<Reply<NoInfer<Answer>>>,
    rules: OnceRules<Body> = {},
): ServedRoute {
    const { window } = contract;
    const handle: typeof respond = window === undefined ? respond : (call) => countInWindow(call, window).then(() => respond(call));
    const run = async (call: Call<Params, Query, Body, CallerOf<Auth>>) => render(contract, await handle(call));
    return route(contract, async (call, request, h) => {
        if (contract.answer.lines !== undefined) {
            const reply = await handle(call);
            if ('lines' in reply) return toLines(inClientTurn(call, reply.lines), h);
            return toResponse(undefined, render(contract, reply), request, h);
        }
        const answer = contract.idempotent ? await answerOnce({ call, request, rules }, run) : await run(call);
        if (contract.personalWithKey !== true) return toResponse(contract.cacheSeconds, answer, request, h);
        const response = await toResponse(call.caller === undefined ? contract.cacheSeconds : undefined, answer, request, h);
        // Otherwise a shared cache may answer a call with a key from what it stored for a call without one.
        return response.vary('authorization');
    });
}

/** Like `serve`, for large answers: `handle` returns an ETag, and the bytes are built only for clients without a current copy. */
export function serveWithETag<Params, Query, Body, Answer, Auth extends KeyUse>(
    contract: Contract<Params, Query, Body, Answer, Auth>,
    handle: (call: Call<Params, Query, Body, CallerOf<Auth>>) => Promise<AnswerWithETag>,
): ServedRoute {
    const how = { status: contract.answer.status, seconds: contract.cacheSeconds ?? 0 };
    return route(contract, async (call, request, h) => sendWithETag(await handle(call), how, request, h));
}

/** Like `serve`, for an answer that never changes: its bytes are built once. */
export function serveConstant<Params, Query, Body, Answer, Auth extends KeyUse>(
    contract: Contract<Params, Query, Body, Answer, Auth>,
    make: () => NoInfer<Answer>,
): ServedRoute {
    let made: AnswerWithETag | undefined;
    return serveWithETag(contract, async () => {
        if (made === undefined) {
            const { text: plain } = render(contract, { answer: make() });
            const bytes = { plain, gzipped: gzipSync(plain) };
            made = { tag: hash('sha256', plain), read: async () => bytes };
        }
        return made;
    });
}

function route<Params, Query, Body, Answer, Auth extends KeyUse>(
    contract: Contract<Params, Query, Body, Answer, Auth>,
    answer: (call: Call<Params, Query, Body, CallerOf<Auth>>, request: Request, h: ResponseToolkit) => Promise<ResponseObject>,
): ServedRoute {
    const erased = contract as unknown as AnyContract;
    const { name, method, path, auth } = contract;
    return {
        contract: erased,
        toHapi: (app) => ({
            method,
            path,
            options: {
                id: name,
                app: { contract: erased },
                auth: auth === 'ignored' ? false : { strategy: 'api-key', mode: auth },
                ...inputOptions(erased),
            },
            handler: (request, h) => answer(toCall(app, request, name), request, h),
        }),
    };
}

function toCall<P, Q, B, By extends Caller | undefined>(app: App, request: Request, route: string): Call<P, Q, B, By> {
    const operation = newTimedId('op', Date.now());
    const { payload } = request;
    const isRaw = Buffer.isBuffer(payload);
    const body = (isRaw ? undefined : payload) as B;
    request.app.call = { operation, body };
    return {
        params: request.params as P,
        query: request.query as Q,
        body,
        bodyBytes: isRaw ? payload : NOTHING,
        app,
        route,
        // hapi has refused a call without a key that its route requires.
        caller: callerOf(request) as By,
        requestId: request.app.requestId,
        startedAt: request.app.startedAt,
        span: request.app.span,
        operation,
        clientAddress: request.app.clientAddress,
        request,
        header: (name) => request.raw.req.headers[name.toLowerCase()]?.toString(),
        gone: request.app.gone ?? goneSignal(request),
        endRead: () => request.app.endRead?.(),
        notes: request.app.notes,
    };
}

function render<P, Q, B, A>(contract: Contract<P, Q, B, A>, reply: Reply<A>): Rendered {
    const { status = contract.answer.status, headers = {}, pagination, meta } = reply;
    if ('lines' in reply) throw new Error(`the contract of ${contract.name} lacks answer.lines`);
    if ('text' in reply) return { text: reply.text, status, headers, isKept: reply.isKept };
    const { answer } = reply;
    const isWhole = contract.answer.shape === 'whole';
    const body = isWhole ? answer : { success: true, data: answer, ...(pagination ? { meta: { pagination, ...meta } } : {}) };
    return { text: JSON.stringify(body), status, headers, isKept: false };
}

function toLines(lines: AsyncIterable<string>, h: ResponseToolkit): ResponseObject {
    const stream = Readable.from(inTurns(lines), { objectMode: false });
    return h.response(stream).type('application/x-ndjson; charset=utf-8').code(200).header('cache-control', 'no-store');
}

/** @param seconds how long any cache may keep the answer; undefined: not at all */
async function toResponse(
    seconds: number | undefined,
    { text, status, headers }: Rendered,
    request: Request,
    h: ResponseToolkit,
): Promise<ResponseObject> {
    if (seconds !== undefined) {
        const tag = hash('sha256', text);
        return sendWithETag({ tag, read: async () => ({ plain: text }) }, { status, seconds }, request, h);
    }
    const payload = text.length > LONG ? await bytesInTurns(text) : text;
    const response = packed(payload, request, h).type('application/json; charset=utf-8').code(status);
    for (const [name, value] of Object.entries(headers)) response.header(name, value);
    return response.header('cache-control', 'no-store');
}
