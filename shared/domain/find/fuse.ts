/** The constant k of reciprocal rank fusion, as first published (Cormack et al., 2009). */
const RRF_K = 60;

/** With fewer neighbours, the farthest one does not show which distance counts as far. */
const ENOUGH = 20;

/**
 * The least sum of nearness and score by words that counts as a match. Measured with a model of sentences (test/fixtures/tasks/README.md): by nearness
 * alone, from 0.36 on, 4 of 10 tasks that no endpoint serves got a list.
 */
const MIN_SUM = 0.7;

/**
 * Selects those of the nearest endpoints that match. Nearness is from 0 to 1: models differ in the similarity that they assign to
 * unrelated texts, so it is relative to the farthest neighbour.
 * @param near nearest first, with their scores by words @returns with the better of score and nearness as score
 */
export function fitting<Row extends { similarity: number; score: number }>(near: readonly Row[]): Row[] {
    const far = near.length < ENOUGH ? 0 : Math.max(0, near.at(-1)?.similarity ?? 0);
    return near.flatMap((row) => {
        const nearness = far >= 1 ? 0 : Math.min(1, Math.max(0, (row.similarity - far) / (1 - far)));
        return nearness + row.score < MIN_SUM ? [] : [{ ...row, score: Math.max(row.score, nearness) }];
    });
}

/** Merges two rankings by their ranks. An endpoint in both rankings comes first, with the better of its scores. */
export function fuse<Row extends { id: number; score: number }>(byWords: readonly Row[], byMeaning: readonly Row[]): Row[] {
    const fused = new Map<number, { row: Row; weight: number }>();
    for (const ranking of [byWords, byMeaning]) {
        for (const [rank, row] of ranking.entries()) {
            const before = fused.get(row.id);
            const best = before === undefined || row.score > before.row.score ? row : before.row;
            fused.set(row.id, { row: best, weight: (before?.weight ?? 0) + 1 / (RRF_K + rank) });
        }
    }
    return [...fused.values()].toSorted((a, b) => b.weight - a.weight).map(({ row }) => row);
}
