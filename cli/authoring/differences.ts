import canonicalize from 'canonicalize';
import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import type { Json, PackageDocument } from '../../shared/domain/types.ts';

export interface Difference {
    /** Path from the package down, with names of endpoints and params. */
    path: string;
    /** Absent if it was added. */
    before?: Json;
    /** Absent if it was removed. */
    after?: Json;
}

/**
 * Lists every difference of two packages. Endpoints and params are matched by name, other lists by order. `comparePackages` reports added
 * and removed endpoints.
 */
export function differences(before: PackageDocument, after: PackageDocument): Difference[] {
    const found: Difference[] = [];
    const { endpoints: old, ...oldHead } = before;
    const { endpoints: now, ...newHead } = after;
    compare(asJson(oldHead), asJson(newHead), '', found);
    for (const endpoint of now) {
        const earlier = old.find(({ name }) => name === endpoint.name);
        if (earlier !== undefined) compare(asJson(earlier), asJson(endpoint), `/endpoints/${endpoint.name}`, found);
    }
    return found;
}

/** A part of a package was read from JSON, which its type does not say. */
function asJson(part: object): Json {
    return part as Json;
}

/** The recursion is bounded: both packages passed the rules, which allow 32 levels. */
function compare(before: Json | undefined, after: Json | undefined, path: string, found: Difference[]): void {
    if (canonicalize(before) === canonicalize(after)) return;
    const [old, now] = [parts(before), parts(after)];
    if (old === undefined || now === undefined) {
        found.push({ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) });
        return;
    }
    for (const key of new Set([...old.keys(), ...now.keys()])) compare(old.get(key), now.get(key), `${path}/${escapePointer(key)}`, found);
}

/** The members of an object, or the named items of a list. Undefined for all other values, which are compared as a whole. */
function parts(value: Json | undefined): Map<string, Json> | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Array.isArray(value)) return new Map(Object.entries(value));
    const named = value.map((item): [string, Json] => [nameOf(item) ?? '', item]);
    const names = new Set(named.map(([name]) => name));
    return value.length > 0 && names.size === value.length && !names.has('') ? new Map(named) : undefined;
}

function nameOf(item: Json): string | undefined {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
    const { name } = item;
    return typeof name === 'string' ? name : undefined;
}
