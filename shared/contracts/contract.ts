import type { ObjectSchema, Schema } from 'joi';
import type { RouteScope } from '../domain/accounts/scopes.ts';
import type { RefusalCode } from '../refusals.ts';

/**
 * One route, said once: `serve()` validates with it, the handler's types come from it, and the OpenAPI document is made
 * from it.
 *
 * - `auth`: `required` and `optional` judge an Authorization header; `ignored` does not even look at it (health, errors,
 *   openapi.json).
 * - `answer.shape`: `data` and `list` stand in the `{success, data}` envelope, `whole` is the body itself.
 */
export interface Contract<Params, Query, Body, Answer> {
    /** operationId of the OpenAPI document. */
    name: string;
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** With `{placeholders}`, as in the specification. */
    path: `/${string}`;
    tag: string;
    summary: string;
    description?: string;
    auth: 'ignored' | 'optional' | 'required';
    /** The scope that a key needs; `none`: every key may use the route. */
    scope: RouteScope | 'none';
    /** The site in the path stands for its whole registrable domain: a key limited to sites has to name the domain itself. */
    actsOnDomain?: true;
    /** Tells what happens in the whole workspace: a key also needs the scope jobs, and no limit of sites, effects and connections. */
    ofWholeWorkspace?: true;
    /** For owners and admins of the workspace alone. */
    managersOnly?: true;
    /** Counts against the plan's rate limits and sends their headers. */
    counted: boolean;
    /** Honours `Idempotency-Key` (docs/api.md, "Idempotency"): the same key gets the same answer for 24 h. Ignored without an API key. */
    idempotent?: true;
    params?: ObjectSchema<Params>;
    query?: ObjectSchema<Query>;
    /**
     * `guard`: bounds and text rule are judged before the schema (400), with `lines` newlines and tabs are fine in texts whose own
     * schema does not refuse them; a package judges all of it itself (422). `hasParams`: its `params` are data for a site, with any
     * character but NUL, and lists as long as fits. `describedBy` names what describes it in the document instead of its schema.
     * `isStreamed`: the route reads it itself; it may also be lines of JSON, as `lines` says. `mayBeEmpty`: no body is an empty object.
     */
    body?: {
        schema: Schema<Body>;
        maxBytes: number;
        guard: boolean | 'lines';
        hasParams?: true;
        describedBy?: Component;
        isStreamed?: true;
        lines?: string;
        mayBeEmpty?: true;
    };
    /** Request headers that the route reads, for the document. */
    headers?: Readonly<Record<string, { description: string; required?: boolean }>>;
    answer: {
        shape: 'data' | 'list' | 'whole';
        schema: Schema<Answer>;
        status: 200 | 201 | 202;
        alsoStatus?: readonly number[];
        /** Lines of JSON are sent where the caller accepts them: what one line is. */
        lines?: string;
        /** Of a list: what `meta` may have beside the pagination. */
        meta?: ObjectSchema;
    };
    /** JSON pointers into the JSON Schema of the answer whose places the document describes by components. */
    answerParts?: Readonly<Record<`/${string}`, Component>>;
    /** Browse routes: strong ETag, 304 and `Cache-Control: public, max-age`. Absent: `no-store`. */
    cacheSeconds?: number;
    /** With a key the answer is for its caller alone: `no-store`, and no ETag. */
    personalWithKey?: true;
    /** Codes of this route beyond those that every route can give. */
    refusals: readonly RefusalCode[];
}

/** Schemas that the OpenAPI document has once. */
export type Component = 'Package' | 'PublishedPackage';

/** A contract whose types are not known any more: what lists and documents work with. */
export type AnyContract = Contract<never, never, never, unknown>;

/** Names the contract's types from its schemas; adds nothing at run time. */
export function contract<Params = object, Query = object, Body = undefined, Answer = unknown>(
    value: Contract<Params, Query, Body, Answer>,
): Contract<Params, Query, Body, Answer> {
    return value;
}

/** Every route can give these, whatever it does. */
export const COMMON_REFUSALS: readonly RefusalCode[] = [
    'VALIDATION_ERROR',
    'METHOD_NOT_ALLOWED',
    'REQUEST_TIMEOUT',
    'INTERNAL',
    'SERVICE_UNAVAILABLE',
];

/** The largest body in bytes; calls, which may hold files, and schema packages have limits of their own. */
export const BODY_BYTES = 256 * 1024;
export const CALL_BYTES = 2 * 1024 * 1024;
export const PACKAGE_BYTES = 4 * 1024 * 1024;
