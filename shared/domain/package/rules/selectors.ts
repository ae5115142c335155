// The slim build omits the parsers and the HTTP client of the full build, which take 15 MB of memory in each process.
import { load } from 'cheerio/slim';
import { MAX_SELECTOR_NESTING } from './bounds.ts';
import { checkOnce } from './expressions.ts';

/** A sentence that says why a CSS selector is invalid; undefined if it is valid. */
export function selectorFault(selector: string): string | undefined {
    return checkOnce('selector', selector, () => {
        if (nestingOf(selector) > MAX_SELECTOR_NESTING) return `A selector nests at most ${MAX_SELECTOR_NESTING} levels.`;
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

/** The depth of nested parentheses. Those in quotes and behind backslashes do not count. */
function nestingOf(selector: string): number {
    let depth = 0;
    let deepest = 0;
    for (const [part] of selector.matchAll(/\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[()]/gs)) {
        if (part === '(') deepest = Math.max(deepest, ++depth);
        else if (part === ')') depth--;
    }
    return deepest;
}
