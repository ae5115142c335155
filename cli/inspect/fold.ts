import { percentDecode } from '../../shared/domain/text/percent-decode.ts';
import { areAlike, MAX_COMPARED, MIN_JSON_SIMILARITY } from './alike.ts';
import { shared } from './dispatch.ts';
import { type Group, mergeGroups } from './groups.ts';
import { isVerb } from './operation.ts';
import type { SeenTexts } from './seen-texts.ts';
import {
    isApiRoot,
    isLanguage,
    isPlural,
    isRouteWord,
    isVarying,
    type Piece,
    PROGRAM_SUFFIX,
    precedesPerson,
    precedesSearchTerm,
    textOf,
} from './segments.ts';
import type { SiteTexts } from './site-texts.ts';
import { listedNames, namesBelowViews, pathTo, thingOf, withSameViews } from './views.ts';

/**
 * Finds varying segments that look like words (`/packages/lodash`, `/packages/react`) and merges the groups that are one route. A word
 * varies
 * - if the site also sent it as a value, if it follows a search or names a person;
 * - if it is read and written in the same ways as another word, with the same fields;
 * - if queries have it as a value, and another such word has the same names below it;
 * - if its siblings below a plural (`/posts/…`), or the values beside it, have similar responses, or the same params three times;
 * - if a PUT, PATCH or DELETE names it, below a plural or beside values;
 * - if a page lists it by its name, beside another name with the same pages below it (`/harbour/tags`, `/lighthouse/tags`);
 * - if it is the name of a file below a value, beside other files with similar responses, or below another view of the same thing
 *   (`/log/{rev}/README`, `/diff/{rev}/README`);
 * - if a page lists it by its name and three views have it (`/log/README`, `/tree/README`, `/blame/README`).
 * Usual words of routes vary only among such files and in writes. What is found for one method applies to all methods.
 */
export function foldGroups(groups: Iterable<Group>, { seen, texts }: { seen: SeenTexts; texts: SiteTexts }): Group[] {
    const all = [...groups];
    for (const origin of new Set(all.map((group) => group.origin))) {
        const own = all.filter((group) => group.origin === origin);
        const listed = listedNames(texts, origin);
        const evidence = { seen, listed, viewed: namesBelowViews(own, listed), files: new Map() };
        foldBelow(own, 0, evidence);
    }
    return joinSame(all);
}

interface Evidence {
    seen: SeenTexts;
    /** Addresses whose last segment a page right above them shows as the text of a link. */
    listed: ReadonlySet<string>;
    /** Addresses of listed names that several views have (`/log/README`, `/tree/README`). */
    viewed: ReadonlySet<string>;
    /** The files that were found below a value, by the route of the thing that has them. */
    files: Map<string, Set<string>>;
}

/** All `groups` have the same segments before `place`. */
function foldBelow(groups: readonly Group[], place: number, evidence: Evidence): void {
    const here = groups.filter((group) => group.segments.length > place);
    if (here.length === 0) return;
    const words = new Map<string, Group[]>();
    for (const group of here) {
        const piece = group.segments[place];
        if (piece?.form === 'word') words.set(piece.core, [...(words.get(piece.core) ?? []), group]);
    }
    const siblings = here.filter((group) => group.segments[place]?.form !== 'word');
    const varying = varyingWords(words, siblings, place, evidence);
    const suffix = sharedSuffix([...varying]);
    for (const group of here) {
        const piece = group.segments[place];
        if (piece?.form === 'word' && varying.has(piece.core))
            group.segments[place] = asValue(piece.core, DATA.exec(piece.core)?.[0] ?? suffix);
    }
    for (const [, below] of Map.groupBy(here, (group) => textOf(group.segments[place]))) foldBelow(below, place + 1, evidence);
}

/** The segment of a value that looks like a word. */
function asValue(text: string, suffix: string): Piece {
    const core = text.slice(0, text.length - suffix.length);
    return { form: isLanguage(text) ? 'locale' : 'slug', prefix: '', core, suffix };
}

