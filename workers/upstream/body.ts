import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { codeOfError } from '../../shared/platform/error-code.ts';
import { countSmallPieces, inPieces, type PieceLimit } from '../../shared/platform/small-pieces.ts';
import { countReceived, giveBack } from '../garbage.ts';
import { UpstreamFault } from './failures.ts';
import type { Reservation } from './memory-budget.ts';

/** Sites that stream write each item as a piece of its own. */
const SMALL_PIECES: PieceLimit = { max: 50_000, size: 64 };
const TOO_MANY_PIECES = `The answer comes ${inPieces(SMALL_PIECES)}.`;

export interface Body {
    /** Empty if the body exceeded its cap and its beginning is not wanted. */
    bytes: Buffer;
    /** Bytes on the wire, before unpacking. */
    received: number;
    /** Whether the body ended within the cap. */
    isWhole: boolean;
}

/**
 * Reads a body and decompresses its one layer of compression. Counts unpacked bytes as they arrive, so a decompression bomb stops at the
 * cap.
 * @param cap bytes after unpacking; beyond it the rest stays unread and the connection is closed
 * @param keepsBeginning whether to return the beginning of a body that exceeds the cap
 * @param isEmpty the response has no body by definition, whatever the headers say
 * @param reservation grants memory before more than a small part is read, and holds a whole large body afterwards
 * @throws UpstreamFault UPSTREAM_INVALID_RESPONSE for an unknown, repeated or broken coding, UPSTREAM_TOO_LARGE for too many small pieces,
 * OVERLOADED when no memory was granted; the stream's error when the connection breaks
 */
export async function readBody(
    response: IncomingMessage,
    cap: number,
    {
        keepsBeginning = false,
        isEmpty = false,
        reservation,
    }: { keepsBeginning?: boolean; isEmpty?: boolean; reservation?: Reservation | undefined } = {},
): Promise<Body> {
    countSmallPieces(response, SMALL_PIECES, () => response.destroy(new UpstreamFault('UPSTREAM_TOO_LARGE', TOO_MANY_PIECES)));
    const openUnpacker = isEmpty ? undefined : unpackerOf(response);
    const chunks: Buffer[] = [];
    let length = 0;
    let received = 0;
    let kept = 0;
    let hasAsked = false;
    const take = async (source: AsyncIterable<Buffer>): Promise<boolean> => {
        for await (const chunk of source) {
            if (!hasAsked && reservation?.mustReserve(length + chunk.length) === true) {
                hasAsked = true;
                await reservation.reserve(longest(response, cap, openUnpacker), (fault) => response.destroy(fault));
            }
            length += chunk.length;
            reservation?.received(chunk.length);
            chunks.push(length > cap ? chunk.subarray(0, chunk.length - (length - cap)) : chunk);
            if (length > cap) return false;
        }
        return true;
    };
    const arriving = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of response as AsyncIterable<Buffer>) {
            received += chunk.length;
            countReceived(chunk.length);
            yield chunk;
        }
    };
    try {
        const isWhole = openUnpacker === undefined ? await take(arriving()) : await unpack(arriving(), openUnpacker, take);
        if (isWhole && hasAsked) kept = length;
        const [only] = chunks;
        if (isWhole && only !== undefined && chunks.length === 1) return { bytes: chunks.pop() ?? only, received, isWhole };
        return { bytes: isWhole || keepsBeginning ? Buffer.concat(chunks) : Buffer.alloc(0), received, isWhole };
    } finally {
        for (const chunk of chunks) giveBack(chunk);
        reservation?.settle(kept);
    }
}

/** The largest possible size of a body, by its headers and its cap. */
function longest({ headers }: IncomingMessage, cap: number, openUnpacker: OpenUnpacker | undefined): number {
    const declared = Number(headers['content-length']);
    return openUnpacker === undefined && declared > 0 ? Math.min(cap, declared) : cap;
}

type Take = (source: AsyncIterable<Buffer>) => Promise<boolean>;

/** Creates the decompressor of a body that begins with this byte. */
type OpenUnpacker = (first: number) => Transform;

async function unpack(packed: AsyncGenerator<Buffer>, open: OpenUnpacker, take: Take): Promise<boolean> {
    const { value: head, done } = await packed.next();
    if (done === true) return true;
    const all = async function* (): AsyncGenerator<Buffer> {
        yield head;
        yield* packed;
    };
    let isWhole: boolean | undefined;
    try {
        await pipeline(all, open(head[0] ?? 0), async (source: AsyncIterable<Buffer>) => {
            isWhole = await take(source);
        });
    } catch (error) {
        // A body that exceeds the cap ends the pipeline early on purpose.
        if (isWhole === false) return false;
        if (isUnpackingError(error)) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer cannot be unpacked.');
        throw error;
    }
    return isWhole === true;
}

/** Each chunk costs a turn of the event loop. With Node's default of 16 KiB a body of 5 MiB takes 320 turns. */
const SLICE = { chunkSize: 64 * 1024 };

/** The largest window of RFC 9659, 8 MiB. Node accepts 128 MiB by default. */
const ZSTD_WINDOW = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

const UNPACKERS: ReadonlyMap<string, OpenUnpacker> = new Map<string, OpenUnpacker>([
    ['gzip', () => zlib.createGunzip(SLICE)],
    ['x-gzip', () => zlib.createGunzip(SLICE)],
    // Some sites send deflate without the zlib wrapper, whose first byte ends in 8.
    ['deflate', (first) => ((first & 0x0f) === 8 ? zlib.createInflate(SLICE) : zlib.createInflateRaw(SLICE))],
    ['br', () => zlib.createBrotliDecompress(SLICE)],
    ['zstd', () => zlib.createZstdDecompress({ ...SLICE, params: ZSTD_WINDOW })],
]);

function unpackerOf(response: IncomingMessage): OpenUnpacker | undefined {
    const header = response.headers['content-encoding'];
    if (header === undefined) return undefined;
    const codings = header
        .split(',')
        .map((coding) => coding.trim().toLowerCase())
        .filter((coding) => !isNoCoding(coding));
    const [coding] = codings;
    if (coding === undefined) return undefined;
    const open = UNPACKERS.get(coding);
    if (codings.length > 1) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer is packed in more than one layer.');
    if (open === undefined) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer has an unknown Content-Encoding.');
    return open;
}

/** Whether a name stands for no compression. Misconfigured servers name the charset of a text, which browsers ignore. */
function isNoCoding(name: string): boolean {
    return name === '' || /^(?:identity|none|binary|[78]bit|utf-?8|us-ascii|iso-8859-\d+|windows-125\d)$/.test(name);
}

function isUnpackingError(error: unknown): boolean {
    return /^(Z_|ZSTD_|ERR__ERROR|ERR_(BROTLI|ZLIB|ZSTD))/.test(codeOfError(error));
}
