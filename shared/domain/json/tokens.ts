export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const SPACE = 0x20;

/**
 * Walks the tokens of a JSON text: strings, numbers and words, and the characters `{}[],:`. Does not check the syntax. Bytes are UTF-8.
 * @param see called with the first character and the range of each token; `to` is after the end of the text for an unterminated string.
 * Returning true stops the walk
 * @returns whether `see` returned true
 */
export function scanTokens(text: string | Uint8Array, see: (first: number, from: number, to: number) => boolean): boolean {
    const codeAt = typeof text === 'string' ? (at: number) => text.charCodeAt(at) : (at: number) => text[at] ?? 0;
    const { length } = text;
    for (let at = 0; at < length; ) {
        const first = codeAt(at);
        const from = at++;
        if (first <= SPACE) continue;
        if (first === QUOTE) {
            const end = endOfString(text, at);
            at = end === -1 ? length + 1 : end;
        } else if (!isPunctuation(first)) while (at < length && !isEnd(codeAt(at))) at++;
        if (see(first, from, at)) return true;
    }
    return false;
}

/** Index after the quote that closes a string; -1 if the text ends first. @param from index after the opening quote, or after an escape */
export function endOfString(text: string | Uint8Array, from: number): number {
    for (let at = from; ; ) {
        const quote = typeof text === 'string' ? text.indexOf('"', at) : text.indexOf(QUOTE, at);
        if (quote === -1) return -1;
        if (backslashesBefore(text, quote, from) % 2 === 0) return quote + 1;
        at = quote + 1;
    }
}

/** Number of backslashes directly before `at`, not counting any before `from`. */
export function backslashesBefore(text: string | Uint8Array, at: number, from: number): number {
    let first = at;
    while (first > from && (typeof text === 'string' ? text.charCodeAt(first - 1) : text[first - 1]) === BACKSLASH) first--;
    return at - first;
}

/** Whether a text that begins as a JSON object or list ends where its brackets close. */
export function isOneValue(text: string): boolean {
    let depth = 0;
    let end = 0;
    scanTokens(text, (first, _from, to) => {
        if (first === OPEN_ARRAY || first === OPEN_OBJECT) depth++;
        if (first === CLOSE_ARRAY || first === CLOSE_OBJECT) depth--;
        end = to;
        return depth <= 0;
    });
    return depth === 0 && end === text.length;
}

/** Whether a JSON text nests arrays and objects more than `max` levels. */
export function isJsonTooDeep(text: string | Uint8Array, max = 100): boolean {
    let depth = 0;
    return scanTokens(text, (first) => {
        if (first === CLOSE_ARRAY || first === CLOSE_OBJECT) depth--;
        return (first === OPEN_ARRAY || first === OPEN_OBJECT) && ++depth > max;
    });
}

/** Whether commas separate more than `max` values of a JSON text. An object of half a million keys is slow to parse. */
export function hasMoreValues(text: string | Uint8Array, max: number): boolean {
    let commas = 0;
    return scanTokens(text, (first) => first === COMMA && ++commas >= max);
}

function isPunctuation(code: number): boolean {
    return code === COMMA || code === COLON || code === OPEN_ARRAY || code === CLOSE_ARRAY || code === OPEN_OBJECT || code === CLOSE_OBJECT;
}

function isEnd(code: number): boolean {
    return code <= SPACE || code === QUOTE || isPunctuation(code);
}
