import { PartialValue, writeJson } from '../domain/json/bounded-json.ts';
import { isExact } from '../domain/json/exact-numbers.ts';

const MAX_TEXTS = [2000, 500, 120];
const MAX_ITEMS = 512;
/** Objects with at most this many fields are records, and keep all fields. */
const MIN_FIELDS = 24;
/**
 * Maximum number of characters written during the search for a result that fits. With a large budget, the result may be slightly shorter
 * than allowed.
 */
const MAX_WRITTEN = 400_000;
const NOTE = 'cut to fit max_characters: ask for less with params, max_results or a narrower endpoint';

/**
 * Writes a value as valid JSON of at most `max` characters. It first cuts long texts, then the ends of lists and large objects. If that is
 * not enough, it cuts the JSON itself and returns it as a text. A note next to the value describes each cut. The cost is bounded by `max`
 * and the number of field names.
 */
export function fitToBudget(value: unknown, max: number): { text: string; isCut: boolean } {
    const whole = writeJson(value, max);
    if (whole.isWhole) return { text: whole.text, isCut: false };
    const outline = addNote(outlineOf(value, max));
    const attempt = (longest: number, items: number) =>
        writeJson(outline, max, { bounds: { longest, items, fields: Math.max(items, MIN_FIELDS) } });
    for (const longest of MAX_TEXTS) {
        let best = attempt(longest, 1);
        if (!best.isWhole) continue;
        let written = whole.text.length;
        for (let [fit, tooMany] = [1, MAX_ITEMS + 1]; tooMany - fit > 1 && written < MAX_WRITTEN; ) {
            const items = (fit + tooMany) >> 1;
            const tried = attempt(longest, items);
            written += tried.text.length;
            if (tried.isWhole) [fit, best] = [items, tried];
            else tooMany = items;
        }
        return { text: best.text, isCut: true };
    }
    return { text: asText(whole.text, max), isCut: true };
}

/** Adds the note before the fields of the value, so that a result keeps its shape. A list becomes a field. */
function addNote(outline: unknown): unknown {
    if (!(outline instanceof PartialValue) || outline.isList) return { note: NOTE, result: outline };
    return new PartialValue([['note', NOTE], ...outline.entries], { isList: false, left: outline.left });
}

/** The last resort: the beginning of the JSON as one text. */
function asText(json: string, max: number): string {
    const write = (length: number) => JSON.stringify({ note: NOTE, text: `${json.slice(0, length).toWellFormed()}…` });
    let length = max;
    while (length > 0 && write(length).length > max) length = Math.floor(length * 0.9);
    return write(length);
}

/**
 * The part of a value that could fit within `max` characters, counting two characters per value. The later search then never reads the
 * rest.
 */
function outlineOf(value: unknown, max: number): unknown {
    let left = max / 2;
    const outline = (one: unknown): unknown => {
        left--;
        if (typeof one !== 'object' || one === null || isExact(one)) return one;
        const names = Array.isArray(one) ? undefined : Object.keys(one);
        const places: readonly unknown[] = names ?? (one as unknown[]);
        const entries: [string, unknown][] = [];
        for (const place of places) {
            if (left <= 0 || entries.length >= MAX_ITEMS) break;
            entries.push(names === undefined ? ['', outline(place)] : [String(place), outline(Reflect.get(one, String(place)))]);
        }
        return new PartialValue(entries, { isList: names === undefined, left: places.length - entries.length });
    };
    return outline(value);
}
