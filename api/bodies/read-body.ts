import type { Request } from '@hapi/hapi';
import { countSmallPieces, inPieces, type PieceLimit } from '../../shared/platform/small-pieces.ts';
import { Refusal } from '../../shared/refusals.ts';
import { type BodyUse, reserveBody } from './body-budget.ts';

/** The event that tells the reader of a body that its time is over. The connection stays open for the answer. */
export const LATE = Symbol('late');

/** Small pieces of one body, since each costs microseconds and memory. */
const SMALL_PIECES: PieceLimit = { max: 10_000, size: 64 };

export function tooManyPieces(limit: PieceLimit): Refusal {
    return new Refusal('VALIDATION_ERROR', `The body arrives ${inPieces(limit)}. Send larger ones.`, { headers: { connection: 'close' } });
}

/** The refusal of a body that is larger than its route accepts. */
export function tooLarge(maxBytes: number): Refusal {
    const limit = maxBytes < 1024 * 1024 ? `${Math.floor(maxBytes / 1024)} KiB` : `${Math.floor(maxBytes / 1024 / 1024)} MiB`;
    return new Refusal('PAYLOAD_TOO_LARGE', `The body is larger than this route accepts: at most ${limit}.`);
}

/**
 * Reads a body. If a body without Content-Length is too large, hapi's own reader destroys the connection; this one leaves the rest to
 * `discardRest`.
 * @throws Refusal PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, OVERLOADED if there is no memory for it, VALIDATION_ERROR if it arrives in too many
 * small chunks.
 */
export async function readBytes(request: Request, maxBytes: number, use: Omit<BodyUse, 'maxBytes'> = {}): Promise<Buffer> {
    const { req: source } = request.raw;
    const declared = Number(source.headers['content-length'] ?? maxBytes);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    return new Promise((resolve, reject) => {
        const body = createBody(declared);
        let reservation: ReturnType<typeof reserveBody> | undefined;
        let isOver = false;
        const refuse = (refusal: Refusal) => {
            if (isOver) return;
            isOver = true;
            reject(refusal);
            body.drop();
            reservation?.release();
        };
        // Node discards the rest once the answer is sent.
        const refuseUnread = (refusal: Refusal) => {
            source.pause();
            refuse(refusal);
        };
        let bytes = 0;
        countSmallPieces(source, SMALL_PIECES, () => refuseUnread(tooManyPieces(SMALL_PIECES)));
        source.on('data', (chunk: Buffer) => {
            if (isOver) return;
            bytes += chunk.length;
            if (bytes > maxBytes) return refuse(tooLarge(maxBytes));
            body.add(chunk);
            // An internal call repeats the body of a form, which is already counted.
            if (bytes <= FIRST_BYTES || request.app.gone !== undefined) return;
            if (reservation === undefined) {
                reservation = reserveBody(request, { maxBytes, ...use }, refuseUnread);
                reservation.received(bytes);
            } else reservation.received(chunk.length);
        });
        source.once('end', () => {
            if (isOver) return;
            const full = reservation?.completed(bytes);
            if (full !== undefined) return refuse(full);
            isOver = true;
            resolve(body.take());
        });
        // Every request emits `close`. The error, whose stack is expensive, is created only if the body has not ended.
        const cut = (cause?: unknown) => {
            if (!source.readableEnded)
                refuse(new Refusal('REQUEST_TIMEOUT', 'The connection closed before the whole body arrived.', {}, { cause }));
        };
        source.once('error', cut);
        source.once('close', cut);
        source.once(LATE, () => refuse(new Refusal('REQUEST_TIMEOUT')));
    });
}

/** More than the largest body of a route. */
const MAX_DISCARDED = 65 * 1024 * 1024;

/** Whether a caller that is refused still sends a body. A caller with Expect waits for the answer before it sends. */
export function isStillSending({ raw: { req: source } }: Request): boolean {
    const { 'content-length': declared, 'transfer-encoding': encoding, expect } = source.headers;
    const hasBody = encoding !== undefined || Number(declared ?? 0) > 0;
    return hasBody && !source.complete && !source.destroyed && expect === undefined && Number(declared ?? 0) <= MAX_DISCARDED;
}

/** Discards the rest of a body. Resolves when the body has ended, is too large, or its time is over. */
export function discardRest({ raw: { req: source } }: Request): Promise<void> {
    return new Promise((resolve) => {
        let bytes = 0;
        source.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_DISCARDED) resolve();
        });
        for (const end of ['end', 'error', 'close', LATE]) source.once(end, () => resolve());
        source.resume();
    });
}

/** The initial buffer size. Bodies up to this size are not counted. */
const FIRST_BYTES = 16 * 1024;

/** Collects a body of up to `max` bytes in one buffer. Separate chunks would each keep a whole packet in memory. */
function createBody(max: number): { add(chunk: Buffer): void; take(): Buffer; drop(): void } {
    let room: Buffer = Buffer.alloc(0);
    let used = 0;
    return {
        add(chunk) {
            const needed = used + chunk.length;
            if (needed > room.length) {
                // Grows with the bytes that arrived, not to the Content-Length, which a client can claim for free.
                const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(max, Math.max(2 * room.length, FIRST_BYTES))));
                room.copy(larger, 0, 0, used);
                release(room);
                room = larger;
            }
            chunk.copy(room, used);
            used = needed;
        },
        drop() {
            release(room);
            room = Buffer.alloc(0);
            used = 0;
        },
        // Copies the used part, because a view would transfer its whole buffer to a thread.
        take: () => (used === room.length ? room : Buffer.from(room.subarray(0, used))),
    };
}

/** Frees a buffer at once. It is outside of V8's heap, so garbage collection frees it late. */
function release({ buffer }: Buffer): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) buffer.transfer(0);
}
