import { parse } from 'node:querystring';

/** A policy has two fields for each of up to 100 paths. */
const MAX_FIELDS = 250;
const PLUS = 0x2b;
const SPACE = 0x20;

export type FormRead = { ok: true; fields: [string, string][] } | { ok: false; problem: string };

/** Reads an urlencoded body without copying it. URLSearchParams takes seconds for a body of many MiB. */
export function readForm(body: Uint8Array): FormRead {
    for (let at = body.indexOf(PLUS); at !== -1; at = body.indexOf(PLUS, at + 1)) body[at] = SPACE;
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
    const fields = Object.entries(parse(text, '&', '=', { maxKeys: MAX_FIELDS + 1 }));
    if (fields.some(([, value]) => typeof value !== 'string')) return { ok: false, problem: 'This form contains the same field twice.' };
    if (fields.length > MAX_FIELDS) return { ok: false, problem: 'This form has too many fields.' };
    return { ok: true, fields: fields as [string, string][] };
}
