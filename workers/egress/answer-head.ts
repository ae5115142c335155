import type { ClientRequest, IncomingMessage } from 'node:http';
import { countSmallReads, inPieces, type PieceLimit } from '../../shared/platform/small-pieces.ts';
import type { Waiting } from './agent.ts';

/** How many interim answers (1xx) may precede an answer. */
export const MAX_INTERIM = 8;

/** Reads of a connection. What is asked here answers briefly. */
const SMALL_READS: PieceLimit = { max: 2000, size: 64 };

/** The server sent something else than an answer. The message is the rest of a sentence whose subject is the server. */
export class NoAnswer extends Error {
    /** The HTTP status of what it sent; null if it sent none. */
    readonly status: number | null;

    constructor(message: string, status: number | null) {
        super(message);
        this.status = status;
    }
}

/** Resolves with the head of the answer, and rejects when there will be none, also where Node emits neither `response` nor `error`. */
export function answerHead(request: ClientRequest, waiting: Waiting): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
        const stop = (error: Error) => {
            request.destroy();
            reject(error);
        };
        countSmallReads(request, SMALL_READS, () => stop(new NoAnswer(`answers ${inPieces(SMALL_READS)}`, null)));
        let interim = 0;
        waiting.whenOver(() => stop(new Error('the time is over')));
        request.on('response', resolve);
        request.on('error', reject);
        request.on('close', () => reject(new Error('the connection was closed without an answer')));
        request.on('information', ({ statusCode }) => {
            if (++interim > MAX_INTERIM) stop(new NoAnswer('sends interim answers without end', statusCode));
        });
        request.on('upgrade', ({ statusCode = 101 }, socket) => {
            socket.destroy();
            stop(new NoAnswer('switched to another protocol without being asked', statusCode));
        });
    });
}
