import { readFileSync } from 'node:fs';

const TASKS = new URL('../fixtures/tasks/', import.meta.url);

/** A task that the starter registry serves (test/fixtures/tasks/README.md). */
export interface ServedTask {
    task: string;
    style: 'question' | 'keywords' | 'imperative' | 'agent';
    spelling?: 'typo' | 'british' | 'american';
    /** Every endpoint that serves it, as `site/endpoint`, in no order. */
    right: string[];
    /** Measured apart, and never tuned on. */
    held_out?: true;
}

/** A task that no package serves; `near` says what comes near, and why it does not serve it. */
export interface UnservedTask {
    task: string;
    near?: string;
}

export const SERVED: readonly ServedTask[] = readJson('served.json');
export const UNSERVED: readonly UnservedTask[] = readJson('unserved.json');

function readJson<T>(file: string): T[] {
    return JSON.parse(readFileSync(new URL(file, TASKS), 'utf8'));
}
