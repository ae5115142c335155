/** Scripts without spaces between words. Their texts are compared by pairs of neighbouring characters. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+/gu;

/** Removes accents of Latin, Greek and Cyrillic letters. In other scripts (Devanagari, Thai, kana), marks distinguish words. */
export function withoutAccents(text: string): string {
    return text.replace(TOO_MANY_MARKS, '$1').normalize('NFKD').replace(ACCENTS, '$1').normalize('NFC');
}

/** Sorting the marks of one letter takes quadratic time. No language uses more than a few (UAX 15 names 30). */
const TOO_MANY_MARKS = /(\p{M}{30})\p{M}+/gu;
/** Matches forward from the letter. Looking back from each mark would take quadratic time too. */
const ACCENTS = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;

/** Converts to upper case first, where `ß` and `SS`, `ς` and `σ` become equal. */
export function foldCase(text: string): string {
    return text.toUpperCase().toLowerCase();
}

/** Converts `searchProducts` to `search Products`. */
export function splitAtCase(text: string): string {
    return text.replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2');
}

/** Runs of letters and digits. In scripts without spaces, pairs of neighbouring characters. */
export function wordsOf(text: string): string[] {
    const spaced = text.replace(UNSPACED, (run) => ` ${pairs(run).join(' ')} `);
    return spaced.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? [];
}

function pairs(run: string): string[] {
    const characters = [...run];
    if (characters.length === 1) return characters;
    return characters.slice(1).map((character, place) => `${characters[place]}${character}`);
}
