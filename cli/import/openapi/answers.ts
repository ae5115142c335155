import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageEndpoint, ResponseType } from '../../../shared/domain/types.ts';
import type { NotRead } from '../operation.ts';
import { printableName } from '../texts.ts';
import type { DocumentReader } from './schemas.ts';

/** The answer of an operation, or the reason why it cannot be read. */
export type ReadAnswer =
    | {
          ok: true;
          response: NonNullable<PackageEndpoint['response']>;
          /** The Accept header, unless the defaults for JSON and HTML are enough. */
          accept?: string;
      }
    | NotRead;

/** Reads the successful answer of an operation: 200, else the first other 2xx, else `default`. */
export function readAnswer(responses: Json | undefined, reader: DocumentReader): ReadAnswer {
    const all = isObject(responses) ? responses : {};
    const codes = Object.keys(all).filter((code) => /^2(?:\d\d|XX)$/i.test(code));
    const code = codes.includes('200') ? '200' : (codes.sort()[0] ?? (all['default'] === undefined ? undefined : 'default'));
    const answer = code === undefined ? undefined : reader.resolve(all[code]);
    const content = isObject(answer?.['content']) ? answer['content'] : {};
    const types = Object.keys(content);
    const json =
        types.find((type) => /^application\/json\b/i.test(type)) ??
        types.find((type) => /^(?:application|text)\/(?:[\w.-]+\+)?json\b/i.test(type)) ??
        types.find((type) => type === '*/*');
    if (json !== undefined) return { ok: true, response: { type: 'json', ...schemaOf(content[json], reader) }, ...acceptOf(json) };
    if (types.some((type) => /^(?:text\/html|application\/xhtml\+xml)\b/i.test(type))) return { ok: true, response: { type: 'html' } };
    for (const [type, pattern] of OTHERS) {
        const found = types.find((one) => pattern.test(one));
        if (found !== undefined) return { ok: true, response: { type }, ...acceptOf(found) };
    }
    const stream = types.find((type) => /^text\/event-stream\b/i.test(type));
    if (stream !== undefined) return { ok: true, response: { type: 'ndjson', sse: true }, ...acceptOf(stream) };
    const text = types.find((type) => /^text\/(?!event-stream)|^application\/(?:[\w.-]+\+)?(?:xml|(?:x-)?yaml)\b/i.test(type));
    if (text !== undefined) return { ok: true, response: { type: 'text' }, ...acceptOf(text) };
    const file = types.find((type) => /^(?:application|audio|video|font)\/[\w.+-]+\s*(?:;|$)/i.test(type));
    if (file !== undefined) return { ok: true, response: { type: 'binary' }, ...acceptOf(file) };
    if (types.length === 0) return { ok: true, response: {} };
    return {
        ok: false,
        why: `It answers with ${types.slice(0, 3).map(printableName).join(', ')}, and only JSON, pages, texts, feeds and files can be read.`,
    };
}

/** Response types besides JSON, HTML and text, with their media types. */
const OTHERS: readonly (readonly [ResponseType, RegExp])[] = [
    ['ndjson', /^application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)\b/i],
    ['feed', /^application\/(?:rss|atom|rdf)\+xml\b/i],
    ['csv', /^text\/(?:csv|tab-separated-values)\b/i],
    ['binary', /^(?:image\/[\w.+-]+|application\/pdf)\s*(?:;|$)/i],
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
function schemaOf(media: Json | undefined, reader: DocumentReader): { schema?: JsonSchema } {
    const written = isObject(media) ? media['schema'] : undefined;
    const schema = reader.ofAnswer(written);
    if (!isObject(schema) || Object.keys(schema).length === 0) return {};
    const sort = sortOf(schema);
    if (sort === 'object') return { schema };
    if (sort === 'unknown') return {};
    const key = sort === 'array' ? 'items' : 'value';
    return { schema: { type: 'object', required: [key], properties: { [key]: schema } } };
}

function sortOf(schema: JsonObject): 'object' | 'array' | 'scalar' | 'unknown' {
    const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type']];
    if (types.length !== 1) return 'unknown';
    if (types[0] === 'object') return 'object';
    if (types[0] === 'array') return 'array';
    if (types[0] !== undefined) return 'scalar';
    const alternatives = Array.isArray(schema['anyOf']) ? schema['anyOf'] : [];
    const isAllObjects = alternatives.length > 0 && alternatives.every((one) => isObject(one) && sortOf(one) === 'object');
    return isAllObjects || schema['properties'] !== undefined ? 'object' : 'unknown';
}
