import { placeholderIn } from '../../fetch/body-template.ts';
import { isFileSchema } from '../../fetch/files.ts';
import { partTypesOf } from '../../fetch/multipart.ts';
import { isTextFormat } from '../../fetch/text-template.ts';
import type { Inliner } from '../../json/schema/inline.ts';
import { isObject } from '../../json/schema/structure.ts';
import type { BodyFormat, Endpoint, Json, JsonObject, Param, ResponseType } from '../../types.ts';
import { sendsBody } from '../endpoint.ts';
import { isRequiredParam, schemaOfParam, schemaOfParams } from '../param-schema.ts';

export function requestBodyOf(endpoint: Endpoint, inliner: Inliner): JsonObject | undefined {
    const params = endpoint.params.filter(({ source }) => source === 'body');
    if (!sendsBody(endpoint)) return undefined;
    const byName = new Map(params.map((param) => [param.name, param]));
    const isText = isTextFormat(endpoint.bodyFormat);
    const schema = isText
        ? { type: 'string' }
        : endpoint.body === undefined
          ? withFiles(schemaOfParams(params, endpoint.bodyFormat, inliner), params, inliner)
          : ofTemplate(endpoint.body, { endpoint, params: byName, inliner }).schema;
    const encoding = endpoint.bodyFormat === 'multipart' ? encodingOf(endpoint) : {};
    return { required: endpoint.bodyRequired, content: { [mediaTypeOf(endpoint)]: { schema, ...encoding } } };
}

/** The media types of the texts of a multipart body. */
function encodingOf(endpoint: Endpoint): { encoding?: JsonObject } {
    const types = [...partTypesOf(endpoint)].map(([field, contentType]): [string, Json] => [field, { contentType }]);
    return types.length === 0 ? {} : { encoding: Object.fromEntries(types) };
}

/** Params of a text template, which OpenAPI cannot express. */
export function bodyParamsOf({ params, bodyFormat }: Endpoint, inliner: Inliner): JsonObject {
    return schemaOfParams(
        params.filter(({ source }) => source === 'body'),
        bodyFormat,
        inliner,
    );
}

/** A package's schema describes `data`. That is the site's answer only if nothing is selected, joined or wrapped. */
export function responsesOf({ method, response, pagination }: Endpoint, { inline }: Inliner): JsonObject {
    const documented = { description: 'What the site answers.' };
    if (method === 'HEAD') return { '2XX': documented };
    const type = response.sse === true ? 'text/event-stream' : response.type === undefined ? '*/*' : RESPONSE_MEDIA[response.type];
    const isJson = response.type === undefined || response.type === 'json';
    const isWhole = isJson && response.select === undefined && pagination === undefined;
    const schema = isWhole && response.schema !== undefined ? inline(response.schema) : {};
    return { '2XX': { ...documented, content: { [type]: { schema: describesWrapper(schema) ? {} : schema } } } };
}

const RESPONSE_MEDIA: Readonly<Record<ResponseType, string>> = {
    json: 'application/json',
    ndjson: 'application/x-ndjson',
    html: 'text/html',
    xml: 'application/xml',
    feed: '*/*',
    csv: 'text/csv',
    text: 'text/plain',
    binary: '*/*',
};

function describesWrapper({ properties }: JsonObject): boolean {
    return isObject(properties) && (Object.hasOwn(properties, 'items') || Object.hasOwn(properties, 'value'));
}

function mediaTypeOf({ bodyFormat, headers }: Endpoint): string {
    const own = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
    return own ?? MEDIA_TYPES[bodyFormat];
}

const MEDIA_TYPES: Readonly<Record<BodyFormat, string>> = {
    json: 'application/json',
    form: 'application/x-www-form-urlencoded',
    multipart: 'multipart/form-data',
    xml: 'application/xml',
    text: 'text/plain',
    ndjson: 'application/x-ndjson',
};

/** The site receives the bytes of a file. Only callers of Routebook send name, type and base64. */
const FILE: JsonObject = { type: 'string', contentMediaType: 'application/octet-stream' };

function withFiles(schema: JsonObject, params: readonly Param[], inliner: Inliner): JsonObject {
    const files = params.filter((param) => isFileSchema(param.schema));
    if (files.length === 0) return schema;
    return {
        ...schema,
        properties: {
            ...(schema['properties'] as JsonObject),
            ...Object.fromEntries(files.map((file) => [file.name, ofFile(file, inliner)])),
        },
    };
}

function ofFile(param: Param, { text }: Inliner): JsonObject {
    const description = text(param.description);
    return description === undefined ? FILE : { ...FILE, description };
}

interface Context {
    endpoint: Endpoint;
    params: ReadonlyMap<string, Param>;
    inliner: Inliner;
}

/** The schema of the value that a template produces; `isSure`: every call contains the value. */
function ofTemplate(template: Json, context: Context): { schema: JsonObject; isSure: boolean } {
    const { endpoint, params, inliner } = context;
    if (typeof template === 'string') {
        const param = params.get(placeholderIn(template) ?? '');
        if (param === undefined) return { schema: { const: template }, isSure: true };
        const schema = isFileSchema(param.schema) ? ofFile(param, inliner) : schemaOfParam(param, endpoint.bodyFormat, inliner);
        return { schema, isSure: isRequiredParam(param) || param.default !== undefined };
    }
    if (Array.isArray(template)) return { schema: ofList(template.map((item) => ofTemplate(item, context))), isSure: true };
    if (!isObject(template)) return { schema: { const: template }, isSure: true };
    const fields = Object.entries(template).map(([key, value]) => ({ key, ...ofTemplate(value, context) }));
    const required = fields.filter(({ isSure }) => isSure).map(({ key }) => key);
    const schema: JsonObject = {
        type: 'object',
        properties: Object.fromEntries(fields.map(({ key, schema: field }) => [key, field])),
        ...(required.length === 0 ? {} : { required }),
        additionalProperties: false,
    };
    return { schema, isSure: true };
}

/** Absent values leave no gap in a list, so only a list without optional items has fixed positions. */
function ofList(items: readonly { schema: JsonObject; isSure: boolean }[]): JsonObject {
    const schemas = items.map(({ schema }) => schema);
    const min = items.filter(({ isSure }) => isSure).length;
    const size = { minItems: min, maxItems: items.length };
    if (items.length === 0) return { type: 'array', ...size };
    if (min === items.length) return { type: 'array', prefixItems: schemas, ...size };
    return { type: 'array', items: { anyOf: schemas }, ...size };
}
