import type { Socket } from 'node:net';

/** A server outside that a worker asks besides the sites of packages, such as the receiver of a webhook. */
export interface Answerer {
    /** Continues "a server that". */
    name: string;
    /** Whether its answer means that an event was delivered. */
    isDelivered?: true;
    /** Answers on a new connection once the request has begun. */
    answer(socket: Socket): void;
}

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

/** To add a row, add an entry here. */
export const ANSWERERS: readonly Answerer[] = [
    { name: 'says nothing', answer: () => undefined },
    { name: 'closes the connection', answer: (socket) => socket.end() },
    { name: 'resets the connection', answer: (socket) => socket.destroy() },
    { name: 'switches protocols unasked', answer: (socket) => socket.write('HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n') },
    { name: 'hints without end', answer: (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n') },
    { name: 'sends headers without end', answer: (socket) => flood(socket, OK, 'X-Header: value\r\n') },
    { name: 'sends one header without end', answer: (socket) => flood(socket, `${OK}X-Header: `, 'a') },
    { name: 'sends a body without end', isDelivered: true, answer: (socket) => flood(socket, `${OK}\r\n`, 'a') },
    {
        name: 'sends chunks without end',
        isDelivered: true,
        answer: (socket) => flood(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n`, '1\r\na\r\n'),
    },
    {
        name: 'sends trailers without end',
        isDelivered: true,
        answer: (socket) => flood(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'X: a\r\n'),
    },
    { name: 'announces more than it sends', isDelivered: true, answer: (socket) => socket.write(`${OK}Content-Length: 1000\r\n\r\n{"a"`) },
    { name: 'nests lists deeply', isDelivered: true, answer: (socket) => socket.end(`${OK}\r\n${'['.repeat(60_000)}`) },
    { name: 'answers with no HTTP', answer: (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n') },
    { name: 'moves to a private address', answer: (socket) => socket.end('HTTP/1.1 307 M\r\nLocation: http://10.0.0.7/\r\n\r\n') },
];
