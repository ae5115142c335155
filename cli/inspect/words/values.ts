import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Json, JsonObject, JsonSchema } from '../../../shared/domain/types.ts';
import { isProgramWord, namesPeoplesWords, personalKind } from './harmless.ts';

/** Statistics about the values of one field: the number of each type. The values are not stored, except words of the program. */
export interface Values {
    /** The number of requests with the field, and with the field more than once. */
    sendings: number;
    repeated: number;
    types: Record<ValueType, number>;
    /** Words of the program and the count of each; `others` counts all other values. */
    words: Map<string, number>;
    others: number;
    /** Hashes of the first few different values and of the items of lists, to distinguish a constant from a variable. */
    different: Set<number>;
}

type ValueType = 'integer' | 'number' | 'boolean' | 'date' | 'date-time' | 'uuid' | 'string' | 'null' | 'object' | 'array';

const MAX_WORDS = 13;
const MAX_DIFFERENT = 8;
/** A recorded value appears in a draft only after this many occurrences. */
const MIN_OCCURRENCES = 3;

/** The statistics of a field without values. */
export function createValues(): Values {
    const types = { integer: 0, number: 0, boolean: 0, date: 0, 'date-time': 0, uuid: 0, string: 0, null: 0, object: 0, array: 0 };
    return { sendings: 0, repeated: 0, types, words: new Map(), others: 0, different: new Set() };
}

/** Adds the values of one request: texts of a URL or form, or values of a JSON body. */
export function addValues(values: Values, sent: readonly Json[]): void {
    values.sendings++;
    if (sent.length > 1) values.repeated++;
    for (const value of sent) addValue(values, value);
}

function addValue(values: Values, value: Json): void {
    values.types[typeof value === 'string' ? typeOfText(value) : typeOfJson(value)]++;
    const text = typeof value === 'string' ? value : undefined;
    addHash(values, value);
    // An id is often sent in a list.
    if (Array.isArray(value)) for (const item of value.flat().slice(0, MAX_DIFFERENT)) addHash(values, item);
    if (text === undefined || !isProgramWord(text)) values.others++;
    else if (values.words.has(text) || values.words.size < MAX_WORDS) values.words.set(text, (values.words.get(text) ?? 0) + 1);
    else values.others++;
}

function addHash({ different }: Values, value: Json): void {
    if (different.size < MAX_DIFFERENT) different.add(hashOf(JSON.stringify(value).slice(0, 500)));
}

/** Whether the field was sent, and always empty. */
export function wasEmpty({ different }: Values): boolean {
    return different.size === 1 && different.has(hashOf('""'));
}

/** Merges `more` into `values`. */
export function mergeValues(values: Values, more: Values): void {
    values.sendings += more.sendings;
    values.repeated += more.repeated;
    values.others += more.others;
    for (const [type, count] of Object.entries(more.types)) values.types[type as ValueType] += count;
    for (const hash of more.different) if (values.different.size < MAX_DIFFERENT) values.different.add(hash);
    for (const [word, count] of more.words) {
        if (values.words.has(word) || values.words.size < MAX_WORDS) values.words.set(word, (values.words.get(word) ?? 0) + count);
        else values.others += count;
    }
}

function typeOfJson(value: Exclude<Json, string>): ValueType {
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'array';
    if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number';
    return typeof value === 'boolean' ? 'boolean' : 'object';
}

function typeOfText(text: string): ValueType {
    if (/^-?(?:0|[1-9]\d{0,14})$/.test(text)) return 'integer';
    if (/^-?(?:0|[1-9]\d{0,14})\.\d{1,15}$/.test(text)) return 'number';
    if (text === 'true' || text === 'false') return 'boolean';
    if (/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/.test(text)) return 'date';
    if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text)) return 'date-time';
    return /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text) ? 'uuid' : 'string';
}

/** FNV-1a, 32 bits: compares values without storing them. */
export function hashOf(text: string): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return hash >>> 0;
}

/**
 * The schema of a value in a path, query or form, where numbers and booleans are texts. It has an `enum` only if every value was a word of
 * the program that occurred three times.
 */
export function schemaOfTexts(name: string, values: Values): JsonObject {
    const item = { type: typeFromTexts(values.types), ...enumOf(name, values) };
    const bare: JsonObject =
        item.type === 'date' || item.type === 'date-time' || item.type === 'uuid' ? { type: 'string', format: item.type } : item;
    return values.repeated > 0 ? { type: ['array', 'string'], items: { type: 'string' } } : bare;
}

function typeFromTexts(types: Values['types']): string {
    const seen = (Object.keys(types) as ValueType[]).filter((type) => types[type] > 0);
    const only = seen[0];
    if (only !== undefined && seen.length === 1) return only;
    return seen.length > 0 && seen.every((type) => type === 'integer' || type === 'number') ? 'number' : 'string';
}

/** The schema of a value in a JSON body; `inside` is the schema of objects and arrays. */
export function schemaOfJson(name: string, values: Values, inside: JsonSchema): JsonSchema {
    const { types } = values;
    if (types.object + types.array > 0) return types.null > 0 ? { anyOf: [inside, { type: 'null' }] } : inside;
    const plain = new Set<string>();
    for (const [type, count] of Object.entries(types))
        if (count > 0) plain.add(['date', 'date-time', 'uuid'].includes(type) ? 'string' : type);
    if (plain.has('number')) plain.delete('integer');
    const all = [...plain];
    if (all.length === 0) return {};
    return {
        type: all.length === 1 ? (all[0] ?? 'string') : all,
        ...(all.length === 1 && all[0] === 'string' ? enumOf(name, values) : {}),
    };
}

/** The `enum` of a field: only words of the program, each recorded three times; otherwise empty. */
export function enumOf(name: string, values: Values): JsonObject {
    const isClosed = values.others === 0 && values.words.size >= 2 && values.words.size < MAX_WORDS;
    if (!isClosed || namesPeoplesWords(name) || ![...values.words.values()].every((count) => count >= MIN_OCCURRENCES)) return {};
    return { enum: [...values.words.keys()].sort() };
}

/** The one word that the field had in all of at least three requests; `undefined` if it may vary. */
export function constantOf(name: string, values: Values, sendings: number): string | undefined {
    const [only] = values.words;
    if (only === undefined || values.words.size !== 1 || values.others > 0 || values.repeated > 0 || namesPeoplesWords(name))
        return undefined;
    return only[1] >= MIN_OCCURRENCES && values.sendings === sendings ? only[0] : undefined;
}

/** Whether a recorded value may appear in an example: it looks neither secret nor personal. */
export function isShowable(text: string): boolean {
    return text.length <= 100 && findSecrets(text) === undefined && personalKind(text) === undefined;
}
