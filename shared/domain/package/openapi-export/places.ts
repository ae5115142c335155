import { decodeQueryPart } from '../../text/percent-decode.ts';
import { splitOnce } from '../../text/split-once.ts';
import type { Endpoint } from '../../types.ts';

/** A pair of the template's own query. */
export interface QueryPair {
    /** The decoded name, including placeholders. */
    name: string;
    value: string;
}

export interface TemplateParts {
    origin: string;
    /** Placeholders are unique: a second `{id}` becomes `{id_2}`. */
    path: string;
    /** Placeholders of the path with their original names: `id_2` → `id`. */
    placeholders: ReadonlyMap<string, string>;
    query: QueryPair[];
}

const PLACEHOLDER = /\{((?:prepare\.)?[A-Za-z_][A-Za-z0-9_]*)\}/g;

/** The placeholder that makes up the whole text; undefined for any other text. */
export function onlyPlaceholder(text: string): string | undefined {
    return /^\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1];
}

export function placeholdersIn(text: string): string[] {
    return [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
}

export function takeApart({ url }: Endpoint): TemplateParts {
    const [, origin = '', path = '/', query = ''] = /^(https?:\/\/[^/?]+)([^?]*)\??(.*)$/s.exec(url) ?? [];
    const placeholders = new Map<string, string>();
    /** For each placeholder, the number that its next repetition tries first. A URL may repeat a placeholder several hundred times. */
    const next = new Map<string, number>();
    const unique = path.replaceAll(PLACEHOLDER, (_whole, name: string) => {
        const own = firstFree(name, placeholders, next);
        placeholders.set(own, name);
        return `{${own}}`;
    });
    const pairs = query.split('&').map((pair) => {
        const [name, value = ''] = splitOnce(pair, '=');
        return { name: decodeQueryPart(name), value: decodeQueryPart(value) };
    });
    return { origin, path: unique === '' ? '/' : unique, placeholders, query: pairs.filter(({ name }) => name !== '') };
}

/**
 * Gives every operation a unique place under `paths`. OpenAPI treats paths that differ only in the names of placeholders as equal, and a
 * path can have each method only once. The second operation therefore gets its name after a `#`, which is never sent.
 */
export function createPlaces(): (method: string, parts: TemplateParts, name: string) => string {
    const keys = new Map<string, { path: string; origin: string; methods: Set<string> }>();
    return (method, { path, origin }, name) => {
        const shape = path.replaceAll(PLACEHOLDER, '{}');
        const taken = keys.get(shape);
        if (taken === undefined) {
            keys.set(shape, { path, origin, methods: new Set([method]) });
            return path;
        }
        if (taken.path !== path || taken.origin !== origin || taken.methods.has(method)) return `${path}#${name}`;
        taken.methods.add(method);
        return path;
    };
}

function firstFree(name: string, taken: ReadonlyMap<string, string>, next: Map<string, number>): string {
    let own = name;
    for (let number = next.get(name) ?? 2; taken.has(own); number++) {
        own = `${name}_${number}`;
        next.set(name, number + 1);
    }
    return own;
}
