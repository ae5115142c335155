/** The order of two texts by their code points: negative, 0 or positive. */
export function orderOfTexts(first: string, second: string): number {
    const shorter = Math.min(first.length, second.length);
    for (let at = 0; at < shorter; at++) {
        const [one, other] = [first.charCodeAt(at), second.charCodeAt(at)];
        if (one !== other) return rankOf(one) - rankOf(other);
    }
    return first.length - second.length;
}

/** Halves of a pair stand for code points beyond all others, and JavaScript orders them before U+E000. */
function rankOf(unit: number): number {
    return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The number of code points. */
export function lengthOf(text: string): number {
    return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
