import { tryParseExact } from '../../../shared/domain/json/exact-numbers.ts';
import type { Endpoint, Json, JsonObject, JsonSchema, Param } from '../../../shared/domain/types.ts';
import type { ErrorBody } from '../../../shared/refusals.ts';
import { type Fields, type Problems, problemsAt } from '../fields.ts';
import { exampleOf, isShort, PLACEHOLDER, typeOf, writeValue } from './describe-endpoint.ts';

interface ParamField {
    name: string;
    label: string;
    hint: string;
    value: string;
    isOptional: boolean;
    options: { value: string; label: string }[] | undefined;
    /** For a text of several lines. */
    rows: number | undefined;
}

const MAX = 100;

export function paramFields(endpoint: Endpoint): ParamField[] {
    // A placeholder in a field would be sent as the value.
    const example = new Map(Object.entries(exampleOf(endpoint)).filter(([, value]) => value !== PLACEHOLDER));
    return endpoint.params.slice(0, MAX).map((param, place) => ({
        name: fieldName(place),
        label: param.name,
        hint: [typeOf(param.schema), param.description]
            .filter((text) => text !== '')
            .join('. ')
            .slice(0, 400)
            .toWellFormed(),
        value: toText(param, example.get(param.name)),
        isOptional: !param.required || param.default !== undefined,
        options: optionsOf(param),
        rows: isJson(param) || isText(param) ? 4 : undefined,
    }));
}

export function readParams(endpoint: Endpoint, fields: Fields): { params: JsonObject; problems: Problems } {
    const problems: Record<string, string> = {};
    const params = new Map<string, Json>();
    for (const [place, param] of endpoint.params.slice(0, MAX).entries()) {
        const text = (fields.get(fieldName(place)) ?? '').replaceAll('\r\n', '\n');
        if (text === '') {
            if (param.required && param.default === undefined) problems[fieldName(place)] = 'Fill this in.';
            continue;
        }
        const read = readValue(param, text);
        if (read.ok) params.set(param.name, read.value);
        else problems[fieldName(place)] = read.problem;
    }
    return { params: Object.fromEntries(params), problems };
}

/** Maps problems with params to their fields. All other problems belong to the whole form. */
export function toProblems(endpoint: Endpoint, refused: ErrorBody): Problems {
    return problemsAt(refused, ({ path, message }) => {
        const [, place = '', name = ''] = path.split('/');
        const param = name.replaceAll('~1', '/').replaceAll('~0', '~');
        const index = place === 'params' ? endpoint.params.findIndex((one) => one.name === param) : -1;
        return [place === 'max_results' ? 'max_results' : index >= 0 && index < MAX ? fieldName(index) : '', message];
    });
}

function fieldName(place: number): string {
    return `param-${place}`;
}

function typesOf(schema: JsonSchema | undefined): readonly Json[] {
    if (typeof schema !== 'object') return ['string'];
    const { type } = schema;
    return Array.isArray(type) ? type : type === undefined ? [] : [type];
}

function optionsOf({ schema, required, default: fallback }: Param): ParamField['options'] {
    const values: readonly Json[] | undefined =
        typeof schema !== 'object'
            ? undefined
            : Array.isArray(schema['enum'])
              ? schema['enum']
              : schema['type'] === 'boolean'
                ? [true, false]
                : undefined;
    if (values === undefined || values.length > 200 || !values.every(isShort)) return undefined;
    const none =
        required && fallback === undefined ? [] : [{ value: '', label: fallback === undefined ? '–' : `– (${writeValue(fallback)})` }];
    return [
        ...none,
        ...values.map((value) => ({ value: JSON.stringify(value), label: typeof value === 'string' ? value : JSON.stringify(value) })),
    ];
}

function isJson({ schema }: Param): boolean {
    const types = typesOf(schema);
    return types.length === 0 || types.includes('array') || types.includes('object');
}

/** Whether the value may be a text of several lines, such as a comment. */
function isText({ source, schema }: Param): boolean {
    return (
        source === 'body' &&
        typesOf(schema).every((type) => type === 'string') &&
        (typeof schema !== 'object' || schema['format'] === undefined)
    );
}

function toText(param: Param, value: Json | undefined): string {
    if (value === undefined) return '';
    if (optionsOf(param) !== undefined || typeof value !== 'string' || isJson(param)) return JSON.stringify(value);
    return value;
}

function readValue(param: Param, text: string): { ok: true; value: Json } | { ok: false; problem: string } {
    const types = typesOf(param.schema);
    const isChosen = optionsOf(param) !== undefined;
    if (types.includes('string') && !isChosen && !isJson(param)) return { ok: true, value: text };
    const value = tryParseExact(text);
    if (value !== undefined) return { ok: true, value };
    if (types.includes('integer') || types.includes('number')) return { ok: false, problem: 'Enter a number.' };
    return { ok: false, problem: isChosen ? 'Choose one of these.' : 'Enter JSON: a list in [ ], an object in { }, a text in " ".' };
}
