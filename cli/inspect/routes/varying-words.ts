import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import { isProgramWord, isSpecialPage, isUnlikelyWord } from '../words/harmless.ts';
import {
    isApiRoot,
    isDirection,
    isLanguage,
    isPlural,
    isVarying,
    looksRandom,
    type Piece,
    PROGRAM_SUFFIX,
    precedesName,
} from '../words/segments.ts';
import { areAlike, MAX_COMPARED } from './alike.ts';
import { areFiles, isFileName } from './file-names.ts';
import type { Group } from './groups.ts';
import { namedFields } from './named-fields.ts';
import { isUsual, namesApi, namesItsList } from './parts-of-routes.ts';
import { DATA, type Place, withoutFormat } from './place.ts';
import { isArticle, withArticles, withSameBelow, withSamePages, withSameRequests } from './same-use.ts';
import type { SeenTexts } from './seen-texts.ts';
import { addSaid, addSeen, addUsual, wasValue } from './seen-words.ts';
import { pathTo, thingOf, withSameViews } from './views.ts';
import { areMethods, isLast, isWritten, methodAndWord } from './written-words.ts';

export interface Evidence {
    seen: SeenTexts;
    /** Addresses whose last segment is the text of a link on the page above. */
    listed: ReadonlySet<string>;
    /** Paths that end with the language of their pages. */
    languages: ReadonlySet<string>;
    /** Addresses of listed names that occur below several views (`/log/README`, `/tree/README`). */
    viewed: ReadonlySet<string>;
    /** The files that were found below a value, by the route of the thing that has them. */
    files: Map<string, Set<string>>;
    /** The words that were found to be values, at any place. */
    found: Set<string>;
    /** All paths of the origin. */
    paths: ReadonlySet<string>;
    /** The words that ids follow, wherever they are: kinds of things. */
    kinds: ReadonlySet<string>;
}

/**
 * The words at one place that are values (fold.ts lists the rules).
 * @param siblings the groups with a value there
 * @param above the groups whose address ends before it
 */
export function varyingWords(
    words: ReadonlyMap<string, readonly Group[]>,
    { siblings, above }: { siblings: readonly Group[]; above: readonly Group[] },
    place: number,
    { seen, listed, languages, viewed, files, paths, kinds, found: foundBefore }: Evidence,
): Set<string> {
    const first = [...words.values()][0]?.[0] ?? siblings[0];
    const parent = parentOf(first, place);
    const isBelowValue = parent !== undefined && isVarying(parent);
    // With keys in parentheses (`Books(201)`), words are kinds of things and their parts.
    if (isKeyed(parent) || siblings.some(({ segments }) => isKeyed(segments[place]))) return new Set();
    if (areMethods(words, place) && ![...words.keys()].some((word) => seen.wasName(percentDecode(word)))) return new Set();
    const thing = isBelowValue ? thingOf(first, place) : undefined;
    const known = files.get(thing ?? '');
    const isRoot = parent === undefined || (parent.form === 'word' && isApiRoot(parent.core));
    // What a program marks as its own word is no thing, so that things may stand below it: `/_category/harbour`.
    const isOfThings = parent?.form === 'word' && (isPlural(parent.core) || /^_[a-z]/.test(parent.core));
    const bare = { words, siblings, place, parent, isBelowValue, isRoot, isOfThings, seen, kinds };
    const candidates = candidatesAt(bare, known);
    const here: Place = { ...bare, candidates };

    const varying = new Set<string>(candidates.filter((word) => known?.has(word)));
    const written = writtenAt(here);
    if (isOfThings) for (const [word] of written) varying.add(word);
    addByForm(varying, here);
    addLanguages(varying, here, languages);
    const sent = candidates.filter((word) => seen.wasSent(percentDecode(word))).slice(0, MAX_COMPARED);
    addSeen(varying, here, sent);
    for (const word of withSameBelow(words, sent, place)) varying.add(word);
    for (const word of withSameRequests(words, candidates, place)) varying.add(word);
    for (const word of withSameViews(words, candidates, place, listed)) varying.add(word);
    for (const word of candidates) if ((words.get(word) ?? []).some((group) => viewed.has(pathTo(group, place)))) varying.add(word);
    addSaid(varying, here);
    for (const word of namedFields(words, above, place)) varying.add(word);
    addFormats(varying, here);
    if (place > 0) for (const word of candidates) if (wasValue(seen, word) && repeatsSite(words.get(word), place, paths)) varying.add(word);
    if (isRoot) for (const word of [...withSamePages(words, candidates, place), ...withArticles(words, place)]) varying.add(word);
    if (isRoot) return varying;
    addWritten(varying, written, here);
    addNamed(varying, here, foundBefore);
    addAlike(varying, here);
    addUsual(varying, here);
    for (const word of varying) foundBefore.add(word);
    const found = [...varying].filter(isFileName);
    if (thing !== undefined && found.length > 0) files.set(thing, new Set([...(known ?? []), ...found]));
    return varying;
}

