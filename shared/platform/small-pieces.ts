import type { Readable } from 'node:stream';

/** Pieces of a body below this size are small: each takes microseconds, and some hundred bytes of memory until it is read. */
export const SMALL_PIECE = 64;

/**
 * Calls `refuse` once if a body arrives in more than `most` small pieces. They are counted where Node's parser adds them, since its readers get
 * them joined.
 */
export function countSmallPieces(body: Readable, most: number, refuse: () => void): void {
    const push = body.push.bind(body);
    let small = 0;
    body.push = (piece: Buffer | null, encoding) => {
        if (piece !== null && piece.length < SMALL_PIECE && ++small === most + 1) refuse();
        return push(piece, encoding);
    };
}
