import { LRUCache } from 'lru-cache';
import { getOrMake } from '../../get-or-make.ts';
import type { Json, JsonObject, JsonSchema } from '../../types.ts';
import { buildNode } from './interpret/build.ts';
import type { Node } from './interpret/node.ts';

/** `path` is a JSON pointer into the checked value, or its beginning. At most ten errors, usually only one. */
export type Verdict = { ok: true } | { ok: false; errors: Faults };
type Faults = { path: string; message: string; keyword: string }[];

/**
 * Validates a value against a schema that passed `checkJsonSchema`, by walking both. Nothing is compiled, so the cost of a schema depends
 * on the value (decision 18). Each step is charged to the current work budget (`withinWork`). The tests compare the results with Ajv's.
 * @throws TooMuchWork
 */
export function checkBySchema(schema: JsonSchema, value: Json): boolean {
    return typeof schema === 'boolean' ? schema : nodeOf(schema).check(value, { path: [], faults: undefined }, undefined);
}

/** The reasons why a value is invalid. @throws TooMuchWork */
export function explainBySchema(schema: JsonSchema, value: Json): Faults {
    return typeof schema === 'boolean' ? explainBoolean(schema) : explain(nodeOf(schema), value);
}

/** Validates an answer and gives the reasons if it is invalid. @throws TooMuchWork */
export function validateBySchema(schema: JsonSchema, value: Json): Verdict {
    if (typeof schema === 'boolean') return schema ? { ok: true } : { ok: false, errors: explainBoolean(schema) };
    const node = getOrMake(ofAnswers, schema, () => buildNode(schema).node);
    if (node.check(value, { path: [], faults: undefined }, undefined)) return { ok: true };
    return { ok: false, errors: explain(node, value) };
}

function explain(node: Node, value: Json): Faults {
    const state = { path: [], faults: [] };
    node.check(value, state, undefined);
    return state.faults.length > 0 ? state.faults : explainBoolean(true);
}

function explainBoolean(schema: boolean): Faults {
    if (schema) return [{ path: '', message: 'does not fit its schema', keyword: '' }];
    return [{ path: '', message: 'boolean schema is false', keyword: 'false schema' }];
}

/** Maximum size of cached schema nodes in bytes. The size is estimated when a node is built. */
const MAX_BYTES = 16 * 1024 * 1024;

const ready = new LRUCache<JsonObject, { node: Node; bytes: number }>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });

function nodeOf(schema: JsonObject): Node {
    return getOrMake(ready, schema, () => buildNode(schema)).node;
}

/** Nodes live as long as their schemas: a process that reads pages gets a new copy of a schema with each page. */
const ofAnswers = new WeakMap<JsonObject, Node>();
