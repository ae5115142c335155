import type { Request } from '@hapi/hapi';
import { BODY_BYTES } from '../../shared/contracts/contract.ts';
import { BODY_BOUNDS, BODY_ITEMS, jsonProblems } from '../../shared/domain/json/json-bounds.ts';
import { roundedNumbers } from '../../shared/domain/json/rounded-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { type Detail, Refusal } from '../../shared/refusals.ts';
import { type BodyReservation, reserveBody } from '../body-budget.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** A route without a body only checks for field names. */
const UNWANTED_BOUNDS = { ...BODY_BOUNDS, multiline: false };

/** The value of a body, and problems that no schema can see. They are reported together with the schema's. */
export interface JsonBody {
    value: unknown;
    faults: Detail[];
}

/** The value of a JSON text, and the numbers that JavaScript rounded. */
interface Parsed {
    value: unknown;
    rounded: Detail[];
}

/**
 * Reads the JSON body of a request. It checks media type, encoding, syntax and limits before any schema does: deep JSON and odd text pass
 * validators and fail later.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, INVALID_JSON.
 */
export async function readJsonBody(
    request: Request,
    { guard, maxBytes, hasParams = false }: { guard: boolean | 'lines'; maxBytes: number; hasParams?: boolean },
): Promise<JsonBody> {
    const { value, rounded } = parse(await readJsonBytes(request, maxBytes));
    const bounds = { ...BODY_BOUNDS, multiline: guard === 'lines', ...(hasParams ? {} : { maxItems: BODY_ITEMS }) };
    return { value, faults: [...jsonProblems(value, bounds), ...rounded] };
}

/** Reads the bytes of a JSON body that is parsed elsewhere. @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT. */
export async function readJsonBytes(request: Request, maxBytes: number): Promise<Buffer> {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.raw.req.headers;
    if (!isJsonType(type)) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    if (encoding.toLowerCase() !== 'identity') {
        throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a content encoding.');
    }
    return readBytes(request, maxBytes);
}

/**
 * Checks the body of a route that takes none. Fields in it are a mistake of the caller. An empty body, `{}` and other media types pass,
 * since some clients always send them.
 * @throws Refusal PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT.
 */
export async function readUnwantedJson(request: Request): Promise<JsonBody> {
    const isJson = isJsonType(request.raw.req.headers['content-type'] ?? '');
    const payload = isJson ? await readBytes(request, BODY_BYTES) : Buffer.alloc(0);
    if (payload.length === 0) return { value: {}, faults: [] };
    const value = parseAny(payload);
    if (isObject(value)) return { value, faults: jsonProblems(value, UNWANTED_BOUNDS) };
    return { value: {}, faults: [{ path: '', code: 'INVALID_TYPE', message: 'This route takes no body.' }] };
}

/** A parameter of a media type; a quoted string is part of its value. */
const PARAMETER = /;[ \t]*([^\s;="]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;]*)/g;

/** JSON in UTF-8. Parameters that say nothing of the encoding mean nothing for JSON (RFC 8259), and many libraries send some. */
function isJsonType(type: string): boolean {
    if (!/^application\/json[ \t]*(;|$)/i.test(type.trim())) return false;
    return [...type.matchAll(PARAMETER)].every(
        ([, name = '', value = '']) => name.toLowerCase() !== 'charset' || /^(utf-?8|"utf-?8")$/i.test(value),
    );
}

/** Tells the reader of a body that its time is up. The connection stays open for the answer. */
export const LATE = Symbol('late');

/** A chunk below this size is small, and a body may have only so many of them: each costs microseconds and memory. */
const SMALL_PIECE = 64;
const MOST_SMALL_PIECES = 10_000;
const IN_CRUMBS = `The body comes in more than ${MOST_SMALL_PIECES.toLocaleString('en')} pieces of less than ${SMALL_PIECE} bytes: send larger ones.`;

/**
 * hapi's own reader destroys the connection of a caller who sends too much without saying so beforehand; here the rest is
 * dropped until it ends or its time is up, and the caller reads why.
 * @throws Refusal PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, OVERLOADED where there is no room for it, VALIDATION_ERROR where it comes in too many
 *     small pieces.
 */
export function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
    const { req: source } = request.raw;
    return new Promise((resolve, reject) => {
        const body = createBody(Number(source.headers['content-length'] ?? maxBytes));
        let place: BodyReservation | undefined;
        let isOver = false;
        const refuse = (refusal: Refusal) => {
            if (isOver) return;
            isOver = true;
            reject(refusal);
            body.drop();
            place?.leave();
        };
        // Node discards the rest once the answer is sent.
        const refuseUnread = (refusal: Refusal) => {
            source.pause();
            refuse(refusal);
        };
        let bytes = 0;
        let smallPieces = 0;
        source.on('data', (chunk: Buffer) => {
            if (isOver) return;
            bytes += chunk.length;
            if (chunk.length < SMALL_PIECE) smallPieces += 1;
            if (bytes > maxBytes) return refuse(new Refusal('PAYLOAD_TOO_LARGE'));
            if (smallPieces > MOST_SMALL_PIECES) {
                return refuseUnread(new Refusal('VALIDATION_ERROR', IN_CRUMBS, { headers: { connection: 'close' } }));
            }
            body.add(chunk);
            // An internal call repeats the body of a form, which is counted already.
            if (bytes <= FIRST_BYTES || request.app.gone !== undefined) return;
            if (place === undefined) {
                place = reserveBody(request, maxBytes, refuseUnread);
                place.came(bytes);
            } else place.came(chunk.length);
        });
        source.once('end', () => {
            if (isOver) return;
            isOver = true;
            place?.whole();
            resolve(body.take());
        });
        // Every request closes in the end: an error is only made, with its stack, where the body had not ended before.
        const cut = (cause?: unknown) => {
            if (!source.readableEnded) refuse(new Refusal('REQUEST_TIMEOUT', 'The body did not arrive whole.', {}, { cause }));
        };
        source.once('error', cut);
        source.once('close', cut);
        source.once(LATE, () => refuse(new Refusal('REQUEST_TIMEOUT')));
    });
}

/** The initial buffer size. Bodies up to this size are not counted. */
const FIRST_BYTES = 16 * 1024;

/** Collects a body of up to `most` bytes into one buffer. Separate chunks would each keep a whole packet alive. */
function createBody(most: number): { add(chunk: Buffer): void; take(): Buffer; drop(): void } {
    let room: Buffer = Buffer.alloc(0);
    let used = 0;
    return {
        add(chunk) {
            const needed = used + chunk.length;
            if (needed > room.length) {
                // Grows by the bytes that arrived, not by the Content-Length, which costs a client nothing.
                const larger = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(most, Math.max(2 * room.length, FIRST_BYTES))));
                room.copy(larger, 0, 0, used);
                release(room);
                room = larger;
            }
            chunk.copy(room, used);
            used = needed;
        },
        drop() {
            release(room);
            room = Buffer.alloc(0);
            used = 0;
        },
        // A view would send its whole buffer to the thread.
        take: () => (used === room.length ? room : Buffer.from(room.subarray(0, used))),
    };
}

/** Frees a buffer at once: it lies outside of V8's heap, so the collector is slow to free it. */
function release({ buffer }: Buffer): void {
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) buffer.transfer(0);
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

/** Undefined for invalid JSON. */
function parseAny(payload: Buffer): unknown {
    try {
        return parse(payload).value;
    } catch {
        return undefined;
    }
}

/** The refusal of an empty body. */
export function emptyBody(): Refusal {
    return new Refusal('INVALID_JSON', 'The body is empty; send a JSON object.');
}
