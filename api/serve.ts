import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parse } from 'node:querystring';
import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { ObjectSchema, Schema, ValidationErrorItem } from 'joi';
import type { App } from '../shared/app.ts';
import { type AnyContract, BODY_BYTES, type Contract } from '../shared/contracts/contract.ts';
import { newId } from '../shared/domain/ids.ts';
import { textProblem } from '../shared/domain/text-rule.ts';
import { type Detail, type DetailCode, Refusal } from '../shared/refusals.ts';
import type { KeyedCall } from '../shared/store/idempotency.ts';
import type { Caller } from '../shared/store/keys.ts';
import type { Span } from '../shared/tracing.ts';
import { answerOnce, type OnceRules } from './plugins/idempotency.ts';
import { type JsonBody, readJsonBody, readUnwantedJson } from './plugins/input-guard.ts';
import { sendTagged, type Tagged } from './tagged.ts';

/** What a handler is given: validated input, and who asks. */
export interface Call<Params, Query, Body> {
    app: App;
    /** Undefined without a key, which only `optional` and `ignored` routes allow. */
    caller: Caller | undefined;
    params: Params;
    query: Query;
    body: Body;
    /** Of a body that judges itself (`guard: false`): what is wrong with its text and does not show in `body`. */
    bodyFaults: readonly Detail[];
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
    const checked: Checked = {
        params: prepare(contract.params, 'params'),
        query: prepare(contract.query, 'query'),
        body: prepare(contract.body?.schema, 'body'),
    };
    return {
        contract: contract as unknown as AnyContract,
        toHapi: (app) => ({
            method: contract.method,
            path: contract.path,
            options: {
                id: contract.name,
                app: { contract: contract as unknown as AnyContract },
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
                handler: async (request, h) => answer(await readCall(app, contract, checked, request), request, h),
            },
        }),
    };
}

type Place = 'params' | 'query' | 'body';
type Checked = Record<Place, Schema | undefined>;

