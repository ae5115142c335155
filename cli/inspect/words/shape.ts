import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Json, JsonObject, JsonSchema } from '../../../shared/domain/types.ts';
import { personalKind } from './harmless.ts';
import { formOf } from './segments.ts';

/** The shape of JSON values, merged over samples: types and field names, no value. */
export interface Shape {
    seen: number;
    /** `zero` is 0, which may be an integer or a fraction. */
    scalars: Set<'null' | 'boolean' | 'zero' | 'integer' | 'number' | 'string'>;
    objects: number;
    fields: Map<string, Shape>;
    /** The merged shape of fields whose names are values (ids, mail addresses, names of items). */
    entries: Shape | undefined;
    arrays: number;
    items: Shape | undefined;
    /** The length of the longest array. */
    longest: number;
}

/** Limits of the data that is read and of the schema that is built (docs/api.md, "Schema packages" allows 8 levels and 1,000 schemas). */
const MAX_LEVELS = 6;
const MAX_FIELDS = 80;
const MAX_ITEMS = 60;
const MAX_SCHEMAS = 300;

/** The initial shape, before any value. */
export function createShape(): Shape {
    return { seen: 0, scalars: new Set(), objects: 0, fields: new Map(), entries: undefined, arrays: 0, items: undefined, longest: 0 };
}

/** Adds one value. */
export function addShape(shape: Shape, value: Json, level = 0): void {
    shape.seen++;
    if (value === null) shape.scalars.add('null');
    else if (Array.isArray(value)) addArray(shape, value, level);
    else if (typeof value === 'object') addObject(shape, value, level);
    else if (value === 0) shape.scalars.add('zero');
    else if (typeof value === 'number') shape.scalars.add(Number.isSafeInteger(value) ? 'integer' : 'number');
    else shape.scalars.add(typeof value === 'boolean' ? 'boolean' : 'string');
}

function addArray(shape: Shape, value: Json[], level: number): void {
    shape.arrays++;
    shape.longest = Math.max(shape.longest, value.length);
    if (level >= MAX_LEVELS) return;
    shape.items ??= createShape();
    for (const item of value.slice(0, MAX_ITEMS)) addShape(shape.items, item, level + 1);
}

function addObject(shape: Shape, value: JsonObject, level: number): void {
    shape.objects++;
    if (level >= MAX_LEVELS) return;
    const keys = Object.keys(value);
    if (shape.entries === undefined && (keys.some(isValueAsKey) || keys.length > MAX_FIELDS)) foldFields(shape);
    for (const key of keys.slice(0, MAX_FIELDS * 2)) {
        if (shape.entries === undefined && !shape.fields.has(key) && shape.fields.size >= MAX_FIELDS) foldFields(shape);
        addShape(fieldOf(shape, key), value[key] ?? null, level + 1);
    }
}

function fieldOf(shape: Shape, key: string): Shape {
    if (shape.entries !== undefined) return shape.entries;
    const known = shape.fields.get(key);
    if (known !== undefined) return known;
    const made = createShape();
    shape.fields.set(key, made);
    return made;
}

/** From here on, field names are values and are not stored. */
function foldFields(shape: Shape): void {
    const entries = createShape();
    for (const field of shape.fields.values()) mergeShape(entries, field);
    shape.fields.clear();
    shape.entries = entries;
}

/** Whether a field name looks like a value and not like a name that a programmer chose. */
export function isValueAsKey(key: string): boolean {
    if (!/^[\p{L}_$@][\p{L}\p{N}_$@.:-]{0,63}$/u.test(key) || personalKind(key) !== undefined || findSecrets(key) !== undefined)
        return true;
    // Capitals inside and a digit at the end make no token of words (`wpTextbox1`).
    if (/^[a-z]{2,}(?:[A-Z][a-z]{3,})+\d{0,2}$/.test(key)) return false;
    return ['uuid', 'hash', 'date', 'token', 'number', 'version'].includes(formOf(key)) || PROTOTYPE_KEYS.has(key);
}

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Merges `more` into `shape`. */
export function mergeShape(shape: Shape, more: Shape): void {
    shape.seen += more.seen;
    shape.objects += more.objects;
    shape.arrays += more.arrays;
    shape.longest = Math.max(shape.longest, more.longest);
    for (const scalar of more.scalars) shape.scalars.add(scalar);
    if (more.items !== undefined) {
        shape.items ??= createShape();
        mergeShape(shape.items, more.items);
    }
    if (more.entries !== undefined && shape.entries === undefined) foldFields(shape);
    if (more.entries !== undefined && shape.entries !== undefined) mergeShape(shape.entries, more.entries);
    for (const [key, field] of more.fields) mergeShape(fieldOf(shape, key), field);
}

