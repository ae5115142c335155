import { foldCase, splitAtCase, withoutAccents, wordsOf } from './fold-text.ts';

/** English words that say nothing about which endpoint is meant. */
const COMMON = new Set(
    'a an and any are as at be by can for from get give how i in into is it its me my need of on or our please so some that the their them then there these they this to use using via want was we what when where which who will with would you your'.split(
        ' ',
    ),
);

/**
 * The words of a text in the form in which they are compared: split at case, underscores and punctuation, case-folded, without
 * diacritics, plurals and the endings -ing and -ed taken off (`searchProducts`, `search_product` and `searching products` meet).
 * CJK runs become pairs of characters. `skipCommon` leaves English function words out.
 */
export function tokensOf(text: string, { skipCommon = false }: { skipCommon?: boolean } = {}): string[] {
    const words = wordsOf(foldCase(splitAtCase(withoutAccents(text))));
    const kept = skipCommon ? words.filter((word) => !COMMON.has(word)) : words;
    return [...new Set(kept.map(stem))];
}

/** A light stem, the same for both sides; it need not be a word. */
function stem(word: string): string {
    if (!/^[a-z]{4,}$/.test(word)) return word;
    return withoutE(withoutEnding(singular(word)));
}

function singular(word: string): string {
    if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
    if (/(?:ss|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
    return /[^siu]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
    const rest = word.replace(/(?:ing|ed)$/, '');
    if (rest.length < 4 || rest === word) return word;
    return rest.replace(/([bdgmnprt])\1$/, '$1');
}

function withoutE(word: string): string {
    return word.length > 4 && word.endsWith('e') ? word.slice(0, -1) : word;
}
