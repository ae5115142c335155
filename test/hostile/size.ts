import * as zlib from 'node:zlib';
import { type Behaviour, OK, pour, row, send, sendMade, whole } from './behaviour.ts';

const CODE = 'UPSTREAM_TOO_LARGE';
const AT_CAP = { time: 'at the cap' } as const;
const CAP = 5 * 1024 * 1024;
const MIB = Buffer.alloc(1024 * 1024, 0x20);
const HEADER_CAP = 64 * 1024;
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

const bomb = (coding: string, pack: (bytes: Buffer) => Buffer, mib: number, head = OK) =>
    sendMade(() => whole(`${head}Content-Encoding: ${coding}\r\n`, pack(Buffer.alloc(mib * 1024 * 1024))));

/** Responses larger than permitted. */
export const SIZE: readonly Behaviour[] = [
    row('announces a body of 1 GiB', announces(1024 ** 3), CODE, AT_CAP),
    row('sends one byte more than 5 MiB', send(whole(OK, Buffer.alloc(CAP + 1, 0x20))), CODE, AT_CAP),
    row('sends a body without end', pour(`${OK}\r\n`, MIB, CAP), CODE, AT_CAP),
    row('sends chunks without end', pour(CHUNKED, Buffer.concat([Buffer.from('100000\r\n'), MIB, Buffer.from('\r\n')]), CAP), CODE, AT_CAP),
    row('sends chunks of one byte without end', pour(CHUNKED, '1\r\n \r\n'.repeat(10_000), 300_000), CODE, AT_CAP),
    row('sends chunk extensions without end', pour(`${CHUNKED}1;`, 'a=b;'.repeat(4096), 16 * 1024), CODE, AT_CAP),
    row('sends a gzip bomb', bomb('gzip', zlib.gzipSync, 64), CODE, AT_CAP),
    row('sends a deflate bomb', bomb('deflate', zlib.deflateSync, 16), CODE, AT_CAP),
    row('sends a brotli bomb', bomb('br', quickBrotli, 16), CODE, AT_CAP),
    row('sends a zstd bomb', bomb('zstd', zlib.zstdCompressSync, 16), CODE, AT_CAP),
    row('sends headers of 80 KiB', send(`${OK}X-Long: ${'a'.repeat(80 * 1024)}\r\n\r\n`), CODE, AT_CAP),
    row('sends headers without end', pour('HTTP/1.1 200 OK\r\n', 'X-A: b\r\n'.repeat(1000), HEADER_CAP), CODE, AT_CAP),
    row('sends hints of 60 KB, each byte in a TLS record of its own', trickle(hintOf(60_000), 50_000), CODE, {
        ...AT_CAP,
        place: { kind: 'tls', certificate: 'good' },
    }),
    row('sends 201 headers', send(whole(OK + 'X-A: b\r\n'.repeat(199), '{}')), CODE, AT_CAP),
    row('sends 250 trailers', send(`${CHUNKED}2\r\n{}\r\n0\r\n${'X-A: b\r\n'.repeat(250)}\r\n`), CODE, AT_CAP),
    row('nests JSON 101 deep', send(whole(OK, '['.repeat(101) + ']'.repeat(101))), CODE),
    row('nests JSON 2 million deep', send(whole(OK, '['.repeat(2_000_000))), CODE),
    row('answers 500 with a body without end', pour('HTTP/1.1 500 Oops\r\n\r\n', MIB, 16 * 1024), 'UPSTREAM_STATUS', AT_CAP),
    row('answers 500 with a gzip bomb', bomb('gzip', zlib.gzipSync, 64, 'HTTP/1.1 500 Oops\r\n'), 'UPSTREAM_STATUS', AT_CAP),
];

/** The usual quality takes seconds, during which this process does nothing else. */
function quickBrotli(bytes: Buffer): Buffer {
    return zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } });
}

function hintOf(bytes: number): string {
    return `HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(bytes)}\r\n\r\n`;
}

/** Writes each character by itself. @param cap how many are permitted */
function trickle(text: string, cap: number): Behaviour['serve'] {
    return ({ socket, passed }) => {
        const write = (at: number) => {
            if (at === cap) passed('endless');
            if (at < text.length && !socket.destroyed) socket.write(text.charAt(at), () => write(at + 1));
        };
        write(0);
    };
}

function announces(bytes: number): Behaviour['serve'] {
    return ({ socket, passed }) => {
        socket.write(`${OK}Content-Length: ${bytes}\r\n\r\n`);
        passed('endless');
    };
}
