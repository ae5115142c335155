import { createServer, type Socket } from 'node:net';
import * as zlib from 'node:zlib';

/**
 * A hostile site; the path selects the attack: bombs, endless bodies and headers, or no answer. A separate process; prints its port.
 * `/report` returns as JSON how many bombs it sent, and the longest time in milliseconds from the first byte beyond the size limit until
 * the connection was closed. A report resets the counts.
 */
const CAP = 5 * 1024 * 1024;
const MIB = Buffer.alloc(1024 * 1024, 0x20);
const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const bomb = zlib.gzipSync(Buffer.alloc(256 * 1024 * 1024));
const nested = zlib.gzipSync(zlib.gzipSync(Buffer.alloc(256 * 1024 * 1024)));
const deep = Buffer.from('['.repeat(4 * 1024 * 1024));

let thrown = 0;
let longestMs = 0;

const whole = (head: string, body: Buffer) => Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);

/** Writes the same chunk again and again. The time counts from the first byte past `cap`. */
function pour(socket: Socket, head: string, chunk: Buffer, cap: number): void {
    socket.write(head);
    let poured = 0;
    let passedAt = Number.POSITIVE_INFINITY;
    const more = () => {
        for (let goesOn = true; goesOn && !socket.destroyed; ) {
            goesOn = socket.write(chunk);
            poured += chunk.length;
            if (poured > cap) passedAt = Math.min(passedAt, performance.now());
        }
        if (!socket.destroyed) socket.once('drain', more);
    };
    socket.once('close', () => {
        if (poured > cap) longestMs = Math.max(longestMs, performance.now() - passedAt);
    });
    more();
}

const DEEDS: Readonly<Record<string, (socket: Socket) => void>> = {
    gzip: (socket) => socket.write(whole(`${OK}Content-Encoding: gzip\r\n`, bomb)),
    double: (socket) => socket.write(whole(`${OK}Content-Encoding: gzip\r\n`, nested)),
    endless: (socket) => pour(socket, `${OK}\r\n`, MIB, CAP),
    headers: (socket) => pour(socket, 'HTTP/1.1 200 OK\r\n', Buffer.from('X-A: b\r\n'.repeat(1000)), 64 * 1024),
    deep: (socket) => socket.write(whole(OK, deep)),
    drip(socket) {
        socket.write(`${OK}Content-Length: 100000\r\n\r\n`);
        const timer = setInterval(() => socket.write(' '), 50);
        socket.once('close', () => clearInterval(timer));
    },
    hang: () => {},
};

const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
        const [, path = ''] = chunk.toString('latin1').split(' ', 2);
        const deed = DEEDS[path.split('/')[1] ?? ''];
        if (deed !== undefined) {
            thrown++;
            return deed(socket);
        }
        socket.end(whole(OK, Buffer.from(JSON.stringify({ thrown, longest_ms: longestMs }))));
        thrown = 0;
        longestMs = 0;
    });
});
server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`port ${typeof address === 'object' ? address?.port : ''}\n`);
});
process.once('SIGTERM', () => process.exit(0));
