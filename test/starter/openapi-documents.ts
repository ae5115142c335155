import { readdirSync, readFileSync } from 'node:fs';
import type { JsonSchema, PackageEndpoint } from '../../shared/domain/types.ts';

const FOLDER = new URL('../fixtures/starter-openapi/', import.meta.url);

interface DocumentedParam {
    name: string;
    in: string;
    required: boolean;
    schema: JsonSchema;
}

interface Operation {
    parameters?: DocumentedParam[];
    requestBody?: { content: Record<string, { schema: { required: string[]; properties: Record<string, JsonSchema> } }> };
}

/** A shortened excerpt of an OpenAPI document that a service publishes. */
interface Excerpt {
    site: string;
    /** The URL of the complete document. */
    source: string;
    /** What was left out. */
    shortened: string;
    /** Endpoints of the package that the document lacks; other pages describe them. */
    beyond?: string[];
    servers: { url: string }[];
    paths: Record<string, Record<string, Operation>>;
}

/** The excerpts, in the order of their files. */
export const EXCERPTS: readonly Excerpt[] = readdirSync(FOLDER).map(
    (file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Excerpt,
);

/**
 * Where an endpoint differs from the document, as sentences; empty if it matches. Path params are compared by place, since the package has
 * its own names. For query params in the url, only the names are compared.
 */
export function departures(endpoint: PackageEndpoint, excerpt: Excerpt): string[] {
    const [address = '', constants = ''] = endpoint.url.split('?', 2);
    const found = operationOf(endpoint.method, address, excerpt);
    if (found === undefined) return [`${endpoint.name}: the document has no ${endpoint.method} ${address}`];
    const documented = [...(found.operation.parameters ?? []), ...bodyParams(found.operation)];
    const given = (endpoint.params ?? [])
        .filter(({ name }) => !constants.includes(`{${name}}`))
        .map((param) => ({ ...param, name: param.source === 'path' ? (found.names.get(param.name) ?? param.name) : param.name }));
    const fixed = new Set(new URLSearchParams(constants).keys());
    const unknown = [...fixed].filter((name) => !documented.some((param) => param.name === name && param.in === 'query'));
    const strange = given.flatMap((param) => {
        const same = documented.find(({ name, in: place }) => name === param.name && place === param.source);
        if (same === undefined) return [`${endpoint.name}: the document has no ${param.source} param ${param.name}`];
        return fits(param.schema, same.schema) ? [] : [`${endpoint.name}: ${param.name} is ${JSON.stringify(same.schema)} in the document`];
    });
    const missing = documented.filter(({ name, required }) => {
        const own = given.find((param) => param.name === name);
        return required && !fixed.has(name) && !(own?.required || own?.default !== undefined) && !isInBody(endpoint, name);
    });
    return [
        ...strange,
        ...unknown.map((name) => `${endpoint.name}: the document has no query param ${name}`),
        ...missing.map(({ name }) => `${endpoint.name}: the document requires ${name}`),
    ];
}

interface Found {
    operation: Operation;
    /** Names of path params in the document, by those of the package. */
    names: ReadonlyMap<string, string>;
}

function operationOf(method: string, address: string, { servers, paths }: Excerpt): Found | undefined {
    for (const { url: server } of servers) {
        for (const [path, operations] of Object.entries(paths)) {
            const operation = operations[method.toLowerCase()];
            const names = operation === undefined ? undefined : matchPath(address, server.replace(/\/$/, '') + path);
            if (operation !== undefined && names !== undefined) return { operation, names };
        }
    }
    return undefined;
}

const PLACEHOLDER = /\{([^{}]+)\}/g;

function matchPath(own: string, documented: string): Map<string, string> | undefined {
    if (own.replaceAll(PLACEHOLDER, '{}') !== documented.replaceAll(PLACEHOLDER, '{}')) return undefined;
    const names = [...documented.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
    return new Map([...own.matchAll(PLACEHOLDER)].map(([, name = ''], place) => [name, names[place] ?? '']));
}

function bodyParams({ requestBody }: Operation): DocumentedParam[] {
    return Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
        Object.entries(schema.properties).map(([name, own]) => ({
            name,
            in: 'body',
            required: schema.required.includes(name),
            schema: own,
        })),
    );
}

/** A body template may contain what the document requires. */
function isInBody({ body }: PackageEndpoint, name: string): boolean {
    return typeof body === 'object' && body !== null && Object.hasOwn(body, name);
}

/** Types whose values are also values of another type. In a query, a number is a text. */
const NARROWER: Readonly<Record<string, readonly string[]>> = { number: ['integer'], string: ['number', 'integer'] };

/** Whether values of the package's schema are valid in the document: by type, and by the values of an enum. One value is a list of one. */
function fits(own: unknown, documented: unknown): boolean {
    const mine = own as { type?: string; enum?: unknown[]; items?: unknown };
    const theirs = documented as { type?: string; enum?: unknown[]; items?: unknown };
    if (theirs.type === 'array' && mine.type !== 'array') return fits(mine, theirs.items);
    if (theirs.type !== undefined && mine.type !== theirs.type && !NARROWER[theirs.type]?.includes(mine.type ?? '')) return false;
    if (theirs.enum !== undefined && !(mine.enum ?? [undefined]).every((word) => theirs.enum?.includes(word))) return false;
    return theirs.items === undefined || fits(mine.items, theirs.items);
}
