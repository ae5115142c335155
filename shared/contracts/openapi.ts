import type { Schema } from 'joi';
import type { Json, JsonObject } from '../domain/types.ts';
import { type RefusalCode, refusalEntry } from '../refusals.ts';
import { COUNTED_HEADERS, headerComponents, headerRefs } from './answer-headers.ts';
import { type AnyContract, COMMON_REFUSALS } from './contract.ts';
import { answerExample, BODY_EXAMPLES } from './examples.ts';
import { CONTRACTS } from './index.ts';
import { answerSchema, bodySchema, errorSchema, jsonSchemaOf, packageComponents } from './openapi-schemas.ts';

/** The OpenAPI 3.1.0 document, from the schemas that validate. Yields between routes. @param serverUrl without a trailing slash */
export function* openApiDocument(serverUrl: string): Generator<void, JsonObject, void> {
    const paths: Record<string, JsonObject> = {};
    for (const contract of CONTRACTS) {
        paths[contract.path] = { ...paths[contract.path], [contract.method.toLowerCase()]: operation(contract) };
        yield;
    }
    return {
        openapi: '3.1.0',
        info: {
            title: 'Routebook',
            version: 'dev',
            description: 'A registry of the routes behind websites, and the workers that call them for you.',
            license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        },
        servers: [{ url: serverUrl }],
        tags: [...new Set(CONTRACTS.map((contract) => contract.tag))].map((name) => ({ name, description: TAGS[name] ?? name })),
        security: [],
        paths,
        components: {
            securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: rb_live_…' } },
            headers: headerComponents(paths),
            schemas: { Error: errorSchema(), ...packageComponents() },
        },
    };
}

const TAGS: Readonly<Record<string, string>> = {
    Catalog: 'What a site offers, for a stated intent',
    Fetch: 'Calls that Routebook makes for you',
    Jobs: 'Queued calls, single or in batches',
    Monitors: 'Calls on a schedule, and what changed in their results',
    Webhooks: 'Signed requests to your URL when something ends or changes',
    Connections: 'Your own credentials for sites, used in calls and never shown',
    Registry: 'Packages of routes: search, read, publish and maintain them',
    Owners: 'Proof of domain ownership, and what owners allow',
    Requests: 'Requests for missing schemas',
    Account: 'Credits, limits, audit log and events',
    Discovery: 'Categories, error codes, health and trends',
};

function operation(contract: AnyContract): JsonObject {
    return {
        operationId: contract.name,
        tags: [contract.tag],
        summary: contract.summary,
        ...descriptionOf(contract),
        security: securityOf(contract),
        parameters: [
            ...parametersOf(contract.params, 'path'),
            ...parametersOf(contract.query, 'query'),
            ...Object.entries({ ...contract.headers, ...(contract.cacheSeconds === undefined ? {} : CONDITION) }).map(
                ([name, { description, required }]) => ({
                    name,
                    in: 'header',
                    description,
                    required: required ?? false,
                    schema: { type: 'string' },
                }),
            ),
        ],
        ...(contract.body === undefined
            ? {}
            : {
                  requestBody: {
                      required: contract.body.mayBeEmpty !== true,
                      content: {
                          'application/json': { schema: bodySchema(contract.body), ...exampleOf(BODY_EXAMPLES[contract.name]) },
                          ...linesOf(contract.body),
                      },
                  },
              }),
        responses: responses(contract),
    };
}

function linesOf({ lines }: { lines?: string }): JsonObject {
    return lines === undefined ? {} : { 'application/x-ndjson': { schema: { type: 'string', description: lines } } };
}

function descriptionOf({ description, scope, ofWholeWorkspace, ofAllSites, managersOnly }: AnyContract): JsonObject {
    const whole = `A key needs the scopes \`${scope}\` and \`jobs\`, and must not be limited to sites, endpoints, effects or connections.`;
    const limits = ofAllSites === true ? ', and must not be limited to sites or endpoints' : '';
    const needs = ofWholeWorkspace === true ? whole : `A key needs the scope \`${scope}\`${limits}.`;
    const role = managersOnly === true ? 'Its user is an owner or admin of the workspace.' : undefined;
    const texts = [description, scope === 'none' ? undefined : needs, role];
    const said = texts.filter((text) => text !== undefined).join(' ');
    return said === '' ? {} : { description: said };
}

