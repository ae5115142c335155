import { backslashesBefore, scanTokens } from './tokens.ts';

/**
 * The beginning of a JSON text as valid JSON: cut after a value or inside a long string, with all brackets closed. It marks that more
 * follows. Reads at most `max` characters.
 * @param padded well-formed JSON of an object or a list; returned whole if it has at most `max` characters
 */
export function truncateJson(padded: string, max: number): string {
    // The answer of a site may begin with any number of blanks.
    const text = padded.length <= max ? padded : padded.trimStart();
    if (text.length <= max) return text;
    const start = text.slice(0, max);
    const open: string[] = [];
    /** The last position after a value or before the first value, and the number of open brackets at that position. */
    let end = 0;
    let depth = 0;
    let before = '';
    let cutString: number | undefined;
    scanTokens(start, (first, from, to) => {
        const sign = String.fromCharCode(first);
        if (to > max) {
            if (before === ':' || open.at(-1) === '[') cutString = from;
            return true;
        }
        if (sign === '{' || sign === '[') open.push(sign);
        else if (sign === '}' || sign === ']') open.pop();
        if (sign === ',') [end, depth] = [from, open.length];
        else if ('{}[]'.includes(sign)) [end, depth] = [to, open.length];
        before = sign;
        return false;
    });
    if (cutString !== undefined) return close(`${withoutHalfEscape(start, cutString + 1).toWellFormed()}…"`, open);
    return close(text.slice(0, end), open.slice(0, depth));
}

/** Removes an escape that the end of the text cuts. @param from the start of its last string */
function withoutHalfEscape(text: string, from: number): string {
    const last = text.lastIndexOf('\\');
    const isEscape = last >= from && backslashesBefore(text, last + 1, from) % 2 === 1;
    return isEscape && last + (text[last + 1] === 'u' ? 6 : 2) > text.length ? text.slice(0, last) : text;
}

function close(text: string, open: readonly string[]): string {
    const innermost = open.at(-1);
    if (innermost === undefined) return text;
    const comma = /[[{]\s*$/.test(text.slice(-100)) ? '' : ',';
    const ends = open.map((sign) => (sign === '[' ? ']' : '}')).reverse();
    return `${text}${comma}${innermost === '[' ? '"… more"' : '"…":"more"'}${ends.join('')}`;
}
