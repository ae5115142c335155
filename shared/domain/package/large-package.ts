import { scanTokens } from '../json/tokens.ts';
import type { Endpoint, PackageEndpoint } from '../types.ts';
import { readEndpoint } from './endpoint.ts';

/**
 * Finds the endpoints of a stored package, each as JSON by name, and its `auth`, without parsing the package. Parsing a package of 4 MiB
 * takes ten times as long, and most callers need one of its endpoints.
 * @param text the output of `JSON.stringify`
 */
export function splitPackage(text: string): { endpoints: Map<string, string>; auth: string } {
    const endpoints = new Map<string, string>();
    let auth = '[]';
    /** A list of the package is at depth 2, each endpoint at depth 3. */
    let depth = 0;
    let list = '';
    let from = 0;
    let name = '';
    scanTokens(text, (first, start, end) => {
        const sign = String.fromCharCode(first);
        if (sign === '"' && text[end] === ':') {
            if (depth === 1) list = text.slice(start, end);
            if (depth === 3 && text.startsWith('"name":', start)) name = stringAt(text, end + 1);
        } else if (sign === '{' || sign === '[') {
            depth++;
            if (depth === (list === '"endpoints"' ? 3 : 2)) from = start;
        } else if (sign === '}' || sign === ']') {
            if (depth === 3 && list === '"endpoints"') endpoints.set(name, text.slice(from, end));
            if (depth === 2 && list === '"auth"') auth = text.slice(from, end);
            depth--;
        }
        return false;
    });
    return { endpoints, auth };
}

/** Names of endpoints contain nothing that JSON escapes. */
function stringAt(text: string, quote: number): string {
    return text.slice(quote + 1, text.indexOf('"', quote + 1));
}

/** The endpoints of a package, in its order. */
export type EndpointsByName = Pick<ReadonlyMap<string, Endpoint>, 'get' | 'has' | 'keys' | 'values'>;

/** The endpoints of a large package. Each is parsed on first use. */
export class LazyEndpoints implements EndpointsByName {
    readonly #texts: ReadonlyMap<string, string>;
    readonly #read = new Map<string, Endpoint>();

    /** @param texts endpoints as JSON, by name */
    constructor(texts: ReadonlyMap<string, string>) {
        this.#texts = texts;
    }

    /** All endpoints as the JSON of a list. */
    toJson(): string {
        return `[${[...this.#texts.values()].join(',')}]`;
    }

    has(name: string): boolean {
        return this.#texts.has(name);
    }

    get(name: string): Endpoint | undefined {
        const known = this.#read.get(name);
        const text = this.#texts.get(name);
        if (known !== undefined || text === undefined) return known;
        const read = readEndpoint(JSON.parse(text) as PackageEndpoint);
        this.#read.set(name, read);
        return read;
    }

    keys(): MapIterator<string> {
        return this.#texts.keys();
    }

    *values(): MapIterator<Endpoint> {
        for (const name of this.#texts.keys()) yield this.get(name) as Endpoint;
    }
}
