import { openSideThread } from '../shared/side-thread.ts';
import type { PackageTasks } from './package-tasks.ts';

const file = new URL('./package-thread.ts', import.meta.url);

/** One for those who publish, one for those who read and one for fetches, so that none of them waits for another. */
const threads = { publishing: openSideThread(file), reading: openSideThread(file), fetching: openSideThread(file) };
const LINES: Readonly<Record<keyof PackageTasks, keyof typeof threads>> = {
    judge: 'publishing',
    compare: 'publishing',
    show: 'reading',
    openapi: 'reading',
    tools: 'reading',
    form: 'reading',
    source: 'reading',
    mistake: 'reading',
    catalog: 'reading',
    bind: 'fetching',
};

/**
 * Has a package judged, compared or exported, or params held against it, beside the event loop: 4 MiB take up to a second.
 * @param owner whose line it waits in
 * @returns with the milliseconds that the thread took
 */
export function workOnPackage<Name extends keyof PackageTasks>(
    name: Name,
    owner: string,
    task: PackageTasks[Name]['task'],
): Promise<{ answer: PackageTasks[Name]['answer']; ms: number }> {
    return threads[LINES[name]].run(owner, { name, ...task });
}
