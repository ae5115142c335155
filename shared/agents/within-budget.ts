/** What had to be left out for an agent's budget, in its own words. */
export interface Fitted {
    text: string;
    isCut: boolean;
}

const LONGEST_TEXT = 2000;
const SHORTEST_TEXT = 120;
const NOTE = 'cut to fit max_characters: ask for less with params, max_results or a narrower endpoint';

/**
 * JSON of at most `most` characters that is still JSON: long texts are cut first, then lists lose their ends, and only what fits in no
 * other way is cut as text. A value that is cut says so beside it.
 */
export function withinBudget(value: unknown, most: number): Fitted {
    const whole = JSON.stringify(value);
    if (whole.length <= most) return { text: whole, isCut: false };
    for (let longest = LONGEST_TEXT; longest >= SHORTEST_TEXT; longest = Math.floor(longest / 2)) {
        for (let items = 512; items >= 1; items = Math.floor(items / 2)) {
            const text = JSON.stringify({ note: NOTE, result: shorten(value, { longest, items }) });
            if (text.length <= most) return { text, isCut: true };
        }
    }
    return { text: `${whole.slice(0, Math.max(0, most - NOTE.length - 3))}…\n${NOTE}`, isCut: true };
}

function shorten(value: unknown, bounds: { longest: number; items: number }): unknown {
    if (typeof value === 'string') return value.length > bounds.longest ? `${value.slice(0, bounds.longest).toWellFormed()}…` : value;
    if (Array.isArray(value)) {
        const kept = value.slice(0, bounds.items).map((item) => shorten(item, bounds));
        return value.length > kept.length ? [...kept, `… ${value.length - kept.length} more`] : kept;
    }
    if (typeof value === 'object' && value !== null) {
        return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shorten(part, bounds)]));
    }
    return value;
}