async function readCall<P, Q, B, A>(app: App, contract: Contract<P, Q, B, A>, checked: Checked, request: Request): Promise<Call<P, Q, B>> {
    const problems: Detail[] = [];
    const params = check<P>(checked.params, request.params, 'params', problems);
    const query = check<Q>(checked.query, singleValues(request, problems), 'query', problems);
    let body = undefined as B;
    let bodyFaults: readonly Detail[] = [];
    if (contract.body !== undefined) {
        const { value, faults } = await readJsonBody(request, contract.body);
        const judgesItself = contract.body.guard === false;
        if (judgesItself) bodyFaults = faults;
        body = checkBody<B>(checked.body, { value, faults: judgesItself ? [] : faults }, problems);
    } else if (contract.method !== 'GET') checkBody(undefined, await readUnwantedJson(request), problems);
    if (problems.length > 0) throw new Refusal('VALIDATION_ERROR', undefined, { details: problems });
    const operation = newId('op');
    request.app.call = { operation, body };
    return {
        app,
        params,
        query,
        body,
        bodyFaults,
        caller: request.app.caller,
        requestId: request.app.requestId,
        startedAt: request.app.startedAt,
        span: request.app.span,
        operation,
        clientAddress: request.app.clientAddress,
        header: (name) => request.raw.req.headers[name.toLowerCase()]?.toString(),
        gone: goneSignal(request),
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
function goneSignal(request: Request): AbortSignal {
    const controller = new AbortController();
    const { res } = request.raw;
    res.once('close', () => {
        if (!res.writableFinished) controller.abort();
    });
    return controller.signal;
}

/**
 * Query strings and path segments are text and converted by the schema; a body's values are never coerced. Joi merges what is said
 * here once; said with each value it took a third of the validation.
 */
function prepare(schema: Schema | ObjectSchema | undefined, place: Place): Schema | undefined {
    return schema?.prefs({
        abortEarly: false,
        convert: place !== 'body',
        errors: { wrap: { label: false } },
        messages: OWN_MESSAGES,
    });
}

function check<T>(schema: Schema | undefined, value: unknown, place: Place, problems: Detail[]): T {
    if (schema === undefined) {
        for (const name of Object.keys((value ?? {}) as object)) {
            problems.push({
                path: `/${pointerPart(name)}`,
                code: 'UNKNOWN_FIELD',
                message: `This route takes no ${place} field of this name.`,
            });
        }
        return {} as T;
    }
    const result = schema.validate(value);
    const items = result.error?.details ?? [];
    for (const item of items) if (!isToldByChoice(item, items)) problems.push(toDetail(item));
    return result.value as T;
}

/** A schema is not shown what is too large to be walked; of the same place and code one problem is enough. */
function checkBody<B>(schema: Schema | undefined, { value, faults }: JsonBody, problems: Detail[]): B {
    problems.push(...faults);
    if (faults.some(({ code }) => code === 'TOO_COMPLEX')) return undefined as B;
    const found: Detail[] = [];
    const body = check<B>(schema, value, 'body', found);
    problems.push(...found.filter(({ path, code }) => !faults.some((fault) => fault.path === path && fault.code === code)));
    return body;
}

/** A value of another type, where one of several words is taken: that it is none of them has been said, and which there are. */
function isToldByChoice(item: ValidationErrorItem, items: readonly ValidationErrorItem[]): boolean {
    if (item.type !== 'string.base') return false;
    const place = item.path.join('/');
    return items.some(({ type, path }) => type === 'any.only' && path.join('/') === place);
}

/** Joi's own words repeat the value, which may be a secret in the wrong place, and show the pattern. */
const OWN_MESSAGES = { 'string.pattern.base': '{{#label}} does not have the form that this route takes' };

const DETAIL_BY_JOI: Record<string, DetailCode> = {
    'any.required': 'REQUIRED',
    'object.unknown': 'UNKNOWN_FIELD',
    'any.only': 'INVALID_VALUE',
    'string.pattern.base': 'INVALID_VALUE',
    'alternatives.match': 'INVALID_TYPE',
    'alternatives.types': 'INVALID_TYPE',
    'text.secret': 'SECRET_DETECTED',
    'category.unknown': 'UNKNOWN_CATEGORY',
};

function toDetail(item: ValidationErrorItem): Detail {
    const path = item.path.map((part) => `/${pointerPart(String(part))}`).join('');
    const code = DETAIL_BY_JOI[item.type] ?? (item.type.endsWith('.base') ? 'INVALID_TYPE' : 'INVALID_VALUE');
    // The last part of the path is the caller's own text: bounded, so that an error is never larger than its request.
    return { path: path.slice(0, 512), code, message: `${item.message.slice(0, 256)}.` };
}

function singleValues({ query, raw }: Request, problems: Detail[]): Record<string, unknown> {
    // No prototype: a parameter may be called __proto__.
    const single: Record<string, unknown> = Object.create(null);
    const garbled = garbledNames(raw.req.url ?? '');
    for (const [name, value] of Object.entries(query)) {
        const path = `/${pointerPart(name)}`;
        const isRepeated = Array.isArray(value);
        if (isRepeated) problems.push({ path, code: 'REPEATED', message: 'This query parameter may stand only once.' });
        const fault = garbled.has(name) ? 'is not UTF-8' : textProblem(`${name}${value}`, { multiline: name === 'intent' });
        if (fault !== undefined) problems.push({ path, code: 'INVALID_VALUE', message: `This query parameter ${fault}.` });
        else if (!isRepeated) single[name] = value;
    }
    return single;
}

/** Query parameters with escapes that are no UTF-8, by their names as decoded; their texts hold replacement characters that nobody sent. */
function garbledNames(url: string): Set<string> {
    const names = new Set<string>();
    const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
    for (const pair of query.split('&')) {
        const runs = pair.match(/(?:%[\da-f]{2})+/gi) ?? [];
        if (runs.every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))) continue;
        for (const name of Object.keys(parse(pair))) names.add(name);
    }
    return names;
}

/** One reference token of a JSON pointer (RFC 6901). */
function pointerPart(text: string): string {
    return text.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1');
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
