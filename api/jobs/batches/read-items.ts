import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import { type BatchFields, type BatchQuery, type BatchRequest, batchEnvelope } from '../../../shared/contracts/batch-fields.ts';
import { BODY_BYTES, CALL_BYTES } from '../../../shared/contracts/body-bytes.ts';
import { type Metadata, metadata } from '../../../shared/contracts/jobs.ts';
import { defined } from '../../../shared/domain/defined.ts';
import { BATCH_ARRIVAL_MS, BATCH_BODIES } from '../../../shared/domain/jobs/bounds.ts';
import { type SplitBody, splitItems } from '../../../shared/domain/json/split-items.ts';
import { splitOnce } from '../../../shared/domain/text/split-once.ts';
import { type Detail, type DetailCode, type ItemDetail, invalidFields, Refusal } from '../../../shared/refusals.ts';
import { emptyBody, isJsonType, isTooComplex, readJsonPart } from '../../bodies/json-body.ts';
import { type Chunks, openChunks } from '../../bodies/read-chunks.ts';
import type { Call } from '../../call.ts';
import { prepare, problemsOf } from '../../plugins/input.ts';
import { batchTurn } from './batch-turns.ts';
import { LINE_TYPES } from './line-types.ts';

export type BatchCall = Call<object, BatchQuery, BatchRequest>;

/** A raw item: its JSON text, or a problem found before parsing. `at` is a JSON pointer. */
export interface ItemText {
    at: string;
    text: string | { problem: ItemDetail };
}

/** The body of POST /v1/batches: the fields of the batch and a stream of its items. */
export interface BatchBody {
    fields: BatchFields;
    /** Problems of the fields, which are reported with those of the items. The defaults have none. */
    problems: readonly Detail[];
    items: AsyncIterable<ItemText>;
    /** Whether each item is a line. The path of the third line is `/lines/3`. */
    isLines: boolean;
    /** SHA-256 of query and body in hex. Call it after all items were read. */
    hash(): string;
    /** Counts bytes of items that stay in memory until the answer. If there is no room for them, reading further items fails. */
    keep(bytes: number): void;
}

const { json: JSON_BODY, lines: LINES } = BATCH_BODIES;
/** Skips a byte order mark, like the other routes. */
const UTF8 = new TextDecoder();
const BOUNDS = { pauseMs: BATCH_ARRIVAL_MS.pause, allMs: BATCH_ARRIVAL_MS.all };
const LINE_FEED = 0x0a;
const [TAB, CARRIAGE_RETURN, SPACE] = [0x09, 0x0d, 0x20];
/** Maximum number of problems that an answer lists. It also has their total number. */
export const MAX_DETAILS = 100;
/** Query parameters allowed with a JSON body, which contains all other fields. */
const OF_QUERY: readonly string[] = ['dry_run'];
/** The paths of fields that the checks of items do not need. */
const OF_FIELD = /^\/(?!(?:items|defaults)(?:\/|$))/;

/**
 * Reads a JSON batch, or starts to read an ndjson batch.
 * @throws Refusal UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, OVERLOADED, INVALID_JSON, VALIDATION_ERROR
 */
export async function openBody(call: BatchCall): Promise<BatchBody> {
    const isLines = typeOf(call) === 'lines';
    const hash = createHash('sha256').update(`${queryOf(call)}\n`);
    return isLines ? openLines(call, hash) : openJson(call, hash);
}

/** Reads a body to its end and returns only its hash. */
export async function hashBody(call: BatchCall): Promise<string> {
    const maxBytes = typeOf(call) === 'lines' ? LINES.bytes : JSON_BODY.bytes;
    const hash = createHash('sha256').update(`${queryOf(call)}\n`);
    for await (const piece of openChunks(call.request, { ...BOUNDS, maxBytes }).read()) hash.update(piece);
    return hash.digest('hex');
}

function queryOf({ request }: BatchCall): string {
    return splitOnce(request.raw.req.url ?? '', '?')[1] ?? '';
}

