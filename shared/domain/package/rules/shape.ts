import type { DetailCode } from '../../../refusals.ts';
import { isObject } from '../../json/schema/structure.ts';
import { counted } from '../../text/counted.ts';
import type { Json, JsonObject } from '../../types.ts';
import { unknownField } from './forbidden-fields.ts';
import type { Path, Report } from './report.ts';

/** A reader types a value or reports why not. Invalid parts are left out, so that one pass finds every problem of a package. */
export interface Reader<T> {
    (value: unknown, at: Path, report: Report): T | undefined;
    /** The JSON Schema of the field (draft 7, which editors support best). It is never stricter than the rule. */
    schema: JsonObject;
}

/** How to read one field; `orNull`: null means absent. */
interface Field<T> {
    read: Reader<T>;
    /** Description for editors and the OpenAPI document. */
    about: string;
    required?: boolean;
    orNull?: boolean;
}

type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> };

/** Reads an object with known fields. Reports each field that is unknown, missing or of the wrong type. */
export function objectOf<T extends object>(fields: Fields<T>): Reader<Partial<T>> {
    const known = new Map<string, Field<unknown>>(Object.entries(fields));
    return reader(schemaOf(known), (value, at, report) => {
        if (!isObject(value)) return refuse(at, report, 'This must be an object.', 'INVALID_TYPE');
        for (const key of Object.keys(value)) {
            if (report.isFull()) return undefined;
            if (!known.has(key)) unknownField(key, [...at, key], [...known.keys()], report);
        }
        const draft: [string, unknown][] = [];
        for (const [name, field] of known) {
            if (!Object.hasOwn(value, name)) {
                if (field.required) report.add([...at, name], 'REQUIRED', `The field ${name} is missing.`);
                continue;
            }
            if (value[name] === null && field.orNull) continue;
            const read = field.read(value[name], [...at, name], report);
            if (read !== undefined) draft.push([name, read]);
        }
        return Object.fromEntries(draft) as Partial<T>;
    });
}

function schemaOf(known: ReadonlyMap<string, Field<unknown>>): JsonObject {
    const properties = [...known].map(([name, { read, about, orNull = false }]): [string, JsonObject] => [
        name,
        { description: about, ...(orNull ? nullable(read.schema) : read.schema) },
    ]);
    const required = [...known].filter(([, field]) => field.required).map(([name]) => name);
    return {
        type: 'object',
        properties: Object.fromEntries(properties),
        ...(required.length > 0 && { required }),
        additionalProperties: false,
    };
}

/** A schema without a type already accepts null. */
function nullable(schema: JsonObject): JsonObject {
    return typeof schema['type'] === 'string' ? { ...schema, type: [schema['type'], 'null'] } : schema;
}

function reader<T>(schema: JsonObject, read: (value: unknown, at: Path, report: Report) => T | undefined): Reader<T> {
    return Object.assign(read, { schema });
}

/** The same reader, with additions to its JSON Schema that describe later rules. */
export function withDescription<T>(read: Reader<T>, more: JsonObject): Reader<T> {
    return reader({ ...read.schema, ...more }, (value, at, report) => read(value, at, report));
}

/** Reads a list. Rejected items become `undefined`, so that indices stay correct. Items beyond `max` are reported but not read. */
export function listOf<T>(item: Reader<T>, { min, max, of }: { min?: number; max: number; of: string }): Reader<(T | undefined)[]> {
    const schema = { type: 'array', items: item.schema, ...(min !== undefined && { minItems: min }), maxItems: max };
    return reader(schema, (value, at, report) => {
        if (!Array.isArray(value)) return refuse(at, report, `This must be a list of ${of}.`, 'INVALID_TYPE');
        if (value.length < (min ?? 0)) report.refuse(at, `There must be at least ${min} of the ${of}.`);
        if (value.length > max) report.add(at, 'TOO_COMPLEX', `There may be at most ${max} ${of}; this list has ${value.length}.`);
        return value.slice(0, max).map((entry: unknown, index) => item(entry, [...at, index], report));
    });
}

/** Reads a text of one line, or of several with `multiline`. The walk over the whole package (`checkTree`) reports control characters. */
export function text(limits: { max: number; empty?: boolean; multiline?: boolean; pattern?: RegExp; hint?: string }): Reader<string> {
    const { max, empty = false, multiline = false, pattern, hint } = limits;
    const allowed = pattern?.source ?? (multiline ? '' : '^[^\\t\\r\\n]*$');
    const schema = { type: 'string', maxLength: max, ...(!empty && { minLength: 1 }), ...(allowed !== '' && { pattern: allowed }) };
    return reader(schema, (value, at, report) => {
        if (typeof value !== 'string') return refuse(at, report, 'This must be a string.', 'INVALID_TYPE');
        if (value.trim() === '' && !empty) return refuse(at, report, hint ?? 'This text may not be empty.');
        if (value.length > max) return refuse(at, report, `This text is longer than ${counted(max, 'character')}.`);
        if (!multiline && /[\t\r\n]/.test(value)) return refuse(at, report, 'This text may not contain tabs or line breaks.');
        if (pattern !== undefined && !pattern.test(value)) return refuse(at, report, hint ?? 'This text has the wrong form.');
        return value;
    });
}

/** One of the given words: INVALID_VALUE for other words, INVALID_TYPE for anything but text. */
export function oneOf<T extends string>(values: readonly T[]): Reader<T> {
    return reader({ type: 'string', enum: [...values] }, (value, at, report) => {
        const found = values.find((candidate) => candidate === value);
        if (found !== undefined) return found;
        const code = typeof value === 'string' ? 'INVALID_VALUE' : 'INVALID_TYPE';
        return refuse(at, report, `This must be ${values.length === 1 ? values[0] : `one of ${values.join(', ')}`}.`, code);
    });
}

export const flag: Reader<boolean> = reader({ type: 'boolean' }, (value, at, report) => {
    return typeof value === 'boolean' ? value : refuse(at, report, 'This must be true or false.', 'INVALID_TYPE');
});

/** A whole number from `min` to `max`: INVALID_VALUE for other numbers, INVALID_TYPE for anything but numbers. */
export function wholeNumber(min: number, max: number): Reader<number> {
    return reader({ type: 'integer', minimum: min, maximum: max }, (value, at, report) => {
        if (typeof value !== 'number') return refuse(at, report, 'This must be a whole number.', 'INVALID_TYPE');
        if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
        return refuse(at, report, `This must be a whole number from ${min} to ${max}.`);
    });
}

export const anyJson: Reader<Json> = reader({}, (value) => value as Json);

export const anyObject: Reader<JsonObject> = reader({ type: 'object' }, (value, at, report) => {
    return isObject(value) ? value : refuse(at, report, 'This must be an object.', 'INVALID_TYPE');
});

function refuse(at: Path, report: Report, message: string, code: DetailCode = 'INVALID_VALUE'): undefined {
    report.add(at, code, message);
}
