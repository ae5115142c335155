import { domainToUnicode } from 'node:url';
import { registrableDomain } from '../site/site-name.ts';
import { editDistance } from '../text/edit-distance.ts';
import { foldCase, splitAtCase, withoutAccents, wordsOf } from '../text/fold-text.ts';

/**
 * Normalises texts of sites and search texts: without accents and case, domain names in Unicode. Lexemes contain only letters, digits,
 * dots, hyphens and emoji, so that a text search query needs no escaping.
 */

/** Increment this when the rules below change. Sites that were indexed by older rules are then indexed again. */
export const SEARCH_RULES = 2;

interface SearchEntry {
    /** Its own name within its registrable domain, only letters and digits: `stackexchange` for `math.stack-exchange.com`. */
    label: string;
    lexemes: string[];
}

/** One term that must match. */
interface SearchTerm {
    text: string;
    /** If the term looks like a domain (`node.js`): its parts, which match instead if all of them do. */
    parts: string[];
    /** Whether it must equal a lexeme, not only begin it. Terms of one or two letters before another word do. */
    isWhole: boolean;
}

export interface Search {
    /** Empty: the text contained no term, and nothing matches. */
    terms: SearchTerm[];
    /** Several words written as one: finds `stackoverflow` for `stack overflow`. Empty if the words cannot be joined. */
    joined: string;
    /** Sites whose name begins with this prefix come first. */
    names: { of: 'site' | 'label'; prefix: string } | undefined;
}

/** Maximum number of terms of a search. Each takes time. */
const MAX_TERMS = 8;
/** Minimum length of a prefix. Shorter ones match too many words, and only serve the unfinished word at the end. */
const MIN_BEGINNING = 3;
/** Maximum length of a lexeme. Longer words are cut; a domain label has at most 63 characters. */
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
        ...plainTitle.split(/\s+/u).filter((chunk) => DOMAIN.test(chunk)),
        ...picturesIn(title),
        titleWords.join(''),
    ];
    return { label: cut(joinWords(label)), lexemes: [...new Set(texts.map(cut).filter((text) => text !== ''))] };
}

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

/** The number of typing errors that a word of this length may have. */
export function typosAllowed(word: string): number {
    const { length } = [...word];
    if (length < 3) return 0;
    return length < 8 ? 1 : 2;
}

/** Known words within a few typing errors, nearest first; otherwise beginnings of known words, which `written` may be. */
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

/** Among equally near ones, the longest beginning, because it matches the fewest other words. */
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

/** A term that is the beginning of another one adds no condition. */
function keepMostSignificant(terms: readonly Omit<SearchTerm, 'isWhole'>[]): SearchTerm[] {
    const partsByText = new Map(terms.map(({ text, parts }) => [text, parts]));
    const texts = [...partsByText.keys()];
    const kept = texts.filter((text) => !texts.some((other) => other !== text && other.startsWith(text))).slice(0, MAX_TERMS);
    return kept.map((text, place) => ({
        text,
        parts: partsByText.get(text) ?? [],
        isWhole: [...text].length < MIN_BEGINNING && place < kept.length - 1,
    }));
}

const DOMAIN = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*(\.[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*)+$/u;

/** People paste URLs. Only the host of a URL is used, in Unicode and without `www.`. */
function withoutAddress(chunk: string): string {
    const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/.exec(chunk)?.[1] ?? chunk;
    const bare = host
        .replace(/\/.*$/u, '')
        .replace(/^www\.(?=[^.])/u, '')
        .replace(/(?<!\.)\.+$/u, '');
    return bare.includes('xn--') ? unicodeOf(bare) : bare;
}

function unicodeOf(name: string): string {
    // An empty answer means that the text only looked like a name.
    return plain(domainToUnicode(name) || name);
}

function plain(text: string): string {
    return foldCase(withoutAccents(text));
}

function picturesIn(text: string): string[] {
    return text.match(/\p{Extended_Pictographic}|\p{Regional_Indicator}{2}/gu) ?? [];
}

/** Only letters and digits. */
function joinWords(text: string): string {
    return text.replace(/[^\p{L}\p{N}\p{M}]+/gu, '');
}

function cut(text: string): string {
    return text.length <= MAX_LEXEME ? text : [...text].slice(0, MAX_LEXEME).join('');
}
