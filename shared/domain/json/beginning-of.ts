/**
 * The beginning of a JSON text as JSON: cut where a value ends, or inside of a long text, and closed; it says that there is more. Nothing
 * behind the first `most` characters is looked at.
 * @param padded well-formed JSON of an object or a list; one of at most so many characters is given back
 */
export function beginningOf(padded: string, most: number): string {
    // A site may begin with as many blanks as it likes, in which no value would be found.
    const text = padded.length <= most ? padded : padded.trimStart();
    if (text.length <= most) return text;
    const open: string[] = [];
    /** The last place at which a value had ended or none had begun, and what was open there. What closes moves it on, so that nothing below is lost. */
    let end = 0;
    let depth = 0;
    let before = '';
    for (let i = 0; i < most; i++) {
        const sign = text[i] ?? '';
        if (sign === '"') {
            const { at, isClosed } = endOfString(text, i, most);
            if (!isClosed) {
                const isValue = before === ':' || open.at(-1) === '[';
                if (isValue) return close(`${text.slice(0, at).toWellFormed()}…"`, open);
                break;
            }
            i = at;
        } else if (sign === '{' || sign === '[') open.push(sign);
        else if (sign === '}' || sign === ']') open.pop();
        if (sign === ',') [end, depth] = [i, open.length];
        else if ('{}[]'.includes(sign)) [end, depth] = [i + 1, open.length];
        if (sign > ' ') before = sign;
    }
    return close(text.slice(0, end), open.slice(0, depth));
}

/** Where the string that begins at `from` ends; or where it can be cut, if that is not before `most`. */
function endOfString(text: string, from: number, most: number): { at: number; isClosed: boolean } {
    for (let at = from + 1; at < most; at++) {
        if (text[at] === '"') return { at, isClosed: true };
        if (text[at] !== '\\') continue;
        const length = text[at + 1] === 'u' ? 6 : 2;
        if (at + length > most) return { at, isClosed: false };
        at += length - 1;
    }
    return { at: most, isClosed: false };
}

function close(text: string, open: readonly string[]): string {
    const innermost = open.at(-1);
    if (innermost === undefined) return text;
    const comma = /[[{]\s*$/.test(text.slice(-100)) ? '' : ',';
    const ends = open.map((sign) => (sign === '[' ? ']' : '}')).reverse();
    return `${text}${comma}${innermost === '[' ? '"… more"' : '"…":"more"'}${ends.join('')}`;
}
