import type { Json, Values } from '../types.ts';

/** The value of a param, where the call has one. A param may be called `toString`, which every object answers to. */
export function valueIn(values: Values, name: string): Json | undefined {
    return Object.hasOwn(values, name) ? values[name] : undefined;
}
