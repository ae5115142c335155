import { isExact, parseExact } from '../../../shared/domain/json/exact-numbers.ts';
import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { Json } from '../../../shared/domain/types.ts';

/** Whole numbers of more digits are compared as doubles, since reading them takes time. */
const MAX_DIGITS = 400;

/** A whole number with all its digits; undefined for any other value. */
function wholeOf(value: Json): bigint | undefined {
    if (Number.isInteger(value)) return BigInt(value as number);
    const digits = isExact(value) ? String(value) : '';
    return digits.length <= MAX_DIGITS && /^-?\d+$/.test(digits) ? BigInt(digits) : undefined;
}

/** Two values, as JavaScript compares them by size: by all digits if they are whole numbers and one has more than a double. */
export function comparable(first: Json, second: Json): [bigint | Json, bigint | Json] {
    if (!isExact(first) && !isExact(second)) return [first, second];
    const [one, other] = [wholeOf(first), wholeOf(second)];
    return one === undefined || other === undefined ? [first, second] : [one, other];
}

function isNumber(value: Json): boolean {
    return typeof value === 'number' || isExact(value);
}

/** Whether two numbers are equal, of which at least one has more digits than a double. */
function areEqualNumbers(first: Json, second: Json): boolean {
    const [one, other] = comparable(first, second);
    if (typeof one === 'bigint') return one === other;
    return isExact(first) && isExact(second) ? String(first) === String(second) : Number(first) === Number(second);
}

/** Whether two values are equal. Long numbers are compared by their digits. The nesting of answers bounds the recursion. */
export function areEqual(first: Json, second: Json): boolean {
    if (first === second) return true;
    if (isExact(first) || isExact(second)) return isNumber(first) && isNumber(second) && areEqualNumbers(first, second);
    if (Array.isArray(first)) {
        return Array.isArray(second) && first.length === second.length && first.every((one, place) => areEqual(one, second[place] ?? null));
    }
    if (!isObject(first) || !isObject(second)) return false;
    const names = Object.keys(first);
    const isSame = (name: string) => Object.hasOwn(second, name) && areEqual(first[name] ?? null, second[name] ?? null);
    return names.length === Object.keys(second).length && names.every(isSame);
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
