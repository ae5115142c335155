import { isExact, parseExact } from '../../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { areEqual, comparable, sumOf } from './numbers.ts';

/** An expression that is an argument (`&name`): it is evaluated for each item. */
export class Reference {
    readonly evaluate: (item: Json) => Json;

    constructor(evaluate: (item: Json) => Json) {
        this.evaluate = evaluate;
    }
}

export type Argument = Json | Reference;

type Type = 'any' | 'array' | 'array of numbers' | 'array of strings' | 'boolean' | 'expression' | 'null' | 'number' | 'object' | 'string';

interface JmespathFunction {
    /** The types that each argument may have. */
    takes: readonly (readonly Type[])[];
    /** Whether the last argument may be repeated. */
    isVariadic?: true;
    run(...args: Argument[]): Json;
}

function typeOf(value: Argument): Type {
    if (value instanceof Reference) return 'expression';
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'array';
    return isExact(value) ? 'number' : (typeof value as Type);
}

function isOf(type: Type, value: Argument): boolean {
    if (type === 'any') return true;
    const item = ITEMS.get(type);
    if (item === undefined) return typeOf(value) === type;
    return Array.isArray(value) && value.every((one) => typeOf(one) === item);
}

/** The type of the items of a list. */
const ITEMS: ReadonlyMap<Type, Type> = new Map([
    ['array of numbers', 'number'],
    ['array of strings', 'string'],
]);

/** Calls a function of JMESPath. @throws Error for arguments that it does not take, and for a result such as Infinity */
export function callFunction(name: string, args: readonly Argument[]): Json {
    const called = FUNCTIONS.get(name);
    if (called === undefined) throw new Error(`Unknown function: ${name}()`);
    const { takes, isVariadic } = called;
    if (isVariadic ? args.length < takes.length : args.length !== takes.length)
        throw new Error(`${name}() takes ${isVariadic ? 'at least ' : ''}${takes.length} arguments, and it has ${args.length}.`);
    for (const [place, value] of args.entries()) {
        const types = takes[place] ?? takes.at(-1) ?? [];
        if (!types.some((type) => isOf(type, value)))
            throw new Error(`Argument ${place + 1} of ${name}() is of the type ${typeOf(value)}; it takes ${types.join(' or ')}.`);
    }
    const found = called.run(...args);
    if (typeof found === 'number' && !Number.isFinite(found)) throw new Error(`${name}() finds no number that JSON can hold.`);
    return found;
}

type Key = (item: Json) => Json;

/** The order of two numbers or two texts. */
function order(first: Json, second: Json): number {
    const [one, other] = comparable(first, second) as [number, number];
    return one < other ? -1 : one > other ? 1 : 0;
}

/** The first of the items with the greatest key by an order. */
function greatest(items: readonly Json[], key: Key, compare: (first: Json, second: Json) => number): Json {
    let found: { item: Json; key: Json } | undefined;
    for (const item of items) {
        const own = key(item);
        if (found === undefined || compare(own, found.key) > 0) found = { item, key: own };
    }
    return found?.item ?? null;
}

/** The key of an item, which is of one type for all items. */
function keyOf({ evaluate }: Reference): Key {
    let type: Type | undefined;
    return (item) => {
        const key = evaluate(item);
        type ??= typeOf(key);
        if (typeOf(key) !== type || (type !== 'number' && type !== 'string'))
            throw new Error(`Items are ordered by numbers or by texts; one has the type ${typeOf(key)}.`);
        return key;
    };
}

/** Texts in the order of their language. */
function orderOfValues(first: Json, second: Json): number {
    return typeof first === 'string' && typeof second === 'string' ? first.localeCompare(second) : order(first, second);
}

function sorted(items: readonly Json[], key: Key): Json[] {
    const keyed = items.map((item) => ({ item, key: key(item) }));
    return keyed.sort((first, second) => order(first.key, second.key)).map(({ item }) => item);
}

const itself: Key = (item) => item;

