import type { Schema } from 'joi';
import { readPackage } from '../domain/package/rules/structure.ts';
import type { Json, JsonObject } from '../domain/types.ts';
import { DETAIL_CODES, REFUSALS } from '../refusals.ts';
import type { AnyContract, Component } from './contract.ts';
import { REFUSAL_EXAMPLE } from './examples.ts';

export function answerSchema(contract: AnyContract): JsonObject {
    const schema = withParts(jsonSchemaOf(contract.answer.schema()), contract.answerParts);
    if (contract.answer.shape === 'whole') return schema;
    const properties: JsonObject = { success: { const: true }, data: schema };
    if (contract.answer.shape === 'list') {
        const { properties: more = {} } =
            contract.answer.meta === undefined ? {} : (jsonSchemaOf(contract.answer.meta) as { properties?: JsonObject });
        properties['meta'] = {
            type: 'object',
            required: ['pagination'],
            properties: {
                ...more,
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
    return { type: 'object', required: Object.keys(properties), properties, additionalProperties: false };
}

export function bodySchema({ schema, describedBy }: NonNullable<AnyContract['body']>): JsonObject {
    return describedBy === undefined ? jsonSchemaOf(schema) : componentRef(describedBy);
}

/** @param parts pointers through existing objects and lists */
function withParts(schema: JsonObject, parts: AnyContract['answerParts'] = {}): JsonObject {
    for (const [pointer, component] of Object.entries(parts)) {
        const steps = pointer.split('/').slice(1);
        const last = steps.pop() ?? '';
        const holder = steps.reduce((at: JsonObject, step) => at[step] as JsonObject, schema);
        holder[last] = componentRef(component);
    }
    return schema;
}

function componentRef(component: Component): JsonObject {
    return { $ref: `#/components/schemas/${component}` };
}

/** The package format, generated from the tables with which the rules read packages. The downloaded form also has a version. */
export function packageComponents(): Record<Component, JsonObject> {
    const { properties, required, ...rest } = readPackage.schema as { properties: JsonObject; required: string[] };
    const { $schema: _, ...published } = properties;
    const stored = {
        version: { type: 'integer', minimum: 1 },
        version_hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
        published_at: { type: 'string', format: 'date-time' },
    };
    return {
        Package: readPackage.schema,
        PublishedPackage: { ...rest, properties: { ...published, ...stored }, required: [...required, ...Object.keys(stored)] },
    };
}

/** Joi's JSON Schema (2020-12) for a schema, without `$schema`, which OpenAPI 3.1 implies. */
export function jsonSchemaOf(schema: Schema): JsonObject {
    const { $schema: _, ...shape } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) as Record<string, Json>;
    return correctSchema(shape) as JsonObject;
}

/** The pattern of a text whose characters are counted (vocabulary.ts). */
const COUNTED_TEXT = /^\^\[\\s\\S\]\{0,(\d+)\}\$$/;

/**
 * Corrects Joi's JSON Schema. A pattern that only counts characters is a `maxLength`. For `valid('a', null)`, Joi outputs the types but not
 * the allowed values. For an object with any keys, it omits the type, or uses a pattern that matches every key, which most tools do not
 * support.
 */
function correctSchema(shape: Json): Json {
    if (typeof shape !== 'object' || shape === null) return shape;
    if (Array.isArray(shape)) return shape.map(correctSchema);
    const { patternProperties, ...plain } = Object.fromEntries(
        Object.entries(shape).map(([keyword, value]) => [keyword, correctSchema(value)]),
    );
    const { type, enum: choices, properties, additionalProperties, pattern, ...rest } = plain;
    const max = COUNTED_TEXT.exec(String(pattern))?.[1];
    if (max !== undefined) return { type: 'string', ...rest, maxLength: Number(max) };
    const isMissing = Array.isArray(type) && type.includes('null') && Array.isArray(choices) && !choices.includes(null);
    if (isMissing) return { ...plain, enum: [...choices, null] };
    const ofEveryKey = (patternProperties as JsonObject | undefined)?.['.*'];
    if (ofEveryKey !== undefined) return { ...plain, additionalProperties: ofEveryKey };
    const isOpen = type === 'object' && properties === undefined && additionalProperties === undefined;
    return isOpen ? { ...plain, additionalProperties: true } : plain;
}

export function errorSchema(): JsonObject {
    const text = { type: 'string' };
    return {
        type: 'object',
        required: ['success', 'error', 'meta'],
        examples: [REFUSAL_EXAMPLE],
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
                                code: {
                                    enum: [...new Set<string>([...DETAIL_CODES, ...REFUSALS.keys()])],
                                    description: 'For items of a batch: also the code that the item alone would get',
                                },
                                message: text,
                            },
                        },
                    },
                    problems: { type: 'integer', description: 'For batches: the number of all problems; details lists the first 100' },
                    upgrade_to: text,
                    upgrade_url: text,
                    connect_url: { ...text, description: 'Page where a person connects the site' },
                    obtain_url: { ...text, description: 'Where to get a credential for the site' },
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