/** The format that the pages of a folder end in, such as `.html`; '' if they differ. Other names end as their owner chose. */
function sharedSuffix(values: readonly string[]): string {
    const suffix = /.(\.html?)$/.exec(values[0] ?? '')?.[1] ?? '';
    return values.length > 1 && values.every((value) => value.endsWith(suffix)) ? suffix : '';
}

function varyingWords(
    words: ReadonlyMap<string, readonly Group[]>,
    siblings: readonly Group[],
    place: number,
    { seen, listed, viewed, files }: Evidence,
): Set<string> {
    const first = [...words.values()][0]?.[0] ?? siblings[0];
    const parent = parentOf(first, place);
    const isBelowValue = parent !== undefined && isVarying(parent);
    // Where keys stand in parentheses, words are kinds of things and their parts.
    if (isKeyed(parent) || siblings.some(({ segments }) => isKeyed(segments[place]))) return new Set();
    if (areMethods(words, place) && ![...words.keys()].some((word) => seen.wasName(percentDecode(word)))) return new Set();
    const thing = isBelowValue ? thingOf(first, place) : undefined;
    const known = files.get(thing ?? '');
    const names = [...words.keys(), ...siblings.map(({ segments }) => nameOf(segments[place]))].filter(isFileName);
    const isFolder = isBelowValue && (areFiles(names) || names.some((name) => known?.has(name)));
    // Programs mark their own addresses beside those of things with `_` or `$` (`/_all_docs`, `/$metadata`).
    const candidates = [...words.keys()].filter(
        (word) =>
            word !== '' &&
            !/^[_$][a-z]/.test(word) &&
            (isFolder || !(isUsual(word, place) || PROGRAM_SUFFIX.test(word))) &&
            !namesApi(words.get(word) ?? [], parent, place),
    );
    const varying = new Set<string>(candidates.filter((word) => known?.has(word)));
    // What is done with one of the things is done with all of them (`/queues/{queue}/pause`, `/queues/pause`).
    const deeds = new Set(
        [...siblings, ...[...words.values()].flat()].filter((group) => isLast(group, place + 1)).map((group) => deedOf(group, place + 1)),
    );
    const isOfThings = parent?.form === 'word' && isPlural(parent.core);
    const written = [...words].filter(
        ([word, groups]) => isWritten(word, groups, place) && !groups.some((group) => deeds.has(deedOf(group, place))),
    );
    if (isOfThings) for (const [word] of written) varying.add(word);
    const languages = candidates.filter(isLanguage);
    // Unless at least half of the words are languages, the languages are treated as other words.
    const isMostly = languages.length > 1 && languages.length * 2 >= candidates.length;
    if (isMostly || siblings.some((group) => group.segments[place]?.form === 'locale')) for (const word of languages) varying.add(word);
    // What each of several things has, and nothing else, is a view of them.
    const isOnly =
        isBelowValue &&
        !siblings.some((group) => isLast(group, place)) &&
        new Set([...words.keys()].map(withoutData)).size === 1 &&
        [...words.values()].flat().every((group) => group.sendings > 1 && isLast(group, place));
    const wasValue = (word: string) => seen.wasSaid(withoutData(percentDecode(word)));
    const sent = candidates.filter((word) => seen.wasSent(percentDecode(word))).slice(0, MAX_COMPARED);
    const isRoot = parent === undefined || (parent.form === 'word' && isApiRoot(parent.core));
    // What stands before everything else of an API is a part of it, be it called as somebody is (`/api/admin/…`).
    const isPart = isRoot && parent !== undefined && words.size + siblings.length === 1;
    for (const word of candidates) {
        const isTerm = parent?.form === 'word' && precedesSearchTerm(parent.core) && !(words.get(word) ?? []).some(sendsSearchTerm);
        const isAfterSearch =
            isTerm || (parent?.form === 'word' && precedesPerson(parent.core) && !/\.html?$/.test(word) && (isOfThings || !isPlural(word)));
        if (isAfterSearch || isValueWithNext(words.get(word) ?? [], place, seen)) varying.add(word);
        else if (
            (seen.wasName(percentDecode(word)) && !isPart) ||
            (!isRoot &&
                !isOnly &&
                wasValue(word) &&
                !(isBelowValue && isDeed(words.get(word) ?? [], place) && !sent.includes(word)) &&
                isMember(words.get(word) ?? [], parent, place, varying.size + siblings.length))
        )
            varying.add(word);
    }
    for (const word of withSameBelow(words, sent, place)) varying.add(word);
    for (const word of withSameRequests(words, candidates, place)) varying.add(word);
    for (const word of withSameParams(words, candidates, parent, place)) varying.add(word);
    for (const word of withSameViews(words, candidates, place, listed)) varying.add(word);
    for (const word of candidates) if ((words.get(word) ?? []).some((group) => viewed.has(pathTo(group, place)))) varying.add(word);
    // At the root, a single word that also occurred as a value is weak evidence.
    const said = isRoot ? candidates.filter(wasValue) : [];
    for (const word of said)
        if (said.slice(0, MAX_COMPARED).some((other) => other !== word && areAlike(words.get(word), words.get(other), place)))
            varying.add(word);
    if (isRoot) return varying;
    // Who writes beside values writes a value (`PUT /files/{file}`, `PUT /files/notes`). Behind a thing it may be what is done with it.
    const isBesideValues = varying.size + siblings.length > 0 || isBelowValue;
    if (isBesideValues)
        for (const [word, groups] of written)
            if (!isBelowValue || isFileName(word) || written.some(([other, more]) => other !== word && areAlike(groups, more, place)))
                varying.add(word);
    // Thousands of names below one parent are compared with a sample of them.
    const compared = candidates.slice(0, MAX_COMPARED);
    // What is like a name that was found is a name too.
    for (let before = -1; before < varying.size; ) {
        before = varying.size;
        const values = [...siblings, ...[...varying].flatMap((word) => words.get(word) ?? [])].slice(0, MAX_COMPARED);
        for (const word of candidates) {
            if (varying.has(word)) continue;
            const alike = compared.filter((other) => other !== word && areAlike(words.get(word), words.get(other), place));
            if (areAlike(words.get(word), values, place) || (isOfThings && alike.length > 0)) varying.add(word);
            else if (isBelowValue && alike.length > 0 && areFiles([word, ...alike])) varying.add(word);
            else if (/.\.html?$/.test(word) && [...varying].some((other) => /.\.html?$/.test(other))) varying.add(word);
            else if (alike.length >= 2 && [word, ...alike].filter((one) => !/^[a-z]+$/.test(one)).length > alike.length / 2)
                varying.add(word);
        }
    }
    const found = [...varying].filter(isFileName);
    if (thing !== undefined && found.length > 0) files.set(thing, new Set([...(known ?? []), ...found]));
    return varying;
}

