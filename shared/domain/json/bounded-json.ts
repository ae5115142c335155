import { isExact } from './exact-numbers.ts';

/** Limits for the written part of a value: characters of each text, items of each list, fields of each object. */
interface Bounds {
    longest: number;
    items: number;
    fields: number;
}

const ALL: Bounds = { longest: Number.POSITIVE_INFINITY, items: Number.POSITIVE_INFINITY, fields: Number.POSITIVE_INFINITY };

/** The beginning of a list or an object, and the number of omitted entries. */
export class PartialValue {
    readonly entries: readonly (readonly [string, unknown])[];
    readonly isList: boolean;
    readonly left: number;

    constructor(entries: readonly (readonly [string, unknown])[], { isList, left }: { isList: boolean; left: number }) {
        this.entries = entries;
        this.isList = isList;
        this.left = left;
    }
}

/** Maximum number of indented levels. Deeper indentation would not help a reader. */
const MAX_LEVELS = 32;

/**
 * Writes a value as JSON, or only the beginning if the text would be longer than `max`. The writer stops there, so that its cost depends
 * on `max` and not on the value.
 * @param how.indent blanks per level; absent: everything in one line
 */
export function writeJson(
    value: unknown,
    max: number,
    { bounds = ALL, indent = 0 }: { bounds?: Bounds; indent?: number } = {},
): { text: string; isWhole: boolean } {
    const parts: string[] = [];
    let length = 0;
    const add = (part: string): boolean => {
        parts.push(part);
        length += part.length;
        return length <= max;
    };
    const lineAt = (level: number) => (indent === 0 ? '' : `\n${' '.repeat(indent * Math.min(level, MAX_LEVELS))}`);
    const colon = indent === 0 ? ':' : ': ';
    const addAll = (one: unknown, level: number): boolean => {
        if (typeof one === 'string') return add(quoted(one, bounds.longest, max));
        if (typeof one !== 'object' || one === null || isExact(one)) return add(JSON.stringify(one) ?? 'null');
        const { entries, isList, left } =
            one instanceof PartialValue ? one : { entries: entriesOf(one), isList: Array.isArray(one), left: 0 };
        const bound = isList ? bounds.items : bounds.fields;
        let written = 0;
        let unsaid = left;
        if (!add(isList ? '[' : '{')) return false;
        for (const [name, part] of entries) {
            if (part === undefined) continue;
            if (written >= bound) {
                unsaid++;
                continue;
            }
            const lead = `${written++ === 0 ? '' : ','}${lineAt(level + 1)}`;
            if (!add(isList ? lead : `${lead}${JSON.stringify(name)}${colon}`) || !addAll(part, level + 1)) return false;
        }
        const before = `${written === 0 ? '' : ','}${lineAt(level + 1)}`;
        const more = unsaid === 0 ? '' : `${before}${isList ? `"… ${unsaid} more"` : `"…"${colon}"${unsaid} more"`}`;
        return add(`${more}${written === 0 && unsaid === 0 ? '' : lineAt(level)}${isList ? ']' : '}'}`);
    };
    const isWhole = addAll(value, 0);
    return { text: isWhole ? parts.join('') : parts.join('').slice(0, max).toWellFormed(), isWhole };
}

/** Yields entries one by one, so that a caller can stop early. */
function* entriesOf(value: object): Generator<readonly [string, unknown]> {
    if (Array.isArray(value)) for (const item of value) yield ['', item];
    else for (const name of Object.keys(value)) yield [name, (value as Record<string, unknown>)[name]];
}

/** @param max maximum number of characters to read of a text that is longer than any budget */
function quoted(text: string, longest: number, max: number): string {
    if (text.length > longest) return JSON.stringify(`${text.slice(0, longest).toWellFormed()}…`);
    return text.length > max ? JSON.stringify(text.slice(0, max + 1)) : JSON.stringify(text);
}
