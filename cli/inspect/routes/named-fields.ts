import type { Shape } from '../words/shape.ts';
import type { Group } from './groups.ts';
import { isLast } from './written-words.ts';

/**
 * Words that name fields of the thing above them: it answers with them as plain values (`/cpu` with `{user: 3, system: 1}`), and each of two
 * or more addresses below it answers with its own (`/cpu/user` with `{user: 3}` or `3`). A part that is a thing itself is no plain value.
 * Of a thing with very many fields only the kinds of their values are known.
 * @param above the groups of the thing itself
 */
export function namedFields(words: ReadonlyMap<string, readonly Group[]>, above: readonly Group[], place: number): string[] {
    const things = above.filter(({ method, shape }) => method === 'GET' && shape.objects > 0);
    const named = [...words].filter(
        ([word, groups]) =>
            things.some(({ shape }) => isPlain(shape.fields.get(word)) || (shape.entries?.scalars.size ?? 0) > 0) &&
            groups.some((group) => group.method === 'GET' && isLast(group, place) && answersWith(group.shape, word)),
    );
    return named.length > 1 ? named.map(([word]) => word) : [];
}

function isPlain(shape: Shape | undefined): boolean {
    return shape !== undefined && shape.scalars.size > 0 && shape.objects + shape.arrays === 0;
}

function answersWith(shape: Shape, word: string): boolean {
    return isPlain(shape) || isPlain(shape.fields.get(word));
}
