import type { Socket } from 'node:net';
import * as zlib from 'node:zlib';
import { expect } from 'chai';
import type { RefusalCode } from '../../shared/refusals.ts';
import { createReader, type Reader } from '../../workers/select/reader.ts';
import { createUpstream, type Upstream } from '../../workers/upstream.ts';
import { loopbackRules, openRawSite, requestTo, type Site } from '../support/sites.ts';

interface Behaviour {
    /** What the site does. */
    name: string;
    serve(socket: Socket): void;
    /** What the caller is told; `success` for what is odd but whole. */
    code: RefusalCode | 'success';
    /** Requests that a read makes; 1 unless told. */
    attempts?: number;
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const MIB = Buffer.alloc(1024 * 1024, 0x20);

/** The head, the body's length, and the body itself. */
function whole(head: string, body: string | Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
}

function send(...chunks: (string | Buffer)[]): (socket: Socket) => void {
    return (socket) => {
        for (const chunk of chunks) socket.write(chunk);
    };
}

function sendAndEnd(...chunks: (string | Buffer)[]): (socket: Socket) => void {
    return (socket) => {
        for (const chunk of chunks) socket.write(chunk);
        socket.end();
    };
}

/** Writes the same bytes again and again until the other side has had enough. */
function pour(head: string, chunk: Buffer | string): (socket: Socket) => void {
    return (socket) => {
        socket.write(head);
        const more = () => {
            while (!socket.destroyed && socket.write(chunk));
            if (!socket.destroyed) socket.once('drain', more);
        };
        more();
    };
}

function drip(head: string, everyMs: number, piece = ' '): (socket: Socket) => void {
    return (socket) => {
        socket.write(head);
        const timer = setInterval(() => socket.write(piece), everyMs);
        socket.once('close', () => clearInterval(timer));
    };
}

const packed = (coding: string, body: Buffer) => whole(`${OK}Content-Encoding: ${coding}\r\n`, body);
const bomb = zlib.gzipSync(Buffer.alloc(64 * 1024 * 1024));

const BEHAVIOURS: readonly Behaviour[] = [
    // Nothing, too little, too late.
    { name: 'never answers', serve: () => {}, code: 'UPSTREAM_TIMEOUT' },
    { name: 'hangs inside the status line', serve: send('HTTP/1.1 20'), code: 'UPSTREAM_TIMEOUT' },
    { name: 'hangs inside the headers', serve: send(OK), code: 'UPSTREAM_TIMEOUT' },
    { name: 'hangs before the body', serve: send(`${OK}Content-Length: 10\r\n\r\n`), code: 'UPSTREAM_TIMEOUT' },
    { name: 'hangs inside the body', serve: send(`${OK}Content-Length: 10\r\n\r\n{"a"`), code: 'UPSTREAM_TIMEOUT' },
    { name: 'drips its body', serve: drip(`${OK}Content-Length: 100000\r\n\r\n`, 20), code: 'UPSTREAM_TIMEOUT' },
    { name: 'drips its headers', serve: drip(OK, 20, 'X-A: b\r\n'), code: 'UPSTREAM_TIMEOUT' },
    { name: 'hangs inside a chunk', serve: send(`${OK}Transfer-Encoding: chunked\r\n\r\n10\r\nabc`), code: 'UPSTREAM_TIMEOUT' },
    {
        name: 'hangs inside gzip',
        serve: send(`${OK}Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n`, bomb.subarray(0, 20)),
        code: 'UPSTREAM_TIMEOUT',
    },
    { name: 'closes without an answer', serve: sendAndEnd(), code: 'UPSTREAM_UNREACHABLE', attempts: 3 },
    { name: 'resets the connection', serve: (socket) => socket.resetAndDestroy(), code: 'UPSTREAM_UNREACHABLE', attempts: 3 },
    { name: 'closes inside the headers', serve: sendAndEnd(OK), code: 'UPSTREAM_UNREACHABLE', attempts: 3 },
    { name: 'ends its body early', serve: sendAndEnd(`${OK}Content-Length: 10\r\n\r\n{"a"`), code: 'UPSTREAM_UNREACHABLE', attempts: 3 },
    {
        name: 'ends a chunked body early',
        serve: sendAndEnd(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`),
        code: 'UPSTREAM_UNREACHABLE',
        attempts: 3,
    },
    {
        name: 'ends a gzip body early, by its length',
        serve: sendAndEnd(`${OK}Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n`, bomb.subarray(0, 20)),
        code: 'UPSTREAM_UNREACHABLE',
        attempts: 3,
    },
    // Not HTTP.
    { name: 'speaks SSH', serve: sendAndEnd('SSH-2.0-OpenSSH_9.2\r\n'), code: 'UPSTREAM_UNREACHABLE' },
    { name: 'speaks HTTP/0.9', serve: sendAndEnd('<html>hello</html>'), code: 'UPSTREAM_UNREACHABLE' },
    { name: 'sends a status that is no number', serve: send('HTTP/1.1 abc OK\r\n\r\n'), code: 'UPSTREAM_UNREACHABLE' },
    {
        name: 'sends two different lengths',
        serve: send(`${OK}Content-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}`),
        code: 'UPSTREAM_UNREACHABLE',
    },
    {
        name: 'sends length and chunks',
        serve: send(`${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
        code: 'UPSTREAM_UNREACHABLE',
    },
    { name: 'sends a negative length', serve: send(`${OK}Content-Length: -2\r\n\r\n{}`), code: 'UPSTREAM_UNREACHABLE' },
    {
        name: 'sends a chunk size that is no number',
        serve: send(`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`),
        code: 'UPSTREAM_UNREACHABLE',
        attempts: 3,
    },
    {
        name: 'sends a NUL in a header',
        serve: send('HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 2\r\n\r\n{}'),
        code: 'UPSTREAM_UNREACHABLE',
    },
    {
        name: 'sends a bare line feed inside the headers',
        serve: send('HTTP/1.1 200 OK\r\nX-A\n: b\r\nContent-Length: 2\r\n\r\n{}'),
        code: 'UPSTREAM_UNREACHABLE',
    },
    {
        name: 'switches protocols, unasked',
        serve: send('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
        code: 'UPSTREAM_UNREACHABLE',
    },
    { name: 'sends interim answers without end', serve: pour('', 'HTTP/1.1 102 Processing\r\n\r\n'), code: 'UPSTREAM_UNREACHABLE' },
    // Too much.
    { name: 'announces a body of 1 GiB', serve: send(`${OK}Content-Length: 1073741824\r\n\r\n`), code: 'UPSTREAM_TOO_LARGE' },
    { name: 'sends a body without end', serve: pour(`${OK}\r\n`, MIB), code: 'UPSTREAM_TOO_LARGE' },
    {
        name: 'sends chunks without end',
        serve: pour(`${OK}Transfer-Encoding: chunked\r\n\r\n`, Buffer.concat([Buffer.from('100000\r\n'), MIB, Buffer.from('\r\n')])),
        code: 'UPSTREAM_TOO_LARGE',
    },
    { name: 'sends a gzip bomb', serve: send(packed('gzip', bomb)), code: 'UPSTREAM_TOO_LARGE' },
    {
        name: 'sends a brotli bomb',
        serve: send(packed('br', zlib.brotliCompressSync(Buffer.alloc(16 * 1024 * 1024)))),
        code: 'UPSTREAM_TOO_LARGE',
    },
    { name: 'sends headers of 80 KiB', serve: send(`${OK}X-Long: ${'a'.repeat(80 * 1024)}\r\n\r\n`), code: 'UPSTREAM_TOO_LARGE' },
    { name: 'sends headers without end', serve: pour('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'.repeat(1000)), code: 'UPSTREAM_TOO_LARGE' },
    { name: 'sends 201 headers', serve: send(whole(OK + 'X-A: b\r\n'.repeat(199), '{}')), code: 'UPSTREAM_TOO_LARGE' },
    {
        name: 'sends 250 trailers',
        serve: send(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${'X-A: b\r\n'.repeat(250)}\r\n`),
        code: 'UPSTREAM_TOO_LARGE',
    },
    { name: 'nests JSON 101 deep', serve: send(whole(OK, '['.repeat(101) + ']'.repeat(101))), code: 'UPSTREAM_TOO_LARGE' },
    { name: 'nests JSON 2 million deep', serve: send(whole(OK, '['.repeat(2_000_000))), code: 'UPSTREAM_TOO_LARGE' },
    // Whole, but not what it says.
    { name: 'packs twice', serve: send(packed('gzip, gzip', zlib.gzipSync(zlib.gzipSync('{}')))), code: 'UPSTREAM_INVALID_RESPONSE' },
    {
        name: 'packs twice and says so in two headers',
        serve: send(packed('gzip\r\nContent-Encoding: br', zlib.gzipSync('{}'))),
        code: 'UPSTREAM_INVALID_RESPONSE',
    },
    {
        name: 'packs twice and says so once',
        serve: send(packed('gzip', zlib.gzipSync(zlib.gzipSync('{}')))),
        code: 'UPSTREAM_INVALID_RESPONSE',
    },
    { name: 'names a coding nobody knows', serve: send(packed('klingon', Buffer.from('{}'))), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'calls plain text gzip', serve: send(packed('gzip', Buffer.from('{}'))), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'calls plain text brotli', serve: send(packed('br', Buffer.from('{"a":1}'))), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'calls plain text zstd', serve: send(packed('zstd', Buffer.from('{"a":1}'))), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'calls plain text deflate', serve: send(packed('deflate', Buffer.from('{"a":1}'))), code: 'UPSTREAM_INVALID_RESPONSE' },
    {
        name: 'sends gzip that is cut off inside',
        serve: send(packed('gzip', zlib.gzipSync('{"a":1}').subarray(0, 12))),
        code: 'UPSTREAM_INVALID_RESPONSE',
    },
    { name: 'sends gzip with a wrong checksum', serve: send(packed('gzip', wrongChecksum('{"a":1}'))), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'sends an empty 200', serve: send(whole(OK, '')), code: 'UPSTREAM_INVALID_RESPONSE' },
    {
        name: 'sends an empty 200 without a type',
        serve: send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
        code: 'UPSTREAM_INVALID_RESPONSE',
    },
    { name: 'sends HTML as JSON', serve: send(whole(OK, '<html>')), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'sends JSON that is cut off', serve: send(whole(OK, '{"a":')), code: 'UPSTREAM_INVALID_RESPONSE' },
    { name: 'sends JSON twice', serve: send(whole(OK, '{}{}')), code: 'UPSTREAM_INVALID_RESPONSE' },
    {
        name: 'names a charset that does not exist',
        serve: send(whole('HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=klingon\r\n', '{}')),
        code: 'UPSTREAM_INVALID_RESPONSE',
    },
    {
        name: 'calls Latin-1 UTF-8',
        serve: send(whole('HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n', Buffer.from('"\xe9"', 'latin1'))),
        code: 'UPSTREAM_INVALID_RESPONSE',
    },
    // Statuses.
    { name: 'answers 404', serve: send(whole('HTTP/1.1 404 Not Found\r\n', 'no')), code: 'UPSTREAM_STATUS' },
    { name: 'answers 500', serve: send(whole('HTTP/1.1 500 Oops\r\n', 'no')), code: 'UPSTREAM_STATUS' },
    { name: 'answers 503 for ever', serve: send(whole('HTTP/1.1 503 Busy\r\n', 'no')), code: 'UPSTREAM_STATUS', attempts: 3 },
    {
        name: 'answers 429 for ever',
        serve: send(whole('HTTP/1.1 429 Slow\r\nRetry-After: 0\r\n', 'no')),
        code: 'UPSTREAM_RATE_LIMITED',
        attempts: 3,
    },
    {
        name: 'answers 429 and asks for more time than there is',
        serve: send(whole('HTTP/1.1 429 Slow\r\nRetry-After: 3600\r\n', 'no')),
        code: 'UPSTREAM_RATE_LIMITED',
    },
    { name: 'answers 304', serve: send('HTTP/1.1 304 Not Modified\r\n\r\n'), code: 'UPSTREAM_STATUS' },
    { name: 'answers 300 with a Location', serve: send(whole('HTTP/1.1 300 Choices\r\nLocation: /x\r\n', 'no')), code: 'UPSTREAM_STATUS' },
    { name: 'answers 999', serve: send(whole('HTTP/1.1 999 Denied\r\n', 'no')), code: 'UPSTREAM_STATUS' },
    { name: 'answers 500 with a body without end', serve: pour('HTTP/1.1 500 Oops\r\n\r\n', MIB), code: 'UPSTREAM_STATUS' },
    {
        name: 'answers 500 with a gzip bomb',
        serve: send(whole('HTTP/1.1 500 Oops\r\nContent-Encoding: gzip\r\n', bomb)),
        code: 'UPSTREAM_STATUS',
    },
    { name: 'redirects without a Location', serve: send(whole('HTTP/1.1 302 Found\r\n', '')), code: 'UPSTREAM_STATUS' },
    { name: 'redirects with an empty Location', serve: send(whole('HTTP/1.1 302 Found\r\nLocation: \r\n', '')), code: 'UPSTREAM_STATUS' },
    // Redirects.
    {
        name: 'redirects to itself for ever',
        serve: send(whole('HTTP/1.1 302 Found\r\nLocation: ?again\r\n', '')),
        code: 'UPSTREAM_REDIRECT',
        attempts: 6,
    },
    {
        name: 'redirects to another site',
        serve: send(whole('HTTP/1.1 302 Found\r\nLocation: https://other.test/\r\n', '')),
        code: 'UPSTREAM_REDIRECT',
    },
    { name: 'redirects to no URL', serve: send(whole('HTTP/1.1 302 Found\r\nLocation: http://[::1\r\n', '')), code: 'UPSTREAM_REDIRECT' },
    {
        name: 'redirects to a script',
        serve: send(whole('HTTP/1.1 302 Found\r\nLocation: javascript:alert(1)\r\n', '')),
        code: 'UPSTREAM_REDIRECT',
    },
    {
        name: 'redirects to a file',
        serve: send(whole('HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n', '')),
        code: 'UPSTREAM_REDIRECT',
    },
    {
        name: 'redirects to plain http elsewhere on the site',
        serve: send(whole('HTTP/1.1 302 Found\r\nLocation: http://shop.test/\r\n', '')),
        code: 'EGRESS_DENIED',
    },
    // Odd, but whole.
    { name: 'sends trailers', serve: send(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n`), code: 'success' },
    {
        name: 'sends the same header twice',
        serve: send(whole(`${OK}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-A: 1\r\nX-A: 2\r\n`, '{}')),
        code: 'success',
    },
    { name: 'sends a byte order mark', serve: send(whole(OK, '\ufeff{}')), code: 'success' },
    { name: 'ends its body by closing', serve: sendAndEnd(`${OK}\r\n{}`), code: 'success' },
    { name: 'speaks HTTP/1.0', serve: sendAndEnd('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}'), code: 'success' },
    { name: 'hints early', serve: send('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', whole(OK, '{}')), code: 'success' },
    {
        name: 'sends JSON in Latin-1 and says so',
        serve: send(whole('HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=ISO-8859-1\r\n', Buffer.from('"\xe9"', 'latin1'))),
        code: 'success',
    },
    { name: 'sends more bytes than it announced', serve: send(`${OK}Content-Length: 2\r\n\r\n{}surplus`), code: 'success' },
    { name: 'sends a second answer behind the first', serve: send(whole(OK, '{}'), whole(OK, '{"poisoned":true}')), code: 'success' },
    { name: 'answers before it was asked for the rest', serve: send('HTTP/1.1 204 No Content\r\n\r\n'), code: 'success' },
    { name: 'sends exactly 200 headers', serve: send(whole(OK + 'X-A: b\r\n'.repeat(198), '{}')), code: 'success' },
    {
        name: 'sends exactly 5 MiB',
        serve: send(whole(OK, Buffer.concat([Buffer.from('{}'), Buffer.alloc(5 * 1024 * 1024 - 2, 0x20)]))),
        code: 'success',
    },
    { name: 'nests JSON 100 deep', serve: send(whole(OK, '['.repeat(100) + ']'.repeat(100))), code: 'success' },
];

function wrongChecksum(text: string): Buffer {
    const whole = zlib.gzipSync(text);
    whole.writeUInt32LE(1, whole.length - 8);
    return whole;
}

describe('a site that misbehaves', () => {
    let site: Site;
    let upstream: Upstream;
    let reader: Reader;
    const served = new Map<string, number>();

    before(async () => {
        site = await openRawSite((socket, path) => {
            const index = path.slice(1).split('?', 1)[0] ?? '';
            served.set(index, (served.get(index) ?? 0) + 1);
            BEHAVIOURS[Number(index)]?.serve(socket);
        });
        upstream = createUpstream({ rules: loopbackRules(`127.0.0.1:${site.port}`) });
        reader = createReader({ threads: 1 });
    });

    after(async () => {
        upstream.close();
        await reader.close();
        await site.close();
    });

    async function fetch(index: number, deadlineMs: number) {
        const request = requestTo(`http://shop.test:${site.port}/${index}`);
        const options = { site: 'shop.test', registrable: 'shop.test', effect: 'read', deadlineAt: Date.now() + deadlineMs } as const;
        const answer = await upstream.send(request, options);
        if (!answer.ok) return { code: answer.code, attempts: answer.attempts };
        const reading = await reader.read(answer.page, { response: { type: undefined, select: undefined, schema: undefined } });
        return { code: reading.ok ? 'success' : reading.code, attempts: answer.figures.attempts };
    }

    for (const [index, { name, code, attempts = 1 }] of BEHAVIOURS.entries()) {
        it(`that ${name}: ${code}`, async () => {
            const deadlineMs = code === 'UPSTREAM_TIMEOUT' ? 250 : 8000;
            const began = performance.now();
            const outcome = await fetch(index, deadlineMs);
            expect(outcome).to.deep.equal({ code, attempts });
            expect(served.get(String(index))).to.equal(attempts);
            expect(performance.now() - began).to.be.below(code === 'UPSTREAM_TIMEOUT' ? deadlineMs + 1000 : 8000);
        });
    }

    it('leaves no answer behind for the next call of the same site', async () => {
        const poison = BEHAVIOURS.findIndex(({ name }) => name === 'sends a second answer behind the first');
        const good = BEHAVIOURS.findIndex(({ name }) => name === 'nests JSON 100 deep');
        await fetch(poison, 5000);
        const request = requestTo(`http://shop.test:${site.port}/${good}`);
        const answer = await upstream.send(request, {
            site: 'shop.test',
            registrable: 'shop.test',
            effect: 'read',
            deadlineAt: Date.now() + 5000,
        });
        expect(answer.ok && Buffer.from(answer.page.body).toString()).to.equal('['.repeat(100) + ']'.repeat(100));
    });

    it('costs no more memory than its cap', async () => {
        const bombs = BEHAVIOURS.flatMap(({ name }, index) => (/bomb|without end/.test(name) ? [index] : []));
        const before = process.memoryUsage().rss;
        await Promise.all([...bombs, ...bombs].map((index) => fetch(index, 8000)));
        expect((process.memoryUsage().rss - before) / 1e6).to.be.below(256);
    });
});