/**
 * Adds the names of pages: behind a word that names follow on most sites (`/tag/rope`) or the date of a page (`/2026/a-storm`), names that are
 * values elsewhere, and names with a capital below a value (`/{id}/Norway/Oslo`), if pages of others look alike whatever is below them.
 */
function addNamed(varying: Set<string>, { words, place, parent, candidates, isBelowValue }: Place, foundBefore: ReadonlySet<string>): void {
    const pages = candidates.filter((word) => arePages(words.get(word)));
    const isNamed = parent?.form === 'word' && precedesName(parent.core);
    for (const word of pages) if (isNamed || isBehindDate((words.get(word) ?? [])[0], place)) varying.add(word);
    const again = candidates.filter((word) => foundBefore.has(word));
    const isAgain = again.length > 1 ? !again.every(isPlural) : isBelowValue && again.every((word) => /^[A-Z][a-z]/.test(word));
    if (isAgain) for (const word of again) varying.add(word);
    const capital = isBelowValue ? pages.filter((word) => /^[A-Z][a-z]+(?:[_-][A-Za-z][a-z]*)*$/.test(word)).slice(0, MAX_COMPARED) : [];
    for (const word of capital)
        if (capital.some((other) => other !== word && areAlike(words.get(word), words.get(other), place, { below: 'any' })))
            varying.add(word);
}

/** Whether the segments before a place are the year of a page, or its year and month, and day. */
function isBehindDate(group: Group | undefined, place: number): boolean {
    const before = group?.segments[place - 1];
    if (before?.form === 'date') return true;
    if (before?.form !== 'number') return false;
    return /^(?:19|20)\d{2}$/.test(before.core) || (/^[0-3]?\d$/.test(before.core) && isBehindDate(group, place - 1));
}

/** The words that may be values: no usual parts of routes, except in a folder. @param known the files that the thing has elsewhere */
function candidatesAt(
    { words, siblings, place, parent, isBelowValue }: Omit<Place, 'candidates'>,
    known: ReadonlySet<string> | undefined,
): string[] {
    const names = [...words.keys(), ...siblings.map(({ segments }) => nameOf(segments[place]))].filter(isFileName);
    const isFolder = isBelowValue && (areFiles(names) || names.some((name) => known?.has(name)));
    // Programs begin their own words with `_` or `$` (`/_all_docs`, `/$metadata`).
    return [...words]
        .filter(
            ([word, groups]) =>
                word !== '' &&
                !/^[_$][a-z]/.test(word) &&
                !isSpecialPage(percentDecode(word)) &&
                (isFolder || !(isUsual(word, parent, place) || PROGRAM_SUFFIX.test(word))) &&
                !namesApi(groups, parent, place) &&
                !namesItsList(groups, word, place),
        )
        .map(([word]) => word);
}

/** The words to which something was written, unless they name an action on one thing or on all (`/queues/{queue}/pause`, `/queues/pause`). */
function writtenAt({ words, siblings, place }: Place): (readonly [string, readonly Group[]])[] {
    const groups = [...siblings, ...[...words.values()].flat()];
    const deeds = new Set(groups.filter((group) => isLast(group, place + 1)).map((group) => methodAndWord(group, place + 1)));
    return [...words].filter(([word, own]) => isWritten(word, own, place) && !own.some((group) => deeds.has(methodAndWord(group, place))));
}

/** Adds the words that look like ids or names. */
function addByForm(varying: Set<string>, { words, siblings, parent, candidates }: Place): void {
    // One word of several capitals may be an abbreviation; two such words are ids.
    const random = candidates.filter(looksRandom);
    if (random.length > 1) for (const word of random) varying.add(word);
    const unlikely = candidates.filter((word) => isUnlikelyWord(withoutFormat(word)));
    const areUnlikely = unlikely.length > 1 || siblings.length > 0 || (parent?.form === 'word' && isPlural(parent.core));
    if (areUnlikely) for (const word of unlikely) varying.add(word);
    for (const word of words.keys()) if (isDirection(word) && parent !== undefined) varying.add(word);
}

/** @param spoken paths that end with the language of their pages */
function addLanguages(varying: Set<string>, { words, siblings, place, candidates }: Place, spoken: ReadonlySet<string>): void {
    const languages = candidates.filter(isLanguage);
    // Unless at least half of the words are languages, the languages are treated as other words.
    const isMostly = languages.length > 1 && languages.length * 2 >= candidates.length;
    if (isMostly || siblings.some((group) => group.segments[place]?.form === 'locale')) for (const word of languages) varying.add(word);
    // Pages say their language. Two languages at one place are the visitor's choice.
    const inLanguage = [...words].filter(([, groups]) => groups.some((group) => spoken.has(pathTo(group, place)))).map(([word]) => word);
    if (inLanguage.length > 1) for (const word of inLanguage) varying.add(word);
}

