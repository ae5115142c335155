import { backslashesBefore, endOfString } from '../../../shared/domain/json/tokens.ts';

/** One element of the array: its value, or why it has none (too large or not JSON) and its length in bytes. */
export type Element = { ok: true; value: unknown } | { ok: false; fault: 'too large' | 'malformed'; bytes: number };

export class CutShort extends Error {}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
/** Longer keys cannot be on the path. */
const MAX_KEY = 256;

/**
 * Yields the objects of the array at `path` (keys from the outermost object) of a JSON text, one after the other. Reading needs the memory
 * of the largest element and one chunk, whatever the size of the file. Elements larger than `maxBytes` are skipped, and so is everything
 * outside the array.
 * @throws CutShort if the text ends before its last bracket
 */
export async function* streamElements(
    source: AsyncIterable<Uint8Array | string>,
    path: readonly string[],
    { maxBytes }: { maxBytes: number },
): AsyncGenerator<Element> {
    const reader = new ElementReader(path, maxBytes);
    for await (const chunk of source) yield* reader.read(typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk));
    if (!reader.isWhole()) throw new CutShort('the JSON text ends before it is closed');
}

class ElementReader {
    readonly #path: readonly string[];
    readonly #maxBytes: number;
    /** The number of open brackets, and how many of the outermost are on `path`. */
    #depth = 0;
    #onPath = 0;
    #hasBegun = false;
    #inString = false;
    /** Whether the first byte of the next chunk is escaped. */
    #isEscaped = false;
    /** Text of a string that may be a key on the path; undefined for other strings. */
    #key: string | undefined;
    #lastString: string | undefined;
    #nextKey: string | undefined;
    /** Pieces of the current element; undefined between elements. */
    #pieces: Buffer[] | undefined;
    #bytes = 0;

    constructor(path: readonly string[], maxBytes: number) {
        this.#path = path;
        this.#maxBytes = maxBytes;
    }

    isWhole(): boolean {
        return this.#hasBegun && this.#depth === 0 && !this.#inString;
    }

    *read(chunk: Buffer): Generator<Element> {
        let start = 0;
        for (let i = 0; i < chunk.length; i++) {
            if (this.#inString) {
                i = this.#skipString(chunk, i);
                continue;
            }
            const byte = chunk[i];
            if (byte === QUOTE) {
                this.#inString = true;
                this.#key = this.#pieces === undefined && this.#isOnPath() ? '' : undefined;
            } else if (byte === COLON) {
                this.#nextKey = this.#lastString;
            } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
                if (byte === OPEN_OBJECT && this.#pieces === undefined && this.#isAtElements()) {
                    this.#pieces = [];
                    this.#bytes = 0;
                    start = i;
                }
                this.#open();
            } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
                this.#close();
                if (this.#pieces !== undefined && this.#isAtElements()) yield this.#finish(chunk.subarray(start, i + 1));
            }
        }
        if (this.#pieces !== undefined) this.#keep(chunk.subarray(start));
    }

    /** Index of the quote that ends the string, or of the chunk's last byte if the string continues. */
    #skipString(chunk: Buffer, from: number): number {
        // The previous chunk may have ended with an escape.
        const begin = this.#isEscaped ? from + 1 : from;
        const end = endOfString(chunk, begin);
        this.#takeKey(chunk.subarray(from, end === -1 ? chunk.length : end - 1));
        this.#isEscaped = end === -1 && backslashesBefore(chunk, chunk.length, begin) % 2 === 1;
        if (end === -1) return chunk.length - 1;
        this.#inString = false;
        this.#lastString = this.#key;
        return end - 1;
    }

    #takeKey(text: Buffer): void {
        if (this.#key !== undefined) this.#key = this.#key.length + text.length > MAX_KEY ? undefined : this.#key + text.toString('latin1');
    }

    /** Whether the innermost open bracket is on the path to the array. */
    #isOnPath(): boolean {
        return this.#depth > 0 && this.#onPath === this.#depth - 1 && this.#onPath < this.#path.length;
    }

    #isAtElements(): boolean {
        return this.#onPath === this.#path.length && this.#depth === this.#path.length + 1;
    }

    #open(): void {
        if (this.#isOnPath() && this.#nextKey === this.#path[this.#onPath]) this.#onPath++;
        this.#depth++;
        this.#hasBegun = true;
        this.#nextKey = undefined;
        this.#lastString = undefined;
    }

    #close(): void {
        this.#depth = Math.max(0, this.#depth - 1);
        this.#onPath = Math.max(0, Math.min(this.#onPath, this.#depth - 1));
        this.#nextKey = undefined;
    }

    #keep(piece: Buffer): void {
        this.#bytes += piece.length;
        if (this.#bytes <= this.#maxBytes) this.#pieces?.push(Buffer.from(piece));
        else this.#pieces = [];
    }

    #finish(last: Buffer): Element {
        this.#keep(last);
        const bytes = this.#bytes;
        const pieces = this.#pieces ?? [];
        this.#pieces = undefined;
        if (bytes > this.#maxBytes) return { ok: false, fault: 'too large', bytes };
        try {
            return { ok: true, value: JSON.parse(Buffer.concat(pieces).toString('utf8')) };
        } catch {
            return { ok: false, fault: 'malformed', bytes };
        }
    }
}
