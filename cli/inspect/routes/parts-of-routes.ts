import { isApiRoot, isPlural, isRouteWord, isVarying, type Piece } from '../words/segments.ts';
import { isVerb } from '../words/verbs.ts';
import { isFileName } from './file-names.ts';
import type { Group } from './groups.ts';
import { isLast } from './written-words.ts';

/**
 * Responses contain many words, such as `local` and `default`. Such a word in the middle of a path is a value only below a plural or beside
 * other values.
 */
export function isMember(groups: readonly Group[], parent: Piece | undefined, place: number, beside: number): boolean {
    return groups.some((group) => isLast(group, place)) || beside > 0 || parent?.form !== 'word' || isPlural(parent.core);
}

/** Whether what is read at the word, or at a value below it, is a list of that name: `/boats` answers with `{boats: […]}`. It is a kind of things. */
export function namesItsList(groups: readonly Group[], word: string, place: number): boolean {
    return groups.some(
        ({ method, segments, shape }) =>
            method === 'GET' &&
            (shape.fields.get(word)?.arrays ?? 0) > 0 &&
            segments.slice(place + 1).every(isVarying) &&
            segments.length <= place + 2,
    );
}

/** Whether the word names a part of the API: below the API's root, the same version always follows it (`/wp-json/wp/v2/posts`). */
export function namesApi(groups: readonly Group[], parent: Piece | undefined, place: number): boolean {
    if (parent?.form !== 'word' || !parent.core.split('-').some(isApiRoot)) return false;
    const isVersioned = groups.every(({ segments }) => segments.length > place + 2 && VERSION.test(segments[place + 1]?.core ?? ''));
    return isVersioned && new Set(groups.map(({ segments }) => segments[place + 1]?.core)).size === 1;
}

const VERSION = /^(?:v\d{1,2}(?:\.\d{1,2})*|\d{1,2}(?:\.\d{1,2}){1,2})$/;

/** Whether a word is part of routes on many sites. A capitalised word after one in lower case is not. */
export function isUsual(word: string, parent: Piece | undefined, place: number): boolean {
    if (/^[A-Z][a-z]/.test(word) && parent?.form === 'word' && /^[a-z]/.test(parent.core) && !isApiRoot(parent.core)) return false;
    return ((isRouteWord(word) || isVerb(word)) && !isFileName(word)) || (isApiRoot(word) && place < 3);
}