/** A whole number is its own floor and ceiling, whatever its digits. */
function rounded(value: Json, round: (double: number) => number): Json {
    return isExact(value) && /^-?\d+$/.test(String(value)) ? value : round(Number(value));
}

function toNumber(value: Json): Json {
    if (typeOf(value) === 'number') return value;
    if (typeof value !== 'string') return null;
    const text = value.trim();
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return parseExact(text);
    // Not JSON, but usual: `+5`, `.5` and `007`. An empty text is no number.
    const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(number) ? number : null;
}

const NUMBERS_OR_STRINGS: readonly Type[] = ['array of numbers', 'array of strings'];

const FUNCTIONS: ReadonlyMap<string, JmespathFunction> = new Map<string, JmespathFunction>(
    Object.entries({
        abs: define([['number']], (value: Json) =>
            isExact(value) ? parseExact(String(value).replace(/^-/, '')) : Math.abs(value as number),
        ),
        avg: define([['array of numbers']], (list: Json[]) => (list.length === 0 ? null : Number(sumOf(list)) / list.length)),
        ceil: define([['number']], (value: Json) => rounded(value, Math.ceil)),
        contains: define([['array', 'string'], ['any']], (whole: string | Json[], part: Json) =>
            typeof whole === 'string' ? whole.includes(String(part)) : whole.some((one) => areEqual(one, part)),
        ),
        ends_with: define([['string'], ['string']], (text: string, end: string) => text.endsWith(end)),
        floor: define([['number']], (value: Json) => rounded(value, Math.floor)),
        join: define([['string'], ['array of strings']], (glue: string, list: string[]) => list.join(glue)),
        keys: define([['object']], (value: JsonObject) => Object.keys(value)),
        length: define([['array', 'object', 'string']], (value: string | Json[] | JsonObject) =>
            isObject(value) ? Object.keys(value).length : (value as string).length,
        ),
        map: define([['expression'], ['array']], ({ evaluate }: Reference, list: Json[]) => list.map((item) => evaluate(item))),
        max: define([NUMBERS_OR_STRINGS], (list: Json[]) => greatest(list, itself, orderOfValues)),
        max_by: define([['array'], ['expression']], (list: Json[], by: Reference) => greatest(list, keyOf(by), order)),
        merge: {
            ...define([['object']], (...objects: JsonObject[]) => Object.fromEntries(objects.flatMap((one) => Object.entries(one)))),
            isVariadic: true,
        },
        min: define([NUMBERS_OR_STRINGS], (list: Json[]) => greatest(list, itself, (first, second) => orderOfValues(second, first))),
        min_by: define([['array'], ['expression']], (list: Json[], by: Reference) =>
            greatest(list, keyOf(by), (first, second) => order(second, first)),
        ),
        not_null: { ...define([['any']], (...values: Json[]) => values.find((value) => value !== null) ?? null), isVariadic: true },
        reverse: define([['array', 'string']], (value: string | Json[]) =>
            typeof value === 'string' ? [...value].reverse().join('') : value.toReversed(),
        ),
        sort: define([NUMBERS_OR_STRINGS], (list: Json[]) => sorted(list, itself)),
        sort_by: define([['array'], ['expression']], (list: Json[], by: Reference) => sorted(list, keyOf(by))),
        starts_with: define([['string'], ['string']], (text: string, start: string) => text.startsWith(start)),
        sum: define([['array of numbers']], (list: Json[]) => sumOf(list)),
        to_array: define([['any']], (value: Json) => (Array.isArray(value) ? value : [value])),
        to_number: define([['any']], toNumber),
        to_string: define([['any']], (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))),
        type: define([['any']], (value: Json) => typeOf(value)),
        values: define([['object']], (value: JsonObject) => Object.values(value)),
    }),
);

/** @param run gets arguments of the types that the function takes */
function define<Args extends Argument[]>(takes: readonly (readonly Type[])[], run: (...args: Args) => Json): JmespathFunction {
    return { takes, run: run as JmespathFunction['run'] };
}