/** A page and its data have one name. */
function withoutData(word: string): string {
    return word.replace(DATA, '');
}

const DATA = /\.data$/;

function isKeyed(piece: Piece | undefined): boolean {
    return piece?.prefix.includes('(') === true;
}

function isLast({ segments }: Group, place: number): boolean {
    return segments.length === place + 1;
}

function deedOf({ method, segments }: Group, place: number): string {
    return `${method} ${textOf(segments[place])}`;
}

/** Whether a word is only posted to, behind a thing: it says what to do with it (`/tickets/{id}/comment`), whatever answers say. */
function isDeed(groups: readonly Group[], place: number): boolean {
    return groups.every((group) => group.method === 'POST' && isLast(group, place));
}

/** Whether words are the methods of one service: three at least, that are only posted to, and some take other fields than others. */
function areMethods(words: ReadonlyMap<string, readonly Group[]>, place: number): boolean {
    const all = [...words.values()];
    if (all.length < MIN_METHODS || !all.every((groups) => isDeed(groups, place))) return false;
    return new Set(all.map(([group]) => [...(group?.body?.fields.keys() ?? [])].sort().join(' '))).size > 1;
}

const MIN_METHODS = 3;

/**
 * Responses contain many words, such as `local` and `default`. Such a word in the middle of a path is a value only below a plural or beside
 * other values.
 */
function isMember(groups: readonly Group[], parent: Piece | undefined, place: number, beside: number): boolean {
    return groups.some((group) => isLast(group, place)) || beside > 0 || parent?.form !== 'word' || isPlural(parent.core);
}

