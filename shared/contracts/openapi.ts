import type { Schema } from 'joi';
import type { Json, JsonObject } from '../domain/types.ts';
import { DETAIL_CODES, REFUSALS, type RefusalCode, refusalEntry } from '../refusals.ts';
import { type AnyContract, COMMON_REFUSALS } from './contract.ts';
import { CONTRACTS } from './index.ts';

/** Headers that stand on answers; `#/components/headers/<key>`. */
const HEADERS: Record<string, { name: string; description: string; schema: JsonObject }> = {
    requestId: { name: 'X-Request-Id', description: 'Id of this request, for questions about it', schema: { type: 'string' } },
    policy: { name: 'RateLimit-Policy', description: 'One item per window: quota q in w seconds', schema: { type: 'string' } },
    rateLimit: { name: 'RateLimit', description: 'One item per window: r left, for t seconds', schema: { type: 'string' } },
    limit: { name: 'X-RateLimit-Limit', description: 'Quota of the tightest window', schema: { type: 'integer' } },
    remaining: { name: 'X-RateLimit-Remaining', description: 'What is left in the tightest window', schema: { type: 'integer' } },
    reset: { name: 'X-RateLimit-Reset', description: 'Seconds until the tightest window ends', schema: { type: 'integer' } },
    retryAfter: { name: 'Retry-After', description: 'Seconds to wait before a retry', schema: { type: 'integer' } },
    allow: { name: 'Allow', description: 'Methods that this path takes', schema: { type: 'string' } },
    authenticate: { name: 'WWW-Authenticate', description: 'Bearer', schema: { type: 'string' } },
    replayed: {
        name: 'Idempotent-Replayed',
        description: 'true: the stored answer of the first call with this Idempotency-Key; it is not charged and not counted',
        schema: { type: 'string', enum: ['true'] },
    },
    location: { name: 'Location', description: 'Where the new resource is', schema: { type: 'string' } },
    etag: { name: 'ETag', description: 'Strong validator for If-None-Match', schema: { type: 'string' } },
    cacheControl: { name: 'Cache-Control', description: 'How long the answer may be kept', schema: { type: 'string' } },
};

const COUNTED_HEADERS = ['policy', 'rateLimit', 'limit', 'remaining', 'reset'];

/**
 * The OpenAPI 3.1.0 document of every contract, made from the schemas that validate.
 * @param serverUrl where the API is reached, without a trailing slash.
 */
export function openApiDocument(serverUrl: string): JsonObject {
    const paths: Record<string, JsonObject> = {};
    for (const contract of CONTRACTS) {
        paths[contract.path] = { ...paths[contract.path], [contract.method.toLowerCase()]: operation(contract) };
    }
    return {
        openapi: '3.1.0',
        info: {
            title: 'Routebook',
            version: 'dev',
            description: 'A registry of the routes behind websites, and the workers that call them for you.',
            license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
        },
        servers: [{ url: serverUrl }],
        tags: [...new Set(CONTRACTS.map((contract) => contract.tag))].map((name) => ({ name })),
        security: [],
        paths,
        components: {
            securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: rb_live_…' } },
            headers: Object.fromEntries(Object.entries(HEADERS).map(([key, { description, schema }]) => [key, { description, schema }])),
            schemas: { Error: errorSchema() },
        },
    };
}

function operation(contract: AnyContract): JsonObject {
    return {
        operationId: contract.name,
        tags: [contract.tag],
        summary: contract.summary,
        ...(contract.description === undefined ? {} : { description: contract.description }),
        security: { required: [{ apiKey: [] }], optional: [{}, { apiKey: [] }], ignored: [] }[contract.auth],
        parameters: [
            ...parametersOf(contract.params, 'path'),
            ...parametersOf(contract.query, 'query'),
            ...Object.entries(contract.headers ?? {}).map(([name, { description, required }]) => ({
                name,
                in: 'header',
                description,
                required: required ?? false,
                schema: { type: 'string' },
            })),
        ],
        ...(contract.body === undefined
            ? {}
            : { requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(contract.body.schema) } } } }),
        responses: responses(contract),
    };
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

