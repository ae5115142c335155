import type { Comparator } from '../../../shared/domain/jmespath/parse.ts';
import { isNumber, orderOfNumbers } from '../../../shared/domain/json/decimals.ts';
import { isExact, parseExact } from '../../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { orderOfTexts } from './texts.ts';

/** A sum with a longer whole number is computed with doubles, since reading its digits takes time. */
const MAX_DIGITS = 400;

/** A whole number with all its digits; undefined for any other value. */
function wholeOf(value: Json): bigint | undefined {
    if (Number.isInteger(value)) return BigInt(value as number);
    const [, digits = ''] = (isExact(value) && /^(-?\d+)(?:\.0+)?$/.exec(String(value))) || [];
    return digits !== '' && digits.length <= MAX_DIGITS ? BigInt(digits) : undefined;
}

/** Whether two values are equal. Numbers are equal if all their digits are. The nesting of answers bounds the recursion. */
export function areEqual(first: Json, second: Json): boolean {
    if (first === second) return true;
    if (isExact(first) || isExact(second)) return isNumber(first) && isNumber(second) && orderOfNumbers(first, second) === 0;
    if (Array.isArray(first)) {
        return Array.isArray(second) && first.length === second.length && first.every((one, place) => areEqual(one, second[place] ?? null));
    }
    if (!isObject(first) || !isObject(second)) return false;
    const names = Object.keys(first);
    const isSame = (name: string) => Object.hasOwn(second, name) && areEqual(first[name] ?? null, second[name] ?? null);
    return names.length === Object.keys(second).length && names.every(isSame);
}

/**
 * The result of a comparison. Numbers are ordered by size and texts by code points, as the common tools for the command line do, so that
 * dates can be compared; null if other values are ordered.
 */
export function compare(comparator: Comparator, first: Json, second: Json): boolean | null {
    if (comparator === '==') return areEqual(first, second);
    if (comparator === '!=') return !areEqual(first, second);
    const order = orderOf(first, second);
    if (order === null) return null;
    if (comparator === '<') return order < 0;
    if (comparator === '<=') return order <= 0;
    return comparator === '>' ? order > 0 : order >= 0;
}

function orderOf(first: Json, second: Json): number | null {
    if (isNumber(first) && isNumber(second)) return orderOfNumbers(first, second);
    return typeof first === 'string' && typeof second === 'string' ? orderOfTexts(first, second) : null;
}

/** The sum of numbers: exact if all are whole. */
export function sumOf(numbers: readonly Json[]): Json {
    let sum = 0;
    let isSafe = true;
    for (const one of numbers) {
        sum += Number(one);
        isSafe &&= Number.isSafeInteger(sum) && !isExact(one);
    }
    if (isSafe) return sum;
    const whole = numbers.map(wholeOf);
    if (!whole.every((one) => one !== undefined)) return sum;
    return parseExact(String(whole.reduce((before, one) => before + one, 0n)));
}
