import { type Change, comparePackages } from '../../shared/domain/package/diff.ts';
import { clip } from '../../shared/domain/text/clip.ts';
import { type DiffLine, diffLines } from '../../shared/domain/text/diff-lines.ts';
import type { PackageDocument } from '../../shared/domain/types.ts';

export interface Comparison {
    change: Change;
    hostsAdded: readonly string[];
    parts: { title: string; verdict: 'added' | 'removed' | 'changed'; lines: DiffLine[]; isCut: boolean }[];
    /** The number of changed parts that are not shown. */
    more: number;
}

const PARTS = 30;
const LINES = 400;
const MAX_LETTERS = 500;

/** Compares two packages. Shows the differences in the description of the site and in each endpoint that was added, removed or changed. */
export function compareVersions(before: PackageDocument, after: PackageDocument): Comparison {
    const { change, changes } = comparePackages(before, after);
    const [old, now] = [endpointsOf(before), endpointsOf(after)];
    const { endpoints: _old, ...oldHead } = before;
    const { endpoints: _now, ...nowHead } = after;
    const [oldText, nowText] = [print(oldHead), print(nowHead)];
    const named = [
        ...changes.added.map((title) => ({ title, verdict: 'added' as const })),
        ...changes.removed.map((title) => ({ title, verdict: 'removed' as const })),
        ...changes.changed.map((title) => ({ title, verdict: 'changed' as const })),
    ];
    const parts = named
        .slice(0, PARTS)
        .map((part) => ({ ...part, ...cut(diffLines(print(old.get(part.title)), print(now.get(part.title)))) }));
    const head = oldText === nowText ? [] : [{ title: 'About the site', verdict: 'changed' as const, ...cut(diffLines(oldText, nowText)) }];
    return { change, hostsAdded: changes.hosts_added, parts: [...head, ...parts], more: Math.max(0, named.length - PARTS) };
}

function endpointsOf({ endpoints }: PackageDocument): Map<string, object> {
    return new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]));
}

function print(value: object | undefined): string {
    return value === undefined ? '' : JSON.stringify(value, undefined, 2);
}

function cut(lines: DiffLine[]): { lines: DiffLine[]; isCut: boolean } {
    const shown = lines.filter(({ text }) => text !== '').slice(0, LINES);
    return {
        lines: shown.map(({ kind, text }) => ({ kind, text: clip(text, MAX_LETTERS) })),
        isCut: lines.length > LINES,
    };
}
