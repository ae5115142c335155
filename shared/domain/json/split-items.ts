import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, SPACE } from './tokens.ts';

/** A JSON object that contains a long list. */
export interface SplitBody {
    /** The object with an empty list instead of the long one. */
    rest: Buffer;
    count: number;
    /** The texts of the items. A text may be empty or invalid JSON. */
    items(): Generator<string>;
}

/**
 * Splits the list at a key of the outermost object into its items without parsing it, because parsing thousands of items at once would
 * block the event loop. Syntax errors appear when the parts are parsed. Undefined if the object has no list at this key.
 * @param body UTF-8
 * @param max maximum number of items; for a longer list `count` is one more, and the rest is not counted
 * @param nextTurn gives other work a turn of the event loop; called between slices of the body
 */
export async function splitItems(body: Buffer, key: string, max: number, nextTurn: () => Promise<void>): Promise<SplitBody | undefined> {
    const list = await findList(body, key, max, nextTurn);
    if (list === undefined) return undefined;
    const { from, to, commas, isEmpty } = list;
    if (commas.length >= max) return { rest: Buffer.alloc(0), count: max + 1, *items() {} };
    const ends = isEmpty ? [] : [...commas, to];
    return {
        rest: Buffer.concat([body.subarray(0, from), Buffer.from('[]'), body.subarray(to + 1)]),
        count: ends.length,
        *items() {
            let begin = from + 1;
            for (const end of ends) {
                yield body.toString('utf8', begin, end);
                begin = end + 1;
            }
        },
    };
}

/** Number of bytes in a slice. A slice takes at most about a millisecond. */
const SLICE = 128 * 1024;

/** Finds the start and end of the list, and the commas between its items. Stops at the last allowed comma. */
async function findList(
    body: Buffer,
    key: string,
    max: number,
    nextTurn: () => Promise<void>,
): Promise<{ from: number; to: number; commas: number[]; isEmpty: boolean } | undefined> {
    const name = Buffer.from(JSON.stringify(key));
    const commas: number[] = [];
    let depth = 0;
    let from: number | undefined;
    let isWanted = false;
    /** The start of the current string. */
    let opened: number | undefined;
    /** The first character after the start of the list that is not white space. */
    let content: number | undefined;
    let pause = SLICE;
    for (let at = 0; at < body.length; at++) {
        if (at >= pause) {
            await nextTurn();
            pause = at + SLICE;
        }
        const sign = body[at] ?? SPACE;
        if (from !== undefined && sign > SPACE) content ??= at;
        if (opened !== undefined) {
            if (sign === BACKSLASH) at += 1;
            else if (sign === QUOTE) {
                if (depth === 1) isWanted = body.subarray(opened, at + 1).equals(name);
                opened = undefined;
            }
        } else if (sign === QUOTE) opened = at;
        else if (sign === OPEN_ARRAY || sign === OPEN_OBJECT) {
            if (depth === 1 && isWanted && sign === OPEN_ARRAY) from = at;
            depth += 1;
        } else if (sign === CLOSE_ARRAY || sign === CLOSE_OBJECT) {
            depth -= 1;
            if (depth === 1 && from !== undefined) return { from, to: at, commas, isEmpty: content === at };
        } else if (sign === COMMA) {
            if (depth === 2 && from !== undefined && commas.push(at) >= max) return { from, to: at, commas, isEmpty: false };
            if (depth === 1) isWanted = false;
        }
    }
    return undefined;
}
