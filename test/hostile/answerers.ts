import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { proofUrl } from '../../shared/domain/site/proof.ts';

/** An external server that a worker calls outside of fetches, such as the receiver of a webhook. */
interface Answerer {
    /** Continues "a server that". */
    name: string;
    /** Why a claim is not proven. FILE and HOST stand for the file that proves it and the host. */
    claim: string;
    /** The status of the answer to a request for a token, or why there is none. */
    token: string | number | RegExp;
    /** Why an event is not delivered; absent if it is. */
    event?: string;
    /** Answers on a new connection once the request has begun. */
    answer(socket: TLSSocket): void;
}

/** The rest of the message depends on Node's version. */
const PARSE_ERROR = /^Parse Error/;
const SWITCHED = 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Writes without end, as fast as the other side reads. */
function flood(socket: Socket, start: string, part: string): void {
    socket.write(start);
    const chunk = part.repeat(Math.ceil(16_384 / part.length));
    const write = () => {
        while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', write);
    write();
}

/** Writes each character as a TLS record of its own. */
function trickle(socket: Socket, text: string): void {
    const write = (at: number) => {
        if (at < text.length && !socket.destroyed) socket.write(text.charAt(at), () => write(at + 1));
    };
    write(0);
}

/** To add a row, add an entry here. */
export const ANSWERERS: readonly Answerer[] = [
    {
        name: 'says nothing',
        claim: 'FILE did not answer in time.',
        token: 'the time is over',
        event: 'The receiver did not answer within 10 seconds.',
        answer: () => undefined,
    },
    {
        name: 'closes the connection',
        claim: 'FILE could not be read over https.',
        token: 'socket hang up',
        event: 'The receiver could not be reached (ECONNRESET).',
        answer: (socket) => socket.end(),
    },
    {
        name: 'resets the connection',
        claim: 'FILE could not be read over https.',
        token: 'socket hang up',
        event: 'The receiver could not be reached (ECONNRESET).',
        answer: (socket) => socket.destroy(),
    },
    {
        name: 'switches protocols unasked',
        claim: 'HOST switched to another protocol without being asked.',
        token: 'the server switched to another protocol without being asked',
        event: 'The receiver switched to another protocol without being asked.',
        answer: (socket) => socket.write(SWITCHED),
    },
    {
        name: 'hints without end',
        claim: 'HOST sends interim answers without end.',
        token: 'the server sends interim answers without end',
        event: 'The receiver sends interim answers without end.',
        answer: (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n'),
    },
    {
        name: 'sends headers without end',
        claim: 'FILE could not be read over https.',
        token: PARSE_ERROR,
        event: 'The receiver could not be reached (HPE_HEADER_OVERFLOW).',
        answer: (socket) => flood(socket, OK, 'X-Header: value\r\n'),
    },
    {
        name: 'sends one header without end',
        claim: 'FILE could not be read over https.',
        token: PARSE_ERROR,
        event: 'The receiver could not be reached (HPE_HEADER_OVERFLOW).',
        answer: (socket) => flood(socket, `${OK}X-Header: `, 'a'),
    },
    {
        name: 'sends each byte of its headers by itself',
        claim: 'HOST answers in more than 2,000 pieces of less than 64 bytes.',
        token: 'the server answers in more than 2,000 pieces of less than 64 bytes',
        event: 'The receiver answers in more than 2,000 pieces of less than 64 bytes.',
        answer: (socket) => trickle(socket, `${OK}X-Header: ${'a'.repeat(8000)}\r\nContent-Length: 2\r\n\r\n{}`),
    },
    {
        name: 'sends a body without end',
        claim: 'FILE has more than 1024 bytes.',
        token: 'the answer is too large',
        answer: (socket) => flood(socket, `${OK}\r\n`, 'a'),
    },
    {
        name: 'sends chunks without end',
        claim: 'FILE has more than 1024 bytes.',
        token: 'the answer is too large',
        answer: (socket) => flood(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'),
    },
    {
        name: 'sends trailers without end',
        claim: 'FILE could not be read over https.',
        token: 'aborted',
        answer: (socket) => flood(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'X: a\r\n'),
    },
    {
        name: 'announces more than it sends',
        claim: 'FILE did not answer in time.',
        token: 'aborted',
        answer: (socket) => socket.write(`${OK}Content-Length: 1000\r\n\r\n{"a"`),
    },
    {
        name: 'nests lists deeply',
        claim: 'FILE has more than 1024 bytes.',
        token: 200,
        answer: (socket) => socket.end(`${OK}\r\n${'['.repeat(60_000)}`),
    },
    {
        name: 'answers with no HTTP',
        claim: 'FILE could not be read over https.',
        token: PARSE_ERROR,
        event: 'The receiver could not be reached (HPE_INVALID_CONSTANT).',
        answer: (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    },
    {
        name: 'moves to a private address',
        claim: 'FILE redirects elsewhere than to https://www.HOST/.well-known/routebook.txt.',
        token: 307,
        event: 'The receiver answered 307; redirects are not followed.',
        answer: (socket) => socket.end('HTTP/1.1 307 M\r\nContent-Length: 0\r\nLocation: http://10.0.0.7/\r\n\r\n'),
    },
    {
        name: 'moves to www., which switches protocols',
        claim: 'www.HOST switched to another protocol without being asked.',
        token: 302,
        event: 'The receiver answered 302; redirects are not followed.',
        answer: (socket) => {
            const host = String(socket.servername);
            socket.write(
                host.startsWith('www.') ? SWITCHED : `HTTP/1.1 302 F\r\nContent-Length: 0\r\nLocation: ${proofUrl(`www.${host}`)}\r\n\r\n`,
            );
        },
    },
];
