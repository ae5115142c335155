import type { Request } from '@hapi/hapi';
import { Refusal } from '../../shared/refusals.ts';
import { reserveBody } from './body-budget.ts';
import { LATE, refuseTooLarge } from './read-body.ts';

/** Bounds of a body that is read while it arrives. */
export interface Arrival {
    maxBytes: number;
    /** Milliseconds without a byte, and in all. */
    pauseMs: number;
    allMs: number;
    /** All of it is kept in memory until the answer. */
    isKept?: boolean;
}

/**
 * The pieces of a body as they arrive; nobody who reads slowly makes this process hold more than a piece.
 * @throws Refusal PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, OVERLOADED
 */
export async function* readChunks(request: Request, { maxBytes, pauseMs, allMs, isKept = false }: Arrival): AsyncGenerator<Buffer> {
    const { req: source } = request.raw;
    const declared = Number(source.headers['content-length'] ?? 0);
    if (declared > maxBytes) await refuseTooLarge(request, declared - maxBytes);
    const until = performance.now() + allMs;
    const state: { full?: Refusal; wake?: () => void } = {};
    const place = isKept ? reserveBody(request, { maxBytes }, refuse) : undefined;
    function refuse(refusal: Refusal): void {
        state.full = refusal;
        state.wake?.();
    }
    // The listener's own time for a request is over; this body has its own.
    source.on(LATE, () => {});
    let bytes = 0;
    try {
        for (;;) {
            if (state.full !== undefined) throw state.full;
            const piece: Buffer | null = source.read();
            if (piece !== null) {
                bytes += piece.length;
                if (bytes > maxBytes) {
                    // The rest is dropped, so that the caller reads the answer.
                    source.resume();
                    throw new Refusal('PAYLOAD_TOO_LARGE');
                }
                place?.came(piece.length);
                yield piece;
                continue;
            }
            if (source.readableEnded) break;
            if (source.destroyed) throw new Refusal('REQUEST_TIMEOUT', 'The body did not arrive whole.');
            await waitForBytes(source, Math.min(pauseMs, until - performance.now()), state);
        }
        const full = place?.whole(bytes);
        if (full !== undefined) throw full;
    } catch (error) {
        place?.leave();
        throw error;
    }
}

/** @throws Refusal REQUEST_TIMEOUT if nothing comes in time */
function waitForBytes(source: Request['raw']['req'], ms: number, state: { wake?: () => void }): Promise<void> {
    const late = new Refusal('REQUEST_TIMEOUT', 'The body paused for too long, or took too long in all.', {
        headers: { connection: 'close' },
    });
    return new Promise((resolve, reject) => {
        const events = ['readable', 'end', 'error', 'close'];
        const over = (error?: Error) => {
            clearTimeout(timer);
            for (const event of events) source.off(event, come);
            delete state.wake;
            if (error === undefined) resolve();
            else reject(error);
        };
        const come = () => over();
        const timer = setTimeout(() => over(late), Math.max(0, ms));
        for (const event of events) source.on(event, come);
        state.wake = come;
    });
}