/** In OpenAPI 3.1 a security requirement of any scheme may name roles. */
function securityOf({ auth, scope, ofWholeWorkspace }: AnyContract): Json {
    const key = { apiKey: scope === 'none' ? [] : [scope, ...(ofWholeWorkspace === true ? ['jobs'] : [])] };
    return { required: [key], optional: [{}, key], ignored: [] }[auth];
}

const CONDITION: NonNullable<AnyContract['headers']> = {
    'If-None-Match': { description: 'The ETag of a cached answer; 304 if it has not changed' },
};

function exampleOf(example: Json | undefined): JsonObject {
    return example === undefined ? {} : { example };
}

function parametersOf(schema: Schema | undefined, place: 'path' | 'query'): JsonObject[] {
    if (schema === undefined) return [];
    const { properties = {}, required = [] } = jsonSchemaOf(schema) as { properties?: Record<string, JsonObject>; required?: string[] };
    return Object.entries(properties).map(([name, { description, ...shape }]) => ({
        name,
        in: place,
        required: place === 'path' || required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema: shape,
    }));
}

const DESCRIPTIONS: Readonly<Record<number, string>> = { 201: 'Created', 202: 'Accepted' };

function responses(contract: AnyContract): JsonObject {
    const answers: JsonObject = {};
    for (const status of [contract.answer.status, ...(contract.answer.alsoStatus ?? [])]) {
        answers[status] = {
            description: DESCRIPTIONS[status] ?? 'OK',
            headers: headerRefs(
                [
                    'requestId',
                    'cacheControl',
                    ...(contract.counted && !contract.idempotent ? COUNTED_HEADERS : []),
                    ...(contract.cacheSeconds === undefined || contract.personalWithKey ? [] : ['etag']),
                    ...(status === 201 || status === 202 ? ['location'] : []),
                ],
                // A replayed answer is not counted, so it has no rate-limit headers.
                [
                    ...(contract.idempotent ? [...(contract.counted ? COUNTED_HEADERS : []), 'replayed'] : []),
                    ...(contract.personalWithKey ? ['etag'] : []),
                ],
            ),
            content: {
                'application/json': { schema: answerSchema(contract), ...exampleOf(answerExample(contract)) },
                ...linesOf(contract.answer),
            },
        };
    }
    if (contract.cacheSeconds !== undefined) {
        answers[304] = { description: 'Not modified', headers: headerRefs(['requestId', 'etag', 'cacheControl']) };
    }
    for (const [status, codes] of byStatus([...COMMON_REFUSALS, ...contract.refusals])) {
        answers[status] = refusalResponse(contract, status, codes);
    }
    return answers;
}

function refusalResponse(contract: AnyContract, status: number, codes: RefusalCode[]): JsonObject {
    const meanings = codes.map((code) => `- \`${code}\`: ${refusalEntry(code).meaning}`);
    return {
        description: meanings.join('\n'),
        headers: headerRefs(
            [
                'requestId',
                'cacheControl',
                ...(status === 401 ? ['authenticate'] : []),
                ...(status === 405 ? ['allow'] : []),
                ...(status === 429 ? ['retryAfter'] : []),
                ...(contract.counted && status === 429 ? COUNTED_HEADERS : []),
            ],
            [
                ...(status === 409 || status === 503 ? ['retryAfter'] : []),
                // All refusals after the rate-limit check have its headers.
                ...(contract.counted && ![400, 401, 405, 408, 413, 415, 429].includes(status) ? COUNTED_HEADERS : []),
                // From the moment a write may have been sent, its outcome is always stored.
                ...(contract.idempotent && status >= 500 ? ['replayed'] : []),
            ],
        ),
        content: {
            'application/json': {
                schema: {
                    allOf: [
                        { $ref: '#/components/schemas/Error' },
                        { type: 'object', properties: { error: { type: 'object', properties: { code: { enum: codes } } } } },
                    ],
                },
            },
        },
    };
}

function byStatus(codes: readonly RefusalCode[]): Map<number, RefusalCode[]> {
    const groups = new Map<number, RefusalCode[]>();
    for (const code of new Set(codes)) {
        const { status } = refusalEntry(code);
        groups.set(status, [...(groups.get(status) ?? []), code]);
    }
    return new Map([...groups].sort(([a], [b]) => a - b));
}
