import type { ClientRequest } from 'node:http';
import type { Readable } from 'node:stream';

/** A limit on small pieces of a body. Each takes microseconds, and some hundred bytes of memory until it is read. */
export interface PieceLimit {
    max: number;
    /** Pieces with fewer bytes are small. */
    size: number;
}

/** Calls `refuse` once if a body has more small pieces than the limit. Node's parser adds them singly; readers get them joined. */
export function countSmallPieces(body: Readable, { max, size }: PieceLimit, refuse: () => void): void {
    const push = body.push.bind(body);
    let small = 0;
    body.push = (piece: Buffer | null, encoding) => {
        if (piece !== null && piece.length < size && ++small === max + 1) refuse();
        return push(piece, encoding);
    };
}

/**
 * Calls `refuse` once if the answer to a request arrives in more small reads of its connection than the limit, its head and interim answers
 * included. A server may send each byte as a TLS record of its own; 16 KiB of headers then cost as much time as a megabyte.
 */
export function countSmallReads(request: ClientRequest, { max, size }: PieceLimit, refuse: () => void): void {
    request.once('socket', (socket) => {
        let small = 0;
        const count = (read: Buffer) => {
            if (read.length < size && ++small === max + 1) refuse();
        };
        socket.on('data', count);
        request.once('close', () => socket.off('data', count));
    });
}

/** The end of a sentence that says what arrived. */
export const inPieces = ({ max, size }: PieceLimit): string => `in more than ${max.toLocaleString('en')} pieces of less than ${size} bytes`;
