import { editDistance } from './edit-distance.ts';

/** Maximum length of a compared text. Names have at most 64 characters; a much longer text resembles none of them. */
const MAX_COMPARED = 80;
const MAX_NAMES = 500;
const MAX_SUGGESTIONS = 3;

/**
 * Up to three of `names` that may have been meant by `wanted`, nearest first (`did_you_mean`). Compares by edit distance, ignoring case and
 * separators, and includes names that contain the text or are contained in it. Ties keep the order of `names`. The cost is bounded by 500
 * names of 80 characters.
 */
export function didYouMean(wanted: string, names: readonly string[]): string[] {
    if (wanted.length > MAX_COMPARED) return [];
    const sought = plain(wanted);
    if (sought === '') return [];
    return names
        .slice(0, MAX_NAMES)
        .filter((name) => name.length <= MAX_COMPARED)
        .map((name, place) => ({ name, place, distance: distanceBetween(sought, plain(name)) }))
        .filter(({ distance }) => distance !== undefined)
        .sort((a, b) => (a.distance ?? 0) - (b.distance ?? 0) || a.place - b.place)
        .slice(0, MAX_SUGGESTIONS)
        .map(({ name }) => name);
}

function plain(name: string): string {
    return name
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[\s_.-]+/g, '');
}

/** A typing error changes at most this many characters, in names of any length. */
const MAX_DISTANCE = 6;

/** `undefined`: the texts differ too much. A third of the longer text may differ, and at least one character. */
function distanceBetween(sought: string, name: string): number | undefined {
    const longer = Math.max(sought.length, name.length);
    const shorter = Math.min(sought.length, name.length);
    const allowed = Math.min(MAX_DISTANCE, Math.max(1, Math.floor(longer / 3)));
    if (longer - shorter <= allowed) {
        const distance = editDistance(sought, name, allowed);
        if (distance <= allowed) return distance;
    }
    // `product` for `search_products`: nearer than no match, but farther than any typing error of the same length.
    const contains = shorter >= 3 && (sought.includes(name) || name.includes(sought));
    return contains ? longer - shorter : undefined;
}
