import { foldCase, splitAtCase, withoutAccents, wordsOf } from '../text/fold-text.ts';

/** English words that do not distinguish endpoints. */
const COMMON = new Set(
    'a an and any are as at be by can for from get give how i in into is it its me my need of on or our please so some that the their them then there these they this to use using via want was we what when where which who will with would you your'.split(
        ' ',
    ),
);

/**
 * The words of a text in the form in which they are compared: split at case changes, underscores and punctuation, case-folded, without
 * diacritics, plurals and the endings -ing and -ed (`searchProducts`, `search_product` and `searching products` become equal). CJK runs
 * become pairs of characters. `skipCommon` leaves out English function words.
 */
export function tokensOf(text: string, { skipCommon = false }: { skipCommon?: boolean } = {}): string[] {
    const words = ASCII.test(text) ? asciiWordsOf(text) : wordsOf(foldCase(splitAtCase(withoutAccents(text))));
    const kept = skipCommon ? words.filter((word) => !COMMON.has(word)) : words;
    return [...new Set(kept.map(stemOf))];
}

/** The stems of a text in order, including repetitions; `isName`: the text may be written like `searchProducts`. */
export function stemsOf(text: string, { isName = false }: { isName?: boolean } = {}): string[] {
    const plain = withoutAccents(text);
    return wordsOf(foldCase(isName ? splitAtCase(plain) : plain)).map(stemOf);
}

/** Texts in ASCII, like most packages and intents. The Unicode rules find the same words but take several times as long. */
const ASCII = /^[\x00-\x7f]*$/;

function asciiWordsOf(text: string): string[] {
    return text.match(/[A-Z]+[a-z0-9]*|[a-z0-9]+/g)?.map((word) => word.toLowerCase()) ?? [];
}

/** A cache. Packages use the same few thousand words, and reading a cached stem is faster than computing it. */
const stems = new Map<string, string>();
const MAX_STEMS = 20_000;
/** Longer words are rare, and V8 would keep the whole text from which they were cut. */
const MAX_REMEMBERED_LENGTH = 12;

function stemOf(word: string): string {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const found = stem(word);
    if (word.length > MAX_REMEMBERED_LENGTH) return found;
    if (stems.size >= MAX_STEMS) stems.clear();
    stems.set(word, found);
    return found;
}

/** A simple stem, which is the same for both sides. It need not be a word. */
function stem(word: string): string {
    if (!/^[a-z]{4,}$/.test(word)) return word;
    return withoutE(withoutEnding(singular(word)));
}

function singular(word: string): string {
    if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
    if (/(?:ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
    const one = /[^siu]s$/.test(word) && word !== 'news' ? word.slice(0, -1) : word;
    return one.endsWith('ie') && one.length > 4 ? `${one.slice(0, -2)}y` : one;
}

function withoutEnding(word: string): string {
    const rest = word.replace(/(?:ing|ed)$/, '');
    if (rest.length < 4 || rest === word) return word;
    return rest.replace(/([bdgmnprt])\1$/, '$1');
}

function withoutE(word: string): string {
    return word.length > 4 && word.endsWith('e') ? word.slice(0, -1) : word;
}
