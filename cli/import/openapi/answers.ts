import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageEndpoint } from '../../../shared/domain/types.ts';
import type { NotRead } from '../operation.ts';
import { printableName } from '../texts.ts';
import { type DocumentReader, typesOf } from './schemas.ts';

/** The answer of an operation, or the reason why it cannot be read. */
type ReadAnswer =
    | {
          ok: true;
          response: NonNullable<PackageEndpoint['response']>;
          /** The Accept header, unless the defaults for JSON and HTML are enough. */
          accept?: string;
      }
    | NotRead;

/** Reads the successful answer of an operation: 200, else the first other 2xx, else `default`. */
export function readAnswer(responses: Json | undefined, reader: DocumentReader): ReadAnswer {
    const all = objectOf(responses);
    const codes = Object.keys(all).filter((code) => /^2(?:\d\d|XX)$/i.test(code));
    const code = codes.includes('200') ? '200' : (codes.sort()[0] ?? (all['default'] === undefined ? undefined : 'default'));
    const content = contentOf(code === undefined ? undefined : all[code], reader);
    const types = Object.keys(content);
    const json =
        types.find((type) => /^application\/json\b/i.test(type)) ??
        types.find((type) => /^(?:application|text)\/(?:[\w.-]+\+)?json\b/i.test(type)) ??
        types.find((type) => type === '*/*') ??
        types.find((type) => /^application\/vnd\.[\w.-]+\s*(?:;|$)/i.test(type) && isStructured(content[type], reader));
    if (json !== undefined) return jsonAnswer(json, content[json], otherSuccesses(all, code, reader), reader);
    if (types.some((type) => /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type))) return { ok: true, response: { type: 'html' } };
    for (const [response, pattern] of OTHERS) {
        const found = types.find((type) => pattern.test(type));
        if (found !== undefined) return { ok: true, response: { ...response }, ...acceptOf(found) };
    }
    if (types.length === 0) return { ok: true, response: {} };
    return {
        ok: false,
        why: `It answers with ${types.slice(0, 3).map(printableName).join(', ')}, but only JSON, pages, texts, feeds and files can be read.`,
    };
}

/** Whether the document describes a vendor's media type as an object or a list, so that it is JSON and not a file. */
function isStructured(media: Json | undefined, reader: DocumentReader): boolean {
    const schema = reader.resolve(isObject(media) ? media['schema'] : undefined) ?? {};
    return (
        typesOf(schema).some((type) => type === 'object' || type === 'array') || ['oneOf', 'anyOf', 'allOf'].some((key) => key in schema)
    );
}

function contentOf(answer: Json | undefined, reader: DocumentReader): JsonObject {
    const content = reader.resolve(answer)?.['content'];
    return objectOf(content);
}

/**
 * The answer of an operation that declares JSON or any type, as generators also do for files and texts: a binary format makes it a file, and
 * a text of any type is read by the type of the actual answer.
 */
function jsonAnswer(type: string, media: Json | undefined, others: readonly JsonObject[], reader: DocumentReader): ReadAnswer {
    const written = reader.resolve(isObject(media) ? media['schema'] : undefined);
    if (written?.['format'] === 'binary') return { ok: true, response: { type: 'binary' } };
    const isAnyText = type === '*/*' && written?.['type'] === 'string';
    const { schema } = answerSchema(media, reader);
    const alike = schema === undefined ? undefined : fittingAll(schema, others, reader);
    const response = { ...(isAnyText ? {} : { type: 'json' as const }), ...(alike === undefined ? {} : { schema: alike }) };
    return { ok: true, response, ...acceptOf(type) };
}

/** The contents of the other statuses with which the operation succeeds at once: a file is updated with 200 and created with 201. */
function otherSuccesses(all: JsonObject, chosen: string | undefined, reader: DocumentReader): JsonObject[] {
    const codes = ['200', '201', '203', '204'].filter((code) => code !== chosen && all[code] !== undefined);
    return chosen !== undefined && /^20[0134]$/.test(chosen) ? codes.map((code) => contentOf(all[code], reader)) : [];
}

/** A schema that fits the other successes, too. Undefined if one of them has no schema. */
function fittingAll(schema: JsonSchema, others: readonly JsonObject[], reader: DocumentReader): JsonSchema | undefined {
    const schemas = new Map([[JSON.stringify(schema), schema]]);
    for (const content of others) {
        const media = Object.entries(content).find(([type]) => /[/+]json\b/i.test(type))?.[1];
        const made = Object.keys(content).length === 0 ? { type: 'object', maxProperties: 0 } : answerSchema(media, reader).schema;
        if (made === undefined) return undefined;
        schemas.set(JSON.stringify(made), made);
    }
    return schemas.size === 1 ? schema : { anyOf: [...schemas.values()] };
}

/** Answers besides JSON and HTML, the preferred first, with their media types. */
const OTHERS: readonly (readonly [NonNullable<PackageEndpoint['response']>, RegExp])[] = [
    [{ type: 'ndjson' }, /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)\b/i],
    [{ type: 'feed' }, /^application\/(?:rss|atom|rdf)\+xml\b/i],
    [{ type: 'csv' }, /^text\/(?:csv|tab-separated-values)\b/i],
    [{ type: 'binary' }, /^(?:image\/[\w.+-]+|application\/pdf)\s*(?:;|$)/i],
    [{ type: 'ndjson', sse: true }, /^text\/event-stream\b/i],
    [{ type: 'text' }, /^text\/|^application\/(?:[\w.-]+\+)?(?:xml|(?:x-)?yaml)\b/i],
    [{ type: 'binary' }, /^(?:application|audio|video|font)\/[\w.+-]+\s*(?:;|$)/i],
];

/** The Accept header of a media type. A server with a special media type answers 406 if the request does not accept it. */
function acceptOf(type: string): { accept?: string } {
    const [essence = ''] = type.toLowerCase().split(';', 1);
    // The server may send another type, so JSON is only preferred.
    if (essence.trim() === '*/*') return { accept: 'application/json, */*;q=0.5' };
    const isUsual = ['application/json', 'text/plain'].includes(essence.trim());
    return isUsual || !/^[\w.+-]+\/[\w.+-]+$/.test(essence.trim()) ? {} : { accept: essence.trim() };
}

/** A list becomes `{items}` and a plain value `{value}` in `data` (docs/api.md, "Hosted fetch"). */
function answerSchema(media: Json | undefined, reader: DocumentReader): { schema?: JsonSchema } {
    const written = isObject(media) ? media['schema'] : undefined;
    const schema = reader.ofAnswer(written);
    if (!isObject(schema) || Object.keys(schema).length === 0) return {};
    const sort = typeOfData(schema);
    if (sort === 'object') return { schema };
    if (sort === 'unknown') return {};
    const key = sort === 'array' ? 'items' : 'value';
    return { schema: { type: 'object', required: [key], properties: { [key]: schema } } };
}

function typeOfData(schema: JsonObject): 'object' | 'array' | 'scalar' | 'unknown' {
    const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
    if (types.length !== 1) return 'unknown';
    if (types[0] === 'object') return 'object';
    if (types[0] === 'array') return 'array';
    if (types[0] !== undefined) return 'scalar';
    const alternatives = listOf(schema['anyOf']);
    const isAllObjects = alternatives.length > 0 && alternatives.every((one) => isObject(one) && typeOfData(one) === 'object');
    return isAllObjects || schema['properties'] !== undefined ? 'object' : 'unknown';
}
