/** What had to be left out for an agent's budget, in its own words. */
export interface Fitted {
    text: string;
    isCut: boolean;
}

/** How much of a value is said: characters of each text, items of each list, fields of each object. */
interface Bounds {
    longest: number;
    items: number;
    fields: number;
}

const ALL: Bounds = { longest: Number.POSITIVE_INFINITY, items: Number.POSITIVE_INFINITY, fields: Number.POSITIVE_INFINITY };
const LONGEST_TEXTS = [2000, 500, 120];
const MOST_ITEMS = 512;
/** Objects are records more often than lists: they lose fields only where they have more than this. */
const FEWEST_FIELDS = 24;
const NOTE = 'cut to fit max_characters: ask for less with params, max_results or a narrower endpoint';

/**
 * JSON of at most `most` characters that is still JSON: long texts are cut first, then lists and large objects lose their ends, and only
 * what fits in no other way is cut as text. A value that is cut says so beside it. What this costs goes by `most`, and by the value
 * only for the names of its fields.
 */
export function withinBudget(value: unknown, most: number): Fitted {
    const whole = write(value, ALL, most);
    if (whole.isWhole) return { text: whole.text, isCut: false };
    const outline = outlineOf(value, most);
    const attempt = (longest: number, items: number) =>
        write({ note: NOTE, result: outline }, { longest, items, fields: Math.max(items, FEWEST_FIELDS) }, most);
    for (const longest of LONGEST_TEXTS) {
        let best = attempt(longest, 1);
        if (!best.isWhole) continue;
        for (let [fit, tooMany] = [1, MOST_ITEMS + 1]; tooMany - fit > 1; ) {
            const items = (fit + tooMany) >> 1;
            const tried = attempt(longest, items);
            if (tried.isWhole) [fit, best] = [items, tried];
            else tooMany = items;
        }
        return { text: best.text, isCut: true };
    }
    return { text: `${whole.text.slice(0, Math.max(0, most - NOTE.length - 3)).toWellFormed()}…\n${NOTE}`, isCut: true };
}

/** The beginning of a list or an object, and how much more of it there is. */
class Beginning {
    readonly entries: readonly (readonly [string, unknown])[];
    readonly isList: boolean;
    readonly left: number;

    constructor(entries: readonly (readonly [string, unknown])[], { isList, left }: { isList: boolean; left: number }) {
        this.entries = entries;
        this.isList = isList;
        this.left = left;
    }
}

/**
 * What can be said of a value within `most` characters at all, so that whoever tries different bounds never looks at the rest again: every
 * value takes two characters or more.
 */
function outlineOf(value: unknown, most: number): unknown {
    let left = most / 2;
    const outline = (one: unknown): unknown => {
        left--;
        if (typeof one !== 'object' || one === null) return one;
        const names = Array.isArray(one) ? undefined : Object.keys(one);
        const places: readonly unknown[] = names ?? (one as unknown[]);
        const entries: [string, unknown][] = [];
        for (const place of places) {
            if (left <= 0 || entries.length >= MOST_ITEMS) break;
            entries.push(names === undefined ? ['', outline(place)] : [String(place), outline(Reflect.get(one, String(place)))]);
        }
        return new Beginning(entries, { isList: names === undefined, left: places.length - entries.length });
    };
    return outline(value);
}

/** JSON of a value within bounds, or the beginning of a text that would be longer than `most`. */
function write(value: unknown, bounds: Bounds, most: number): { text: string; isWhole: boolean } {
    const parts: string[] = [];
    let length = 0;
    const add = (part: string): boolean => {
        parts.push(part);
        length += part.length;
        return length <= most;
    };
    const addAll = (one: unknown): boolean => {
        if (typeof one === 'string') return add(quoted(one, bounds.longest, most));
        if (typeof one !== 'object' || one === null) return add(JSON.stringify(one) ?? 'null');
        const { entries, isList, left } = one instanceof Beginning ? one : { entries: entriesOf(one), isList: Array.isArray(one), left: 0 };
        const bound = isList ? bounds.items : bounds.fields;
        let said = 0;
        let unsaid = left;
        if (!add(isList ? '[' : '{')) return false;
        for (const [name, part] of entries) {
            if (part === undefined) continue;
            if (said >= bound) {
                unsaid++;
                continue;
            }
            const lead = said++ === 0 ? '' : ',';
            if (!add(isList ? lead : `${lead}${JSON.stringify(name)}:`) || !addAll(part)) return false;
        }
        const more = unsaid === 0 ? '' : `${said === 0 ? '' : ','}${isList ? `"… ${unsaid} more"` : `"…":"${unsaid} more"`}`;
        return add(more + (isList ? ']' : '}'));
    };
    const isWhole = addAll(value);
    return { text: parts.join(''), isWhole };
}

/** Entries one after the other: whoever stops early has not paid for the rest. */
function* entriesOf(value: object): Generator<readonly [string, unknown]> {
    if (Array.isArray(value)) for (const item of value) yield ['', item];
    else for (const name of Object.keys(value)) yield [name, (value as Record<string, unknown>)[name]];
}

/** @param most characters that are looked at, of a text that is longer than any budget */
function quoted(text: string, longest: number, most: number): string {
    if (text.length > longest) return JSON.stringify(`${text.slice(0, longest).toWellFormed()}…`);
    return text.length > most ? JSON.stringify(text.slice(0, most + 1)) : JSON.stringify(text);
}
