import jmespath from 'jmespath';
import { expressionFault, MAX_LENGTH } from '../package/rules/expressions.ts';

declare module 'jmespath' {
    /** Declares a method that the published types omit. A token is undefined if the library does not know the character. */
    export function tokenize(expression: string): ({ start: number } | undefined)[];
}

/** The error in an expression of a monitor, as a sentence with its position; undefined if it is valid. */
export function monitorExpressionFault(expression: string): string | undefined {
    const fault = expressionFault(expression);
    if (fault === undefined || expression.trim() === '' || expression.length > MAX_LENGTH) return fault;
    const place = placeOfFault(expression);
    return place === undefined ? fault : `${fault} ${place}`;
}

/** Finds the error: the last token of the shortest prefix that no continuation can complete. */
function placeOfFault(expression: string): string | undefined {
    const starts = startsOf(expression);
    if (starts === undefined) return `It goes wrong at character ${lexedLength(expression) + 1}.`;
    const failure = failureOf(expression);
    if (failure === undefined) return undefined;
    if (isAtEnd(failure)) return 'It ends too early.';
    let [good, bad] = [0, starts.length];
    while (bad - good > 1) {
        const middle = Math.floor((good + bad) / 2);
        const before = failureOf(expression.slice(0, starts[middle]));
        if (before === undefined || isAtEnd(before)) good = middle;
        else bad = middle;
    }
    return `It goes wrong at character ${(starts[good] ?? 0) + 1}.`;
}

/** The start of each token; undefined if the text has an unknown token. */
function startsOf(expression: string): number[] | undefined {
    try {
        let last = 0;
        return jmespath.tokenize(expression).map((token) => {
            // The library has no token for a single "=".
            last = token?.start ?? expression.indexOf('=', last);
            return last;
        });
    } catch {
        return undefined;
    }
}

/** Words, quoted texts (the last may lack its closing quote) and single characters. No token of the library extends beyond one of these. */
const PIECES = /[\w-]+|"(?:\\.|[^"\\])*["\\]?|'(?:\\.|[^'\\])*['\\]?|`(?:\\.|[^`\\])*[`\\]?|./gs;

/**
 * The length of the tokens before the first unknown one. Reads each piece once, because reading thousands of prefixes would delay other
 * requests.
 */
function lexedLength(expression: string): number {
    for (const { 0: piece, index } of expression.matchAll(PIECES)) if (startsOf(piece) === undefined) return index;
    return expression.length;
}

function failureOf(expression: string): string | undefined {
    if (expression.trim() === '') return 'EOF';
    try {
        jmespath.compile(expression);
        return undefined;
    } catch (error) {
        return error instanceof Error ? error.message : 'it failed';
    }
}

function isAtEnd(message: string): boolean {
    return message.includes('EOF');
}
