import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Got } from 'got';
import type { UpstreamRequest } from '../../shared/domain/types.ts';
import { countSmallReads, inPieces, type PieceLimit } from '../../shared/platform/small-pieces.ts';
import { type GuardedAgent, MAX_INTERIM } from '../egress.ts';
import type { CallTime } from './call-time.ts';
import { UpstreamFault } from './failures.ts';

/** Limit of small reads of a connection for one answer. Sites that stream write each item by itself. */
const SMALL_READS: PieceLimit = { max: 50_000, size: 64 };

export type Exchange = ReturnType<typeof startExchange>;

/** Sends one request through got, without got's retries, redirects and unpacking, and ends it when the call is over. */
export function startExchange(client: Got, request: UpstreamRequest, pool: GuardedAgent, time: CallTime) {
    let isSent = false;
    let broken: Error | undefined;
    const stream = client.stream(request.url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        request: (url, options) => pool.request(url, options, time),
    });
    stream.once('request', (sent: ClientRequest) => {
        const tooMany = () => sent.destroy(new UpstreamFault('UPSTREAM_TOO_LARGE', `The answer comes ${inPieces(SMALL_READS)}.`));
        countSmallReads(sent, SMALL_READS, tooMany);
        sent.on('error', (error) => {
            broken ??= error;
        });
    });
    // got waits for a body with every method that may have one.
    if (request.body === undefined && request.method !== 'GET' && request.method !== 'HEAD') stream.end();

    const head = new Promise<IncomingMessage>((done, fail) => {
        const forget = time.whenOver(() => {
            stream.destroy();
            fail(new Error('the call is over'));
        });
        let interim = 0;
        stream.once('socket', () => {
            isSent = true;
        });
        stream.on('information', () => {
            if (++interim > MAX_INTERIM) refuse(new UpstreamFault('UPSTREAM_UNREACHABLE', 'The site sends interim answers without end.'));
        });
        stream.once('upgrade', (_head: unknown, socket: { destroy(): void }) => {
            socket.destroy();
            refuse(new UpstreamFault('UPSTREAM_UNREACHABLE', 'The site switched to another protocol without being asked.'));
        });
        stream.once('response', (response: IncomingMessage) => {
            forget();
            time.whenOver(() => stream.destroy());
            done(response);
        });
        // Errors after the head reach the reader of the body.
        stream.on('error', (error) => {
            forget();
            fail(error);
        });
        const refuse = (fault: UpstreamFault) => {
            forget();
            stream.destroy();
            fail(fault);
        };
    });
    return {
        /** Status and headers. Rejects if an error precedes them. */
        head,
        /** Whether the request had a connection. From then on the site may have received it. */
        isSent: () => isSent,
        /** The first error of Node's parser or the connection. A reader of the body may only see an early end. */
        brokenBy: () => broken,
        /** Discards the rest of the answer and closes the connection. */
        abandon: () => void stream.destroy(),
    };
}
