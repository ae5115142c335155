import { getOrMake } from '../get-or-make.ts';
import type { Json } from '../types.ts';
import { isExact, parseExact } from './exact-numbers.ts';

/** A number as `0.DIGITS` times ten to the power of `exponent`, the same for each of its spellings. Zero has no digits. */
interface Decimal {
    isNegative: boolean;
    /** Without zeros at its ends. */
    digits: string;
    exponent: number;
}

/** Whether a value is a number, with whatever digits. */
export function isNumber(value: unknown): boolean {
    return typeof value === 'number' || isExact(value);
}

/** Sorting compares each number many times. */
const known = new WeakMap<object, Decimal>();

function decimalOf(number: Json): Decimal {
    if (typeof number !== 'object' || number === null) return readDecimal(number);
    return getOrMake(known, number, () => readDecimal(number));
}

function readDecimal(number: Json): Decimal {
    const [, sign, whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(number)) ?? [];
    const all = whole + fraction;
    const leading = /^0*/.exec(all)?.[0].length ?? 0;
    const digits = withoutLastZeros(all.slice(leading));
    return { isNegative: sign === '-' && digits !== '', digits, exponent: exponentOf(power) + whole.length - leading };
}

/** Larger exponents count as this one: computing with all their digits takes time. */
const MAX_EXPONENT = 1e15;

function exponentOf(power: string): number {
    return Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, Number(power)));
}

/** A pattern such as `0+$` would take quadratic time. */
function withoutLastZeros(digits: string): string {
    let end = digits.length;
    while (digits[end - 1] === '0') end -= 1;
    return digits.slice(0, end);
}

/** The order of two numbers by all their digits: negative, 0 or positive. */
export function orderOfNumbers(first: Json, second: Json): number {
    // Rounding keeps the order, so digits decide only where both round to the same double.
    const difference = Number(first) - Number(second);
    if (difference !== 0 && !Number.isNaN(difference)) return difference;
    return typeof first === 'number' && typeof second === 'number' ? 0 : orderOfDecimals(decimalOf(first), decimalOf(second));
}

function orderOfDecimals(first: Decimal, second: Decimal): number {
    const [one, other] = [signOf(first), signOf(second)];
    if (one !== other || one === 0) return one - other;
    if (first.exponent !== second.exponent) return first.exponent > second.exponent ? one : -one;
    // After the point of `0.DIGITS`, the order of digits is that of texts.
    return first.digits === second.digits ? 0 : first.digits > second.digits ? one : -one;
}

function signOf({ digits, isNegative }: Decimal): number {
    if (digits === '') return 0;
    return isNegative ? -1 : 1;
}

/** Whether a number is a whole multiple of another one. Their digits decide, since 19.99 / 0.01 is no whole number of doubles. */
export function isMultipleOf(value: number, step: number): boolean {
    if (!Number.isFinite(value) || !Number.isFinite(step)) return false;
    const [one, other] = [decimalOf(value), decimalOf(step)];
    const power = one.exponent - one.digits.length - (other.exponent - other.digits.length);
    const [upper, lower] = [10n ** BigInt(Math.max(0, power)), 10n ** BigInt(Math.max(0, -power))];
    return (BigInt(one.digits) * upper) % (BigInt(other.digits) * lower) === 0n;
}

/** A number in the one spelling of all numbers equal to it: a double if one is equal. */
export function canonicalNumber(number: Json): Json {
    const double = Number(number);
    if (Number.isFinite(double) && orderOfNumbers(double, number) === 0) return double;
    const { isNegative, digits, exponent } = decimalOf(number);
    return parseExact(`${isNegative ? '-' : ''}${digits}e${exponent - digits.length}`);
}
