import type { Inliner } from '../../json/schema/inline.ts';
import type { Endpoint, Json, JsonObject, Param, ParamStyle } from '../../types.ts';
import { isRequiredParam, schemaOfParam } from '../param-schema.ts';
import { onlyPlaceholder, placeholdersIn, type QueryPair, type TemplateParts } from './places.ts';

/** The media types of an operation describe these headers. OpenAPI ignores them among the parameters. */
const SAID_ELSEWHERE: ReadonlySet<string> = new Set(['accept', 'content-type', 'authorization']);

/**
 * Everything of a request except its body: placeholders of the path, the template's own query, query params, the param of `pagination`, and
 * fixed headers. OpenAPI allows each name only once per place; the first declaration of the package wins.
 */
export function parametersOf(endpoint: Endpoint, { placeholders, query }: TemplateParts, inliner: Inliner): JsonObject[] {
    const byName = new Map(endpoint.params.map((param) => [param.name, param]));
    const carrier = carrierOf(endpoint);
    const declared = endpoint.params.filter(({ source }) => source === 'query').map((param) => ofParam(endpoint, param, inliner));
    const headers = endpoint.params.filter(({ source }) => source === 'header').map((param) => ofParam(endpoint, param, inliner));
    const names = new Set([...declared, ...carrier].map(({ name }) => name as string));
    const own = query.filter(({ name }) => !names.has(name));
    const all = [
        ...[...placeholders].map(([name, param]) => ofPlaceholder(endpoint, name, byName.get(param), inliner)),
        ...[...Map.groupBy(own, ({ name }) => name).values()].map((pairs) => ofPairs(endpoint, pairs, byName, inliner)),
        ...declared,
        ...carrier,
        ...Object.entries(endpoint.headers).map(([name, value]) => fixed(name, 'header', value)),
        ...headers,
    ];
    const seen = new Set<string>();
    return all.filter((parameter) => {
        const name = String(parameter['name']);
        const key = parameter['in'] === 'header' ? `header ${name.toLowerCase()}` : `${parameter['in']} ${name}`;
        const isFirst = !seen.has(key);
        seen.add(key);
        return isFirst && !(parameter['in'] === 'header' && SAID_ELSEWHERE.has(name.toLowerCase()));
    });
}

function ofParam(endpoint: Endpoint, param: Param, inliner: Inliner): JsonObject {
    const place = param.source === 'header' ? 'header' : 'query';
    const name = place === 'query' && param.style === 'brackets' ? `${param.name}[]` : param.name;
    const schema = schemaOfParam(param, endpoint.bodyFormat, inliner);
    return { ...parameter(name, place, isRequiredParam(param), schema), ...(place === 'query' ? STYLES[param.style] : {}) };
}

/** The styles in the terms of OpenAPI, if they are not its default. */
const STYLES: Readonly<Record<ParamStyle, JsonObject>> = {
    repeat: {},
    brackets: {},
    comma: { style: 'form', explode: false },
    space: { style: 'spaceDelimited', explode: false },
    pipe: { style: 'pipeDelimited', explode: false },
    deepObject: { style: 'deepObject', explode: true },
};

function ofPlaceholder(endpoint: Endpoint, name: string, param: Param | undefined, inliner: Inliner): JsonObject {
    const schema = param === undefined ? { type: 'string' } : schemaOfParam(param, endpoint.bodyFormat, inliner);
    const segments = param?.segments === true ? { 'x-routebook': { segments: true } } : {};
    return { ...parameter(name, 'path', true, schema), ...segments };
}

/** The pairs with the same name in the template's own query. */
function ofPairs(endpoint: Endpoint, pairs: readonly QueryPair[], params: ReadonlyMap<string, Param>, inliner: Inliner): JsonObject {
    const [{ name, value } = { name: '', value: '' }] = pairs;
    const filled = pairs.flatMap((pair) => placeholdersIn(`${pair.name}${pair.value}`));
    if (filled.length === 0) return fixed(name, 'query', pairs.length === 1 ? value : pairs.map((pair) => pair.value));
    const param = params.get(onlyPlaceholder(value) ?? '');
    if (pairs.length === 1 && param !== undefined) {
        return parameter(name, 'query', isRequiredParam(param), schemaOfParam(param, endpoint.bodyFormat, inliner));
    }
    const shown = pairs.map((pair) => `${pair.name}=${pair.value}`).join('&');
    return parameter(name, 'query', true, { type: 'string', description: `Stands in the URL as ${shown}.` });
}

/** A param that only `pagination` declares is a query param. */
function carrierOf({ pagination, params }: Endpoint): JsonObject[] {
    const name = pagination?.param;
    if (pagination === undefined || name === undefined || pagination.style === 'link') return [];
    if (params.some((param) => param.name === name)) return [];
    const isCounted = pagination.style !== 'cursor';
    const schema = isCounted ? { type: 'integer', default: pagination.start } : { type: ['string', 'number'] };
    return [parameter(name, 'query', false, { ...schema, description: `Tells the pages apart (${pagination.style}).` })];
}

function fixed(name: string, place: 'query' | 'header', value: string | string[]): JsonObject {
    const type: JsonObject = typeof value === 'string' ? { type: 'string' } : { type: 'array', items: { type: 'string' } };
    return parameter(name, place, true, { ...type, enum: [value], default: value });
}

function parameter(name: string, place: 'path' | 'query' | 'header', required: boolean, described: JsonObject): JsonObject {
    const { description, ...schema } = described;
    return { name, in: place, required, ...(description === undefined ? {} : { description: description as Json }), schema };
}
