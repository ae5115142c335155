import { createSideThread } from '../../shared/platform/side-thread.ts';
import type { PackageTasks } from './tasks.ts';

const file = new URL('./thread.ts', import.meta.url);

/** Separate threads for publishing, reading and fetches, so that none delays another. */
const threads = { publishing: createSideThread(file), reading: createSideThread(file), fetching: createSideThread(file) };
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
