import { endOfString } from './tokens.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A JSON object with a long list in it. */
export interface SplitBody {
    /** The object with an empty list in its place. */
    rest: string;
    /** How many items the list has. */
    count: number;
    /** The texts of the items; a text may be empty or no JSON. */
    items(): Generator<string>;
}

/**
 * Takes the list at a key of the outermost object apart without parsing it: parsing thousands of items at once would take the turns of
 * others. What is not well-formed shows when the parts are parsed. Undefined where the object has no list at this key.
 * @param body UTF-8
 */
export function splitItems(body: Buffer, key: string): SplitBody | undefined {
    const list = findList(body, key);
    if (list === undefined) return undefined;
    const { from, to, commas } = list;
    const isEmpty = commas.length === 0 && body.toString('utf8', from + 1, to).trim() === '';
    const ends = isEmpty ? [] : [...commas, to];
    return {
        rest: `${body.toString('utf8', 0, from)}[]${body.toString('utf8', to + 1)}`,
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

/** Where the list begins and ends, and the commas between its items. */
function findList(body: Buffer, key: string): { from: number; to: number; commas: number[] } | undefined {
    const name = Buffer.from(JSON.stringify(key));
    const commas: number[] = [];
    let depth = 0;
    let from: number | undefined;
    let isWanted = false;
    for (let at = 0; at < body.length; at++) {
        const sign = body[at];
        if (sign === QUOTE) {
            const end = endOfString(body, at + 1);
            if (end === -1) return undefined;
            if (depth === 1) isWanted = body.subarray(at, end).equals(name);
            at = end - 1;
        } else if (sign === OPEN_ARRAY || sign === OPEN_OBJECT) {
            if (depth === 1 && isWanted && sign === OPEN_ARRAY) from = at;
            depth += 1;
        } else if (sign === CLOSE_ARRAY || sign === CLOSE_OBJECT) {
            depth -= 1;
            if (depth === 1 && from !== undefined) return { from, to: at, commas };
        } else if (sign === COMMA) {
            if (depth === 2 && from !== undefined) commas.push(at);
            if (depth === 1) isWanted = false;
        }
    }
    return undefined;
}
