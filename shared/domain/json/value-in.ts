import type { Json, Values } from '../types.ts';

/** The value of a param; undefined if the call has none. A param may be called `toString`, which every object inherits. */
export function valueIn(values: Values, name: string): Json | undefined {
    return Object.hasOwn(values, name) ? values[name] : undefined;
}
