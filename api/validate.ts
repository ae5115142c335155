import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import type { Request } from '@hapi/hapi';
import type { Schema, ValidationErrorItem } from 'joi';
import type { Contract } from '../shared/contracts/contract.ts';
import { escapePointer } from '../shared/domain/json/json-bounds.ts';
import { textProblem } from '../shared/domain/text/text-rule.ts';
import { type Detail, type DetailCode, Refusal } from '../shared/refusals.ts';
import { type JsonBody, readJsonBody, readJsonBytes, readUnwantedJson } from './bodies/json-body.ts';
import type { Input } from './call.ts';

type Place = 'params' | 'query' | 'body';

/** The compiled schemas of a contract; undefined where there is no input. */
export type Schemas = Record<Place, Schema | undefined>;

/** Compiles the schemas of a contract, once for all requests. */
export function prepareSchemas<P, Q, B, A>(contract: Contract<P, Q, B, A>): Schemas {
    return {
        params: prepare(contract.params, 'params'),
        query: prepare(contract.query, 'query'),
        body: prepare(contract.body?.schema, 'body'),
    };
}

/**
 * Reads and judges path, query and body of a request, and names every problem at once.
 * @throws Refusal VALIDATION_ERROR with a detail for each problem, and what reading the body refuses.
 */
export async function readInput<P, Q, B, A>(contract: Contract<P, Q, B, A>, schemas: Schemas, request: Request): Promise<Input<P, Q, B>> {
    const problems: Detail[] = [];
    const params = check<P>(schemas.params, request.params, 'params', problems);
    const query = check<Q>(schemas.query, singleValues(request, problems), 'query', problems);
    let body = undefined as B;
    let bodyBytes: Buffer = NOTHING;
    if (contract.body?.guard === false) bodyBytes = await readJsonBytes(request, contract.body.maxBytes);
    else if (contract.body !== undefined) {
        body = checkBody<B>(schemas.body, await readJsonBody(request, contract.body), problems);
    } else if (contract.method !== 'GET') checkBody(undefined, await readUnwantedJson(request), problems);
    if (problems.length > 0) throw new Refusal('VALIDATION_ERROR', undefined, { details: problems });
    return { params, query, body, bodyBytes };
}

const NOTHING = Buffer.alloc(0);

/**
 * Query strings and path segments are text and converted by the schema; a body's values are never coerced. Joi merges what is said
 * here once; said with each value it took a third of the validation.
 */
function prepare(schema: Schema | undefined, place: Place): Schema | undefined {
    return schema?.prefs({
        abortEarly: false,
        convert: place !== 'body',
        errors: { wrap: { label: false } },
        messages: OWN_MESSAGES,
    });
}

function check<T>(schema: Schema | undefined, value: unknown, place: Place, problems: Detail[]): T {
    if (schema === undefined) {
        for (const name of Object.keys((value ?? {}) as object)) {
            problems.push({
                path: pointerStep(name),
                code: 'UNKNOWN_FIELD',
                message: `This route takes no ${place} field of this name.`,
            });
        }
        return {} as T;
    }
    const result = schema.validate(value);
    const items = result.error?.details ?? [];
    for (const item of items) if (!isToldByAnother(item, items)) problems.push(toDetail(item));
    return result.value as T;
}

/** Removes values that are too large for a schema, and duplicate problems. */
function checkBody<B>(schema: Schema | undefined, { value, faults }: JsonBody, problems: Detail[]): B {
    problems.push(...faults);
    if (faults.some(({ code }) => code === 'TOO_COMPLEX')) return undefined as B;
    const found: Detail[] = [];
    const body = check<B>(schema, value, 'body', found);
    problems.push(...found.filter(({ path, code }) => !faults.some((fault) => fault.path === path && fault.code === code)));
    return body;
}

/** Hides problems that repeat another one of the same value. */
const TOLD_BY: Readonly<Record<string, string>> = { 'string.base': 'any.only', 'string.pattern.base': 'text.secret' };

function isToldByAnother(item: ValidationErrorItem, items: readonly ValidationErrorItem[]): boolean {
    const place = item.path.join('/');
    return items.some(({ type, path }) => type === TOLD_BY[item.type] && path.join('/') === place);
}

/** Joi's messages repeat the value, which may be a secret, and show the pattern. */
const OWN_MESSAGES = { 'string.pattern.base': '{{#label}} does not have the form that this route takes' };

const DETAIL_BY_JOI: Record<string, DetailCode> = {
    'any.required': 'REQUIRED',
    'object.unknown': 'UNKNOWN_FIELD',
    'any.only': 'INVALID_VALUE',
    'string.pattern.base': 'INVALID_VALUE',
    'alternatives.match': 'INVALID_TYPE',
    'alternatives.types': 'INVALID_TYPE',
    'text.secret': 'SECRET_DETECTED',
    'category.unknown': 'UNKNOWN_CATEGORY',
};

function toDetail(item: ValidationErrorItem): Detail {
    const path = item.path.map((part) => pointerStep(String(part))).join('');
    const code = DETAIL_BY_JOI[item.type] ?? (item.type.endsWith('.base') ? 'INVALID_TYPE' : 'INVALID_VALUE');
    // The last part of the path is the caller's own text: bounded, so that an error is never larger than its request.
    return { path: path.slice(0, 512), code, message: `${item.message.slice(0, 256)}.` };
}

function singleValues({ query, raw }: Request, problems: Detail[]): Record<string, unknown> {
    // Without a prototype: a parameter may be called __proto__.
    const single: Record<string, unknown> = Object.create(null);
    const garbled = garbledNames(raw.req.url ?? '');
    for (const [name, value] of Object.entries(query)) {
        const path = pointerStep(name);
        const isRepeated = Array.isArray(value);
        if (isRepeated) problems.push({ path, code: 'REPEATED', message: 'This query parameter may stand only once.' });
        const fault = garbled.has(name) ? 'is not UTF-8' : textProblem(`${name}${value}`, { multiline: name === 'intent' });
        if (fault !== undefined) problems.push({ path, code: 'INVALID_VALUE', message: `This query parameter ${fault}.` });
        else if (!isRepeated) single[name] = value;
    }
    return single;
}

/** Query parameters with escapes that are no UTF-8, by their names as decoded; their texts hold replacement characters that nobody sent. */
function garbledNames(url: string): Set<string> {
    const names = new Set<string>();
    const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(url) ?? [];
    for (const pair of query.split('&')) {
        const runs = pair.match(/(?:%[\da-f]{2})+/gi) ?? [];
        if (runs.every((run) => isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex')))) continue;
        for (const name of Object.keys(parse(pair))) names.add(name);
    }
    return names;
}

/** One step of a JSON pointer, cut to a maximum length: the caller chooses names. */
function pointerStep(name: string): string {
    return `/${escapePointer(name.slice(0, 128))}`;
}
