import type { Endpoint, PackageEndpoint } from '../types.ts';
import { readEndpoint } from './endpoint.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** The parts of a stored package that calls need. */
interface SplitPackage {
    endpoints: Map<string, string>;
    /** `auth` as JSON. */
    auth: string;
}

/**
 * Finds the endpoints of a stored package, each as JSON by name, and its `auth`, without parsing the package. Parsing a package of 4 MiB
 * takes ten times as long, and most callers need one of its endpoints.
 * @param text the output of `JSON.stringify`
 */
export function splitPackage(text: string): SplitPackage {
    const found = new Map<string, string>();
    let auth = '[]';
    let authFrom = -1;
    /** The list of endpoints is at depth 2, each endpoint at depth 3. */
    let depth = 0;
    let isInList = false;
    let from = 0;
    let name = '';
    for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (code === QUOTE) {
            const end = endOfString(text, at);
            const isKey = text.charCodeAt(end + 1) === COLON;
            if (isKey && depth === 1) {
                isInList = text.startsWith('"endpoints":[', at);
                if (text.startsWith('"auth":[', at)) authFrom = at + '"auth":'.length;
            }
            if (isKey && isInList && depth === 3 && text.startsWith('"name":"', at)) name = text.slice(at + 8, endOfString(text, at + 7));
            at = end;
        } else if (code === 0x7b || code === 0x5b) {
            if (++depth === 3 && isInList) from = at;
        } else if (code === 0x7d || code === 0x5d) {
            if (depth === 3 && isInList) found.set(name, text.slice(from, at + 1));
            if (depth === 2 && authFrom !== -1) {
                auth = text.slice(authFrom, at + 1);
                authFrom = -1;
            }
            depth--;
        }
    }
    return { endpoints: found, auth };
}

function endOfString(text: string, open: number): number {
    for (let end = text.indexOf('"', open + 1); end !== -1; end = text.indexOf('"', end + 1)) {
        let slashes = 0;
        while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
        if (slashes % 2 === 0) return end;
    }
    return text.length;
}

/** The endpoints of a large package. Each is parsed on first use. */
export class LazyEndpoints implements ReadonlyMap<string, Endpoint> {
    readonly #texts: ReadonlyMap<string, string>;
    readonly #read = new Map<string, Endpoint>();

    /** @param texts endpoints as JSON, by name */
    constructor(texts: ReadonlyMap<string, string>) {
        this.#texts = texts;
    }

    get size(): number {
        return this.#texts.size;
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

    *entries(): MapIterator<[string, Endpoint]> {
        for (const name of this.#texts.keys()) yield [name, this.get(name) as Endpoint];
    }

    [Symbol.iterator](): MapIterator<[string, Endpoint]> {
        return this.entries();
    }

    forEach(each: (endpoint: Endpoint, name: string, map: ReadonlyMap<string, Endpoint>) => void): void {
        for (const [name, endpoint] of this) each(endpoint, name, this);
    }
}
