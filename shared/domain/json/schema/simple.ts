import type { Json, JsonSchema } from '../../types.ts';
import { PLACING } from './keywords.ts';

/** Keywords that take one step for any value. */
const PLAIN: ReadonlySet<string> = new Set([
    ...['type', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
    ...['minLength', 'maxLength', 'pattern', 'minItems', 'maxItems'],
]);

/** Annotations that do not affect validation. */
const NOTES: ReadonlySet<string> = new Set(['default', 'example', 'examples', 'deprecated', 'contentMediaType', '$comment']);

/** Whether a valid schema contains only types, plain enums, bounds, patterns and items of such schemas. */
export function isSimple(schema: JsonSchema): boolean {
    if (typeof schema === 'boolean') return true;
    if (Object.hasOwn(schema, '$ref')) return false;
    return Object.entries(schema).every(([keyword, given]) => {
        if (keyword === 'items') return isSimple(given as JsonSchema);
        if (keyword === 'enum') return Array.isArray(given) && given.every(isPlain);
        if (keyword === 'const') return isPlain(given);
        return PLAIN.has(keyword) || PLACING.has(keyword) || NOTES.has(keyword);
    });
}

function isPlain(value: Json): boolean {
    return value === null || typeof value !== 'object';
}
