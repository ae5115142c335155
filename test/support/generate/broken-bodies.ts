import { Ajv2020 } from 'ajv/dist/2020.js';
import { BODY_BYTES } from '../../../shared/contracts/body-bytes.ts';
import { CONTRACTS } from '../../../shared/contracts/index.ts';
import type { Json, JsonObject } from '../../../shared/domain/types.ts';
import type { RefusalCode } from '../../../shared/refusals.ts';
import type { Operation } from './document.ts';
import type { Mutation } from './mutations.ts';
import type { Draft } from './valid.ts';
import { deep, wrongValues } from './values.ts';

/** Mutations of the body, for any operation that has one. */
export function brokenBodies(operation: Operation): Mutation[] {
    return [...brokenBytes(operation), ...brokenMedia(), ...wrongWholes(), ...brokenFields(operation)];
}

/** Mutations that send a body to an operation that takes none. */
export function unwantedBodies({ method }: Operation): Mutation[] {
    const sends = (name: string, text: string, code: RefusalCode, type = 'application/json'): Mutation => ({
        name,
        codes: [code],
        apply: ({ headers, ...draft }) => ({ ...draft, headers: { ...headers, 'content-type': type }, bytes: Buffer.from(text) }),
    });
    return [
        sends('half a body', '{', 'INVALID_JSON'),
        sends('a field', '{"x":1}', 'VALIDATION_ERROR'),
        sends('a body that is too large', ' '.repeat(BODY_BYTES + 1), 'PAYLOAD_TOO_LARGE'),
        ...(method === 'POST' ? [sends('a text', 'text', 'UNSUPPORTED_MEDIA_TYPE', 'text/plain')] : []),
    ];
}

function sendsBytes(name: string, bytesOf: (text: string) => Uint8Array, code: RefusalCode): Mutation {
    return { name, codes: [code], apply: (draft) => ({ ...draft, bytes: bytesOf(JSON.stringify(draft.body)) }) };
}

function brokenBytes({ id }: Operation): Mutation[] {
    const text = (name: string, change: (text: string) => string) =>
        sendsBytes(name, (whole) => Buffer.from(change(whole)), 'INVALID_JSON');
    const { maxBytes = 0, mayBeEmpty = false } = CONTRACTS.find(({ name }) => name === id)?.body ?? {};
    return [
        ...(mayBeEmpty ? [] : [text('no body', () => '')]),
        text('half a body', (whole) => whole.slice(0, -1)),
        text('a comma too many', (whole) => `${whole.slice(0, -1)},}`),
        text('two bodies', (whole) => whole + whole),
        text('a body in single quotes', (whole) => (whole === '{}' ? "{'a':1}" : whole.replaceAll('"', "'"))),
        text('a NUL behind the body', (whole) => `${whole}\u0000`),
        text('NaN in the body', (whole) => `${whole.slice(0, -1)},"x":NaN}`),
        sendsBytes('a body that is no UTF-8', (whole) => Buffer.from(`${whole.slice(0, -1)},"x":"\u00ff"}`, 'latin1'), 'INVALID_JSON'),
        sendsBytes('UTF-16', (whole) => Buffer.from(whole, 'utf16le'), 'INVALID_JSON'),
        sendsBytes('a body that is too large', (whole) => Buffer.from(whole + ' '.repeat(maxBytes)), 'PAYLOAD_TOO_LARGE'),
    ];
}

function brokenMedia(): Mutation[] {
    const sends = (name: string, headers: Record<string, string>): Mutation => ({
        name,
        codes: ['UNSUPPORTED_MEDIA_TYPE'],
        apply: (draft) => ({ ...draft, headers: { ...draft.headers, ...headers } }),
    });
    return [
        ...['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1', 'application/jsonp', 'nonsense', ''].map(
            (type) => sends(`the media type ${type}`, { 'content-type': type }),
        ),
        sends('a body said to be compressed', { 'content-encoding': 'gzip' }),
        {
            name: 'no media type',
            codes: ['UNSUPPORTED_MEDIA_TYPE'],
            apply: ({ headers: { 'content-type': _, ...headers }, ...draft }) => ({ ...draft, headers }),
        },
    ];
}

function wrongWholes(): Mutation[] {
    const wholes: Record<string, Json> = { 'an array': [], 'a text': 'text', 'a number': 1, null: null, 'a boolean': true };
    return Object.entries(wholes).map(([name, body]) => ({
        name: `${name} as body`,
        codes: ['VALIDATION_ERROR'],
        apply: (draft: Draft) => ({ ...draft, body }),
    }));
}

function brokenFields({ id, body: shape = {} }: Operation): Mutation[] {
    // Problems inside a package have their own code.
    const codes: RefusalCode[] = [id === 'postSchema' ? 'SCHEMA_INVALID' : 'VALIDATION_ERROR'];
    const change = (name: string, edit: (body: JsonObject) => void): Mutation => ({
        name,
        codes,
        apply: (draft) => {
            const body = structuredClone(draft.body) as JsonObject;
            edit(body);
            return { ...draft, body };
        },
    });
    const sets = (name: string, field: string, value: Json) =>
        change(name, (body) => Object.defineProperty(body, field, { value, enumerable: true, configurable: true, writable: true }));
    const required = id === 'postSchema' ? ['format', 'site', 'title', 'intent_category', 'endpoints'] : (shape.required ?? []);
    return [
        sets('an unknown field', 'unknown', 1),
        sets('a field called __proto__', '__proto__', { admin: true }),
        sets('an unknown field of deep JSON', 'unknown', deep(60)),
        sets('a field with a NUL in its name', 'a\u0000b', 1),
        ...required.map((field) =>
            change(`no ${field}`, (body) => {
                delete body[field];
            }),
        ),
        ...Object.entries(shape.properties ?? {}).flatMap(([field, fieldShape]) =>
            Object.entries(wrongValues(fieldShape))
                .filter(([, value]) => !takes(fieldShape, value))
                .map(([what, value]) => sets(`${field} that is ${what}`, field, value)),
        ),
    ];
}

const ajv = new Ajv2020({ strict: false });

/** Whether a value is valid after all, such as null or an empty list. */
function takes(fieldShape: object, value: Json): boolean {
    return ajv.validate(fieldShape, value);
}
