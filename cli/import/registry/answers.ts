import { isObject, listOf, objectOf } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject, JsonSchema, PackageEndpoint } from '../../../shared/domain/types.ts';
import { UNSAFE_KEYS } from '../openapi/schemas.ts';
import type { LeftOut } from '../operation.ts';
import { printableName } from '../texts.ts';

interface ReadAnswer {
    response: NonNullable<PackageEndpoint['response']>;
    left: LeftOut[];
}

const MAX_LEVEL = 6;
const PLAIN_PATH = /^(?:\$\.)?[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*|\[(?:\d+|\*)?\])*$/;

/** Reads `response_schema` (`fields`, `items`, `html_list`, `next_data`), `response_mapping` and `extraction_rules` of the format 0.1. */
export function readAnswer(schema: Json | undefined, mapping: Json | undefined, rules: Json | undefined): ReadAnswer {
    const left: ReadAnswer['left'] = [];
    const ofPage: JsonObject = { ...nextData(isObject(schema) ? schema['next_data'] : undefined, left), ...importExtract(rules, left) };
    if (Object.keys(ofPage).length > 0) {
        const list = isObject(schema) && isObject(schema['html_list']) ? htmlList(schema['html_list'], left) : {};
        return { response: { type: 'html', select: { ...ofPage, ...objectOf(list.select) } }, left };
    }
    if (isObject(schema) && isObject(schema['html_list'])) return { response: htmlList(schema['html_list'], left), left };
    const response: ReadAnswer['response'] = {};
    if (isObject(schema) && (schema['type'] !== undefined || schema['fields'] !== undefined)) {
        response.type = 'json';
        response.schema = ofData(schema);
    }
    if (isObject(mapping) && Object.keys(mapping).length > 0) {
        const select = selectOf(mapping, left);
        if (Object.keys(select).length > 0) {
            // The schema describes the site's answer, which `select` changes.
            delete response.schema;
            response.type = 'json';
            response.select = select;
        }
    }
    return { response, left };
}

/** `next_data: {name: path}`, or one path: values in the JSON of pages made with Next.js. */
function nextData(paths: Json | undefined, left: ReadAnswer['left']): JsonObject {
    if (paths === undefined || paths === null) return {};
    const named = isObject(paths) ? paths : { value: paths };
    const select: JsonObject = {};
    for (const [name, path] of Object.entries(named)) {
        if (typeof path === 'string' && PLAIN_PATH.test(path) && !UNSAFE_KEYS.has(name))
            select[name] = { selector: 'script#__NEXT_DATA__', json: path.replace(/^\$\./, '') };
        else left.push({ name: `next_data ${printableName(name)}`, why: 'select cannot follow its path as written.' });
    }
    return select;
}

/** `extraction_rules`: selectors by name, or a list of `{name, selector, attr}`. */
function importExtract(rules: Json | undefined, left: ReadAnswer['left']): JsonObject {
    if (rules === undefined || rules === null) return {};
    const entries: [string, Json | undefined][] = Array.isArray(rules)
        ? rules.map((rule, place) => [isObject(rule) && typeof rule['name'] === 'string' ? rule['name'] : String(place), rule])
        : isObject(rules)
          ? Object.entries(rules)
          : [['', rules]];
    const select: JsonObject = {};
    for (const [name, rule] of entries) {
        const { selector, attr } = isObject(rule) ? rule : { selector: rule, attr: undefined };
        const others = isObject(rule) ? Object.entries(rule).filter(([key, value]) => !isPartOfRule(key, value)) : [];
        if (typeof selector !== 'string' || selector === '' || UNSAFE_KEYS.has(name) || others.length > 0)
            left.push({ name: `extraction_rules ${printableName(name)}`, why: 'It is more than a selector; add it to select by hand.' });
        else select[name] = typeof attr === 'string' ? { selector, value: attr } : selector;
    }
    return select;
}

function isPartOfRule(key: string, value: Json | undefined): boolean {
    return ['name', 'selector', 'attr'].includes(key) || (key === 'type' && value === 'css');
}

function htmlList(list: JsonObject, left: ReadAnswer['left']): ReadAnswer['response'] {
    const { item_selector: selector, output_key: key, fields } = list;
    if (typeof selector !== 'string' || !isObject(fields)) {
        left.push({ name: 'html_list', why: 'It has no item_selector or no fields, so the page is returned as Markdown.' });
        return { type: 'html' };
    }
    const value: JsonObject = {};
    for (const [name, path] of Object.entries(fields)) {
        const written = isObject(path) ? `${path['selector'] ?? ''}${path['attr'] === undefined ? '' : `@${path['attr']}`}` : path;
        const found = typeof written === 'string' ? /^(.*?)(?:@([A-Za-z_][\w:.-]*))?$/s.exec(written.trim()) : null;
        const inside = found?.[1]?.trim() ?? '';
        if (inside === '')
            left.push({ name: `html_list field ${name}`, why: 'It reads the item itself, but select reads only what is inside an item.' });
        else value[name] = found?.[2] === undefined ? inside : { selector: inside, value: found[2] };
    }
    if (Object.keys(value).length === 0) return { type: 'html' };
    const output = typeof key === 'string' && key !== '' ? key : 'items';
    return { type: 'html', select: { [output]: [{ selector, value }] } };
}

function selectOf(mapping: JsonObject, left: ReadAnswer['left']): JsonObject {
    const select: JsonObject = {};
    for (const [name, path] of Object.entries(mapping)) {
        if (typeof path === 'string' && PLAIN_PATH.test(path)) select[name] = path.replace(/^\$\./, '');
        else left.push({ name: `response_mapping ${name}`, why: 'select cannot follow its path as written.' });
    }
    return select;
}

/** A list becomes `{items}` in `data`, a plain value `{value}` (docs/api.md, "Hosted fetch"). */
function ofData(schema: JsonObject): JsonSchema {
    const made = convert(schema, 0);
    const type = isObject(made) ? made['type'] : undefined;
    if (type === undefined || type === 'object') return made;
    const key = type === 'array' ? 'items' : 'value';
    return { type: 'object', required: [key], properties: { [key]: made } };
}

const TYPES: Readonly<Record<string, string>> = {
    string: 'string',
    number: 'number',
    float: 'number',
    integer: 'integer',
    int: 'integer',
    boolean: 'boolean',
    bool: 'boolean',
    object: 'object',
    array: 'array',
    null: 'null',
};

/** The JSON Schema type for a type of the format 0.1. */
export function typeOf(type: Json | undefined): string | undefined {
    return typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
}

function convert(field: JsonObject, level: number): JsonSchema {
    const fields = listOf(field['fields']).filter(isObject);
    const type = typeOf(field['type']) ?? (fields.length > 0 ? 'object' : undefined);
    const schema: JsonObject = type === undefined ? {} : { type };
    if (level >= MAX_LEVEL) return schema;
    const named = fields.filter(
        (one): one is JsonObject & { name: string } => typeof one['name'] === 'string' && !UNSAFE_KEYS.has(one['name']),
    );
    if (named.length > 0) schema['properties'] = Object.fromEntries(named.map((one) => [one.name, convert(one, level + 1)]));
    if (isObject(field['items'])) schema['items'] = convert(field['items'], level + 1);
    return schema;
}
