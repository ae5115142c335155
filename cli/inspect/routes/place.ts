import type { Piece } from '../words/segments.ts';
import type { Group } from './groups.ts';
import type { SeenTexts } from './seen-texts.ts';

/** The words at one place of addresses that are the same before it. */
export interface Place {
    words: ReadonlyMap<string, readonly Group[]>;
    /** The groups with a value there. */
    siblings: readonly Group[];
    place: number;
    parent: Piece | undefined;
    isBelowValue: boolean;
    /** Whether it is at the root of the site or of its API. */
    isRoot: boolean;
    /** Whether the segment before is a plural, or a word that the program marks as its own. */
    isOfThings: boolean;
    /** The words that may be values. */
    candidates: readonly string[];
    seen: SeenTexts;
    kinds: ReadonlySet<string>;
}

/** A page and its data have one name. */
export function withoutFormat(word: string): string {
    return word.replace(/\.(?:data|json|js|html)$/, '');
}

/** The end of a name in a format of data. */
export const DATA = /\.(?:data|json|js)$/;
