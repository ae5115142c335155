// The slim build omits the parsers and the HTTP client of the full build, which take 15 MB of memory in each process.
import { load } from 'cheerio/slim';
import { LRUCache } from 'lru-cache';
import { parseExpression } from '../../jmespath/parse.ts';
import { ExpressionFault } from '../../jmespath/tokens.ts';

export const MAX_LENGTH = 1000;
/** Maximum number of expressions in all selects of a package. */
export const MAX_EXPRESSIONS = 10_000;
/** Maximum number of characters of all expressions of a package. Compiling one takes up to 3 µs for each character. */
export const MAX_CHARACTERS = 250_000;

/** Faults by kind and text. Packages repeat selectors, and compiling one takes up to 1 ms. */
const checked = new LRUCache<string, { fault: string | undefined }>({ max: 1000 });

/** Why a JMESPath expression is invalid, and where, in sentences; undefined if it is valid. */
export function expressionFault(expression: string): string | undefined {
    return check('jmespath', expression, () => {
        try {
            parseExpression(expression);
            return undefined;
        } catch (error) {
            if (!(error instanceof ExpressionFault)) throw error;
            return error.message;
        }
    });
}

/** A sentence that says why a CSS selector is invalid; undefined if it is valid. */
export function selectorFault(selector: string): string | undefined {
    return check('selector', selector, () => {
        try {
            EMPTY_PAGE.root().find(selector);
            return undefined;
        } catch {
            return 'This is not a valid CSS selector.';
        }
    });
}

/** Selectors are compiled before the page is read, so an empty page is sufficient. */
const EMPTY_PAGE = load('');

function check(kind: string, source: string, find: () => string | undefined): string | undefined {
    if (source.trim() === '') return 'This may not be empty.';
    if (source.length > MAX_LENGTH) return `This is longer than ${MAX_LENGTH} characters.`;
    const key = `${kind} ${source}`;
    const known = checked.get(key);
    if (known !== undefined) return known.fault;
    const fault = find();
    checked.set(key, { fault });
    return fault;
}
