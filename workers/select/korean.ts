/**
 * The syllables of Windows-949 that EUC-KR lacks. Browsers read them under the name of EUC-KR (WHATWG, "Encoding"); the decoder of Node.js
 * does not. They stand in the order of Unicode at the pairs of bytes that EUC-KR leaves free.
 */
let syllables: ReadonlyMap<number, string> | undefined;

/** Decodes a body in EUC-KR with all syllables. */
export function decodeKorean(body: Uint8Array): string {
    syllables ??= extendedSyllables();
    const decoder = new TextDecoder('euc-kr');
    const pieces: string[] = [];
    let from = 0;
    for (let at = 0; at + 1 < body.length; ) {
        const [lead = 0, trail = 0] = [body[at], body[at + 1]];
        const syllable = lead < 0x80 ? undefined : syllables.get(lead * 256 + trail);
        if (syllable !== undefined) {
            if (at > from) pieces.push(decoder.decode(body.subarray(from, at)));
            pieces.push(syllable);
            from = at + 2;
        }
        at += lead >= 0x80 && (syllable !== undefined || trail >= 0x80) ? 2 : 1;
    }
    pieces.push(decoder.decode(body.subarray(from)));
    return pieces.join('');
}

const [FIRST, LAST] = [0xac00, 0xd7a3];

function extendedSyllables(): Map<number, string> {
    const known = new Set(new TextDecoder('euc-kr').decode(Uint8Array.from(pairs(0xb0, 0xc8, (trail) => trail >= 0xa1).flat())));
    // Up to 0xa0 all trail bytes are free, then only those below EUC-KR's own.
    const free = pairs(0x81, 0xc6, (trail, lead) => isTrail(trail) && (lead <= 0xa0 || trail <= 0xa0));
    const made = new Map<number, string>();
    let place = 0;
    for (let code = FIRST; code <= LAST; code++) {
        const [lead = 0, trail = 0] = known.has(String.fromCharCode(code)) ? [] : (free[place++] ?? []);
        if (lead > 0) made.set(lead * 256 + trail, String.fromCharCode(code));
    }
    return made;
}

function isTrail(byte: number): boolean {
    return (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte >= 0x81;
}

function pairs(first: number, last: number, isWanted: (trail: number, lead: number) => boolean): [number, number][] {
    const found: [number, number][] = [];
    for (let lead = first; lead <= last; lead++)
        for (let trail = 0x41; trail <= 0xfe; trail++) if (isWanted(trail, lead)) found.push([lead, trail]);
    return found;
}
