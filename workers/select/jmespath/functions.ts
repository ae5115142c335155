import { type ArgumentType, type FunctionName, SIGNATURES, typesAt } from '../../../shared/domain/jmespath/signatures.ts';
import { orderOfNumbers } from '../../../shared/domain/json/decimals.ts';
import { isExact, parseExact } from '../../../shared/domain/json/exact-numbers.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import { areEqual, sumOf } from './numbers.ts';
import { lengthOf, orderOfTexts } from './texts.ts';

/** An expression that is an argument (`&name`): it is evaluated for each item. */
export class Reference {
    readonly evaluate: (item: Json) => Json;

    constructor(evaluate: (item: Json) => Json) {
        this.evaluate = evaluate;
    }
}

export type ArgumentValue = Json | Reference;

function typeOf(value: ArgumentValue): ArgumentType {
    if (value instanceof Reference) return 'expression';
    if (value === null) return 'null';
    if (Array.isArray(value)) return 'array';
    return isExact(value) ? 'number' : (typeof value as ArgumentType);
}

function isOf(type: ArgumentType, value: ArgumentValue): boolean {
    if (type === 'any') return true;
    const item = ITEMS.get(type);
    if (item === undefined) return typeOf(value) === type;
    return Array.isArray(value) && value.every((one) => typeOf(one) === item);
}

const ITEMS: ReadonlyMap<ArgumentType, ArgumentType> = new Map([
    ['array of numbers', 'number'],
    ['array of strings', 'string'],
]);

/** Calls a function of JMESPath. @throws Error for arguments that it does not take, and for a result such as Infinity */
export function callFunction(name: FunctionName, args: readonly ArgumentValue[]): Json {
    for (const [place, value] of args.entries()) {
        const types = typesAt(SIGNATURES[name], place);
        if (!types.some((type) => isOf(type, value)))
            throw new Error(`Argument ${place + 1} of ${name}() is of the type ${typeOf(value)}; it takes ${types.join(' or ')}.`);
    }
    const found = FUNCTIONS[name](...args);
    if (typeof found === 'number' && !Number.isFinite(found)) throw new Error(`The result of ${name}() is no number that JSON can hold.`);
    return found;
}

type Key = (item: Json) => Json;

function order(first: Json, second: Json): number {
    return typeof first === 'string' && typeof second === 'string' ? orderOfTexts(first, second) : orderOfNumbers(first, second);
}

/** The first of the items whose key is the greatest, or with `sign` -1 the least. */
function greatest(items: readonly Json[], key: Key, sign: 1 | -1 = 1): Json {
    let found: { item: Json; key: Json } | undefined;
    for (const item of items) {
        const own = key(item);
        if (found === undefined || sign * order(own, found.key) > 0) found = { item, key: own };
    }
    return found?.item ?? null;
}

/** The key of an item, which is of one type for all items. */
function keyOf({ evaluate }: Reference): Key {
    let type: ArgumentType | undefined;
    return (item) => {
        const key = evaluate(item);
        type ??= typeOf(key);
        if (typeOf(key) !== type || (type !== 'number' && type !== 'string'))
            throw new Error(`Items must be ordered by numbers alone or by strings alone; this key has the type ${typeOf(key)}.`);
        return key;
    };
}

function sorted(items: readonly Json[], key: Key): Json[] {
    const keyed = items.map((item) => ({ item, key: key(item) }));
    return keyed.sort((first, second) => order(first.key, second.key)).map(({ item }) => item);
}

const itself: Key = (item) => item;

/** The next whole number below, or above. A number that no double holds keeps its digits. */
function rounded(value: Json, isUp: boolean): Json {
    const digits = isExact(value) ? /^(-?)(\d{1,400})(?:\.(\d+))?$/.exec(String(value)) : null;
    if (digits === null) return isUp ? Math.ceil(Number(value)) : Math.floor(Number(value));
    const [, sign = '', whole = '', fraction = ''] = digits;
    const isNegative = sign === '-';
    const step = isUp !== isNegative && /[1-9]/.test(fraction) ? 1n : 0n;
    return parseExact(`${sign}${BigInt(whole) + step}`);
}

function toNumber(value: Json): Json {
    if (typeOf(value) === 'number') return value;
    if (typeof value !== 'string') return null;
    const text = value.trim();
    if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) return parseExact(text);
    // Not JSON, but usual: `+5`, `.5` and `007`. An empty text is not a number.
    const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(number) ? number : null;
}

function contains(whole: string | Json[], part: Json): boolean {
    if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part);
    return whole.some((one) => areEqual(one, part));
}

function sizeOf(value: string | Json[] | JsonObject): number {
    if (typeof value === 'string') return lengthOf(value);
    return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** Gets arguments of the types that the function takes. */
type Run = (...args: ArgumentValue[]) => Json;

const FUNCTIONS = {
    abs: (value: Json) => (isExact(value) ? parseExact(String(value).replace(/^-/, '')) : Math.abs(value as number)),
    avg: (list: Json[]) => (list.length === 0 ? null : Number(sumOf(list)) / list.length),
    ceil: (value: Json) => rounded(value, true),
    contains,
    ends_with: (text: string, end: string) => text.endsWith(end),
    floor: (value: Json) => rounded(value, false),
    join: (glue: string, list: string[]) => list.join(glue),
    keys: (value: JsonObject) => Object.keys(value),
    length: sizeOf,
    map: ({ evaluate }: Reference, list: Json[]) => list.map((item) => evaluate(item)),
    max: (list: Json[]) => greatest(list, itself),
    max_by: (list: Json[], by: Reference) => greatest(list, keyOf(by)),
    merge: (...objects: JsonObject[]) => Object.fromEntries(objects.flatMap((one) => Object.entries(one))),
    min: (list: Json[]) => greatest(list, itself, -1),
    min_by: (list: Json[], by: Reference) => greatest(list, keyOf(by), -1),
    not_null: (...values: Json[]) => values.find((value) => value !== null) ?? null,
    reverse: (value: string | Json[]) => (typeof value === 'string' ? [...value].reverse().join('') : value.toReversed()),
    sort: (list: Json[]) => sorted(list, itself),
    sort_by: (list: Json[], by: Reference) => sorted(list, keyOf(by)),
    starts_with: (text: string, start: string) => text.startsWith(start),
    sum: (list: Json[]) => sumOf(list),
    to_array: (value: Json) => (Array.isArray(value) ? value : [value]),
    to_number: toNumber,
    to_string: (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value)),
    type: (value: Json) => typeOf(value),
    values: (value: JsonObject) => Object.values(value),
} as Record<FunctionName, Run>;
