import Joi, { type ObjectSchema, type Schema } from 'joi';
import type { RouteScope } from '../domain/accounts/scopes.ts';
import type { OwnWindow } from '../domain/jobs/bounds.ts';
import { REFUSALS, type RefusalCode } from '../refusals.ts';
import { BODY_BYTES } from './body-bytes.ts';
import { complete, id, siteInput } from './vocabulary.ts';

/**
 * The single definition of a route: `serve()` validates with it, the handler's types derive from it, and the OpenAPI document is
 * generated from it.
 *
 * - `auth`: `required` and `optional` check an Authorization header; `ignored` does not read it (health, errors, openapi.json).
 * - `answer.shape`: `data` and `list` are wrapped in the `{success, data}` envelope, `whole` is the body itself.
 */
export interface Contract<Params, Query, Body, Answer, Auth extends KeyUse = KeyUse> {
    /** operationId of the OpenAPI document. */
    name: string;
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** With the placeholders of `PLACEHOLDERS`, which are its params. */
    path: `/${string}`;
    tag: string;
    summary: string;
    description?: string;
    auth: Auth;
    /** The scope that a key needs; `none`: every key may use the route. */
    scope: RouteScope | 'none';
    /** The site in the path stands for its registrable domain. A key that is limited to sites must include the domain itself. */
    actsOnDomain?: true;
    /**
     * The route reveals activity of the whole workspace: a key also needs the scope jobs, and must not be limited to sites, endpoints,
     * effects or connections.
     */
    ofWholeWorkspace?: true;
    /** The route names all sites and endpoints that the workspace deals with, so a key must not be limited to some of them. */
    ofAllSites?: true;
    /** Only owners and admins of the workspace may use it. */
    managersOnly?: true;
    /** Whether calls count against the rate limits of the plan and send their headers. */
    counted: boolean;
    /** Its calls count in this window of the account: `changes` for what may add a row to the audit log of a workspace. */
    window?: OwnWindow;
    /** Calls that are refused before the handler count in the window too. */
    countsRefused?: true;
    /** Honours `Idempotency-Key` (docs/api.md, "Idempotency"): the same key gets the same answer for 24 h. Ignored without an API key. */
    idempotent?: true;
    params?: ObjectSchema<Params>;
    query?: ObjectSchema<Query>;
    body?: BodyRules<Body>;
    /** Request headers that the route reads, for the document. */
    headers?: Readonly<Record<string, { description: string; required?: boolean }>>;
    answer: AnswerRules<Answer>;
    /** Components for parts of the answer, by JSON pointers into its JSON Schema. */
    answerParts?: Readonly<Record<`/${string}`, Component>>;
    /** Browse routes: strong ETag, 304 and `Cache-Control: public, max-age`. Absent: `no-store`. */
    cacheSeconds?: number;
    /** With a key the answer depends on the caller: `no-store` and no ETag. */
    personalWithKey?: true;
    /** Error codes of this route, in addition to COMMON_REFUSALS, in the order of the table of refusals. */
    refusals: readonly RefusalCode[];
}

/**
 * `guard`: limits and allowed characters are checked before the schema (400). With `lines`, texts may contain newlines and tabs unless
 * their schema forbids them. Packages (`false`) check everything themselves (422). `hasParams`: `params` are data for a site, with any
 * character but NUL and lists of any length that fits. `describedBy` is the component that replaces the schema in the document.
 * `isStreamed`: the route reads the body itself, also as lines of JSON that `lines` describes. `mayBeEmpty`: no body counts as `{}`.
 */
interface BodyRules<Body> {
    schema: Schema<Body>;
    maxBytes: number;
    guard: boolean | 'lines';
    hasParams?: true;
    describedBy?: Component;
    isStreamed?: true;
    lines?: string;
    mayBeEmpty?: true;
}

interface AnswerRules<Answer> {
    shape: 'data' | 'list' | 'whole';
    /** Built only for the OpenAPI document. All schemas would take 4 MB in each API; building them is half of the document's time. */
    schema: () => Schema<Answer>;
    status: 200 | 201 | 202;
    alsoStatus?: readonly number[];
    /** Describes one line of an ndjson answer. Absent: the route sends no ndjson. */
    lines?: string;
    /** For lists: fields of `meta` other than the pagination. */
    meta?: ObjectSchema;
}

/** How a route uses the API key: it does not read it, checks it if there is one, or requires it. */
export type KeyUse = 'ignored' | 'optional' | 'required';

/** Schemas that become components of the OpenAPI document. */
export type Component = 'Package' | 'PublishedPackage';

/** A contract with erased types, for lists and documents. */
export type AnyContract = Contract<never, never, never, unknown>;

type WithDefaults<T, Key extends keyof T> = Omit<T, Key> & Partial<Pick<T, Key>>;

type RouteText = `${AnyContract['method']} ${AnyContract['path']}`;

