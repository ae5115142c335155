import { textOf } from '../words/segments.ts';
import type { Group } from './groups.ts';

export function isLast({ segments }: Group, place: number): boolean {
    return segments.length === place + 1;
}

export function methodAndWord({ method, segments }: Group, place: number): string {
    return `${method} ${textOf(segments[place])}`;
}

/** Whether a word is only the target of POST: an action on the thing before it (`/tickets/{id}/comment`), even if responses contain the word. */
export function isPostOnly(groups: readonly Group[], place: number): boolean {
    return groups.every((group) => group.method === 'POST' && isLast(group, place));
}

/** Whether words are the methods of one service: at least three, only targets of POST, with different body fields. */
export function areMethods(words: ReadonlyMap<string, readonly Group[]>, place: number): boolean {
    const all = [...words.values()];
    if (all.length < MIN_METHODS || !all.every((groups) => isPostOnly(groups, place))) return false;
    return new Set(all.map(([group]) => [...(group?.body?.fields.keys() ?? [])].sort().join(' '))).size > 1;
}

const MIN_METHODS = 3;

/** Whether a PUT, PATCH or DELETE targets the word itself. The method may be in a field of a form. */
export function isWritten(word: string, groups: readonly Group[], place: number): boolean {
    const methodOf = ({ method, operation }: Group) => (operation?.protocol === 'override' ? operation.name : method);
    return !NO_MEMBERS.test(word) && groups.some((group) => /^(?:PUT|PATCH|DELETE)$/.test(methodOf(group)) && isLast(group, place));
}

const NO_MEMBERS =
    /^(?:|me|self|current|all|bulk|batch|settings|preferences|options|password|status|state|avatar|image|photo|order|read)$/i;
