import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { giveBack, passedThrough } from '../garbage.ts';
import { UpstreamFault } from './failures.ts';
import type { Tenant } from './room.ts';

export interface Body {
    /** Empty where the body went past its cap and nobody wants its beginning. */
    bytes: Buffer;
    /** Bytes on the wire, before unpacking. */
    received: number;
    /** Whether the body ended inside the cap. */
    isWhole: boolean;
}

/**
 * Reads a body and unpacks its one layer of compression, counting unpacked bytes as they come, so that a bomb is stopped at the cap.
 * @param cap bytes after unpacking; past it the body is left unread and the connection is lost
 * @param keepsBeginning whether the beginning of a body that goes past the cap is wanted
 * @param isEmpty there is none by definition, and nothing to unpack, whatever the headers say
 * @param tenant is asked for room before more than a small part is read; a whole body that asked is held when this is done
 * @throws UpstreamFault UPSTREAM_INVALID_RESPONSE for a coding that is unknown, doubled or broken, OVERLOADED where the tenant gave
 *     up waiting; the stream's own error when the connection breaks off
 */
export async function readBody(
    response: IncomingMessage,
    cap: number,
    { keepsBeginning = false, isEmpty = false, tenant }: { keepsBeginning?: boolean; isEmpty?: boolean; tenant?: Tenant | undefined } = {},
): Promise<Body> {
    const openUnpacker = isEmpty ? undefined : unpackerOf(response);
    const chunks: Buffer[] = [];
    let length = 0;
    let received = 0;
    let kept = 0;
    let hasAsked = false;
    const take = async (source: AsyncIterable<Buffer>): Promise<boolean> => {
        for await (const chunk of source) {
            if (!hasAsked && tenant?.hasToAsk(length + chunk.length) === true) {
                hasAsked = true;
                await tenant.ask(longest(response, cap, openUnpacker), (fault) => response.destroy(fault));
            }
            length += chunk.length;
            tenant?.came(chunk.length);
            chunks.push(length > cap ? chunk.subarray(0, chunk.length - (length - cap)) : chunk);
            if (length > cap) return false;
        }
        return true;
    };
    const arriving = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of response as AsyncIterable<Buffer>) {
            received += chunk.length;
            passedThrough(chunk.length);
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
        tenant?.settle(kept);
    }
}

/** How long a body may become, by what its headers say and by its cap. */
function longest({ headers }: IncomingMessage, cap: number, openUnpacker: OpenUnpacker | undefined): number {
    const said = Number(headers['content-length']);
    return openUnpacker === undefined && said > 0 ? Math.min(cap, said) : cap;
}

type Take = (source: AsyncIterable<Buffer>) => Promise<boolean>;

/** Opens what unpacks a body that begins with this byte. */
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
        // What was left unread at the cap ends the pipeline early, on purpose.
        if (isWhole === false) return false;
        if (isUnpackingError(error)) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer cannot be unpacked.');
        throw error;
    }
    return isWhole === true;
}

/** What is unpacked in one go costs the loop a turn: a body of 5 MiB had 320 of them with Node's usual 16 KiB. */
const SLICE = { chunkSize: 64 * 1024 };

/** What RFC 9659 lets a server ask for, 8 MiB; Node would go along with 128. */
const ZSTD_WINDOW = { [zlib.constants.ZSTD_d_windowLogMax]: 23 };

const UNPACKERS: ReadonlyMap<string, OpenUnpacker> = new Map<string, OpenUnpacker>([
    ['gzip', () => zlib.createGunzip(SLICE)],
    ['x-gzip', () => zlib.createGunzip(SLICE)],
    // Some sites that say deflate leave out the zlib wrapper, whose first byte ends in 8.
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
        .filter((coding) => coding !== '' && coding !== 'identity');
    const [coding] = codings;
    if (coding === undefined) return undefined;
    const open = UNPACKERS.get(coding);
    if (codings.length > 1) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer is packed in more than one layer.');
    if (open === undefined) throw new UpstreamFault('UPSTREAM_INVALID_RESPONSE', 'The answer has an unknown Content-Encoding.');
    return open;
}

function isUnpackingError(error: unknown): boolean {
    if (!(error instanceof Error) || !('code' in error)) return false;
    return /^(Z_|ZSTD_|ERR__ERROR|ERR_(BROTLI|ZLIB|ZSTD))/.test(String(error.code));
}
