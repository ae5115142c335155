import { createSideThread } from '../../shared/platform/side-thread.ts';
import type { PackageTasks } from './tasks.ts';

const file = new URL('./thread.ts', import.meta.url);

/** Separate threads for publishing and reading, so that neither delays the other. */
const threads = { publishing: createSideThread(file), reading: createSideThread(file) };
const THREADS: Readonly<Record<keyof PackageTasks, keyof typeof threads>> = {
    check: 'publishing',
    diffForPublish: 'publishing',
    diffForPage: 'reading',
    openapi: 'reading',
    tools: 'reading',
    siteTools: 'reading',
    postman: 'reading',
    bruno: 'reading',
    typescript: 'reading',
    python: 'reading',
    form: 'reading',
    escapeSource: 'reading',
    rows: 'reading',
    jsonErrorPosition: 'reading',
    catalog: 'reading',
};

/**
 * Runs a task in a thread, since 4 MiB take up to a second.
 * @param owner the queue in which it waits
 * @returns the answer and the milliseconds that the thread took
 */
export function workOnPackage<Name extends keyof PackageTasks>(
    name: Name,
    owner: string,
    task: PackageTasks[Name]['task'],
): Promise<{ answer: PackageTasks[Name]['answer']; ms: number }> {
    return threads[THREADS[name]].run(owner, { name, ...task });
}
