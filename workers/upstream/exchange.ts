import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Got } from 'got';
import type { UpstreamRequest } from '../../shared/domain/types.ts';
import type { GuardedAgent } from '../egress.ts';
import type { CallTime } from './call.ts';
import { UpstreamFault } from './failures.ts';

/** One request on its way. */
export interface Exchange {
    /** Status and headers; rejects with whatever went wrong before them. */
    head: Promise<IncomingMessage>;
    /** Whether a connection was there to write to: from then on the site may have seen the request. */
    isSent(): boolean;
    /** What Node's parser or the connection said first, also where whoever reads the body only sees it end. */
    brokenBy(): Error | undefined;
    /** Gives up what is not read yet, and the connection with it. */
    abandon(): void;
}

/** Interim answers (1xx) before the real one; a site that sends more only plays for time. */
const MAX_INTERIM = 8;

/** Sends one request by got, without retry, redirect or unpacking of its own, and ends it when the call is over. */
export function startExchange(client: Got, request: UpstreamRequest, pool: GuardedAgent, time: CallTime): Exchange {
    let isSent = false;
    let broken: Error | undefined;
    const stream = client.stream(request.url, {
        method: request.method,
        headers: request.headers,
        ...(request.body === undefined ? {} : { body: request.body }),
        request: (url, options) => pool.request(url, options, time),
    });
    stream.once('request', (sent: ClientRequest) => {
        sent.on('error', (error) => {
            broken ??= error;
        });
    });
    // got waits for somebody to write the body of a method that can have one.
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
            refuse(new UpstreamFault('UPSTREAM_UNREACHABLE', 'The site switched to another protocol, unasked.'));
        });
        stream.once('response', (response: IncomingMessage) => {
            forget();
            time.whenOver(() => stream.destroy());
            done(response);
        });
        // Errors go on after the head came; whoever reads the body sees them there.
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
        head,
        isSent: () => isSent,
        brokenBy: () => broken,
        abandon: () => stream.destroy(),
    };
}
