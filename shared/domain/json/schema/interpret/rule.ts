import type { JsonObject, JsonSchema } from '../../../types.ts';
import type { Check, Node } from './node.ts';

/** The context in which a rule builds its check. */
export interface Building {
    /** The node of a schema within this one; the same one for the same schema. */
    node(schema: JsonSchema): Node;
    /** Resolves a `$ref`. */
    follow(ref: string): Node;
    /** Notes down what a rule keeps beside its nodes, in bytes. */
    keeps(bytes: number): void;
}

/** A rule looks at the keywords that it is about, and answers nothing where they are not there. */
export type Rule = (schema: JsonObject, building: Building) => Check | undefined;