/**
 * Words that queries have as values, and below which are the same names, two at least. Kinds of things have the same names below them too;
 * they are plurals.
 */
function withSameBelow(words: ReadonlyMap<string, readonly Group[]>, sent: readonly string[], place: number): string[] {
    const below = sent.map((word) => ({ word, names: new Set((words.get(word) ?? []).flatMap((group) => namesBelow(group, place))) }));
    const found = below.filter(({ word, names }) =>
        below.some((other) => other.word !== word && names.size > 1 && shared(names, other.names) >= MIN_JSON_SIMILARITY),
    );
    return found.every(({ word }) => isPlural(word)) ? [] : found.map(({ word }) => word);
}

function namesBelow({ segments }: Group, place: number): string[] {
    const below = segments.slice(place + 1);
    return below.some(({ form, core }) => form === 'word' && core !== '') ? [below.map(textOf).join('/')] : [];
}

/**
 * Words that are used in the same ways: two requests at least, one of them a write to the word itself, have the same method, the same address
 * behind the word and the same fields of the body, and what answers is alike. Kinds of things are used in the same ways too; they are plurals.
 */
function withSameRequests(words: ReadonlyMap<string, readonly Group[]>, candidates: readonly string[], place: number): string[] {
    const used = candidates
        .filter((word) => !isPlural(word) || isWritten(word, words.get(word) ?? [], place))
        .slice(0, MAX_COMPARED)
        .map((word) => ({ word, requests: new Map((words.get(word) ?? []).map((group) => [requestOf(group, place), group])) }));
    const found = used.filter((one) => used.some((other) => other !== one && areUsedAlike(one.requests, other.requests, place)));
    return found.map(({ word }) => word);
}

function requestOf({ method, segments, dispatch, operation, body, form }: Group, place: number): string {
    const fields = method === 'GET' ? [] : [...new Set([...(body?.fields.keys() ?? []), ...(form?.fields.keys() ?? [])])].sort();
    return JSON.stringify([method, segments.slice(place + 1).map(textOf), dispatch, operation?.key, fields]);
}

function areUsedAlike(some: ReadonlyMap<string, Group>, others: ReadonlyMap<string, Group>, place: number): boolean {
    const common = [...some].filter(([request]) => others.has(request));
    if (common.length < 2 || shared(new Set(some.keys()), new Set(others.keys())) < MIN_JSON_SIMILARITY) return false;
    const pairs = common.map(([request, group]) => [group, others.get(request) as Group] as const);
    const answered = pairs.filter((pair) => pair.every(({ shape, skeleton }) => shape.objects + shape.arrays > 0 || skeleton.size > 20));
    const alike = answered.filter(([one, other]) => areAlike([one], [other], place));
    return alike.length * 2 >= answered.length && pairs.some(([group]) => group.method !== 'GET' && isLast(group, place));
}

/**
 * Three or more words below a plural whose requests have the same params and whose answers are of one kind: lists, objects or others. Such
 * as `/locales/…?lng=`.
 */
function withSameParams(
    words: ReadonlyMap<string, readonly Group[]>,
    candidates: readonly string[],
    parent: Piece | undefined,
    place: number,
): string[] {
    if (parent?.form !== 'word' || !isPlural(parent.core)) return [];
    const byParams = Map.groupBy(candidates, (word) => {
        const groups = words.get(word) ?? [];
        const isLeaf = groups.every(({ method, segments }) => method === 'GET' && segments.length === place + 1);
        const params = [...new Set(groups.flatMap(({ query }) => [...query.keys()]))].sort().join(' ');
        return isLeaf && params !== '' ? `${params} ${kindOf(groups)}` : '';
    });
    byParams.delete('');
    return [...byParams.values()].filter((alike) => alike.length >= 3).flat();
}

function kindOf(groups: readonly Group[]): string {
    if (groups.some(({ shape }) => shape.arrays > 0)) return 'list';
    return groups.some(({ shape }) => shape.objects > 0) ? 'object' : '';
}

