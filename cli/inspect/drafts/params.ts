import type { Json, JsonObject, JsonSchema, PackageParam } from '../../../shared/domain/types.ts';
import { NAMES_ACTION } from '../exchanges/operation.ts';
import type { Field } from '../pages/page-forms.ts';
import type { Body, Group } from '../routes/groups.ts';
import { isPlaceInList } from '../words/describe.ts';
import { wordsOf } from '../words/harmless.ts';
import { identifier } from '../words/identifier.ts';
import { type Piece, textOf } from '../words/segments.ts';
import { isValueAsKey, schemaOf } from '../words/shape.ts';
import { constantOf, schemaOfJson, schemaOfTexts, type Values } from '../words/values.ts';
import { nameParams } from './naming.ts';

/** The params of a route, and where each is sent. */
export interface Request {
    url: string;
    params: PackageParam[];
    /** The template of the body, if the body contains more than body params. */
    body: Json | undefined;
    /** Params that could not be described, with the reason. */
    left: { name: string; why: string }[];
}

/** Names that the package rules accept (docs/api.md, "Schema packages"). */
const PARAM_NAME = /^[!-z|~]{1,64}$/;

/**
 * Builds the URL template and params of a route. `fields` are the fields of its form, if it has one.
 * @param isTemplate whether more than params will be in the body
 */
export function requestOf(group: Group, fields: readonly Field[], isTemplate = false): Request {
    const left: Request['left'] = [];
    const query = queryParams(group, fields, left);
    const taken = new Set(query.map(({ name }) => name));
    // The fields of a body keep their names; those of a path are free.
    const path = pathParams(group, new Set([...taken, ...(group.body?.fields.keys() ?? []), ...fields.map(({ name }) => name)]));
    for (const { name } of path.params) taken.add(name);
    const body = bodyParams(group, fields, taken, { left, isTemplate });
    const search = group.dispatch.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    return {
        url: `${group.origin}/${path.template}${search === '' ? '' : `?${search}`}`,
        params: [...path.params, ...query, ...body.params],
        body: body.template,
        left,
    };
}

function encode(text: string): string {
    return encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function pathParams(group: Group, taken: ReadonlySet<string>): { template: string; params: PackageParam[] } {
    const names = nameParams(group.segments, taken);
    const params: PackageParam[] = [];
    const template = group.segments.map((piece) => {
        if (piece.form === 'word') return piece.core;
        return textOf(piece).replaceAll('{}', () => {
            const name = names[params.length] ?? 'value';
            params.push({ name, source: 'path', required: true, schema: schemaOfSegment(piece) });
            return `{${name}}`;
        });
    });
    return { template: template.join('/'), params };
}

function schemaOfSegment({ form }: Piece): JsonObject {
    if (form === 'number') return { type: 'integer' };
    if (form === 'uuid') return { type: 'string', format: 'uuid' };
    return { type: 'string', minLength: 1, maxLength: 200 };
}

function queryParams(group: Group, fields: readonly Field[], left: Request['left']): PackageParam[] {
    const own = group.method === 'GET' ? fields.filter(({ type }) => type !== 'submit') : [];
    const shown = new Set(own.map(({ name }) => name));
    const params: PackageParam[] = [];
    for (const [name, values] of group.query) {
        // A word that all requests had may be a choice as well: the caller may give another. In a form, the visitor chose it.
        const usual = shown.has(name) || isPlaceInList(name) ? undefined : constantOf(name, values, group.sendings);
        if (isValueInName(name)) left.push(VALUE_IN_NAME);
        else if (!PARAM_NAME.test(name)) left.push({ name, why: 'its name has other characters than a param may have' });
        else if (usual !== undefined && group.selector === undefined)
            params.push({ name, source: 'query', required: false, schema: schemaOfTexts(name, values), default: usual });
        else
            params.push({ name, source: 'query', required: isRequired(name, values, group.sendings), schema: schemaOfTexts(name, values) });
    }
    for (const { name, isRequired: required } of own) {
        if (group.query.has(name)) continue;
        if (isValueInName(name)) left.push(VALUE_IN_NAME);
        else if (PARAM_NAME.test(name)) params.push({ name, source: 'query', required, schema: { type: 'string' } });
        else left.push({ name, why: 'its name has other characters than a param may have' });
    }
    return params;
}

/** Some sites put values into names (`choice[ada@people.example]`). Such a name is not a param. */
function isValueInName(name: string): boolean {
    return name.split(/[[\]{}]+/).some((part) => part !== '' && !/^\d{1,3}$/.test(part) && isValueAsKey(part));
}

const VALUE_IN_NAME = { name: '…', why: 'its name holds a value' };

/** Values that every request had are required. After a single request, only ids and search words are required. */
function isRequired(name: string, values: Values, sendings: number): boolean {
    if (values.sendings < sendings || isPlaceInList(name)) return false;
    return sendings > 1 || wordsOf(name).some((word) => /^(?:q|query|search|text|term|id|name|slug|code|symbol)$/.test(word));
}

function bodyParams(
    group: Group,
    fields: readonly Field[],
    taken: ReadonlySet<string>,
    more: { left: Request['left']; isTemplate: boolean },
): { params: PackageParam[]; template: Json | undefined } {
    const { body } = group;
    const own = group.method === 'GET' ? [] : fields;
    if (body?.whole !== undefined && body.fields.size === 0) {
        const name = taken.has('body') ? 'request_body' : 'body';
        return { params: [{ name, source: 'body', required: true, schema: schemaOf(body.whole) }], template: `{${name}}` };
    }
    const sent = new Map<string, SentField>();
    for (const [name, field] of body?.fields ?? []) sent.set(name, describeField(name, field, body, own));
    for (const { name, isRequired: required, type } of own)
        if (!sent.has(name) && type !== 'submit') sent.set(name, { schema: { type: 'string' }, required });
    return body?.template === undefined ? placeInBody(group, sent, taken, more) : placeInText(body.template, sent, taken);
}

/** The params of a text around the fields. */
function placeInText(
    text: string,
    sent: ReadonlyMap<string, SentField>,
    taken: ReadonlySet<string>,
): { params: PackageParam[]; template: Json | undefined } {
    const used = new Set(taken);
    const params: PackageParam[] = [];
    const template = text.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
        const { schema, required } = sent.get(key) ?? { schema: { type: 'string' }, required: false };
        const name = placeholderFor(key, used);
        used.add(name);
        params.push({ name, source: 'body', required, schema });
        return `{${name}}`;
    });
    return { params, template };
}

