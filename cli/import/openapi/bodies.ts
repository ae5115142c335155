import { isSimple } from '../../../shared/domain/json/schema/simple.ts';
import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import { isSafeMethod } from '../../../shared/domain/package/endpoint.ts';
import type { BodyFormat, Json, JsonObject, JsonSchema, PackageParam } from '../../../shared/domain/types.ts';
import { identifier } from '../../inspect/words/identifier.ts';
import type { LeftOut, NotRead } from '../operation.ts';
import { printableName } from '../texts.ts';
import { asJsonText, describedBy, examplesOf, onlyValue, PARAM_NAME } from './params.ts';
import { isFit, plainSchema } from './plain-schema.ts';
import { type DocumentReader, typesOf, UNSAFE_KEYS } from './schemas.ts';
import { keepStyle, readStructure } from './styles.ts';

/** The request body of a package, or the reason why a required body cannot be sent. */
type ReadBody =
    | {
          ok: true;
          params: PackageParam[];
          template: Json | undefined;
          format: BodyFormat;
          contentType: string | undefined;
          /** Whether a call may omit the body. */
          isOptional: boolean;
          left: LeftOut[];
      }
    | NotRead;

type Carried = Extract<ReadBody, { ok: true }>;

const NOTHING: Carried = { ok: true, params: [], template: undefined, format: 'json', contentType: undefined, isOptional: false, left: [] };
/** Maximum number of characters of a field's description. */
const MAX_DESCRIPTION = 400;
const MAX_FIELDS = 150;
/** Maximum number of params of a body with schemas that have to be compiled. The rules allow 30 per endpoint. */
const MAX_STRUCTURED = 25;
/** Maximum number of schemas in one value of a body. */
const MAX_VALUE_NODES = 200;
/** Maximum number of parts of an object that `allOf` merges. It stops parts that contain themselves. */
const MAX_PARTS = 300;

/** Reads the request body of an operation as params and a template. @param taken names of the operation's other params */
export function readBody(body: JsonObject | undefined, method: string, taken: ReadonlySet<string>, reader: DocumentReader): ReadBody {
    if (body === undefined) return NOTHING;
    if (isSafeMethod(method)) return without(body, `A ${method} request has no body.`);
    const content = objectOf(body['content']);
    const types = Object.keys(content);
    const json =
        types.find((type) => /^application\/json\b/i.test(type)) ??
        types.find((type) => /^application\/[\w.-]+\+json\b/i.test(type) || type === '*/*' || type === 'application/*');
    const form = types.find((type) => /^application\/x-www-form-urlencoded\b/i.test(type));
    const multipart = types.find((type) => /^multipart\/form-data\b/i.test(type));
    const plain = TEXTS.map((pattern) => types.find((type) => pattern.test(type))).find((type) => type !== undefined);
    const type = json ?? form ?? multipart ?? plain;
    if (type === undefined)
        return without(
            body,
            types.length === 0
                ? 'Its body has no content.'
                : `Its body is ${types.slice(0, 3).map(printableName).join(', ')}, but only JSON, forms and texts can be imported.`,
        );
    const media = objectOf(content[type]);
    const read = { media, schema: media['schema'], required: body['required'] === true, taken, reader };
    const contentType = json !== undefined && /\+json/.test(json) ? (json.split(';', 1)[0] ?? json).trim().toLowerCase() : undefined;
    if (json !== undefined) return { ...readJson(read), contentType };
    return type === plain ? asText(read, type) : readForm(read, body, type === form ? 'form' : 'multipart');
}

/** Media types of bodies that become one text param, the preferred ones first. */
const TEXTS: readonly RegExp[] = [
    /^text\/plain\b/i,
    /^text\/(?!xml\b|json\b|html\b)[\w.+-]+/i,
    /^application\/(?:(?:[\w.-]+\+|x-)?yaml|(?:x-)?ndjson|jsonl)\b/i,
    /^application\/octet-stream\b/i,
];

function without(body: JsonObject, why: string): ReadBody {
    if (body['required'] === true) return { ok: false, why };
    return { ...NOTHING, left: [{ name: 'the body', why }] };
}

interface Reading {
    media: JsonObject;
    schema: Json | undefined;
    required: boolean;
    taken: ReadonlySet<string>;
    reader: DocumentReader;
}

