import { escapePointer } from '../../shared/domain/json/json-bounds.ts';
import { scanTokens } from '../../shared/domain/json/tokens.ts';

/** Line and column, counted from 1. */
export interface Place {
    line: number;
    column: number;
}

/** Deeper values are located at their parent. Valid packages have fewer levels, and pointers grow with each level. */
const MAX_DEPTH = 64;

/** Locates values of a well-formed JSON text: members at their key, items at their value, a missing one at its nearest parent. */
export function positionsOf(text: string): (pointer: string) => Place {
    const offsets = offsetsOf(text);
    const starts = lineStarts(text);
    return (pointer) => {
        let near = pointer;
        while (near !== '' && !offsets.has(near)) near = near.slice(0, near.lastIndexOf('/'));
        return placeOf(offsets.get(near) ?? 0, starts);
    };
}

export function placeIn(text: string, offset: number): Place {
    return placeOf(offset, lineStarts(text));
}

interface Open {
    pointer: string;
    /** The index of the next item, or undefined in an object. */
    index: number | undefined;
    key: string;
    keyAt: number;
    isKeyNext: boolean;
}

function offsetsOf(text: string): Map<string, number> {
    const offsets = new Map<string, number>();
    const open: Open[] = [];
    scanTokens(text, (first, at, end) => {
        const around = open.at(-1);
        const sign = String.fromCharCode(first);
        if (sign === '}' || sign === ']') {
            open.pop();
        } else if (sign === ',' && around !== undefined) {
            if (around.index === undefined) around.isKeyNext = true;
            else around.index++;
        } else if (sign === ':') {
            // Its key was read already.
        } else if (around?.isKeyNext === true) {
            Object.assign(around, { key: JSON.parse(text.slice(at, end)) as string, keyAt: at, isKeyNext: false });
        } else {
            const pointer = around === undefined ? '' : `${around.pointer}/${around.index ?? escapePointer(around.key)}`;
            if (open.length < MAX_DEPTH) offsets.set(pointer, around === undefined || around.index !== undefined ? at : around.keyAt);
            const isObject = sign === '{';
            if (isObject || sign === '[') {
                const inside = open.length < MAX_DEPTH ? pointer : '';
                open.push({ pointer: inside, index: isObject ? undefined : 0, key: '', keyAt: 0, isKeyNext: isObject });
            }
        }
        return false;
    });
    return offsets;
}

function lineStarts(text: string): number[] {
    const starts = [0];
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    return starts;
}

function placeOf(offset: number, starts: readonly number[]): Place {
    let first = 0;
    let last = starts.length - 1;
    while (first < last) {
        const middle = Math.ceil((first + last) / 2);
        if ((starts[middle] ?? 0) <= offset) first = middle;
        else last = middle - 1;
    }
    return { line: first + 1, column: offset - (starts[first] ?? 0) + 1 };
}
