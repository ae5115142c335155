import { domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { editDistance } from '../text/edit-distance.ts';
import { foldCase, withoutAccents } from '../text/fold-text.ts';

export type Resemblance = 'letters that look alike' | 'one letter' | 'another ending';

interface ReadName {
    /** The part that its owner chose, in Unicode: `bücher` for `xn--bcher-kva.example`. */
    label: string;
    skeleton: string;
    /** Whether the domain is on a private suffix, such as `a.github.io`, where anybody can register names. */
    isPrivate: boolean;
}

/** Minimum length of a name for comparison by one letter. Shorter names differ in one letter from too many others. */
const MIN_LENGTH_OF_SLIPS = 5;
const MIN_LENGTH_OF_ENDINGS = 3;

/**
 * Whether and why a registrable domain may be mistaken for another one (both in A-labels); undefined if people can distinguish them. A
 * difference of one letter (more, less, changed or swapped) counts only if the other name is well known, because most short names are that
 * close to some other. The same applies to a different ending of a name on a private suffix.
 */
export function resemblance(name: string, other: string, isOtherWellKnown: boolean): Resemblance | undefined {
    if (name === other) return undefined;
    const [a, b] = [readName(name), readName(other)];
    if (a.label === b.label) {
        const isNoise = [...a.label].length < MIN_LENGTH_OF_ENDINGS || ((a.isPrivate || b.isPrivate) && !isOtherWellKnown);
        return isNoise ? undefined : 'another ending';
    }
    if (a.skeleton === b.skeleton) return 'letters that look alike';
    if (!isOtherWellKnown || Math.min(a.skeleton.length, b.skeleton.length) < MIN_LENGTH_OF_SLIPS) return undefined;
    return editDistance(a.skeleton, b.skeleton, 1) === 1 ? 'one letter' : undefined;
}

/** Whether a name that people read contains the known one in look-alike letters, or differs from it in one letter. */
export function mayBeReadAs(name: string, known: string): boolean {
    const [letters, sought] = [name, known].map((text) => skeleton(text.normalize('NFKC').replaceAll(NO_LETTER, ''))) as [string, string];
    return letters.includes(sought) || editDistance(letters, sought, 1) <= 1;
}

/** Marks are kept here. They are removed later, together with accents. */
const NO_LETTER = /[^\p{L}\p{N}\p{M}]/gu;

/** A normal form without the ending. It is equal for domains that look alike. */
export function skeletonOf(registrable: string): string {
    return readName(registrable).skeleton;
}

function readName(registrable: string): ReadName {
    const { domainWithoutSuffix, isPrivate } = parse(registrable, { allowPrivateDomains: true, extractHostname: false });
    // If the domain is a private suffix, it is itself a site, and its whole name counts.
    const label = domainToUnicode(domainWithoutSuffix || (registrable.split('.')[0] ?? registrable));
    return { label, skeleton: skeleton(label), isPrivate: isPrivate === true };
}

function skeleton(label: string): string {
    const shapes = [...withoutAccents(foldCase(label))].map((char) => SHAPES.get(char) ?? char).join('');
    return shapes.replaceAll('-', '').replaceAll('rn', 'm').replaceAll('vv', 'w').replaceAll('cl', 'd');
}

/** Letters and digits that most fonts draw like a Latin letter (a subset of the confusables of Unicode TS 39), by that letter. */
const LIKE: Readonly<Record<string, string>> = {
    a: 'аαɑａ',
    ae: 'ӕæ',
    b: 'ьвβƅɓ',
    c: 'сςϲɔᴄ',
    d: 'ԁđðɗɖ',
    e: 'еєεəҽ',
    f: 'ғſƒ',
    g: 'ɡցɠԍ',
    h: 'һнհħɦ',
    i: 'іιıɩɪ',
    j: 'јϳյ',
    k: 'кκƙ',
    l: '1ӏł|ʟ',
    m: 'мɱ',
    n: 'пηոռռŋɲ',
    o: '0оοօøσ०০๐໐',
    oe: 'œ',
    p: 'рρþ',
    q: 'ԛգզ',
    r: 'гʀ',
    s: 'ѕꜱ',
    ss: 'ß',
    t: 'тτŧ',
    u: 'υսμʋ',
    v: 'ѵν',
    w: 'ԝшωա',
    x: 'хχ',
    y: 'уүγყʏ',
};

const SHAPES: ReadonlyMap<string, string> = new Map(
    Object.entries(LIKE).flatMap(([letter, likes]) => [...likes].map((like): [string, string] => [like, letter])),
);
