import type { IncomingMessage } from 'node:http';
import { ANSWER_MS, KEPT_ANSWER_BYTES } from '../../shared/domain/events/webhook-bounds.ts';
import { countSmallPieces, type PieceLimit } from '../../shared/platform/small-pieces.ts';
import type { Attempt } from '../../shared/store/events/delivery-queue.ts';
import { answerHead, createAgents, type EgressConnector, EgressDenied, type GuardedAgent, NoAnswer } from '../egress.ts';
import { type CallTime, openCallTime } from '../upstream/call-time.ts';

const HEADER_BYTES = 16 * 1024;
/** One packet can hold ten thousand, so they are counted while Node parses it. Of an answer with more, nothing is kept. */
const SMALL_PIECES: PieceLimit = { max: KEPT_ANSWER_BYTES, size: 64 };
/** How long to wait for the beginning of the body after the status. */
const BODY_MS = 1000;

interface PostedEvent {
    url: string;
    headers: Readonly<Record<string, string>>;
    body: string;
}

export interface PostEnd extends Pick<Attempt, 'isDelivered' | 'code' | 'problem' | 'answer' | 'durationMs'> {
    isSent: boolean;
}

export function createEventPoster(connector: EgressConnector) {
    const agents = createAgents(connector);
    return {
        /** Sends one request and follows no redirect. Resolves even if the receiver or the network fails. @param gone aborts it */
        async post(event: PostedEvent, gone: AbortSignal): Promise<PostEnd> {
            const url = new URL(event.url);
            const time = openCallTime(Date.now() + ANSWER_MS, gone);
            const began = performance.now();
            const ended = (end: Omit<PostEnd, 'durationMs' | 'isSent'>, isSent = true) => ({
                ...end,
                isSent,
                durationMs: Math.round(performance.now() - began),
            });
            const send = () => sendOnce(agents.of(url.href), url, event, time);
            try {
                return ended(
                    await send().catch((error: unknown) => {
                        if (error instanceof StaleConnection) return send();
                        throw error;
                    }),
                );
            } catch (error) {
                const isSent = !(error instanceof EgressDenied);
                const code = error instanceof NoAnswer ? error.status : null;
                return ended({ isDelivered: false, code, problem: problemOf(error, time), answer: null }, isSent);
            } finally {
                time.close();
            }
        },
        close: agents.close,
    };
}

/** The receiver closed a keep-alive connection while it was being reused. */
class StaleConnection extends Error {}

async function sendOnce(
    agent: GuardedAgent,
    url: URL,
    { headers, body }: PostedEvent,
    time: CallTime,
): Promise<Pick<PostEnd, 'isDelivered' | 'code' | 'problem' | 'answer'>> {
    const all = { ...headers, 'content-length': String(Buffer.byteLength(body)), 'accept-encoding': 'identity' };
    const request = agent.request(url, { method: 'POST', headers: all, maxHeaderSize: HEADER_BYTES }, time);
    request.once('response', (response) => countSmallPieces(response, SMALL_PIECES, () => response.destroy()));
    request.end(body);
    const response = await answerHead(request, time).catch((error: NodeJS.ErrnoException) => {
        throw request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection() : error;
    });
    const code = response.statusCode ?? 0;
    const isDelivered = code >= 200 && code <= 299;
    const problem = isDelivered
        ? null
        : `The receiver answered ${code}${code >= 300 && code <= 399 ? '; redirects are not followed' : ''}.`;
    return { isDelivered, code, problem, answer: await readBeginning(response) };
}

/**
 * Reads the beginning of a body as text; null if it is compressed or none arrives in time. A complete body lets the connection be reused.
 */
async function readBeginning(response: IncomingMessage): Promise<string | null> {
    const patience = setTimeout(() => response.destroy(), BODY_MS);
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
        for await (const chunk of response as AsyncIterable<Buffer>) {
            chunks.push(chunk);
            bytes += chunk.length;
            if (bytes > KEPT_ANSWER_BYTES) break;
        }
    } catch {
        // Keep what was read.
    } finally {
        clearTimeout(patience);
    }
    const encoding = response.headers['content-encoding'] ?? 'identity';
    if (bytes === 0 || encoding !== 'identity') return null;
    // PostgreSQL accepts no NUL. A character that was cut becomes a replacement character, which is removed.
    const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES));
    return text.replaceAll('\u0000', '').replace(/\ufffd+$/, '');
}

function problemOf(error: unknown, time: CallTime): string {
    if (error instanceof EgressDenied) return 'Routebook may not call the address of the receiver.';
    if (error instanceof NoAnswer) return `The receiver ${error.message}.`;
    if (time.isOver()) return `The receiver did not answer within ${ANSWER_MS / 1000} seconds.`;
    const code = (error as NodeJS.ErrnoException).code;
    return `The receiver could not be reached${code === undefined ? '' : ` (${code})`}.`;
}
