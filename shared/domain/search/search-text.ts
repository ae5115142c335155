import { domainToUnicode } from 'node:url';
import { registrableDomain } from '../site/site-name.ts';
import { editDistance } from '../text/edit-distance.ts';
import { foldCase, splitAtCase, withoutAccents, wordsOf } from '../text/fold-text.ts';

/**
 * Brings texts of sites and search texts into one spelling: without accents and case, domain names in Unicode.
 * Lexemes hold letters, digits, dots, hyphens and pictures only, so that they can stand in a text search query as they are.
 */

/** Raise it when the rules below change: sites indexed under older rules are then indexed again. */
export const SEARCH_RULES = 1;

/** The searchable texts of a site. */
interface SearchEntry {
    /** Its own name within its registrable domain, letters and digits alone: `stackexchange` of `math.stack-exchange.com`. */
    label: string;
    lexemes: string[];
}

/** One thing that has to be found. */
interface SearchTerm {
    text: string;
    /** Stand for it all together where it is written like a domain (`node.js`). */
    parts: string[];
    /** Whether it has to be a lexeme, rather than to begin one: a letter or two with another word behind is typed to its end. */
    isWhole: boolean;
}

export interface Search {
    /** Empty: there was nothing to look for, and nothing is found. */
    terms: SearchTerm[];
    /** Several words written as one: finds `stackoverflow` for `stack overflow`. Empty if that is none. */
    joined: string;
    /** Sites whose name begins like this come first. */
    names: { of: 'site' | 'label'; prefix: string } | undefined;
}

/** The most terms of a search; each costs time. */
const MAX_TERMS = 8;
/** A shorter prefix matches too many words. It counts only at the end of a search, where the word may be unfinished. */
const LEAST_BEGINNING = 3;
/** Longer words are cut: a label has at most 63 characters. */
const MAX_LEXEME = 64;

/** The words of a site's name and its title. `site` is normalised. */
export function searchEntry(site: string, title: string): SearchEntry {
    const name = unicodeOf(site);
    const registrable = unicodeOf(registrableDomain(site) ?? site);
    const [label = ''] = registrable.split('.');
    const [own = ''] = name.split(registrable);
    const labels = [label, ...own.split('.')].filter((text) => text !== '');
    const plainTitle = plain(title);
    const titleWords = wordsOf(plainTitle);
    const texts = [
        name,
        registrable,
        ...labels.flatMap((text) => [joinWords(text), ...wordsOf(text)]),
        ...titleWords,
        ...wordsOf(foldCase(splitAtCase(withoutAccents(title)))),
        ...domainsIn(plainTitle),
        ...picturesIn(title),
        titleWords.join(''),
    ];
    return { label: cut(joinWords(label)), lexemes: [...new Set(texts.map(cut).filter((text) => text !== ''))] };
}

/** Parses a search text. Undefined if it is blank. */
export function readSearch(text: string): Search | undefined {
    if (text.trim() === '') return undefined;
    const chunks = plain(text).split(/\s+/u).filter(Boolean).map(withoutAddress);
    const isDomain = (chunk: string) => DOMAIN.test(chunk);
    const terms = chunks.flatMap((chunk) => {
        const words = [...wordsOf(chunk), ...picturesIn(chunk)].map(cut);
        return isDomain(chunk) ? [{ text: cut(chunk), parts: words }] : words.map((word) => ({ text: word, parts: [] }));
    });
    const [only] = chunks;
    const isName = chunks.length === 1 && only !== undefined && isDomain(only);
    const whole = chunks.some(isDomain) ? '' : cut(joinWords(chunks.join('')));
    return {
        terms: keepMostSignificant(terms),
        joined: terms.length > 1 ? whole : '',
        names: isName ? { of: 'site', prefix: cut(only) } : whole === '' ? undefined : { of: 'label', prefix: whole },
    };
}

/** How many slips of the finger a word of this length may have. */
export function typosAllowed(word: string): number {
    const { length } = [...word];
    if (length < 3) return 0;
    return length < 8 ? 1 : 2;
}

/**
 * Corrections of `written`, nearest first: known words within few typing errors, or if there are none,
 * the beginnings of words that are, since a long word may be found before it is typed to its end.
 */
export function spellings(written: string, known: readonly string[]): string[] {
    const allowed = typosAllowed(written);
    const isNear = ({ distance }: Spelling) => distance <= allowed;
    const whole = known.map((text) => ({ text, distance: distanceBetween(written, text, allowed) })).filter(isNear);
    const near = whole.length > 0 ? whole : known.flatMap((word) => nearestBeginning(written, word, allowed)).filter(isNear);
    return [...new Set(near.toSorted((a, b) => a.distance - b.distance).map(({ text }) => text))];
}

interface Spelling {
    text: string;
    distance: number;
}

/** Of equals the longest one: it finds least beside what was meant. */
function nearestBeginning(written: string, word: string, allowed: number): Spelling[] {
    const lengths = Array.from({ length: 2 * allowed + 1 }, (_, index) => written.length + allowed - index);
    return lengths
        .filter((length) => length < word.length)
        .map((length) => ({ text: word.slice(0, length), distance: distanceBetween(written, word.slice(0, length), allowed) }))
        .toSorted((a, b) => a.distance - b.distance)
        .slice(0, 1);
}

function distanceBetween(one: string, other: string, limit: number): number {
    return Math.abs(one.length - other.length) > limit ? limit + 1 : editDistance(one, other, limit);
}

/** A word that begins another one of them asks for nothing more. */
function keepMostSignificant(terms: readonly Omit<SearchTerm, 'isWhole'>[]): SearchTerm[] {
    const partsByText = new Map(terms.map(({ text, parts }) => [text, parts]));
    const texts = [...partsByText.keys()];
    const kept = texts.filter((text) => !texts.some((other) => other !== text && other.startsWith(text))).slice(0, MAX_TERMS);
    return kept.map((text, place) => ({
        text,
        parts: partsByText.get(text) ?? [],
        isWhole: [...text].length < LEAST_BEGINNING && place < kept.length - 1,
    }));
}

const DOMAIN = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*(\.[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*)+$/u;

function domainsIn(text: string): string[] {
    return text.split(/\s+/u).filter((chunk) => DOMAIN.test(chunk));
}

/** People paste addresses: of those the host counts, in Unicode and without `www.`. */
function withoutAddress(chunk: string): string {
    const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/.exec(chunk)?.[1] ?? chunk;
    const bare = host
        .replace(/\/.*$/u, '')
        .replace(/^www\.(?=[^.])/u, '')
        .replace(/(?<!\.)\.+$/u, '');
    return bare.includes('xn--') ? unicodeOf(bare) : bare;
}

function unicodeOf(name: string): string {
    // An empty answer: it only looked like a name.
    return plain(domainToUnicode(name) || name);
}

function plain(text: string): string {
    return foldCase(withoutAccents(text));
}

function picturesIn(text: string): string[] {
    return text.match(/\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu) ?? [];
}

/** Letters and digits alone. */
function joinWords(text: string): string {
    return text.replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

function cut(text: string): string {
    return text.length <= MAX_LEXEME ? text : [...text].slice(0, MAX_LEXEME).join('');
}
