import type { IncomingMessage } from 'node:http';
import type { Request } from '@hapi/hapi';
import { BODY_BYTES } from '../../shared/contracts/contract.ts';
import { BODY_BOUNDS, jsonProblems } from '../../shared/domain/json-bounds.ts';
import { isObject } from '../../shared/domain/json-schema/structure.ts';
import { roundedNumbers } from '../../shared/domain/rounded-numbers.ts';
import { type Detail, Refusal } from '../../shared/refusals.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const ONE_LINE_BOUNDS = { ...BODY_BOUNDS, multiline: false };

/** A body's value, and what is wrong with it whatever its route takes: the answer names that beside what the route's schema says. */
export interface JsonBody {
    value: unknown;
    faults: Detail[];
}

/** The value of a JSON text, and what of the text it no longer shows. */
interface Parsed {
    value: unknown;
    rounded: Detail[];
}

/**
 * The JSON value of a request's body: media type, encoding, syntax and bounds are judged here, before any schema sees it.
 * Deep JSON and odd text pass every validator and break things later: a body with faults has to be refused.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, INVALID_JSON.
 */
export async function readJsonBody(
    request: Request,
    { guard, maxBytes }: { guard: boolean | 'lines'; maxBytes: number },
): Promise<JsonBody> {
    const { value, rounded } = parse(await readJsonBytes(request, maxBytes));
    return { value, faults: [...jsonProblems(value, guard === 'lines' ? BODY_BOUNDS : ONE_LINE_BOUNDS), ...rounded] };
}

/**
 * The bytes of a body that is said to be JSON, for whoever parses it elsewhere.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT.
 */
export async function readJsonBytes(request: Request, maxBytes: number): Promise<Buffer> {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.raw.req.headers;
    if (!isJsonType(type)) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    if (encoding.toLowerCase() !== 'identity') {
        throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a content encoding.');
    }
    return readBytes(request.raw.req, maxBytes);
}

/**
 * JSON that is sent to a route without a body: who names fields there expects something of them. Nothing at all, `{}` and bodies of other
 * media types, which some clients always send, are fine.
 * @throws Refusal PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT.
 */
export async function readUnwantedJson({ raw: { req } }: Request): Promise<JsonBody> {
    const payload = isJsonType(req.headers['content-type'] ?? '') ? await readBytes(req, BODY_BYTES) : Buffer.alloc(0);
    if (payload.length === 0) return { value: {}, faults: [] };
    const value = parseAny(payload);
    if (isObject(value)) return { value, faults: jsonProblems(value, ONE_LINE_BOUNDS) };
    return { value: {}, faults: [{ path: '', code: 'INVALID_TYPE', message: 'This route takes no body.' }] };
}

/** A parameter of a media type; what stands in quotes belongs to its value, whatever it looks like. */
const PARAMETER = /;[ \t]*([^\s;="]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;]*)/g;

/** JSON in UTF-8. Parameters that say nothing of the encoding mean nothing for JSON (RFC 8259), and many libraries send some. */
function isJsonType(type: string): boolean {
    if (!/^application\/json[ \t]*(;|$)/i.test(type.trim())) return false;
    return [...type.matchAll(PARAMETER)].every(
        ([, name = '', value = '']) => name.toLowerCase() !== 'charset' || /^(utf-?8|"utf-?8")$/i.test(value),
    );
}

/** Tells whoever reads the body of a request that its time is up; the connection is still there for the answer. */
export const LATE = Symbol('late');

/** Bytes of a piece of a body, below which it is small, and how many of those a body may come in: each takes microseconds and memory. */
const SMALL_PIECE = 64;
const MOST_SMALL_PIECES = 10_000;
const IN_CRUMBS = `The body comes in more than ${MOST_SMALL_PIECES.toLocaleString('en')} pieces of less than ${SMALL_PIECE} bytes: send larger ones.`;

/**
 * hapi's own reader destroys the connection of a caller who sends too much without saying so beforehand; here the rest is
 * dropped until it ends or its time is up, and the caller reads why.
 * @throws Refusal PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, VALIDATION_ERROR where it comes in too many small pieces.
 */
export function readBytes(source: IncomingMessage, maxBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
        const body = openBody(Number(source.headers['content-length'] ?? maxBytes));
        let bytes = 0;
        let smallPieces = 0;
        source.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (chunk.length < SMALL_PIECE) smallPieces += 1;
            if (bytes > maxBytes) reject(new Refusal('PAYLOAD_TOO_LARGE'));
            else if (smallPieces > MOST_SMALL_PIECES) {
                // What still comes is not read: Node drops it when the answer is out.
                source.pause();
                reject(new Refusal('VALIDATION_ERROR', IN_CRUMBS, { headers: { connection: 'close' } }));
            } else body.add(chunk);
        });
        source.once('end', () => resolve(body.take()));
        // Every request closes in the end: an error is only made, with its stack, where the body had not ended before.
        const cut = (cause?: unknown) => {
            if (!source.readableEnded) reject(new Refusal('REQUEST_TIMEOUT', 'The body did not arrive whole.', {}, { cause }));
        };
        source.once('error', cut);
        source.once('close', cut);
        source.once(LATE, () => reject(new Refusal('REQUEST_TIMEOUT')));
    });
}

/** Room for the beginning of a body. */
const FIRST_BYTES = 16 * 1024;

/** Collects a body of at most so many bytes, without its pieces: each of them keeps the whole packet that it came in. */
function openBody(most: number): { add(chunk: Buffer): void; take(): Buffer } {
    let room: Buffer = Buffer.alloc(0);
    let used = 0;
    return {
        add(chunk) {
            const needed = used + chunk.length;
            if (needed > room.length) {
                // Twice as much each time, and never what was only announced: nobody may have it made for nothing.
                const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(most, Math.max(2 * room.length, FIRST_BYTES))));
                room.copy(larger, 0, 0, used);
                room = larger;
            }
            chunk.copy(room, used);
            used = needed;
        },
        // A view would be sent to a thread with all of its room.
        take: () => (used === room.length ? room : Buffer.from(room.subarray(0, used))),
    };
}

function parse(payload: Buffer): Parsed {
    if (payload.length === 0) throw emptyBody();
    try {
        const text = UTF8.decode(payload);
        return { value: JSON.parse(text), rounded: roundedNumbers(text) };
    } catch (cause) {
        throw new Refusal('INVALID_JSON', undefined, {}, { cause });
    }
}

/** Undefined for what is no JSON. */
function parseAny(payload: Buffer): unknown {
    try {
        return parse(payload).value;
    } catch {
        return undefined;
    }
}

/** Refuses a body of no bytes, whoever parses it. */
export function emptyBody(): Refusal {
    return new Refusal('INVALID_JSON', 'The body is empty; send a JSON object.');
}