function readJson(reading: Reading): Carried {
    const whole = flatten(reading.schema, reading.reader);
    const members = whole === undefined ? [] : membersOfBody(whole, reading);
    if (whole === undefined || members.length === 0 || members.length > MAX_FIELDS)
        return { ...NOTHING, ...asOneParam(reading, reading.reader.ofRequest(reading.schema, MAX_VALUE_NODES)) };
    const left = leastOf(reading, members);
    const needsTemplate = members.some(({ key }) => !PARAM_NAME.test(key) || reading.taken.has(key));
    const used = new Set(reading.taken);
    // All params of an endpoint together may have 2,000 schemas, and a package with 500 endpoints far fewer of each.
    const nodes = Math.max(60, Math.min(MAX_VALUE_NODES, Math.floor(900 / members.length)));
    const template: JsonObject = {};
    const params: PackageParam[] = [];
    for (const { key, schema, required } of members) {
        if (UNSAFE_KEYS.has(key)) {
            left.push({ name: 'a field of the body', why: 'Its name is not accepted in a package.' });
            continue;
        }
        const name = needsTemplate ? placeholder(key, used) : key;
        used.add(name);
        template[key] = `{${name}}`;
        const isNeeded = required && reading.required;
        const made = reading.reader.ofRequest(schema, nodes);
        params.push({
            name,
            source: 'body',
            required: isNeeded,
            ...describedBy({ schema }, reading.reader, MAX_DESCRIPTION),
            schema: made,
            ...exampleOf(key, schema, reading),
            ...(isNeeded ? onlyValue(reading.reader.resolve(schema) ?? {}, made) : {}),
        });
    }
    const made = withFewStructures(params);
    return { ...NOTHING, params: made, template: needsTemplate ? template : undefined, isOptional: !reading.required, left };
}

/** A body that requires a minimum number of fields, each of which is optional. */
function leastOf({ schema, reader }: Reading, members: readonly { required: boolean }[]): LeftOut[] {
    const least = reader.resolve(schema)?.['minProperties'];
    const needed = members.filter(({ required }) => required).length;
    if (typeof least !== 'number' || least <= needed) return [];
    return [{ name: 'the body', why: `It takes at least ${least} of its fields, which a package cannot say.` }];
}

function asText(reading: Reading, type: string): Carried {
    const essence = (type.split(';', 1)[0] ?? type).trim().toLowerCase();
    const left = /octet-stream$/.test(essence) ? [{ name: 'the body', why: 'It is sent as text, so binary content cannot be sent.' }] : [];
    const contentType = essence === 'text/plain' ? undefined : essence;
    return { ...NOTHING, ...asOneParam(reading, { type: 'string' }), format: 'text', contentType, left };
}

/** Texts, lists, plain values, and objects with unknown fields become one param, and the template is only its placeholder. */
function asOneParam(
    { schema: written, required, taken, reader }: Reading,
    schema: JsonSchema,
): Pick<Carried, 'params' | 'template' | 'isOptional'> {
    const name = placeholder('body', taken);
    const described = describedBy({ schema: written ?? null }, reader, MAX_DESCRIPTION);
    return { params: [{ name, source: 'body', required, ...described, schema }], template: `{${name}}`, isOptional: !required };
}

function readForm(reading: Reading, body: JsonObject, format: 'form' | 'multipart'): ReadBody {
    const whole = flatten(reading.schema, reading.reader);
    const members = whole === undefined ? [] : membersOfBody(whole, reading);
    const left = leastOf(reading, members);
    const params: PackageParam[] = [];
    const used = new Set(reading.taken);
    const encodings = objectOf(reading.media['encoding']);
    for (const { key, schema, required } of members) {
        const field = readField(key, schema, { encoding: objectOf(encodings[key]), format, reading });
        const fault = formFault(key, used) ?? (field.ok ? undefined : field.why);
        if (fault !== undefined || !field.ok) {
            const why = fault ?? '';
            if (required && reading.required) return { ok: false, why: `It needs the field ${printableName(key)} of its form. ${why}` };
            left.push({ name: printableName(key), why });
            continue;
        }
        used.add(key);
        left.push(...field.left);
        const isNeeded = required && reading.required;
        const only = isNeeded ? onlyValue(reading.reader.resolve(schema) ?? {}, field.param.schema ?? {}) : {};
        const description = describedBy({ schema }, reading.reader, MAX_DESCRIPTION);
        params.push({ name: key, source: 'body', required: isNeeded, ...description, ...field.param, ...only });
    }
    if (params.length === 0 && reading.required) return without(body, 'Its form has no fields that a package could send.');
    return { ...NOTHING, params: withFewStructures(params), format, isOptional: !reading.required, left };
}

