import type { Socket } from 'node:net';
import type { RefusalCode } from '../../shared/refusals.ts';

/** Once somebody asks, how long a caller waits for the answer. */
export type AnswerTime =
    /** As soon as the site's own time is over, the short pauses between the tries of a read included. */
    | 'at once'
    /** When the time that the caller gave is up. */
    | 'at the deadline'
    /** As soon as the site has said more than it may; the connection is closed then. */
    | 'at the cap'
    /** The site makes us wait, for a bounded while. */
    | { afterMs: number; words: string };

/** What the caller is told (docs/api.md, "Error codes"). Whatever is not `success` is not billed. */
export interface Expected {
    code: RefusalCode | 'success';
    time: AnswerTime;
    /** Requests that reach the site. */
    requests: number;
}

/** What a site's listener is given of one request. */
export interface Asked {
    socket: Socket;
    /** 1 for the first request of this call. */
    turn: number;
    /** Where redirects go. */
    here: { host: string; port: number };
    /** To be called when the last byte that may be taken was handed to the network; `endless`: more comes, until it is cut. */
    passed(rest?: 'endless'): void;
}

/** How the site can be reached, where it is not plain HTTP on a port that EGRESS_ALLOW names. */
export type Place =
    | { kind: 'http' }
    | { kind: 'tls'; certificate: 'good' | 'expired' | 'self-signed' | 'wrong name' | 'unknown authority'; options?: object }
    /** Bytes over TCP on a port that is called with https. */
    | { kind: 'not tls' }
    /** Addresses that the name has; a promise that never ends is a name server that hangs. */
    | { kind: 'dns'; lookup: () => Promise<readonly string[]> }
    | { kind: 'refused' }
    /** A listener that takes no connection. */
    | { kind: 'deaf' };

/** One row of the table: something that a site may do to us. */
export interface Behaviour {
    /** Reads on from "a site that". */
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
    /** Requests of a read; a write is sent once. */
    requests?: number;
    place?: Place;
    /** Where a write is told something else. */
    write?: Partial<Expected>;
}

/** A row; a read makes one request, and its caller is answered at once, unless told. */
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

/** For what takes a while to make: it is made when somebody asks for it. */
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

/** Writes the same bytes again and again until the other side has had enough; `cap` bytes of them may be taken. */
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

/** Writes a piece now and then, for ever. */
export function drip(head: string, everyMs: number, piece = ' '): Behaviour['serve'] {
    return ({ socket }) => {
        socket.write(head);
        const timer = setInterval(() => socket.write(piece), everyMs);
        socket.once('close', () => clearInterval(timer));
    };
}
