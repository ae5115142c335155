import type { Json, JsonObject, JsonSchema, PackageDocument } from '../../types.ts';
import { KEYWORDS } from './keywords.ts';
import { collectPlaces, mapSchemas, resolveReference } from './places.ts';
import type { Places } from './structure.ts';

/** Inlines schemas of one package into another document. */
export interface Inliner {
    /**
     * Makes a schema independent of its position. Every `$ref` is replaced by its target. Keywords that only name places are left out, and
     * so are keywords whose values the rules do not check. The schema accepts the same values as before and keeps titles and descriptions.
     * `true` and `false` become objects, which every tool supports.
     */
    inline(schema: JsonSchema): JsonObject;
    /** Undefined if the document has no room left: a text may be repeated at each place that refers to its schema. */
    text<Value extends Json>(value: Value | undefined): Value | undefined;
}

/** Maximum size of all expanded schemas in characters. A package has at most 4 MiB; repeated references may add the same amount. */
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** Every export may have at least this size, because shared schemas make a small package several times larger. */
const MIN_CHARACTERS = 256 * 1024;
const MAX_TIMES = 4;

/** Its limit grows with the package, so that a small package cannot become a file of several megabytes. */
export function inlinerFor(document: PackageDocument): Inliner {
    return createInliner(Math.min(MAX_CHARACTERS, MIN_CHARACTERS + MAX_TIMES * JSON.stringify(document).length));
}

/** Creates the inliner for one document. Schemas that would exceed `max` characters become `{}`, which accepts everything. */
export function createInliner(max = MAX_CHARACTERS): Inliner {
    let left = max;
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
    /** Whether there is enough room left for this schema. */
    spend(schema: JsonSchema): boolean;
}

/** These keywords name a place or the dialect. Targets of references are inlined where they are needed. */
const LEFT_OUT: ReadonlySet<string> = new Set(['$schema', '$id', '$anchor', '$defs', 'definitions', '$ref']);

/** Authors usually write these keywords with `false`, and some tools recognise only that form. */
const CLOSING: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);

/** @param followed pointers of the references that led here; the rules exclude cyclic references */
function inline(work: Work, schema: JsonSchema, followed: readonly string[]): JsonObject {
    if (typeof schema === 'boolean') return schema ? {} : { not: {} };
    const kept: [string, Json][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
        if (!KEYWORDS.has(keyword) || LEFT_OUT.has(keyword)) continue;
        const isPlain = typeof value === 'boolean' && CLOSING.has(keyword);
        kept.push([keyword, isPlain ? value : mapSchemas(keyword, value, (part) => inline(work, part, followed))]);
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
