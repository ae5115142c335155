import { type Behaviour, OK, pour, row, send, sendAndEnd } from './behaviour.ts';

const CODE = 'UPSTREAM_UNREACHABLE';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** Bytes that are not HTTP, or break its rules. */
export const PROTOCOL: readonly Behaviour[] = [
    row('speaks SSH', sendAndEnd('SSH-2.0-OpenSSH_9.2\r\n'), CODE),
    row('speaks HTTP/0.9', sendAndEnd('<html>hello</html>'), CODE),
    row('speaks HTTP/2, unasked', sendAndEnd(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])), CODE),
    row('sends a status that is not a number', send('HTTP/1.1 abc OK\r\n\r\n'), CODE),
    row('sends a line that is not a header', send('HTTP/1.1 200 OK\r\nno header\r\nContent-Length: 2\r\n\r\n{}'), CODE),
    row('sends a NUL inside a header', send('HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\n{}'), CODE),
    row('sends a bare line feed inside the headers', send('HTTP/1.1 200 OK\r\nX-A\n: b\r\nContent-Length: 2\r\n\r\n{}'), CODE),
    row('sends two different lengths', send(`${OK}Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}`), CODE),
    row('sends a length and chunks', send(`${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`), CODE),
    row('sends a negative length', send(`${OK}Content-Length: -2\r\n\r\n{}`), CODE),
    row('sends a length that is not a number', send(`${OK}Content-Length: 2x\r\n\r\n{}`), CODE),
    row('sends a length that no number holds', send(`${OK}Content-Length: 99999999999999999999999\r\n\r\n{}`), CODE),
    row('sends a chunk size that is not a number', send(`${CHUNKED}zz\r\n{}\r\n`), CODE),
    row('sends a chunk size that no number holds', send(`${CHUNKED}fffffffffffffffff\r\n{}\r\n`), CODE),
    row('sends a chunk that is longer than it says', send(`${CHUNKED}2\r\n{}{}\r\n0\r\n\r\n`), CODE),
    row('switches protocols, unasked', send('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'), CODE),
    row('sends interim answers without end', pour('', 'HTTP/1.1 102 Processing\r\n\r\n', 1), CODE),
];
