import * as zlib from 'node:zlib';
import { type Behaviour, OK, row, send, sendAndEnd, sendMade, whole } from './behaviour.ts';

const CODE = 'UPSTREAM_INVALID_RESPONSE';
const packed = (coding: string, body: Buffer) => whole(`${OK}Content-Encoding: ${coding}\r\n`, body);
const inCharset = (charset: string, body: Buffer) =>
    whole(`HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=${charset}\r\n`, body);

/** A delay after a response and before the next call of the same site, in milliseconds. */
const SOON_MS = 5;

/** Complete responses that are not what they say. */
export const CONTENT: readonly Behaviour[] = [
    row('compresses twice and says so', send(packed('gzip, gzip', zlib.gzipSync(zlib.gzipSync('{}')))), CODE),
    row('compresses twice and says so in two headers', send(packed('gzip\r\nContent-Encoding: br', zlib.gzipSync('{}'))), CODE),
    row('compresses twice and says so once', send(packed('gzip', zlib.gzipSync(zlib.gzipSync('{}')))), CODE),
    row(
        'nests a compression bomb in another one',
        sendMade(() => packed('gzip', zlib.gzipSync(zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024))))),
        CODE,
    ),
    row('names an unknown content coding', send(packed('klingon', Buffer.from('{}'))), CODE),
    row('sends plain text as gzip', send(packed('gzip', Buffer.from('{}'))), CODE),
    row('sends plain text as brotli', send(packed('br', Buffer.from('{"a":1}'))), CODE),
    row('sends plain text as zstd', send(packed('zstd', Buffer.from('{"a":1}'))), CODE),
    row('sends plain text as deflate', send(packed('deflate', Buffer.from('{"a":1}'))), CODE),
    row('sends gzip that is cut off', send(packed('gzip', zlib.gzipSync('{"a":1}').subarray(0, 12))), CODE),
    row('sends gzip with a wrong checksum', send(packed('gzip', wrongChecksum('{"a":1}'))), CODE),
    row('sends an empty 203', send('HTTP/1.1 203 Non-Authoritative Information\r\nContent-Length: 0\r\n\r\n'), CODE),
    row('sends nothing but spaces', send(whole(OK, '  \r\n ')), CODE),
    row('sends HTML as JSON', send(whole(OK, '<html>')), CODE),
    row('sends JSON that is cut off', send(whole(OK, '{"a":')), CODE),
    row('sends JSON twice', send(whole(OK, '{}{}')), CODE),
    row('sends JSON with a trailing comma', send(whole(OK, '{"a":1,}')), CODE),
    row('sends NaN as JSON', send(whole(OK, '{"a":NaN}')), CODE),
    row('sends UTF-8 as UTF-16', send(inCharset('utf-16', Buffer.from('{"a":"b"}'))), CODE),
    row('sends an image as JSON', send(whole(OK, Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))), CODE),
];

/** Unusual but complete responses, which are billed. */
export const ODD: readonly Behaviour[] = [
    row('sends trailers', send(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n`), 'success'),
    row('sends the same header twice', send(whole(`${OK}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-A: 1\r\nX-A: 2\r\n`, '{}')), 'success'),
    row('sends a byte order mark', send(whole(OK, '\ufeff{}')), 'success'),
    row('names a charset that does not exist', send(inCharset('klingon', Buffer.from('{}'))), 'success'),
    row('sends Latin-1 as UTF-8', send(inCharset('utf-8', Buffer.from('"\xe9"', 'latin1'))), 'success'),
    row('sends JSON in Latin-1 and says so', send(inCharset('ISO-8859-1', Buffer.from('"\xe9"', 'latin1'))), 'success'),
    row('sends keys like __proto__', send(whole(OK, '{"__proto__":{"a":1},"constructor":2}')), 'success'),
    row('ends the body by closing', sendAndEnd(`${OK}\r\n{}`), 'success'),
    row('speaks HTTP/1.0', sendAndEnd('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}'), 'success'),
    row('sends early hints', send('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', whole(OK, '{}')), 'success'),
    row('sends more bytes than it announced', send(`${OK}Content-Length: 2\r\n\r\n{}surplus`), 'success'),
    row('sends a second answer after the first', send(whole(OK, '{}'), whole(OK, '{"poisoned":true}')), 'success'),
    row(
        'sends bytes after a kept answer',
        ({ socket }) => {
            socket.write(whole(OK, '{}'), () => setTimeout(() => socket.write(whole(OK, '{"poisoned":true}')), SOON_MS));
        },
        'success',
    ),
    row(
        'resets right after its answer',
        ({ socket }) => void socket.write(whole(OK, '{}'), () => setTimeout(() => socket.resetAndDestroy(), SOON_MS)),
        'success',
    ),
    row('answers 204', send('HTTP/1.1 204 No Content\r\n\r\n'), 'success'),
    row('sends an empty 200', send(whole(OK, '')), 'success'),
    row('sends an empty 200 without a type', send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 'success'),
    row('sends exactly 200 headers', send(whole(OK + 'X-A: b\r\n'.repeat(198), '{}')), 'success'),
    row('sends exactly 5 MiB', send(whole(OK, Buffer.concat([Buffer.from('{}'), Buffer.alloc(5 * 1024 * 1024 - 2, 0x20)]))), 'success'),
    row('nests JSON 100 deep', send(whole(OK, '['.repeat(100) + ']'.repeat(100))), 'success'),
    row('asks for a login with 200', send(whole(OK, '{"error":"please log in"}')), 'success'),
];

function wrongChecksum(text: string): Buffer {
    const bytes = zlib.gzipSync(text);
    bytes.writeUInt32LE(1, bytes.length - 8);
    return bytes;
}
