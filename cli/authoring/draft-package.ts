import { isSafeMethod } from '../../shared/domain/package/endpoint.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import type { Json, JsonObject, Kind, Method, PackageDocument, PackageParam } from '../../shared/domain/types.ts';

/** The input of a first draft. */
export interface DraftOrder {
    /** With `{placeholders}` in its path; the query becomes params. */
    url: string;
    site: string;
    title: string;
    description: string;
    category: string;
    name: string;
    method: Method;
    kind: Kind;
    /** Values of a working call, by placeholder or query param. */
    examples: Readonly<Record<string, string>>;
}

/** Builds a package with one endpoint for the author to complete. */
export function draftPackage(order: DraftOrder): PackageDocument {
    const { url, params: queryParams } = splitQuery(order.url);
    const params = [...placeholdersOf(url).map((name) => pathParam(name, order.examples[name])), ...queryParams];
    const body = isSafeMethod(order.method) ? [] : bodyParams(order, params);
    const all = [...params, ...body];
    const example = exampleOf(all, order.examples);
    return {
        format: 'routebook/1',
        site: order.site,
        title: order.title,
        description: order.description,
        intent_category: order.category,
        endpoints: [
            {
                name: order.name,
                ...(order.kind === 'api_call' ? {} : { kind: order.kind }),
                description: '',
                method: order.method,
                url,
                params: all,
                ...(example === undefined ? {} : { examples: [{ params: example }] }),
            },
        ],
    };
}

/** The placeholder names of a URL template, in order. */
export function placeholdersOf(url: string): string[] {
    return [...new Set([...url.matchAll(/\{([A-Za-z_]\w*)\}/g)].map(([, name = '']) => name))];
}

export function siteOf(url: string): string | undefined {
    const host = URL.canParse(url) ? new URL(url).hostname : '';
    const named = normaliseSite(host);
    return named.ok ? named.site : undefined;
}

/** Names an endpoint by the words of its path: `/v2/products/{id}` becomes `products`. */
export function endpointNameOf(url: string): string {
    const path = URL.canParse(url) ? decodeURI(new URL(url).pathname) : '';
    const words = path.split('/').filter((part) => /[a-z]/i.test(part) && !part.includes('{') && !/^v\d+$/i.test(part));
    const name = (words.at(-1) ?? 'front_page').toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
    return (/^[a-z]/.test(name) ? name : `get_${name}`).replace(/_+$/, '').slice(0, 64);
}

function splitQuery(text: string): { url: string; params: PackageParam[] } {
    const at = text.indexOf('?');
    if (at === -1 || text.slice(at).includes('{')) return { url: text, params: [] };
    const pairs = new Map(new URLSearchParams(text.slice(at + 1).replace(/#.*$/, '')));
    const params = [...pairs].map(([name, value]): PackageParam => ({ name, source: 'query', required: false, ...describeValue(value) }));
    return { url: text.slice(0, at), params };
}

function pathParam(name: string, example: string | undefined): PackageParam {
    return { name, source: 'path', required: true, description: '', ...describeValue(example) };
}

function bodyParams({ examples }: DraftOrder, others: readonly PackageParam[]): PackageParam[] {
    const taken = new Set(others.map(({ name }) => name));
    return Object.entries(examples)
        .filter(([name]) => !taken.has(name))
        .map(([name, value]) => ({ name, source: 'body', required: false, description: '', ...describeValue(value) }));
}

function describeValue(text: string | undefined): Pick<PackageParam, 'schema' | 'example'> {
    if (text === undefined) return { schema: { type: 'string' } };
    const example = typedValue(text);
    const type = typeof example === 'number' ? 'integer' : typeof example;
    return { schema: { type }, example };
}

function typedValue(text: string): Json {
    if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text);
    return text === 'true' || text === 'false' ? text === 'true' : text;
}

/** The params of an example; undefined if a required param has no value. */
function exampleOf(params: readonly PackageParam[], given: Readonly<Record<string, string>>): JsonObject | undefined {
    const values = params.flatMap(({ name, example, source }): [string, Json][] => {
        const text = given[name];
        if (text !== undefined) return [[name, typedValue(text)]];
        return example === undefined || source === 'body' ? [] : [[name, example]];
    });
    const isWhole = params.every(({ name, required }) => !required || values.some(([valued]) => valued === name));
    return isWhole ? Object.fromEntries(values) : undefined;
}
