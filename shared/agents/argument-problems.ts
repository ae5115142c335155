import { withDoubles } from '../domain/json/exact-numbers.ts';
import { boundedPointer, escapePointer } from '../domain/json/json-bounds.ts';
import { validateBySchema } from '../domain/json/schema/interpret.ts';
import { listOf, objectOf } from '../domain/json/schema/structure.ts';
import { didYouMean } from '../domain/text/suggestions.ts';
import type { Json, JsonObject, JsonSchema } from '../domain/types.ts';
import type { ItemDetail } from '../refusals.ts';

/** Maximum number of unknown names that get a problem each. */
const MAX_UNKNOWN = 50;
/** Maximum number of unknown names that get a suggestion each, because suggestions take time. */
const MAX_SUGGESTED = 5;

/** The problems of arguments, in the words that the API has for params. @param schema an object with one level of properties */
export function argumentProblems(schema: JsonObject, args: Record<string, unknown>): ItemDetail[] {
    const properties = objectOf(schema['properties']);
    const known = Object.keys(properties);
    const missing = listOf(schema['required']).map(String);
    const unknown = schema['additionalProperties'] === false ? Object.keys(args).filter((name) => !Object.hasOwn(properties, name)) : [];
    return [
        ...missing
            .filter((name) => args[name] === undefined)
            .map((name) => problem(name, '', 'REQUIRED', `The argument ${name} is required.`)),
        ...unknown.slice(0, MAX_UNKNOWN).map((name, place) => {
            const near = place < MAX_SUGGESTED ? didYouMean(name, known) : [];
            const hint = near.length === 0 ? `; there are ${known.join(', ')}.` : `; did you mean ${near.join(' or ')}?`;
            return problem(name, '', 'UNKNOWN_FIELD', `There is no such argument${hint}`);
        }),
        ...known.flatMap((name) =>
            args[name] === undefined ? [] : valueProblems(name, properties[name] as JsonSchema, args[name] as Json),
        ),
    ];
}

function valueProblems(name: string, schema: JsonSchema, value: Json): ItemDetail[] {
    const verdict = validateBySchema(schema, withDoubles(value));
    if (verdict.ok) return [];
    return verdict.errors.map(({ path, keyword, message }) =>
        problem(name, path, keyword === 'type' ? 'INVALID_TYPE' : 'INVALID_VALUE', `The value of ${name}${path} ${message}.`),
    );
}

function problem(name: string, below: string, code: ItemDetail['code'], message: string): ItemDetail {
    return { path: boundedPointer(`/${escapePointer(name)}${below}`), code, message };
}
