/**
 * Estimates the number of o200k_base tokens of a text. The estimate tends to be too high: JSON and English have up to a fifth fewer tokens.
 * The tokenizer itself would take 70 MB of memory, and 100 ms of the event loop. The text is split like the tokenizer does it: words,
 * digits, punctuation, white space.
 */
export function estimateTokens(text: string): number {
    let tokens = 0;
    for (let at = 0; at < text.length; ) {
        const kind = kindOf(text.charCodeAt(at));
        let end = at + 1;
        if (kind !== 'other') while (end < text.length && kindOf(text.charCodeAt(end)) === kind && !isNewWord(text, end)) end++;
        tokens += costOf(text, kind, at, end);
        at = end;
    }
    return Math.ceil(tokens);
}

type Kind = 'letter' | 'digit' | 'space' | 'mark' | 'other';

function kindOf(code: number): Kind {
    if (code > 0x7f) return 'other';
    if (isSmall(code) || isCapital(code)) return 'letter';
    if (code >= 0x30 && code <= 0x39) return 'digit';
    return code <= 0x20 ? 'space' : 'mark';
}

function isSmall(code: number): boolean {
    return code >= 0x61 && code <= 0x7a;
}

function isCapital(code: number): boolean {
    return code >= 0x41 && code <= 0x5a;
}

/** Whether a capital after a lower-case letter begins a new word. */
function isNewWord(text: string, at: number): boolean {
    return isCapital(text.charCodeAt(at)) && isSmall(text.charCodeAt(at - 1));
}

function costOf(text: string, kind: Kind, at: number, end: number): number {
    const length = end - at;
    switch (kind) {
        case 'letter':
            return costOfLetters(text, at, end);
        case 'digit':
            return Math.ceil(length / 3);
        case 'mark':
            return length <= 3 ? 1 : length / 1.8;
        case 'space':
            // A space belongs to the following word, but not to a number.
            return length === 1 && kindOf(text.charCodeAt(end)) !== 'digit' ? 0.2 : 1;
        case 'other':
            return costOfOther(text.charCodeAt(at));
    }
}

/** Maximum length of a word. A longer run of letters counts as random text. */
const MAX_WORD = 12;

/** Words have vowels and one capital. In random text, two letters form a token. */
function costOfLetters(text: string, at: number, end: number): number {
    const length = end - at;
    let [vowels, capitals] = [0, 0];
    for (let place = at; place < end; place++) {
        if ('aeiouyAEIOUY'.includes(text.charAt(place))) vowels++;
        if (isCapital(text.charCodeAt(place))) capitals++;
    }
    if (length > MAX_WORD || capitals > 1) return length / 1.8;
    return Math.max(1, length / 7, (length - 2.2 * vowels) / 2);
}

/** Tokens per UTF-16 unit by script, between those of natural text and of random characters. Rare characters take one token per byte. */
function costOfOther(unit: number): number {
    if (unit < 0x800) return 0.8;
    if (unit >= 0xd800 && unit < 0xe000) return 1.5;
    if (unit >= 0x3040 && unit < 0x3100) return 1;
    if (unit >= 0x4e00 && unit < 0xa000) return 1.5;
    if (unit >= 0xac00 && unit < 0xd7b0) return 1.5;
    return unit >= 0x0900 && unit < 0x0f00 ? 0.8 : 3;
}
