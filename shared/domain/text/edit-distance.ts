/**
 * Counts insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). The result is exact up to `limit`, and
 * beyond that some greater number. Computes only cells within `limit` of the diagonal, and stops at a row that exceeds the limit
 * everywhere.
 */
export function editDistance(a: string, b: string, limit: number): number {
    const far = limit + 1;
    let before = new Uint8Array(b.length + 1).fill(far);
    let last = Uint8Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, far));
    let row = new Uint8Array(b.length + 1);
    for (let i = 1; i <= a.length; i++) {
        row.fill(far);
        if (i <= limit) row[0] = i;
        let nearest = row[0] ?? far;
        for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j++) {
            let best = (last[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
            best = Math.min(best, (last[j] ?? far) + 1, (row[j - 1] ?? far) + 1);
            if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (before[j - 2] ?? far) + 1);
            row[j] = Math.min(best, far);
            nearest = Math.min(nearest, best);
        }
        if (nearest > limit) return far;
        [before, last, row] = [last, row, before];
    }
    return last[b.length] ?? far;
}
