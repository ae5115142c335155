import { LRUCache } from 'lru-cache';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { buildNode } from './interpret/build.ts';
import type { Node } from './interpret/node.ts';

/** `path` is a JSON pointer into the checked value, or its beginning. At most ten errors, usually only one. */
export type Verdict = { ok: true } | { ok: false; errors: { path: string; message: string; keyword: string }[] };

/**
 * Validates a value against a schema that passed `checkJsonSchema`, by walking both. Nothing is compiled, so the cost of a schema depends
 * on the value (decision 18). Each step is charged to the current work budget (`withinWork`). The tests compare the results with Ajv's.
 * @throws TooMuchWork
 */
export function checkBySchema(schema: JsonSchema, value: Json): boolean {
    return typeof schema === 'boolean' ? schema : nodeOf(schema).check(value, { path: [], faults: undefined }, undefined);
}

/** The reasons why a value is invalid. @throws TooMuchWork */
export function explainBySchema(schema: JsonSchema, value: Json): Extract<Verdict, { ok: false }>['errors'] {
    if (schema === false) return [{ path: '', message: 'boolean schema is false', keyword: 'false schema' }];
    const state = { path: [], faults: [] };
    if (schema !== true) nodeOf(schema).check(value, state, undefined);
    return state.faults.length > 0 ? state.faults : [{ path: '', message: 'does not fit its schema', keyword: '' }];
}

/** Validates a value and gives the reasons if it is invalid. @throws TooMuchWork */
export function validateBySchema(schema: JsonSchema, value: Json): Verdict {
    return checkBySchema(schema, value) ? { ok: true } : { ok: false, errors: explainBySchema(schema, value) };
}

/** Maximum size of cached schema nodes in bytes. The size is estimated when a node is built. */
const MAX_BYTES = 16 * 1024 * 1024;

const ready = new LRUCache<JsonObject, { node: Node; bytes: number }>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });

function nodeOf(schema: JsonObject): Node {
    const known = ready.get(schema);
    if (known !== undefined) return known.node;
    const made = buildNode(schema);
    ready.set(schema, made);
    return made.node;
}
