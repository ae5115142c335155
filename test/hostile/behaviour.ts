import type { Socket } from 'node:net';
import type { RefusalCode } from '../../shared/refusals.ts';

/** When a caller gets the response. */
export type AnswerTime =
    /** As soon as the site's own time is over, with the short pauses between the attempts of a read. */
    | 'at once'
    /** At the caller's deadline. */
    | 'at the deadline'
    /** As soon as the site has sent more than it may. The connection is then closed. */
    | 'at the cap'
    /** After a limited wait that the site causes. */
    | { afterMs: number; words: string };

/** The caller's result (docs/api.md, "Error codes"). Only `success` is billed. */
export interface Expected {
    code: RefusalCode | 'success';
    time: AnswerTime;
    /** Requests that reach the site. */
    requests: number;
}

/** One request, as the site's listener gets it. */
export interface Asked {
    socket: Socket;
    /** 1 for the first request of this call. */
    turn: number;
    /** The target of redirects. */
    here: { host: string; port: number };
    /** To be called when the last permitted byte was sent; `endless`: more bytes follow until the connection is cut. */
    passed(rest?: 'endless'): void;
}

/** How the site is reached, if not by plain HTTP on a port that EGRESS_ALLOW names. */
export type Place =
    | { kind: 'http' }
    | { kind: 'tls'; certificate: 'good' | 'expired' | 'self-signed' | 'wrong name' | 'unknown authority'; options?: object }
    /** Raw TCP on a port that is called with https. */
    | { kind: 'not tls' }
    /** The addresses of the name. A promise that never resolves is a name server that hangs. */
    | { kind: 'dns'; lookup: () => Promise<readonly string[]> }
    | { kind: 'refused' }
    /** A listener that accepts no connection. */
    | { kind: 'deaf' };

/** One row of the table: something that a site may do to its callers. */
export interface Behaviour {
    /** Continues "a site that". */
    name: string;
    place: Place;
    serve(asked: Asked): void;
    read: Expected;
    write: Expected;
}

export interface Group {
    title: string;
    behaviours: readonly Behaviour[];
}

interface More {
    time?: AnswerTime;
    /** Requests of a read. A write is sent once. */
    requests?: number;
    place?: Place;
    /** What differs for a write. */
    write?: Partial<Expected>;
}

/** A row. By default, a read makes one request and its caller is answered at once. */
export function row(name: string, serve: Behaviour['serve'], code: Expected['code'], more: More = {}): Behaviour {
    const { time = 'at once', requests = 1, place = { kind: 'http' } } = more;
    const read: Expected = { code, time, requests };
    return { name, place, serve, read, write: { ...read, requests: Math.min(1, requests), ...more.write } };
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** The head, the body's length, and the body itself. */
export function whole(head: string, body: string | Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

export function send(...chunks: (string | Buffer)[]): Behaviour['serve'] {
    return ({ socket, passed }) => {
        for (const chunk of chunks) socket.write(chunk);
        passed();
    };
}

/** A response that takes a while to build, so it is built on request. */
export function sendMade(make: () => Buffer): Behaviour['serve'] {
    let made: Buffer | undefined;
    return (asked) => {
        made ??= make();
        send(made)(asked);
    };
}

export function sendAndEnd(...chunks: (string | Buffer)[]): Behaviour['serve'] {
    return ({ socket }) => {
        for (const chunk of chunks) socket.write(chunk);
        socket.end();
    };
}

/** Writes the same bytes again and again until the peer closes; `cap` bytes of them are permitted. */
export function pour(head: string, chunk: Buffer | string, cap: number): Behaviour['serve'] {
    return ({ socket, passed }) => {
        socket.write(head);
        let poured = 0;
        const more = () => {
            for (let goesOn = true; goesOn && !socket.destroyed; ) {
                goesOn = socket.write(chunk);
                poured += chunk.length;
                if (poured >= cap && poured - chunk.length < cap) passed('endless');
            }
            if (!socket.destroyed) socket.once('drain', more);
        };
        more();
    };
}

/** Writes a piece at intervals, endlessly. */
export function drip(head: string, everyMs: number, piece = ' '): Behaviour['serve'] {
    return ({ socket }) => {
        socket.write(head);
        const timer = setInterval(() => socket.write(piece), everyMs);
        socket.once('close', () => clearInterval(timer));
    };
}
