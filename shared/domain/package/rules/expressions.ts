// The slim build omits the parsers and the HTTP client of the full build, which take 15 MB of memory in each process.
import { load } from 'cheerio/slim';
import jmespath from 'jmespath';
import { LRUCache } from 'lru-cache';

declare module 'jmespath' {
    /** The parser's result. The published types omit it. */
    interface ExpressionNode {
        type: string;
        name?: unknown;
        children?: ExpressionNode[];
    }
    export function compile(expression: string): ExpressionNode;
}

type ExpressionNode = ReturnType<typeof jmespath.compile>;

export const MAX_LENGTH = 1000;
/** Maximum number of expressions in all selects of a package. */
export const MAX_EXPRESSIONS = 10_000;

/** The functions of JMESPath. The parser accepts any name, and an unknown function only fails at run time. */
const FUNCTIONS: ReadonlySet<string> = new Set(
    (
        'abs avg ceil contains ends_with floor join keys length map max max_by merge min min_by not_null reverse sort sort_by ' +
        'starts_with sum to_array to_number to_string type values'
    ).split(' '),
);

/** Faults by kind and text. Packages repeat selectors, and compiling one takes up to 1 ms. */
const checked = new LRUCache<string, { fault: string | undefined }>({ max: 1000 });

/** A sentence that says why a JMESPath expression is invalid; undefined if it is valid. */
export function expressionFault(expression: string): string | undefined {
    return check('jmespath', expression, () => {
        try {
            const unknown = unknownFunction(jmespath.compile(expression));
            return unknown ? 'This expression calls a function that JMESPath does not have.' : undefined;
        } catch {
            return 'This is not a valid JMESPath expression.';
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

/** Walks without recursion, because an expression of 1,000 characters can have a similar depth. */
function unknownFunction(expression: ExpressionNode): boolean {
    const waiting: unknown[] = [expression];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
        if (typeof node !== 'object' || node === null) continue;
        const { type, name, children, value } = node as { type?: unknown; name?: unknown; children?: unknown; value?: unknown };
        if (type === 'Function' && (typeof name !== 'string' || !FUNCTIONS.has(name))) return true;
        if (type === 'Literal') continue;
        if (Array.isArray(children)) waiting.push(...children.filter((child) => child !== undefined));
        if (type === 'KeyValuePair') waiting.push(value);
    }
    return false;
}