/** Whether one version follows the word everywhere, below the root of an API: `/wp-json/wp/v2/posts`. Then it names a part of the API. */
function namesApi(groups: readonly Group[], parent: Piece | undefined, place: number): boolean {
    if (parent?.form !== 'word' || !parent.core.split('-').some(isApiRoot)) return false;
    const isVersioned = groups.every(({ segments }) => segments.length > place + 2 && VERSION.test(segments[place + 1]?.core ?? ''));
    return isVersioned && new Set(groups.map(({ segments }) => segments[place + 1]?.core)).size === 1;
}

const VERSION = /^(?:v\d{1,2}(?:\.\d{1,2})*|\d{1,2}(?:\.\d{1,2}){1,2})$/;

/** Whether a word is part of routes on many sites. */
function isUsual(word: string, place: number): boolean {
    return ((isRouteWord(word) || isVerb(word)) && !isFileName(word)) || (isApiRoot(word) && place < 3);
}

function nameOf(piece: Piece | undefined): string {
    return piece?.form === 'file' || piece?.form === 'slug' ? `${piece.core}${piece.suffix}` : '';
}

/** A file without a suffix is often written in capitals (`README`). */
function isFileName(word: string): boolean {
    return /^[A-Z]{4,}$|.\.[a-z]{1,5}$/.test(word);
}

/** Whether words are files that people named: some have no suffix, or they have several. The views of a program share one (`edit.php`). */
function areFiles(words: readonly string[]): boolean {
    const suffixes = new Set(words.map((word) => /\.[a-z]+$/.exec(word)?.[0]));
    return words.every(isFileName) && (suffixes.has(undefined) || suffixes.size > 1);
}

function parentOf(group: Group | undefined, place: number): Piece | undefined {
    return place === 0 ? undefined : group?.segments[place - 1];
}

/** Whether the term of a search is in the query. Then the path says what is searched (`/search/boats?q=`). */
function sendsSearchTerm({ query }: Group): boolean {
    return [...query.keys()].some((name) => /^(?:q|query|search|term|keywords?)$/i.test(name));
}

/** Whether a PUT, PATCH or DELETE targets the word itself. Forms say the method in a field. */
function isWritten(word: string, groups: readonly Group[], place: number): boolean {
    const methodOf = ({ method, operation }: Group) => (operation?.protocol === 'override' ? operation.name : method);
    return !NO_MEMBERS.test(word) && groups.some((group) => /^(?:PUT|PATCH|DELETE)$/.test(methodOf(group)) && isLast(group, place));
}

const NO_MEMBERS =
    /^(?:|me|self|current|all|bulk|batch|settings|preferences|options|password|status|state|avatar|image|photo|order|read)$/i;

/** Whether the segment is half of a two-segment name such as `owner/repository`. */
function isValueWithNext(groups: readonly Group[], place: number, seen: SeenTexts): boolean {
    return groups.some(({ segments }) => {
        const [before, here, next] = [segments[place - 1], segments[place], segments[place + 1]];
        const isPair = (first: Piece | undefined, second: Piece | undefined) =>
            first !== undefined &&
            second !== undefined &&
            seen.wasSaid(`${first.prefix}${percentDecode(first.core)}/${percentDecode(second.core)}`);
        return isPair(here, next) || isPair(before, here);
    });
}

/** Merges the groups of the same route. Responses without a body join the group whose responses have one. */
function joinSame(groups: readonly Group[]): Group[] {
    const joined = new Map<string, Group[]>();
    for (const group of groups) {
        const key = `${group.method} ${group.origin}/${group.segments.map(textOf).join('/')} ${JSON.stringify([group.dispatch, group.selector])} ${group.operation?.key ?? ''}`;
        const routes = joined.get(key) ?? [];
        const same = routes.find((route) => sortOf(route) === sortOf(group) || sortOf(group) === 'none' || sortOf(route) === 'none');
        if (same === undefined) routes.push(group);
        else mergeGroups(same, group);
        joined.set(key, routes);
    }
    return [...joined.values()].flat();
}

function sortOf({ answers }: Group): string {
    if (answers.json > 0) return 'json';
    if (answers.html > 0) return 'html';
    return answers.text > 0 ? 'text' : 'none';
}
