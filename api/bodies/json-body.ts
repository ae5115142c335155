import type { Request } from '@hapi/hapi';
import { BODY_BYTES } from '../../shared/contracts/body-bytes.ts';
import { parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { BODY_BOUNDS, BODY_ITEMS, type JsonBounds, jsonProblems } from '../../shared/domain/json/json-bounds.ts';
import { roundedNumbers } from '../../shared/domain/json/rounded-numbers.ts';
import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { hasMoreValues, isJsonTooDeep } from '../../shared/domain/json/tokens.ts';
import type { Json } from '../../shared/domain/types.ts';
import { type Detail, Refusal } from '../../shared/refusals.ts';
import { readBytes } from './read-body.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** The limits for the body of a route that takes none. */
const UNWANTED_BOUNDS: JsonBounds = { ...BODY_BOUNDS, texts: 'line' };

/** The value of a body, and problems that a schema cannot detect. They are reported together with the schema's problems. */
export interface JsonBody {
    value: unknown;
    faults: Detail[];
}

/**
 * Reads the JSON body of a request. It checks media type, encoding, syntax and limits before any schema does, because deeply nested JSON
 * and invalid texts pass validators and fail later.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, INVALID_JSON.
 */
export async function readJsonBody(request: Request, { maxBytes, ...guarded }: Guarded & { maxBytes: number }): Promise<JsonBody> {
    const payload = await readJsonBytes(request, maxBytes, { isCall: guarded.hasParams ?? false });
    if (payload.length > BODY_BYTES && hasTooMuch(payload)) return { value: undefined, faults: [TOO_COMPLEX] };
    return checked(parse(payload), guarded);
}

function checked({ value, text }: { value: Json; text: string }, guarded: Guarded): JsonBody {
    const faults = [...jsonProblems(value, boundsOf(guarded)), ...roundedNumbers(text, guarded.hasParams ? PARAMS : undefined)];
    return { value: guarded.hasParams && faults.length === 0 ? keepDigits(value, parseExact(text, value)) : value, faults };
}

/** Keeps the exact digits of numbers in params only. They are objects, which a schema would reject elsewhere. */
function keepDigits(value: Json, exact: Json): Json {
    if (Array.isArray(value) && Array.isArray(exact)) return value.map((one, at) => keepDigits(one, exact[at] ?? null));
    if (!isObject(value) || !isObject(value['params']) || !isObject(exact)) return value;
    return { ...value, params: exact['params'] ?? null };
}

/** Pointers into the params of a call, and of messages to the agent tools. Numbers in params keep their digits. */
const PARAMS = /^(?:\/params|(?:\/\d+)?\/params\/arguments\/params)\//;

/** Limits of bodies above the usual size, which are large because of files. Parsing more values would take 200 ms. */
const MAX_VALUES = 20_000;
const MAX_LEVELS = 100;
const TOO_COMPLEX: Detail = {
    path: '',
    code: 'TOO_COMPLEX',
    message: `The body has more than ${MAX_VALUES.toLocaleString('en')} values, or more than ${MAX_LEVELS} levels. Only files may make a body larger than ${BODY_BYTES / 1024} KiB.`,
};

/** Checks the limits without parsing, since parsing would block the event loop. */
function hasTooMuch(payload: Buffer | string): boolean {
    return hasMoreValues(payload, MAX_VALUES) || isJsonTooDeep(payload, MAX_LEVELS);
}

/** Reads a JSON text that is part of a body, such as a line. Undefined if it is not well-formed. */
export function readJsonPart(text: string, guarded: Guarded): JsonBody | undefined {
    if (text.length > BODY_BYTES && hasTooMuch(text)) return { value: undefined, faults: [TOO_COMPLEX] };
    let value: Json;
    try {
        value = JSON.parse(text) as Json;
    } catch {
        return undefined;
    }
    return checked({ value, text }, guarded);
}

/** Whether the body has more values than a schema can check in time. Then no other problem is reported. */
export function isTooComplex({ faults }: Pick<JsonBody, 'faults'>): boolean {
    return faults.some(({ code }) => code === 'TOO_COMPLEX');
}

interface Guarded {
    /** See `Contract.body`. With `data`, the code that uses the texts checks them. */
    guard: boolean | 'lines' | 'data';
    hasParams?: boolean;
}

function boundsOf({ guard, hasParams = false }: Guarded): JsonBounds {
    const texts = typeof guard === 'boolean' ? 'line' : guard;
    return { ...BODY_BOUNDS, texts, ...(hasParams ? { dataAt: 'params', freeAt: 'base64' } : { maxItems: BODY_ITEMS }) };
}

/** Reads the bytes of a JSON body that is parsed elsewhere. @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT. */
export async function readJsonBytes(request: Request, maxBytes: number, use: Parameters<typeof readBytes>[2] = {}): Promise<Buffer> {
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.raw.req.headers;
    if (!isJsonType(type)) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    if (encoding.toLowerCase() !== 'identity') {
        throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a content encoding.');
    }
    return readBytes(request, maxBytes, use);
}

/**
 * Checks the body of a route that takes none. A body with fields is the caller's mistake. An empty body of any media type and `{}` pass,
 * since some clients always send them, and so do forms of PUT and DELETE.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT.
 */
export async function readUnwantedJson(request: Request): Promise<JsonBody> {
    const isJson = isJsonType(request.raw.req.headers['content-type'] ?? '');
    const payload = isJson || request.method === 'post' ? await readBytes(request, BODY_BYTES) : Buffer.alloc(0);
    if (payload.length === 0) return { value: {}, faults: [] };
    if (!isJson) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
    const { value } = parse(payload);
    if (isObject(value)) return { value, faults: jsonProblems(value, UNWANTED_BOUNDS) };
    return { value: {}, faults: [{ path: '', code: 'INVALID_TYPE', message: 'This route takes no body.' }] };
}

/** A parameter of a media type; a quoted string is part of its value. */
const PARAMETER = /;[ \t]*([^\s;="]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[^\s;]*)/g;

/** JSON in UTF-8. Parameters other than the charset have no meaning for JSON (RFC 8259), but many libraries send some. */
export function isJsonType(type: string): boolean {
    if (!/^application\/json[ \t]*(;|$)/i.test(type.trim())) return false;
    return [...type.matchAll(PARAMETER)].every(
        ([, name = '', value = '']) => name.toLowerCase() !== 'charset' || /^(utf-?8|"utf-?8")$/i.test(value),
    );
}

function parse(payload: Buffer): { value: Json; text: string } {
    if (payload.length === 0) throw emptyBody();
    try {
        const text = UTF8.decode(payload);
        return { value: JSON.parse(text) as Json, text };
    } catch (cause) {
        throw new Refusal('INVALID_JSON', undefined, {}, { cause });
    }
}

export function emptyBody(): Refusal {
    return new Refusal('INVALID_JSON', 'The body is empty. Send a JSON object.');
}
