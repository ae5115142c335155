import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PackageDocument } from '../../shared/domain/types.ts';

const TASKS = new URL('../fixtures/tasks/', import.meta.url);

/** A task that the starter registry serves (test/fixtures/tasks/README.md). */
export interface ServedTask {
    task: string;
    style: 'question' | 'keywords' | 'imperative' | 'agent';
    spelling?: 'typo' | 'british' | 'american';
    /** Every endpoint that serves it, as `site/endpoint`, unordered. */
    right: string[];
    /** Measured separately, and never tuned on. */
    held_out?: true;
}

/** A task that no package serves; `near` names the closest one, and why it does not serve it. */
export interface UnservedTask {
    task: string;
    near?: string;
}

export const SERVED: readonly ServedTask[] = readJson('served.json');
export const UNSERVED: readonly UnservedTask[] = readJson('unserved.json');

/** A task of the additional lists. */
export type PlainTask = Pick<ServedTask, 'task' | 'right'>;
/** Additional tasks that the ranking may be tuned on. */
export const MORE: { served: readonly PlainTask[]; unserved: readonly UnservedTask[] } = {
    served: readJson('more-served.json'),
    unserved: readJson('more-unserved.json'),
};
/** Written last of these, and not tuned on. */
export const UNSEEN: { served: readonly PlainTask[]; unserved: readonly UnservedTask[] } = {
    served: readJson('unseen-served.json'),
    unserved: readJson('unseen-unserved.json'),
};
const EVERYDAY_LISTS = { served: readJson<PlainTask>('everyday-served.json'), unserved: readJson<UnservedTask>('everyday-unserved.json') };
/** A drawn half of the everyday tasks, which the ranking may be tuned on. */
export const EVERYDAY = { served: drawnHalf(EVERYDAY_LISTS.served, 0), unserved: drawnHalf(EVERYDAY_LISTS.unserved, 0) };
/** The other half, not tuned on. */
export const UNSEEN_EVERYDAY = { served: drawnHalf(EVERYDAY_LISTS.served, 1), unserved: drawnHalf(EVERYDAY_LISTS.unserved, 1) };
/** What newcomers wanted first, of sites new and old. Written before it was asked. */
export const NEWCOMERS: { served: readonly PlainTask[]; unserved: readonly UnservedTask[] } = {
    served: readJson('newcomer-served.json'),
    unserved: readJson('newcomer-unserved.json'),
};

/** For the sites that were added last. Written with them, before any was asked. */
export const ADDED: readonly PlainTask[] = readJson('added-served.json');

/** Packages as contributors write them, with tasks for them. */
interface Contributed {
    packages: readonly PackageDocument[];
    served: readonly PlainTask[];
    unserved: readonly UnservedTask[];
}
export const CONTRIBUTED: Contributed = {
    packages: readJson('contributed-packages.json'),
    served: readJson('contributed-served.json'),
    unserved: readJson('contributed-unserved.json'),
};
/** Those of further trades, of which only totals were looked at. */
export const LATER_CONTRIBUTED: Contributed = {
    packages: readJson('contributed-later-packages.json'),
    served: readJson('contributed-later-served.json'),
    unserved: readJson('contributed-later-unserved.json'),
};
/** Further tasks for `CONTRIBUTED`, not tuned on. */
export const UNSEEN_CONTRIBUTED: Contributed = {
    packages: CONTRIBUTED.packages,
    served: readJson('contributed-unseen-served.json'),
    unserved: readJson('contributed-unseen-unserved.json'),
};

/** Written last of all, and never tuned on: tasks for the starter registry, and packages of further trades with tasks for them. */
export const FRESH: { served: readonly PlainTask[]; unserved: readonly UnservedTask[] } = {
    served: readJson('fresh-served.json'),
    unserved: readJson('fresh-unserved.json'),
};
export const FRESH_CONTRIBUTED: Contributed = {
    packages: readJson('fresh-packages.json'),
    served: readJson('fresh-contributed-served.json'),
    unserved: readJson('fresh-contributed-unserved.json'),
};

/** Those whose hash sorts first (0), or the others (1). */
function drawnHalf<T extends { task: string }>(tasks: readonly T[], half: 0 | 1): readonly T[] {
    const drawn = [...tasks].sort((one, other) => lotOf('everyday', one.task).localeCompare(lotOf('everyday', other.task), 'en'));
    const middle = tasks.length / 2;
    return drawn.slice(half * middle, (half + 1) * middle);
}

/** A draw that anybody can repeat, from a rule that was written before the tasks were asked. */
export function lotOf(draw: string, task: string): string {
    return createHash('sha256').update(`${draw}: ${task}`).digest('hex');
}

function readJson<T>(file: string): T[] {
    return JSON.parse(readFileSync(new URL(file, TASKS), 'utf8'));
}
