import { findSecrets } from '../../../shared/domain/package/secrets-scan.ts';
import type { Texts } from '../pages/page-facts.ts';
import type { SeenTexts } from '../routes/seen-texts.ts';
import { personalKind } from '../words/harmless.ts';

const MAX_LENGTH = 160;

/** Whether a text of a page may appear in a draft: a few words, without numbers, names of people or typed values. */
export function isQuotable(text: string, seen: SeenTexts): boolean {
    if (text.length < 2 || text.length > MAX_LENGTH || !/\p{L}{2}/u.test(text) || /\d{3}|[@<>{}\\]|:\/\//.test(text)) return false;
    if (findSecrets(text) !== undefined || personalKind(text) !== undefined || seen.wasName(text)) return false;
    return !text.split(/[^\p{L}\p{N}_-]+/u).some((word) => word !== '' && (seen.wasName(word) || seen.wasName(word.toLowerCase())));
}

/** ` - `, ` | `, `: ` and other signs between the parts of a title. */
const SEPARATORS = /\s+[-–—|·•»«/]+\s+|\s*[|»«]\s*|:\s+/;

function partsOf(title: string): string[] {
    return title
        .split(SEPARATORS)
        .map((part) => part.trim())
        .filter((part) => part !== '');
}

/** The title parts that most routes share, such as the name of the site. @param titles the titles of each route */
export function siteParts(titles: readonly Texts[]): ReadonlySet<string> {
    const routes = titles.filter((texts) => texts.size > 0);
    const counts = new Map<string, number>();
    for (const texts of routes)
        for (const part of new Set([...texts.keys()].flatMap(partsOf))) counts.set(part, (counts.get(part) ?? 0) + 1);
    const least = Math.max(2, routes.length * 0.5);
    return new Set([...counts].filter(([, count]) => count >= least).map(([part]) => part));
}

/**
 * The common part of the titles or headings of one route, without the name of the site. Parts that differ between its pages may be data. A
 * single page at a varying address has no part that is known to be common.
 */
export function sharedText(
    texts: Texts,
    pages: { isFixed: boolean; addresses: number; isWhole?: boolean },
    ofSite: ReadonlySet<string>,
): string {
    const all = [...texts.keys()].map((text) => partsOf(text).filter((part) => !ofSite.has(part)));
    const [first] = all;
    if (first === undefined) return '';
    // A text of only one of several pages may be about that page alone.
    const isShared = pages.addresses > 1 && [...texts.values()].some((times) => times > 1);
    if (texts.size === 1) return pages.isFixed || isShared ? first.join(' – ') : '';
    const shared = first.filter((part) => all.every((parts) => parts.includes(part)));
    if (shared.length > 0) return shared.join(' – ');
    if (pages.isWhole === true) return '';
    const words = all.map((parts) => parts.join(' ').split(/[\s/]+/));
    const ends = words.map((some) => [...some].reverse());
    const start = commonStart(words);
    return trimSmallWords(start.length > 0 ? start : commonStart(ends).reverse());
}

/** Removes small words at both ends, which connected the text to the part that differs. */
function trimSmallWords(words: readonly string[]): string {
    const first = words.findIndex((word) => !SMALL.test(word));
    return first === -1 ? '' : words.slice(first, words.findLastIndex((word) => !SMALL.test(word)) + 1).join(' ');
}

const SMALL = /^(?:of|for|in|by|on|to|from|with|the|a|an|and|named|at|about|\W+)$/i;

function commonStart(lists: readonly string[][]): string[] {
    const [first = []] = lists;
    const length = first.findIndex((word, place) => lists.some((other) => other[place] !== word));
    return length === -1 ? [...first] : first.slice(0, length);
}

/** The most frequent text, if it has at least half of all counts. */
export function findMajority(texts: Texts): string {
    const total = [...texts.values()].reduce((sum, count) => sum + count, 0);
    const [found] = [...texts].sort(([, a], [, b]) => b - a);
    return found !== undefined && found[1] * 2 >= total ? found[0] : '';
}
