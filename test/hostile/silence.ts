import * as zlib from 'node:zlib';
import { type Behaviour, drip, OK, row, send, sendAndEnd, whole } from './behaviour.ts';

const HANGS = { time: 'at the deadline' } as const;
const packed = zlib.gzipSync(Buffer.alloc(1024 * 1024));

/** Responses that are missing, too short or too late. */
export const SILENCE: readonly Behaviour[] = [
    row('reads the request and never answers', () => {}, 'UPSTREAM_TIMEOUT', HANGS),
    row('hangs inside the status line', send('HTTP/1.1 20'), 'UPSTREAM_TIMEOUT', HANGS),
    row('hangs inside the headers', send(OK), 'UPSTREAM_TIMEOUT', HANGS),
    row('drips headers', drip(OK, 20, 'X-A: b\r\n'), 'UPSTREAM_TIMEOUT', HANGS),
    row('hangs before the body', send(`${OK}Content-Length: 10\r\n\r\n`), 'UPSTREAM_TIMEOUT', HANGS),
    row('hangs inside the body', send(`${OK}Content-Length: 10\r\n\r\n{"a"`), 'UPSTREAM_TIMEOUT', HANGS),
    row('drips the body', drip(`${OK}Content-Length: 100000\r\n\r\n`, 20), 'UPSTREAM_TIMEOUT', HANGS),
    row('announces more bytes than it sends, and hangs', send(`${OK}Content-Length: 3\r\n\r\n{}`), 'UPSTREAM_TIMEOUT', HANGS),
    row('hangs inside a chunk', send(`${OK}Transfer-Encoding: chunked\r\n\r\n10\r\nabc`), 'UPSTREAM_TIMEOUT', HANGS),
    row('never sends the last chunk', send(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`), 'UPSTREAM_TIMEOUT', HANGS),
    row(
        'hangs inside gzip',
        send(`${OK}Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n`, packed.subarray(0, 20)),
        'UPSTREAM_TIMEOUT',
        HANGS,
    ),
    row('sends early hints and then hangs', send('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'), 'UPSTREAM_TIMEOUT', HANGS),
    row('answers 500 and hangs inside the body', send('HTTP/1.1 500 Oops\r\nContent-Length: 10\r\n\r\nno'), 'UPSTREAM_STATUS', {
        time: { afterMs: 1000, words: 'a second after the status' },
    }),
    row(
        'redirects, then hangs',
        ({ socket, turn }) => void (turn === 1 && socket.write(whole('HTTP/1.1 302 Found\r\nLocation: ?2\r\n', ''))),
        'UPSTREAM_TIMEOUT',
        {
            ...HANGS,
            requests: 2,
            write: { requests: 2 },
        },
    ),
];

/** The connection breaks. A read is tried three times. */
export const BREAKS: readonly Behaviour[] = [
    row('closes without an answer', sendAndEnd(), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row('resets the connection', ({ socket }) => void socket.resetAndDestroy(), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row('closes inside the status line', sendAndEnd('HTTP/1.1 2'), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row('closes inside the headers', sendAndEnd(OK), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row('ends the body early', sendAndEnd(`${OK}Content-Length: 10\r\n\r\n{"a"`), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row('resets in the middle of the body', resetsAfter(`${OK}Content-Length: 10\r\n\r\n{"a"`), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row('ends a chunked body early', sendAndEnd(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`), 'UPSTREAM_UNREACHABLE', {
        requests: 3,
    }),
    row('resets inside a chunk', resetsAfter(`${OK}Transfer-Encoding: chunked\r\n\r\n10\r\nabc`), 'UPSTREAM_UNREACHABLE', { requests: 3 }),
    row(
        'ends a gzip body early, by its length',
        sendAndEnd(`${OK}Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n`, packed.subarray(0, 20)),
        'UPSTREAM_UNREACHABLE',
        { requests: 3 },
    ),
    row('breaks off once and then answers', breaksOff(1), 'success', { requests: 2, write: { code: 'UPSTREAM_UNREACHABLE' } }),
    row('breaks off twice and then answers', breaksOff(2), 'success', { requests: 3, write: { code: 'UPSTREAM_UNREACHABLE' } }),
];

function resetsAfter(bytes: string): Behaviour['serve'] {
    return ({ socket }) => void socket.write(bytes, () => socket.resetAndDestroy());
}

function breaksOff(times: number): Behaviour['serve'] {
    return ({ socket, turn }) => void (turn <= times ? socket.resetAndDestroy() : socket.write(whole(OK, '{}')));
}
