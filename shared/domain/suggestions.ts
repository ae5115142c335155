/** Names are at most 64 characters; what is much longer resembles none of them, and is not compared at all. */
const MAX_COMPARED = 80;
const MAX_NAMES = 500;
const MAX_SUGGESTIONS = 3;

/**
 * Up to three of `names` that `wanted` may have been meant to be, nearest first (`did_you_mean`): by edit distance, case and
 * separators aside, and names that contain the text or are contained in it. Ties keep the order of `names`. The cost is bounded
 * by 500 names of 80 characters, whatever is asked.
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

/** `undefined`: too far apart to be a slip. A third of the longer name may differ, at least one character. */
function distanceBetween(sought: string, name: string): number | undefined {
    const longer = Math.max(sought.length, name.length);
    const allowed = Math.max(1, Math.floor(longer / 3));
    const shorter = Math.min(sought.length, name.length);
    // `product` for `search_products`: nearer than nothing, farther than any slip of the same length.
    const contains = shorter >= 3 && (sought.includes(name) || name.includes(sought));
    if (longer - shorter > allowed) return contains ? longer - shorter : undefined;
    const distance = editDistance(sought, name);
    if (distance <= allowed) return distance;
    return contains ? longer - shorter : undefined;
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
    let before: number[] = [];
    let last = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
        const row = [i];
        for (let j = 1; j <= b.length; j++) {
            const substitution = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
            let best = Math.min(at(last, j) + 1, at(row, j - 1) + 1, substitution);
            if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, at(before, j - 2) + 1);
            row.push(best);
        }
        before = last;
        last = row;
    }
    return at(last, b.length);
}

function at(row: readonly number[], place: number): number {
    return row[place] ?? 0;
}
