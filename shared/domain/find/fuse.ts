import { THRESHOLD } from './candidates.ts';

/** Reciprocal rank fusion: the constant of its first description. */
const RANK = 60;

/** With fewer neighbours, the farthest one does not show which distance counts as far. */
const ENOUGH = 20;

/**
 * Scores the nearest endpoints from 0 to 1. Models differ in the similarity that they assign to unrelated texts, so the score is relative
 * to the farthest neighbour. Endpoints that do not match are left out. @param near nearest first
 */
export function fitting<Row extends { similarity: number }>(near: readonly Row[]): (Row & { score: number })[] {
    const far = near.length < ENOUGH ? 0 : Math.max(0, near.at(-1)?.similarity ?? 0);
    return near
        .map((row) => ({ ...row, score: far >= 1 ? 0 : Math.min(1, Math.max(0, (row.similarity - far) / (1 - far))) }))
        .filter(({ score }) => score >= THRESHOLD);
}

/** Merges two rankings by their ranks. An endpoint in both rankings comes first, with the better of its scores. */
export function fuse<Row extends { id: number; score: number }>(byWords: readonly Row[], byMeaning: readonly Row[]): Row[] {
    const fused = new Map<number, { row: Row; weight: number }>();
    for (const ranking of [byWords, byMeaning]) {
        for (const [rank, row] of ranking.entries()) {
            const before = fused.get(row.id);
            const best = before === undefined || row.score > before.row.score ? row : before.row;
            fused.set(row.id, { row: best, weight: (before?.weight ?? 0) + 1 / (RANK + rank) });
        }
    }
    return [...fused.values()].toSorted((a, b) => b.weight - a.weight).map(({ row }) => row);
}