type ReadField = { ok: true; param: Omit<PackageParam, 'name' | 'source' | 'required'>; left: LeftOut[] } | NotRead;

function readField(
    key: string,
    schema: Json,
    { encoding, format, reading }: { encoding: JsonObject; format: 'form' | 'multipart'; reading: Reading },
): ReadField {
    const { reader } = reading;
    const file = format === 'multipart' ? fileIn(schema, reader) : undefined;
    if (file !== undefined) {
        const left = file === 'several' ? [{ name: printableName(key), why: 'A call can send only one file of this list.' }] : [];
        return { ok: true, param: { schema: { format: 'file' } }, left };
    }
    const json = jsonTextOf(schema, encoding, format, reader);
    if (json !== undefined) {
        const [example] = exampleValues(key, schema, reading).map((value) => JSON.stringify(value));
        const shown = asJsonText(describedBy({ schema }, reader, MAX_DESCRIPTION));
        return { ok: true, param: { ...shown, schema: json, ...(isFit(example, json) ? { example } : {}) }, left: [] };
    }
    // Multipart bodies have no styles: a list repeats its name.
    const structure = readStructure(key, schema, format === 'form' ? encoding : {}, reader);
    if (structure?.ok === false) return structure;
    if (structure !== undefined) return { ok: true, param: { schema: structure.schema, ...keepStyle(structure) }, left: structure.left };
    const made = reader.ofRequest(schema);
    const notes = {
        ...(isObject(made) && made['default'] !== undefined ? { default: made['default'] } : {}),
        ...partType(schema, encoding, format, reader),
    };
    return { ok: true, param: { schema: { ...plainSchema(made), ...notes }, ...exampleOf(key, schema, reading) }, left: [] };
}

/**
 * The schema of a field that is sent as JSON text; undefined for other fields. These are the fields for which the document says so, and
 * objects in a multipart body, one by one if they are in a list (OpenAPI, "Encoding Object").
 */
