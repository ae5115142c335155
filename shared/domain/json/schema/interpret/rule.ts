import type { Json, JsonObject } from '../../../types.ts';
import type { Check, Node } from './node.ts';

export interface Building {
    /** The node of a nested schema; the same schema always gives the same node. */
    node(this: void, schema: Json): Node;
    follow(ref: string): Node;
    /** Records the size in bytes of data that a rule keeps in addition to its nodes. */
    keeps(bytes: number): void;
}

/** A rule reads its keywords and returns undefined if the schema has none of them. */
export type Rule = (schema: JsonObject, building: Building) => Check | undefined;