function responses(contract: AnyContract): JsonObject {
    const answers: JsonObject = {};
    for (const status of [contract.answer.status, ...(contract.answer.alsoStatus ?? [])]) {
        answers[status] = {
            description: status === 201 ? 'Created' : 'OK',
            headers: headerRefs([
                'requestId',
                'cacheControl',
                ...(contract.counted ? COUNTED_HEADERS : []),
                ...(contract.idempotent ? ['replayed'] : []),
                ...(contract.cacheSeconds === undefined ? [] : ['etag']),
                ...(status === 201 ? ['location'] : []),
            ]),
            content: { 'application/json': { schema: answerSchema(contract) } },
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

function answerSchema(contract: AnyContract): JsonObject {
    const schema = jsonSchemaOf(contract.answer.schema);
    if (contract.answer.shape === 'whole') return schema;
    const properties: JsonObject = { success: { const: true }, data: schema };
    if (contract.answer.shape === 'list') {
        properties['meta'] = {
            type: 'object',
            required: ['pagination'],
            properties: {
                pagination: {
                    type: 'object',
                    required: ['limit', 'next_cursor', 'total'],
                    properties: {
                        limit: { type: 'integer' },
                        next_cursor: { type: ['string', 'null'] },
                        total: { type: 'integer' },
                    },
                },
            },
        };
    }
    return { type: 'object', required: Object.keys(properties), properties };
}

function refusalResponse(contract: AnyContract, status: number, codes: RefusalCode[]): JsonObject {
    const meanings = codes.map((code) => `- \`${code}\`: ${refusalEntry(code).meaning}`);
    return {
        description: meanings.join('\n'),
        headers: headerRefs([
            'requestId',
            ...(status === 401 ? ['authenticate'] : []),
            ...(status === 405 ? ['allow'] : []),
            ...(status === 429 || status === 503 ? ['retryAfter'] : []),
            ...(contract.counted && status === 429 ? COUNTED_HEADERS : []),
            // Of a write every outcome is kept from the moment it may have been sent.
            ...(contract.idempotent && status >= 500 ? ['replayed'] : []),
        ]),
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

function headerRefs(keys: readonly string[]): JsonObject {
    return Object.fromEntries(keys.map((key) => [HEADERS[key]?.name ?? key, { $ref: `#/components/headers/${key}` }]));
}

/** Joi's own JSON Schema (2020-12) of a schema, without the dialect's address, which OpenAPI 3.1 has by itself. */
function jsonSchemaOf(schema: Schema): JsonObject {
    const { $schema: _, ...shape } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as Record<string, Json>;
    return shape;
}

function errorSchema(): JsonObject {
    const text = { type: 'string' };
    return {
        type: 'object',
        required: ['success', 'error', 'meta'],
        properties: {
            success: { const: false },
            error: {
                type: 'object',
                required: ['code', 'message', 'status', 'fault', 'retryable', 'request_id', 'doc_url'],
                properties: {
                    code: { enum: [...REFUSALS.keys()] },
                    message: text,
                    status: { type: 'integer' },
                    fault: { enum: ['caller', 'service', 'upstream', 'schema'] },
                    retryable: { type: 'boolean' },
                    retry_after: { type: 'integer', description: 'Seconds' },
                    request_id: text,
                    doc_url: text,
                    details: {
                        type: 'array',
                        items: {
                            type: 'object',
                            required: ['path', 'code', 'message'],
                            properties: {
                                path: { ...text, description: 'JSON pointer' },
                                code: { enum: [...DETAIL_CODES] },
                                message: text,
                            },
                        },
                    },
                    upgrade_to: text,
                    upgrade_url: text,
                    upstream: { type: 'object', properties: { status: { type: 'integer' }, snippet: text } },
                    did_you_mean: { type: 'array', items: text },
                },
            },
            meta: {
                type: 'object',
                required: ['request_id'],
                properties: { request_id: text, credits_used: { type: 'integer' }, credits_remaining: { type: 'integer' } },
            },
            data: { type: 'object', description: 'Only on the 503 of the health route: its status and checks' },
        },
    };
}