function jsonTextOf(
    schema: Json,
    { contentType }: JsonObject,
    format: 'form' | 'multipart',
    reader: DocumentReader,
): JsonObject | undefined {
    const resolved = reader.resolve(schema) ?? {};
    const types = typesOf(resolved);
    if (typeof contentType === 'string') {
        const isPlain = types.length > 0 && !types.includes('object') && !types.includes('array');
        const type = mediaTypeIn(contentType);
        return !isPlain && type !== undefined && JSON_TYPE.test(type) ? { type: 'string', contentMediaType: type } : undefined;
    }
    if (format !== 'multipart') return undefined;
    const text = { type: 'string', contentMediaType: 'application/json' };
    if (types.includes('object')) return text;
    const isListOfObjects = types.includes('array') && typesOf(reader.resolve(resolved['items']) ?? {}).includes('object');
    return isListOfObjects ? { type: 'array', items: text } : undefined;
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json$/;

/** The media type of a plain field of a multipart body, if the document gives one. */
function partType(
    schema: Json,
    { contentType }: JsonObject,
    format: 'form' | 'multipart',
    reader: DocumentReader,
): { contentMediaType?: string } {
    const written = contentType ?? reader.resolve(schema)?.['contentMediaType'];
    const type = format === 'multipart' && typeof written === 'string' ? mediaTypeIn(written) : undefined;
    return type === undefined || type === 'text/plain' ? {} : { contentMediaType: type };
}

/** The first media type of a list, without its parameters; undefined for none and for wildcards. */
function mediaTypeIn(written: string): string | undefined {
    const [first = ''] = written.toLowerCase().split(/[;,]/, 1);
    return /^[\w.+-]+\/[\w.+-]+$/.test(first.trim()) ? first.trim() : undefined;
}

function formFault(key: string, used: ReadonlySet<string>): string | undefined {
    if (!PARAM_NAME.test(key) || UNSAFE_KEYS.has(key)) return 'Its name has characters that the name of a param may not have.';
    return used.has(key) ? 'Another param has this name, and a form has no template that could rename the field.' : undefined;
}

/** The object that a schema describes, with the parts of `allOf` merged. `undefined` if a value may be something else. */
function flatten(schema: Json | undefined, reader: DocumentReader, level = 0, budget = { parts: MAX_PARTS }): JsonObject | undefined {
    const resolved = reader.resolve(schema);
    if (resolved === undefined || level > 5 || --budget.parts < 0 || resolved['oneOf'] !== undefined || resolved['anyOf'] !== undefined)
        return undefined;
    const types = typesOf(resolved);
    const parts = Array.isArray(resolved['allOf']) ? resolved['allOf'].map((part) => flatten(part, reader, level + 1, budget)) : [];
    if (parts.includes(undefined) || types.some((type) => type !== 'object' && type !== 'null')) return undefined;
    const all = [...parts.filter((part) => part !== undefined), resolved];
    const properties: JsonObject = {};
    const required: string[] = [];
    for (const one of all) {
        if (isObject(one['properties'])) Object.assign(properties, one['properties']);
        for (const name of listOf(one['required'])) if (typeof name === 'string') required.push(name);
    }
    return Object.keys(properties).length === 0 ? undefined : { type: 'object', properties, required };
}

function membersOfBody(whole: JsonObject, { reader }: Reading): { key: string; schema: Json; required: boolean }[] {
    const required = new Set(listOf(whole['required']));
    return Object.entries(objectOf(whole['properties']))
        .filter(([, schema]) => reader.resolve(schema)?.['readOnly'] !== true)
        .map(([key, schema]) => ({ key, schema, required: required.has(key) }));
}

/** Keeps the schemas of the first `MAX_STRUCTURED` params that need compiling. Further params keep only their type. */
function withFewStructures(params: PackageParam[]): PackageParam[] {
    let structured = 0;
    return params.map((param) => {
        const { schema } = param;
        if (schema === undefined || isSimple(schema) || ++structured <= MAX_STRUCTURED) return param;
        const { schema: _schema, ...bare } = param;
        return isObject(schema) && schema['type'] !== undefined ? { ...bare, schema: { type: schema['type'] } } : bare;
    });
}

function placeholder(key: string, used: ReadonlySet<string>): string {
    const plain = /^[A-Za-z_][A-Za-z0-9_]{0,60}$/.test(key) ? key : identifier(key) || 'field';
    for (let count = 1; ; count++) {
        const name = count === 1 ? plain : `${plain}_${count}`;
        if (!used.has(name)) return name;
    }
}

/** An example of the field, or its value in an example of the whole body. Lists and objects give no example. */
function exampleOf(key: string, schema: Json, reading: Reading): { example?: Json } {
    const types = typesOf(reading.reader.resolve(schema) ?? {});
    const value = exampleValues(key, schema, reading).find((one) => isFit(one, types.length === 0 ? {} : { type: types }));
    return value === undefined ? {} : { example: value };
}

function exampleValues(key: string, schema: Json, { media, reader }: Reading): Json[] {
    const bodies = examplesOf(media, reader).filter(isObject);
    return [...examplesOf({ schema }, reader), ...bodies.map((body) => body[key])].filter((one) => one !== undefined);
}

/** Whether a field of a multipart body is a file, or a list of files. */
function fileIn(schema: Json | undefined, reader: DocumentReader): 'one' | 'several' | undefined {
    const resolved = reader.resolve(schema) ?? {};
    if (isFile(resolved)) return 'one';
    const items = reader.resolve(resolved['items']);
    return items !== undefined && isFile(items) ? 'several' : undefined;
}

/** A file has `format: binary` in OpenAPI 3.0, and a media type without an encoding in 3.1. JSON is a text. */
function isFile(schema: JsonObject): boolean {
    const { format, type, contentMediaType: media, contentEncoding: encoding } = schema;
    if (format === 'binary' || type === 'file') return true;
    return typeof media === 'string' && encoding === undefined && !JSON_TYPE.test(mediaTypeIn(media) ?? '');
}