/** Whether the site has all that is below the word at its root, too: it answers for others of its kind (`/host/harbour/api/charts`). */
function repeatsSite(groups: readonly Group[] = [], place: number, paths: ReadonlySet<string>): boolean {
    return groups.length > 1 && groups.every(({ segments }) => segments.length > place + 2 && paths.has(pathOf(segments.slice(place + 1))));
}

/** The path that segments are written as. */
export function pathOf(segments: readonly Piece[]): string {
    return segments.map(({ prefix, core, suffix }) => prefix + core + suffix).join('/');
}

/** Adds words in a format of data that resemble a value in such a format, and the same words in other formats. */
function addFormats(varying: Set<string>, { words, place, candidates }: Place): void {
    const inFormats = [...varying].filter((word) => DATA.test(word)).slice(0, MAX_COMPARED);
    for (const word of candidates.filter((one) => DATA.test(one)))
        if (inFormats.some((other) => areAlike(words.get(word), words.get(other), place))) varying.add(word);
    const things = new Set([...varying].map(withoutFormat));
    for (const word of candidates) if (things.has(withoutFormat(word))) varying.add(word);
}

/**
 * Adds written words beside values (`PUT /files/{file}`, `PUT /files/notes`). After a thing, a written word may be an action on it, unless
 * it is a file or resembles another one.
 */
function addWritten(
    varying: Set<string>,
    written: readonly (readonly [string, readonly Group[]])[],
    { siblings, place, isBelowValue }: Place,
): void {
    if (varying.size + siblings.length === 0 && !isBelowValue) return;
    for (const [word, groups] of written) {
        const resembles = ([other, more]: readonly [string, readonly Group[]]) =>
            other !== word && !(isPlural(word) && isPlural(other)) && areAlike(groups, more, place);
        if (!isBelowValue || isFileName(word) || written.some(resembles)) varying.add(word);
    }
}

/** Adds words that resemble values, until there are no more. */
function addAlike(varying: Set<string>, { words, siblings, place, candidates, isOfThings, isBelowValue }: Place): void {
    // Thousands of names below one parent are compared with a sample of them.
    const compared = candidates.slice(0, MAX_COMPARED);
    for (let before = -1; before < varying.size; ) {
        before = varying.size;
        const values = [...siblings, ...[...varying].flatMap((word) => words.get(word) ?? [])].slice(0, MAX_COMPARED);
        for (const word of candidates) {
            if (varying.has(word)) continue;
            const alike = compared.filter((other) => other !== word && areAlike(words.get(word), words.get(other), place));
            // Where the ids of a kind are numbers, a word is no id: `/boats/7` and `/boats/nearest` answer with a boat.
            const isNoId = isOfThings && isProgramWord(word) && siblings.some(({ segments }) => isCounted(segments[place]));
            const beside = isNoId ? values.filter(({ segments }) => !isCounted(segments[place])) : values;
            if (areAlike(words.get(word), beside, place) || (isOfThings && !isNoId && alike.length > 0)) varying.add(word);
            else if (isBelowValue && alike.length > 0 && areFiles([word, ...alike])) varying.add(word);
            else if (
                alike.some(isArticle) &&
                isArticle(word) &&
                arePages(words.get(word)) &&
                words.get(word)?.every((group) => isLast(group, place))
            )
                varying.add(word);
            else if (/.\.html?$/.test(word) && [...varying].some((other) => /.\.html?$/.test(other))) varying.add(word);
            else if (alike.length >= 2 && [word, ...alike].filter((one) => !/^[a-z]+$/.test(one)).length > alike.length / 2)
                varying.add(word);
        }
    }
}

function arePages(groups: readonly Group[] = []): boolean {
    return groups.every(({ method, answers }) => method === 'GET' && answers.html > 0);
}

/** The words that ids follow. */
export function kindsIn(groups: readonly Group[]): Set<string> {
    return new Set(
        groups.flatMap(({ segments }) =>
            segments.flatMap(({ form, core }, place) => (form === 'word' && isCounted(segments[place + 1]) ? [core] : [])),
        ),
    );
}

/** Whether a program gave the thing its id. */
function isCounted(piece: Piece | undefined): boolean {
    return piece !== undefined && /^(?:number|uuid|hash)$/.test(piece.form) && piece.prefix === '' && piece.suffix === '';
}

function isKeyed(piece: Piece | undefined): boolean {
    return piece?.prefix.includes('(') === true;
}

function nameOf(piece: Piece | undefined): string {
    return piece?.form === 'file' || piece?.form === 'slug' ? `${piece.core}${piece.suffix}` : '';
}

/** The segment before a place. The language of a page is none: what stands behind it stands at the root in other sites. */
function parentOf(group: Group | undefined, place: number): Piece | undefined {
    const before = place === 0 ? undefined : group?.segments[place - 1];
    return before?.form === 'locale' ? parentOf(group, place - 1) : before;
}