/** `constant` is always sent, `usual` only if the caller gives no value. */
interface SentField {
    schema: JsonSchema;
    required: boolean;
    constant?: string;
    usual?: string;
}

function describeField(
    name: string,
    { values, shape }: { values: Values; shape: Parameters<typeof schemaOf>[0] },
    body: Body | undefined,
    own: readonly Field[],
): SentField {
    const sendings = body?.sendings ?? 0;
    const field = own.find((one) => one.name === name);
    const word = field === undefined && body?.format === 'json' ? constantOf(name, values, sendings) : undefined;
    const schema = body?.format === 'json' ? schemaOfJson(name, values, schemaOf(shape)) : schemaOfTexts(name, values);
    const required = field === undefined ? values.sendings >= sendings && sendings > 1 : field.isRequired;
    if (word === undefined) return { schema, required };
    if (NAMES_ACTION.test(name)) return { schema, required, constant: word };
    // The same word in a few requests may be a choice (`type: release`). Elsewhere a visitor may have written it.
    return { schema, required: false, ...(PROGRAM_FIELD.test(name) ? { usual: word } : {}) };
}

/** Fields whose words a program chooses. */
const PROGRAM_FIELD = /^(?:type|kind|format|mode|api_?version)$/i;

/** A flat object if possible. A template if a field is constant, or if the name of a field is taken or not valid for a placeholder. */
function placeInBody(
    group: Group,
    sent: ReadonlyMap<string, SentField>,
    taken: ReadonlySet<string>,
    { left, isTemplate }: { left: Request['left']; isTemplate: boolean },
): { params: PackageParam[]; template: Json | undefined } {
    const needsTemplate =
        isTemplate ||
        group.operation !== undefined ||
        [...sent].some(([name, { constant }]) => constant !== undefined || taken.has(name) || !PARAM_NAME.test(name));
    const used = new Set(taken);
    const params: PackageParam[] = [];
    const inside: JsonObject = {};
    for (const [key, { schema, required, constant, usual }] of sent) {
        if (isValueInName(key)) left.push(VALUE_IN_NAME);
        else if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
            left.push({ name: 'a field of the body', why: 'its name is not accepted in a package' });
        } else if (constant !== undefined) inside[key] = constant;
        else {
            const name = needsTemplate ? placeholderFor(key, used) : key;
            used.add(name);
            inside[key] = `{${name}}`;
            params.push({ name, source: 'body', required, schema, ...(usual === undefined ? {} : { default: usual }) });
        }
    }
    if (!needsTemplate) return { params, template: undefined };
    const { operation } = group;
    return { params, template: operation === undefined ? inside : aroundArguments(operation.fixed, operation.argumentsAt, inside) };
}

function aroundArguments(fixed: JsonObject, at: string, inside: JsonObject): JsonObject {
    if (at === '') return { ...fixed, ...inside };
    const [only] = Object.keys(inside);
    // A single field with this name is already the list of arguments.
    if (only === at && Object.keys(inside).length === 1) return { ...fixed, ...inside };
    return Object.keys(inside).length === 0 ? fixed : { ...fixed, [at]: inside };
}

function placeholderFor(key: string, used: ReadonlySet<string>): string {
    const plain = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key) ? key : identifier(key) || 'field';
    for (let count = 1; ; count++) {
        const name = count === 1 ? plain : `${plain}_${count}`;
        if (!used.has(name)) return name;
    }
}
