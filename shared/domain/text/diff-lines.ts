/** One line of a comparison: in both texts, only in the older one, or only in the newer one; `gap` replaces equal lines in between. */
export interface DiffLine {
    kind: 'same' | 'removed' | 'added' | 'gap';
    text: string;
}

/** Number of unchanged lines shown around a change. */
const CONTEXT = 3;
/** Maximum cells of the table for the longest common subsequence. Of larger texts, the old one is shown before the new one. */
const MAX_CELLS = 400_000;

export function diffLines(before: string, after: string): DiffLine[] {
    const [old, now] = [before.split('\n'), after.split('\n')];
    let head = 0;
    while (head < Math.min(old.length, now.length) && old[head] === now[head]) head += 1;
    let tail = 0;
    while (tail < Math.min(old.length, now.length) - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
    const same = (lines: readonly string[]) => lines.map((text): DiffLine => ({ kind: 'same', text }));
    return fold([
        ...same(old.slice(0, head)),
        ...between(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
        ...same(old.slice(old.length - tail)),
    ]);
}

/** The longest common subsequence contains the unchanged lines. */
function between(old: readonly string[], now: readonly string[]): DiffLine[] {
    const removed = old.map((text): DiffLine => ({ kind: 'removed', text }));
    const added = now.map((text): DiffLine => ({ kind: 'added', text }));
    if (old.length * now.length > MAX_CELLS) return [...removed, ...added];
    const width = now.length + 1;
    const lengths = new Uint32Array((old.length + 1) * width);
    const at = (i: number, j: number) => lengths[i * width + j] ?? 0;
    for (let i = old.length - 1; i >= 0; i--) {
        for (let j = now.length - 1; j >= 0; j--) {
            lengths[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
        }
    }
    const lines: DiffLine[] = [];
    let [i, j] = [0, 0];
    while (i < old.length || j < now.length) {
        const [before, after] = [old[i], now[j]];
        if (before !== undefined && before === after) {
            lines.push({ kind: 'same', text: before });
            i += 1;
            j += 1;
        } else if (before !== undefined && (after === undefined || at(i + 1, j) >= at(i, j + 1))) {
            lines.push({ kind: 'removed', text: before });
            i += 1;
        } else {
            lines.push({ kind: 'added', text: after ?? '' });
            j += 1;
        }
    }
    return lines;
}

/** Leaves out lines that are far from any change. */
function fold(lines: readonly DiffLine[]): DiffLine[] {
    const near = lines.map(() => false);
    for (const [place, { kind }] of lines.entries()) {
        if (kind === 'same') continue;
        for (let around = Math.max(0, place - CONTEXT); around <= Math.min(lines.length - 1, place + CONTEXT); around++)
            near[around] = true;
    }
    return lines.flatMap((line, place): DiffLine[] => {
        if (near[place] === true) return [line];
        return place === 0 || near[place - 1] === true ? [{ kind: 'gap', text: '…' }] : [];
    });
}
