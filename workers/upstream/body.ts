import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { UpstreamFault } from './failures.ts';

export interface Body {
    bytes: Buffer;
    /** Bytes on the wire, before unpacking. */
    received: number;
    /** Whether the body ended inside the cap. */
    isWhole: boolean;
}

/**
 * Reads a body and unpacks its one layer of compression, counting unpacked bytes as they come, so that a bomb is stopped at the cap.
 * @param cap bytes after unpacking; past it the body is left unread and the connection is lost
 * @throws UpstreamFault UPSTREAM_INVALID_RESPONSE for a coding that is unknown, doubled or broken; the stream's own error when the
 *     connection breaks off
 */
export async function readBody(response: IncomingMessage, cap: number): Promise<Body> {
    const unpacker = openUnpacker(response);
    const chunks: Buffer[] = [];
    let length = 0;
    let received = 0;
    const take = async (source: AsyncIterable<Buffer>): Promise<boolean> => {
        for await (const chunk of source) {
            length += chunk.length;
            if (length > cap) {
                chunks.push(chunk.subarray(0, chunk.length - (length - cap)));
                return false;
            }
            chunks.push(chunk);
        }
        return true;
    };
    const count = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of response as AsyncIterable<Buffer>) {
            received += chunk.length;
            yield chunk;
        }
    };
    const isWhole = unpacker === undefined ? await take(response) : await unpackInto(take, unpacker, count);
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    return { bytes, received: unpacker === undefined ? length : received, isWhole };
}

async function unpackInto(
    take: (source: AsyncIterable<Buffer>) => Promise<boolean>,
    unpacker: Transform,
    count: () => AsyncGenerator<Buffer>,
): Promise<boolean> {
    let isWhole = false;
    try {
        await pipeline(count, unpacker, async (source: AsyncIterable<Buffer>) => {
            isWhole = await take(source);
        });
    } catch (error) {
        if (isUnpackingError(error)) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer cannot be unpacked.');
        throw error;
    }
    return isWhole;
}

const UNPACKERS: ReadonlyMap<string, () => Transform> = new Map([
    ['gzip', () => zlib.createGunzip()],
    ['x-gzip', () => zlib.createGunzip()],
    ['deflate', () => zlib.createInflate()],
    ['br', () => zlib.createBrotliDecompress()],
    ['zstd', () => zlib.createZstdDecompress()],
]);

function openUnpacker(response: IncomingMessage): Transform | undefined {
    const header = response.headers['content-encoding'];
    if (header === undefined || isBodyless(response)) return undefined;
    const codings = header
        .split(',')
        .map((coding) => coding.trim().toLowerCase())
        .filter((coding) => coding !== '' && coding !== 'identity');
    const [coding] = codings;
    if (coding === undefined) return undefined;
    const open = UNPACKERS.get(coding);
    if (codings.length > 1) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer is packed in more than one layer.');
    if (open === undefined) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer has an unknown Content-Encoding.');
    return open();
}

function isBodyless(response: IncomingMessage): boolean {
    return response.statusCode === 204 || response.statusCode === 205 || response.statusCode === 304;
}

function isUnpackingError(error: unknown): boolean {
    if (!(error instanceof Error) || !('code' in error)) return false;
    return /^(Z_|ERR_(BROTLI|_?ERR_BROTLI|ZSTD|ZLIB)|ERR__ERROR|ZSTD_)/.test(String(error.code));
}