/**
 * A schema that accepts every recorded value and leaves room for others. It forbids no extra field. It requires the fields that were
 * present in each of several objects.
 */
export function schemaOf(shape: Shape, left = { schemas: MAX_SCHEMAS }): JsonSchema {
    left.schemas--;
    if (left.schemas < 0 || shape.seen === 0) return {};
    const types = [...typesOf(shape.scalars), ...(shape.objects > 0 ? ['object'] : []), ...(shape.arrays > 0 ? ['array'] : [])];
    const schema: JsonObject = types.length === 0 ? {} : { type: types.length === 1 ? (types[0] ?? 'string') : types };
    if (shape.items !== undefined && shape.items.seen > 0) schema['items'] = schemaOf(shape.items, left);
    if (shape.objects > 0) Object.assign(schema, membersOf(shape, left));
    return schema;
}

/** A duration or an amount that is 0 today may have a fraction tomorrow. The type is integer only if another whole number was recorded. */
function typesOf(scalars: Shape['scalars']): string[] {
    const number = scalars.has('number') || !scalars.has('integer') ? 'number' : 'integer';
    return [...new Set(Array.from(scalars, (scalar) => (scalar === 'zero' || scalar === 'integer' ? number : scalar)))];
}

function membersOf(shape: Shape, left: { schemas: number }): JsonObject {
    const entries = shape.entries ?? (isMap(shape) ? foldMap(shape) : undefined);
    if (entries !== undefined) return { additionalProperties: schemaOf(entries, left) };
    const fields = [...shape.fields];
    if (fields.length === 0 || left.schemas <= 0) return {};
    const required = fields.filter(([, field]) => shape.objects > 1 && field.seen >= shape.objects).map(([key]) => key);
    return {
        ...(required.length > 0 ? { required } : {}),
        properties: Object.fromEntries(
            fields.map(([key, field]) => [key, NAMES_A_THING.test(key) ? schemaOfId(field, left) : schemaOf(field, left)]),
        ),
    };
}

/** Sites give the same id as a number in one place and as a text in another. */
const NAMES_A_THING = /(?:^|_)ids?$|[a-z]I[dD]s?$/;

function schemaOfId(field: Shape, left: { schemas: number }): JsonSchema {
    const schema = schemaOf(field, left);
    if (field.objects > 0 || field.arrays > 0 || field.scalars.has('number') || field.scalars.has('boolean')) return schema;
    return { type: ['integer', 'string', ...(field.scalars.has('null') ? ['null'] : [])] };
}

/** Whether the keys are names of items: several fields that all contain objects with the same fields. */
function isMap(shape: Shape): boolean {
    const fields = [...shape.fields.values()];
    const [first] = fields;
    if (first === undefined || fields.length < 2 || first.fields.size < 2) return false;
    const keys = [...first.fields.keys()].sort().join('\n');
    return fields.every((field) => field.objects > 0 && field.scalars.size === 0 && [...field.fields.keys()].sort().join('\n') === keys);
}

function foldMap(shape: Shape): Shape {
    const entries = createShape();
    for (const field of shape.fields.values()) mergeShape(entries, field);
    return entries;
}

/** Field names with their types, three levels deep. Two responses with similar features come from one route. */
export function featuresOf(shape: Shape, at = '', level = 0, features = new Set<string>()): Set<string> {
    for (const scalar of shape.scalars) if (scalar !== 'null') features.add(`${at}:${scalar === 'zero' ? 'integer' : scalar}`);
    if (shape.arrays > 0) features.add(`${at}[]`);
    if (shape.objects > 0) features.add(`${at}{}`);
    if (level >= 3) return features;
    if (shape.items !== undefined) featuresOf(shape.items, `${at}[]`, level + 1, features);
    if (shape.entries !== undefined) featuresOf(shape.entries, `${at}{*}`, level + 1, features);
    for (const [key, field] of shape.fields) featuresOf(field, `${at}.${key}`, level + 1, features);
    return features;
}

/** The dotted path of the results in a response, in the form of `billing.results`. `items` if the response itself is the list. */
export function placeOfResults(shape: Shape): string | undefined {
    if (shape.arrays > 0 && shape.objects === 0) return 'items';
    let best: { path: string; weight: number } | undefined;
    const visit = (here: Shape, path: string, level: number) => {
        for (const [key, field] of here.fields) {
            if (key.includes('.')) continue;
            const at = path === '' ? key : `${path}.${key}`;
            const weight = (field.items?.objects ?? 0) > 0 ? field.longest + 1 : 0;
            if (field.arrays > 0 && weight > (best?.weight ?? 0)) best = { path: at, weight };
            if (field.objects > 0 && level < 2) visit(field, at, level + 1);
        }
    };
    visit(shape, '', 0);
    return best?.path;
}
