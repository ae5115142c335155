import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import { decodeQueryPart } from '../../../shared/domain/text/percent-decode.ts';
import { splitOnce } from '../../../shared/domain/text/split-once.ts';
import type { BodyFormat, Json, JsonObject } from '../../../shared/domain/types.ts';
import { identifier } from '../../inspect/words/identifier.ts';
import type { NotRead } from '../operation.ts';

/** A body of the format 0.1 as a template of a package. Placeholders stand for whole values; `names` has their names in order. */
export type ReadTemplate = { ok: true; template: Json; names: string[]; format: BodyFormat } | NotRead;

/** `{{name}}`, with optional spaces. */
const PLACEHOLDER = /\{\{\s*([^{}\s]{1,64})\s*\}\}/g;
const WHOLE = /^\{\{\s*([^{}\s]{1,64})\s*\}\}$/;

const IN_TEXT = 'is part of a longer text in the body, but a package can only fill whole values.';

/** The package's name for a placeholder. */
export function paramNameOf(name: string): string {
    return /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(name) ? name : identifier(name) || 'value';
}

/** Parses a body template. The format 0.1 fills its text and sends it unparsed, but a package has a structured value. */
export function readTemplate(text: string, isForm: boolean): ReadTemplate {
    return isForm ? readFormTemplate(text) : readJsonTemplate(text);
}

/** Converts an XML or text template. Both formats send the filled text; only the syntax of placeholders differs. */
export function readTextTemplate(text: string, format: 'xml' | 'text'): ReadTemplate {
    const names = [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => paramNameOf(name));
    return {
        ok: true,
        template: text.replaceAll(PLACEHOLDER, (_whole, name: string) => `{${paramNameOf(name)}}`),
        names: [...new Set(names)],
        format,
    };
}

function readJsonTemplate(text: string): ReadTemplate {
    const parsed = parseTemplate(text);
    if (parsed === undefined) return { ok: false, why: 'Its body template is not JSON.' };
    const names: string[] = [];
    const fault = { name: undefined as string | undefined };
    const template = convertPlaceholders(parsed, names, fault);
    if (fault.name !== undefined) return { ok: false, why: `{{${fault.name}}} ${IN_TEXT}` };
    return { ok: true, template, names: [...new Set(names)], format: 'json' };
}

/** Parses JSON with unquoted placeholders, which stand for values of any type: quotes them first. */
function parseTemplate(text: string): Json | undefined {
    const pieces = text.match(/"(?:[^"\\]|\\.)*"|[^"]+|"/g) ?? [];
    const quoted = pieces.map((piece) => (piece.startsWith('"') ? piece : piece.replaceAll(PLACEHOLDER, '"{{$1}}"'))).join('');
    try {
        return JSON.parse(quoted) as Json;
    } catch {
        return undefined;
    }
}

function convertPlaceholders(value: Json, names: string[], fault: { name: string | undefined }): Json {
    if (typeof value === 'string') {
        const whole = WHOLE.exec(value)?.[1];
        if (whole !== undefined) {
            names.push(paramNameOf(whole));
            return `{${paramNameOf(whole)}}`;
        }
        fault.name ??= [...value.matchAll(PLACEHOLDER)][0]?.[1];
        return value;
    }
    if (Array.isArray(value)) return value.map((item) => convertPlaceholders(item, names, fault));
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, convertPlaceholders(item, names, fault)]));
}

function readFormTemplate(text: string): ReadTemplate {
    const template: JsonObject = {};
    const names: string[] = [];
    for (const pair of text.split('&').filter((part) => part !== '')) {
        const [key, value = ''] = splitOnce(pair, '=');
        const name = decodeQueryPart(key);
        const whole = WHOLE.exec(decodeQueryPart(value))?.[1];
        const inside = [...decodeQueryPart(value).matchAll(PLACEHOLDER)][0]?.[1];
        if (whole === undefined && inside !== undefined) return { ok: false, why: `{{${inside}}} ${IN_TEXT}` };
        if (whole !== undefined) names.push(paramNameOf(whole));
        const filled: Json = whole === undefined ? decodeQueryPart(value) : `{${paramNameOf(whole)}}`;
        const known = template[name];
        template[name] = known === undefined ? filled : [...(Array.isArray(known) ? known : [known]), filled];
    }
    return { ok: true, template, names: [...new Set(names)], format: 'form' };
}