function typeOf({ header }: BatchCall): 'json' | 'lines' {
    if ((header('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
        throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a content encoding.');
    }
    const type = header('content-type') ?? '';
    if (isJsonType(type)) return 'json';
    const [name = '', ...parameters] = type.split(';');
    const isLines = LINE_TYPES.includes(name.trim().toLowerCase()) && isJsonType(['application/json', ...parameters].join(';'));
    if (isLines) return 'lines';
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send JSON or ndjson, with Content-Type: application/json or application/x-ndjson.');
}

async function openJson(call: BatchCall, hash: Hash): Promise<BatchBody> {
    const misplaced = Object.keys(call.query).filter((name) => !OF_QUERY.includes(name));
    refuse(misplaced.map((name) => wrong(`/${name}`, 'UNKNOWN_FIELD', 'With a JSON body, put this field into the body.')));
    const pieces: Buffer[] = [];
    const { read, keep } = openChunks(call.request, { ...BOUNDS, maxBytes: JSON_BODY.bytes });
    for await (const piece of read()) {
        keep(piece.length);
        hash.update(piece);
        pieces.push(piece);
    }
    const body = Buffer.concat(pieces);
    if (body.length === 0) throw emptyBody();
    if (!isUtf8(body)) throw new Refusal('INVALID_JSON');
    const split = await splitItems(body, 'items', JSON_BODY.items, () => batchTurn(call.app, call.caller));
    if (split !== undefined && split.count > JSON_BODY.items) refuse([tooMany(JSON_BODY.items)]);
    const rest = split?.rest ?? body;
    if (rest.length > BODY_BYTES) refuse([wrong('', 'TOO_COMPLEX', `The body has more than ${BODY_BYTES / 1024} KiB besides items.`)]);
    const envelope = readJsonPart(UTF8.decode(rest), { guard: true });
    if (envelope === undefined) throw new Refusal('INVALID_JSON');
    if (isTooComplex(envelope)) refuse(envelope.faults);
    const { value, error } = prepared.validate(envelope.value);
    const problems = [...envelope.faults, ...problemsOf(error?.details ?? [])];
    if (!problems.every(({ path }) => OF_FIELD.test(path))) refuse(problems);
    const { items, ...fields } = value as BatchRequest;
    if (items.length > 0) refuse([...problems, wrong('/items', 'REPEATED', 'Send this field only once.')]);
    const count = split?.count ?? 0;
    if (count === 0) refuse([...problems, NO_ITEMS]);
    // The body stays in memory anyway, and is larger than what is kept of its items.
    return { fields, problems, items: itemsOf(split), hash: () => hash.digest('hex'), keep() {}, isLines: false };
}

async function* itemsOf(split: SplitBody | undefined): AsyncGenerator<ItemText> {
    let place = 0;
    for (const text of split?.items() ?? [])
        yield { at: `/items/${place++}`, text: Buffer.byteLength(text) > CALL_BYTES ? tooLong('item', CALL_BYTES) : text };
}

function openLines(call: BatchCall, hash: Hash): BatchBody {
    const { dry_run: _, metadata: text, name, max_credits, stop_after_failures, expires_in, ...defaults } = call.query;
    const fields = defined<BatchBody['fields']>({
        name,
        max_credits,
        stop_after_failures,
        expires_in,
        defaults,
        metadata: text === undefined ? undefined : readMetadata(text),
    });
    const chunks = openChunks(call.request, { ...BOUNDS, maxBytes: LINES.bytes });
    return { fields, problems: [], items: linesOf(chunks, hash), hash: () => hash.digest('hex'), keep: chunks.keep, isLines: true };
}

function readMetadata(text: string): Metadata {
    const read = readJsonPart(text, { guard: true });
    if (read === undefined) throw refusalOf([wrong('/metadata', 'INVALID_VALUE', 'This is not valid JSON.')]);
    refuse(
        [...read.faults, ...problemsOf(metadataAlone.validate(read.value).error?.details ?? [])].map((one) => ({
            ...one,
            path: `/metadata${one.path}`,
        })),
    );
    return read.value as Metadata;
}

/**
 * Yields non-blank lines as they arrive. Beyond the limit it yields one problem and reads the rest only for the hash. Skipping takes almost
 * no time, so it needs to give other work no turn.
 */
async function* linesOf({ read }: Chunks, hash: Hash): AsyncGenerator<ItemText> {
    const line = createLine();
    let number = 1;
    let count = 0;
    const take = (last: Buffer): ItemText => {
        count += 1;
        if (count > LINES.items) return { at: '/items', text: { problem: tooMany(LINES.items) } };
        return { at: `/lines/${number}`, text: line.take(last) };
    };
    for await (const piece of read()) {
        hash.update(piece);
        for (let from = 0; count <= LINES.items; ) {
            if (line.isEmpty()) {
                const blank = skipBlank(piece, from);
                number += blank.lines;
                from = blank.to;
            }
            const end = piece.indexOf(LINE_FEED, from);
            if (end === -1) {
                line.add(piece.subarray(from));
                break;
            }
            yield take(piece.subarray(from, end));
            number += 1;
            from = end + 1;
        }
    }
    if (!line.isEmpty() && count <= LINES.items) yield take(NOTHING);
    if (count === 0) refuse([NO_ITEMS]);
}

const NO_ITEMS: Detail = { path: '/items', code: 'INVALID_VALUE', message: 'A batch needs at least one item.' };

/** Finds the next character that is not JSON whitespace, and counts the lines that end before it. */
function skipBlank(piece: Buffer, from: number): { to: number; lines: number } {
    let lines = 0;
    for (let to = from; to < piece.length; to++) {
        const sign = piece[to];
        if (sign === LINE_FEED) lines += 1;
        else if (sign !== SPACE && sign !== CARRIAGE_RETURN && sign !== TAB) return { to, lines };
    }
    return { to: piece.length, lines };
}

const NOTHING = Buffer.alloc(0);

/** Collects the pieces of one line. Discards a line that is too long. */
function createLine() {
    let pieces: Buffer[] = [];
    let bytes = 0;
    return {
        isEmpty: () => bytes === 0,
        /** Keeps the beginning of a line whose end has not arrived. */
        add(piece: Buffer) {
            bytes += piece.length;
            // Copied, since a slice would keep the complete packet in memory.
            if (bytes <= LINES.line) pieces.push(Buffer.from(piece));
            else pieces = [];
        },
        /** Returns the text of the line that ends with this piece, and starts the next one. Most lines are whole: they are not copied. */
        take(last: Buffer): ItemText['text'] {
            const [whole, length] = [pieces.length === 0 ? last : Buffer.concat([...pieces, last]), bytes + last.length];
            pieces = [];
            bytes = 0;
            if (length > LINES.line) return tooLong('line', LINES.line);
            if (!isUtf8(whole)) return { problem: { path: '', code: 'INVALID_JSON', message: 'The line is not UTF-8.' } };
            return whole.toString().trim();
        },
    };
}

const options = { convert: false };
const prepared = prepare(batchEnvelope, options);
const metadataAlone = prepare(metadata(), options);

function wrong(path: string, code: DetailCode, message: string): Detail {
    return { path, code, message };
}

function tooLong(what: 'item' | 'line', max: number): { problem: ItemDetail } {
    return { problem: wrong('', 'TOO_COMPLEX', `The ${what} has more than ${max / 1024} KiB.`) };
}

function tooMany(max: number): Detail {
    return wrong('/items', 'INVALID_VALUE', `A batch of this form has at most ${max.toLocaleString('en')} items.`);
}

function refuse(details: Detail[]): void {
    if (details.length > 0) throw refusalOf(details);
}

function refusalOf(details: Detail[]): Refusal {
    return invalidFields(details.slice(0, MAX_DETAILS), details.length);
}
