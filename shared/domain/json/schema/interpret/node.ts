import type { Json } from '../../../types.ts';
import { boundedPointer, escapePointer } from '../../json-bounds.ts';
import { spend } from '../patterns.ts';

/** The current position of a walk, and the faults found. */
export interface State {
    /** Keys and indices from the outermost value; empty for a checked key itself (`propertyNames`). */
    path: (string | number)[];
    /** Absent if the caller needs no reasons. */
    faults: { path: string; message: string; keyword: string }[] | undefined;
}

/** Whether a value is valid. `seen` collects the parts that were evaluated, where a rule needs them. */
export type Check = (value: Json, state: State, seen: Seen | undefined) => boolean;

/** A schema that is prepared for validation. */
export interface Node {
    check: Check;
}

/** The parts of one object or array that schemas have checked. `unevaluatedProperties` and `unevaluatedItems` apply to the rest. */
export class Seen {
    readonly names = new Set<string>();
    readonly indices = new Set<number>();
    allNames = false;
    /** All items before this index have been evaluated. */
    upTo = 0;

    add({ names, indices, allNames, upTo }: Seen): void {
        for (const name of names) this.names.add(name);
        for (const index of indices) this.indices.add(index);
        this.allNames ||= allNames;
        this.upTo = Math.max(this.upTo, upTo);
    }
}

const MAX_FAULTS = 10;

/** @param step the key or index of the faulty part, unless the whole value is faulty */
export function fail(state: State, keyword: string, message: string, step?: string): false {
    const { faults, path } = state;
    if (faults !== undefined && faults.length < MAX_FAULTS) {
        const steps = step === undefined ? path : [...path, step];
        faults.push({ path: boundedPointer(steps.map((one) => `/${escapePointer(String(one))}`).join('')), message, keyword });
    }
    return false;
}

export function checkPart({ check }: Node, part: Json, step: string | number, state: State): boolean {
    if (state.faults === undefined) return check(part, state, undefined);
    state.path.push(step);
    const fits = check(part, state, undefined);
    state.path.pop();
    return fits;
}

/** Validates without recording reasons. */
export function fitsQuietly({ check }: Node, value: Json, state: State, seen?: Seen): boolean {
    return state.faults === undefined ? check(value, state, seen) : check(value, { path: [], faults: undefined }, seen);
}

/** Whether two JSON values are equal. Each compared pair counts toward the work limit. */
export function areEqual(left: Json | undefined, right: Json | undefined): boolean {
    spend(1);
    if (left === right) return true;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
    if (Array.isArray(left) || Array.isArray(right)) {
        if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
        return left.every((item, at) => areEqual(item, right[at]));
    }
    const names = Object.keys(left);
    spend(names.length);
    if (names.length !== Object.keys(right).length) return false;
    return names.every((name) => Object.hasOwn(right, name) && areEqual(left[name], right[name]));
}
