import type { Request } from '@hapi/hapi';
import { Refusal } from '../../shared/refusals.ts';
import { reserveBody } from './body-budget.ts';
import { LATE, refuseTooLarge } from './read-body.ts';

/** Limits of a body that is processed while it arrives. */
export interface Arrival {
    maxBytes: number;
    /** Maximum milliseconds without a byte, and in total. */
    pauseMs: number;
    allMs: number;
    /** Whether the whole body stays in memory until the answer. */
    isKept?: boolean;
}

/**
 * The chunks of a body as they arrive. Even if the consumer is slow, only one chunk is in memory.
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
    // Ignores the listener's time limit for requests; this body has its own limits.
    source.on(LATE, () => {});
    let bytes = 0;
    try {
        for (;;) {
            if (state.full !== undefined) throw state.full;
            const piece: Buffer | null = source.read();
            if (piece !== null) {
                bytes += piece.length;
                if (bytes > maxBytes) {
                    // Discards the rest, so that the caller reads the answer.
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

/** @throws Refusal REQUEST_TIMEOUT if no bytes arrive in time */
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
