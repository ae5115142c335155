// The slim build omits the parsers and the HTTP client of the full build, which take 15 MB of memory in each process.
import { load } from 'cheerio/slim';
import { checkOnce } from './expressions.ts';

/** A sentence that says why a CSS selector is invalid; undefined if it is valid. */
export function selectorFault(selector: string): string | undefined {
    return checkOnce('selector', selector, () => {
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
