import { Beginning, writeJson } from '../domain/json/bounded-json.ts';
import { isExact } from '../domain/json/exact-numbers.ts';

/** What had to be left out for an agent's budget, in its own words. */
export interface Fitted {
    text: string;
    isCut: boolean;
}

const LONGEST_TEXTS = [2000, 500, 120];
const MOST_ITEMS = 512;
/** Objects are records more often than lists: they lose fields only where they have more than this. */
const FEWEST_FIELDS = 24;
/** Characters that may be written to find how much fits: with a large budget somewhat less than what would fit is shown. */
const MOST_WRITTEN = 400_000;
const NOTE = 'cut to fit max_characters: ask for less with params, max_results or a narrower endpoint';

/**
 * JSON of at most `most` characters that is still JSON: long texts are cut first, then lists and large objects lose their ends, and only
 * what fits in no other way is cut as text. A value that is cut says so beside it. What this costs goes by `most`, and by the value
 * only for the names of its fields.
 */
export function withinBudget(value: unknown, most: number): Fitted {
    const whole = writeJson(value, most);
    if (whole.isWhole) return { text: whole.text, isCut: false };
    const outline = noted(outlineOf(value, most));
    const attempt = (longest: number, items: number) =>
        writeJson(outline, most, { bounds: { longest, items, fields: Math.max(items, FEWEST_FIELDS) } });
    for (const longest of LONGEST_TEXTS) {
        let best = attempt(longest, 1);
        if (!best.isWhole) continue;
        let written = whole.text.length;
        for (let [fit, tooMany] = [1, MOST_ITEMS + 1]; tooMany - fit > 1 && written < MOST_WRITTEN; ) {
            const items = (fit + tooMany) >> 1;
            const tried = attempt(longest, items);
            written += tried.text.length;
            if (tried.isWhole) [fit, best] = [items, tried];
            else tooMany = items;
        }
        return { text: best.text, isCut: true };
    }
    return { text: asText(whole.text, most), isCut: true };
}

/** The note first, then the fields of the value, so that a result keeps its shape; a list is a field of its own. */
function noted(outline: unknown): unknown {
    if (!(outline instanceof Beginning) || outline.isList) return { note: NOTE, result: outline };
    return new Beginning([['note', NOTE], ...outline.entries], { isList: false, left: outline.left });
}

/** What fits in no other way: the beginning of the JSON as one text. */
function asText(json: string, most: number): string {
    const write = (length: number) => JSON.stringify({ note: NOTE, text: `${json.slice(0, length).toWellFormed()}…` });
    let length = most;
    while (length > 0 && write(length).length > most) length = Math.floor(length * 0.9);
    return write(length);
}

/**
 * What can be said of a value within `most` characters at all, so that trying different bounds never looks at the rest again: every
 * value takes two characters or more.
 */
function outlineOf(value: unknown, most: number): unknown {
    let left = most / 2;
    const outline = (one: unknown): unknown => {
        left--;
        if (typeof one !== 'object' || one === null || isExact(one)) return one;
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
