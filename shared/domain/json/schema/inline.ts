import type { Json, JsonObject, JsonSchema, PackageDocument } from '../../types.ts';
import { resolveReference } from './expand.ts';
import { type Form, KEYWORDS } from './keywords.ts';
import { collectPlaces } from './places.ts';
import type { Places } from './structure.ts';

/** Puts schemas of one package into another document. */
export interface Inliner {
    /**
     * The schema so that it can stand anywhere: every `$ref` is replaced by what it points to, what only names places is left out, and
     * so is every keyword whose value the rules do not check. It says the same of every value, and keeps titles and descriptions;
     * `true` and `false` become objects, which every tool understands.
     */
    inline(schema: JsonSchema): JsonObject;
    /** The same value, or undefined if the document has no more room: a text beside a schema may be written for each place that names it. */
    text<Value extends Json>(value: Value | undefined): Value | undefined;
}

/** The limit of all expanded schemas. A package has 4 MiB at most; repeated references may add as much again. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** An export may always have this size, since shared schemas make a small package several times larger. */
const LEAST_CHARACTERS = 256 * 1024;
const MOST_TIMES = 4;

/** The inliner of an export. Its limit grows with the package, so that a small package cannot become a file of megabytes. */
export function inlinerFor(document: PackageDocument): Inliner {
    return createInliner(Math.min(MOST_CHARACTERS, LEAST_CHARACTERS + MOST_TIMES * JSON.stringify(document).length));
}

/** For one document. What would make it larger than `most` characters is left open: `{}`, which everything fits. */
export function createInliner(most = MOST_CHARACTERS): Inliner {
    let left = most;
    const spend = (value: Json) => {
        if (left > 0) left -= JSON.stringify(value).length;
        return left > 0;
    };
    return {
        inline(schema) {
            if (!spend(schema)) return {};
            return inline({ places: collectPlaces(schema), spend }, schema, ['']);
        },
        text: (value) => (value === undefined || value === '' || !spend(value) ? undefined : value),
    };
}

interface Work {
    places: Places;
    /** Whether there is room for this schema too. */
    spend(schema: JsonSchema): boolean;
}

/** They name a place or the dialect; what a reference pointed to is put where it was needed. */
const LEFT_OUT: ReadonlySet<string> = new Set(['$schema', '$id', '$anchor', '$defs', 'definitions', '$ref']);

/** Everybody writes these with `false`, and some tools look for just that. */
const CLOSING: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);

/** @param followed pointers of the references that led here; the rules let none come back to itself. */
function inline(work: Work, schema: JsonSchema, followed: readonly string[]): JsonObject {
    if (typeof schema === 'boolean') return schema ? {} : { not: {} };
    const kept: [string, Json][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
        const form = KEYWORDS.get(keyword);
        if (form === undefined || LEFT_OUT.has(keyword)) continue;
        const isPlain = typeof value === 'boolean' && CLOSING.has(keyword);
        kept.push([keyword, isPlain ? value : inlineValue(work, form, value, followed)]);
    }
    const own: JsonObject = Object.fromEntries(kept);
    const { $ref: ref } = schema;
    const target = typeof ref === 'string' ? resolveReference(ref, work.places) : undefined;
    const meantSchema = work.places.schemas.get(target ?? '') ?? true;
    if (target === undefined || followed.includes(target) || !work.spend(meantSchema)) return own;
    const meant = inline(work, meantSchema, [...followed, target]);
    if (kept.length === 0) return meant;
    return { ...own, allOf: [...((own['allOf'] as Json[] | undefined) ?? []), meant] };
}

function inlineValue(work: Work, form: Form, value: Json, followed: readonly string[]): Json {
    if (form === 'schema') return inline(work, value as JsonSchema, followed);
    if (form === 'schemas') return (value as JsonSchema[]).map((part) => inline(work, part, followed));
    if (form === 'schema map' || form === 'pattern map') {
        const parts = Object.entries(value as JsonObject);
        return Object.fromEntries(parts.map(([key, part]) => [key, inline(work, part as JsonSchema, followed)]));
    }
    return value;
}