/** What the placeholders of paths stand for. */
const PLACEHOLDERS = {
    batch_id: id('bat'),
    claim_id: id('clm'),
    connection_id: id('con'),
    delivery_id: id('dlv'),
    domain: siteInput(),
    job_id: id('job'),
    monitor_id: id('mon'),
    request_id: id('srq'),
    site: siteInput(),
    version: Joi.string()
        .pattern(/^[1-9]\d{0,8}$/, 'the number of a version, such as 3')
        .description('Number of a version'),
    webhook_id: id('whk'),
    workspace_id: id('wsp'),
};

/** The names of a path's placeholders. */
type Placeholder<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;

type ParamsOf<Path> = [Placeholder<Path>] extends [never] ? object : Record<Placeholder<Path>, string>;

function paramsOf(path: string): { params?: ObjectSchema } {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as keyof typeof PLACEHOLDERS);
    return names.length === 0 ? {} : { params: complete(Object.fromEntries(names.map((name) => [name, PLACEHOLDERS[name]]))) };
}

/** A contract as its file writes it: only what differs from the defaults, and nothing that the path says. */
type Definition<Query, Body, Answer, Auth extends KeyUse> = WithDefaults<
    Omit<Contract<object, Query, Body, Answer, Auth>, 'name' | 'method' | 'path' | 'params' | 'body' | 'answer'>,
    'auth' | 'counted' | 'refusals'
> & {
    body?: WithDefaults<BodyRules<Body>, 'maxBytes' | 'guard'>;
    answer: WithDefaults<AnswerRules<Answer>, 'shape' | 'status'>;
};

/** A type error if `T` is `any`, which would leave the handler unchecked. */
type NotAny<T> = 0 extends 1 & T ? { error: 'a schema of this contract has the type any' } : unknown;

/**
 * Types a contract by its schemas and completes it. By default a route needs a key, is not counted, takes a guarded body of at most
 * `BODY_BYTES`, and answers 200 with `data`.
 * @param definition `refusals` lists the codes that `standardRefusals` does not derive
 */
export function contract<Route extends RouteText, Query = object, Body = undefined, Answer = unknown, Auth extends KeyUse = 'required'>(
    name: string,
    route: Route,
    definition: Definition<Query, Body, Answer, Auth> & NotAny<Query> & NotAny<Body> & NotAny<Answer>,
): Contract<ParamsOf<Route>, Query, Body, Answer, Auth> {
    const {
        body,
        answer,
        auth = 'required' as Auth,
        counted = false,
        refusals = [],
        ...others
    }: Definition<Query, Body, Answer, Auth> = definition;
    const [method, path] = route.split(' ') as [AnyContract['method'], AnyContract['path']];
    const completed = {
        ...others,
        ...paramsOf(path),
        ...{ name, method, path, auth, counted, answer: { shape: 'data' as const, status: 200 as const, ...answer } },
        ...(body === undefined ? {} : { body: { maxBytes: BODY_BYTES, guard: true, ...body } }),
    };
    const codes = new Set<RefusalCode>([...refusals, ...standardRefusals(completed)]);
    return { ...completed, refusals: [...REFUSALS.keys()].filter((code) => codes.has(code)) };
}

/** The error codes that follow from the other fields of a contract. */
function standardRefusals(
    route: Pick<AnyContract, 'method' | 'path' | 'auth' | 'counted' | 'window' | 'idempotent'> & {
        body?: object;
        answer: { shape: string };
    },
) {
    const { method, path, auth, counted, window, idempotent, body, answer } = route;
    const codes: RefusalCode[] = [];
    // A body is read and checked even if the route takes none.
    if (method !== 'GET') codes.push('INVALID_JSON', 'PAYLOAD_TOO_LARGE');
    if (method === 'POST' || body !== undefined) codes.push('UNSUPPORTED_MEDIA_TYPE');
    if (method === 'GET' && answer.shape === 'list') codes.push('INVALID_CURSOR');
    if (/\{(?:site|domain)\}/.test(path)) codes.push('INVALID_DOMAIN');
    // `JOB_NOT_FOUND` for `{job_id}`.
    const absent = [...path.matchAll(/\{(\w+)_id\}/g)].map(([, what = '']) => `${what.toUpperCase()}_NOT_FOUND`);
    codes.push(...[...REFUSALS.keys()].filter((code) => absent.includes(code)));
    if (idempotent) codes.push('INVALID_IDEMPOTENCY_KEY', 'IDEMPOTENCY_CONFLICT', 'IDEMPOTENCY_IN_PROGRESS');
    if (auth === 'required') codes.push('API_KEY_REQUIRED');
    if (auth !== 'ignored') codes.push('INVALID_API_KEY', 'FORBIDDEN');
    if (counted || window !== undefined) codes.push('RATE_LIMITED');
    // Writes of an account wait for each other, in one queue per process.
    if (auth === 'required' && method !== 'GET') codes.push('RATE_LIMITED', 'OVERLOADED');
    return codes;
}

export const COMMON_REFUSALS: readonly RefusalCode[] = [
    'VALIDATION_ERROR',
    'METHOD_NOT_ALLOWED',
    'REQUEST_TIMEOUT',
    'INTERNAL',
    'SERVICE_UNAVAILABLE',
];
