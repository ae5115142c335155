import { percentDecode } from '../../shared/domain/text/percent-decode.ts';
import { shared } from './dispatch.ts';
import { type Group, mergeGroups } from './groups.ts';
import type { SeenTexts } from './seen-texts.ts';
import { isApiRoot, isLanguage, isPlural, isRouteWord, looksRandom, type Piece, precedesPerson, precedesSearchTerm } from './segments.ts';
import { featuresOf } from './shape.ts';

/**
 * Finds varying segments that look like words (`/packages/lodash`, `/packages/react`) and merges the groups that are one route. A word
 * varies if the site also sent it as a value, if it follows a search or names a person, or if its siblings below a plural (`/posts/…`) have
 * similar responses. Usual words of routes never vary. What is found for one method applies to all methods.
 */
export function foldGroups(groups: Iterable<Group>, seen: SeenTexts): Group[] {
    const all = [...groups];
    for (const origin of new Set(all.map((group) => group.origin))) {
        const own = all.filter((group) => group.origin === origin);
        const names = new Set<string>();
        foldBelow(own, 0, { seen, names });
        // A name that varies in one place is a name in the others too.
        if (names.size > 0) foldBelow(own, 0, { seen, names });
    }
    return joinSame(all);
}

interface Evidence {
    seen: SeenTexts;
    /** Words that were found to vary below another value, such as the files of a repository. */
    names: Set<string>;
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
        if (piece?.form === 'word' && varying.has(piece.core)) group.segments[place] = asValue(piece.core, suffix);
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
    { seen, names }: Evidence,
): Set<string> {
    const parent = parentOf([...words.values()][0]?.[0] ?? siblings[0], place);
    const isBelowValue = parent !== undefined && isVarying(parent);
    const isFolder = isBelowValue && ([...words.keys()].some(isFileName) || siblings.some(({ segments }) => isFile(segments[place])));
    const candidates = [...words.keys()].filter((word) => word !== '' && (isFolder || !isUsual(word, place)));
    const varying = new Set<string>(isBelowValue ? candidates.filter((word) => names.has(word)) : []);
    for (const [word, groups] of words) if (areMembers(word, groups, parent, place)) varying.add(word);
    const languages = candidates.filter(isLanguage);
    // Unless at least half of the words are languages, the languages are treated as other words.
    const isMostly = languages.length > 1 && languages.length * 2 >= candidates.length;
    if (isMostly || siblings.some((group) => group.segments[place]?.form === 'locale')) for (const word of languages) varying.add(word);
    const wasValue = (word: string) => seen.wasSaid(percentDecode(word));
    const isRoot = parent === undefined || (parent.form === 'word' && isApiRoot(parent.core));
    for (const word of candidates) {
        const isAfterSearch = parent?.form === 'word' && (precedesSearchTerm(parent.core) || precedesPerson(parent.core));
        if (isAfterSearch || parent?.prefix === '@' || isValueWithNext(words.get(word) ?? [], place, seen)) varying.add(word);
        else if (/^_[a-z]/.test(word)) continue;
        else if (
            seen.wasName(percentDecode(word)) ||
            (!isRoot && wasValue(word) && isMember(words.get(word) ?? [], parent, place, varying.size + siblings.length))
        )
            varying.add(word);
    }
    for (const word of withSameParams(words, candidates, parent, place)) varying.add(word);
    for (const word of withSameViews(words, candidates, place)) varying.add(word);
    // At the root, a single word that also occurred as a value is weak evidence.
    const values = isRoot ? candidates.filter(wasValue) : [];
    for (const word of values)
        if (values.slice(0, MAX_COMPARED).some((other) => other !== word && areAlike(words.get(word), words.get(other), place)))
            varying.add(word);
    if (isRoot) return varying;
    // Thousands of names below one parent are compared with a sample of them.
    const compared = candidates.slice(0, MAX_COMPARED);
    const isOfThings = parent?.form === 'word' && isPlural(parent.core);
    // What is like a name that was found is a name too.
    for (let before = -1; before < varying.size; ) {
        before = varying.size;
        const known = [...siblings, ...[...varying].flatMap((word) => words.get(word) ?? [])].slice(0, MAX_COMPARED);
        for (const word of candidates) {
            if (varying.has(word)) continue;
            const alike = compared.filter((other) => other !== word && areAlike(words.get(word), words.get(other), place));
            const areNames = alike.length > 0 && [word, ...alike].every(isFileName);
            if (areAlike(words.get(word), known, place) || (isOfThings && alike.length > 0)) varying.add(word);
            else if (isBelowValue && (areNames || (alike.length > 0 && known.length > 0))) varying.add(word);
            else if (alike.length >= 2 && [word, ...alike].filter((one) => !/^[a-z]+$/.test(one)).length > alike.length / 2)
                varying.add(word);
            else if (looksRandom(word) && alike.some(looksRandom)) varying.add(word);
        }
    }
    if (isBelowValue) for (const word of varying) names.add(word);
    return varying;
}

/**
 * Responses contain many words, such as `local` and `default`. Such a word in the middle of a path is a value only below a plural or beside
 * other values.
 */
function isMember(groups: readonly Group[], parent: Piece | undefined, place: number, beside: number): boolean {
    const isLast = groups.some(({ segments }) => segments.length === place + 1);
    return isLast || beside > 0 || parent?.form !== 'word' || isPlural(parent.core);
}

/** Three or more words below a plural whose requests have the same params, and lists or none as answers, such as `/locales/…?lng=`. */
function withSameParams(
    words: ReadonlyMap<string, readonly Group[]>,
    candidates: readonly string[],
    parent: Piece | undefined,
    place: number,
): string[] {
    if (parent?.form !== 'word' || !isPlural(parent.core)) return [];
    const byParams = new Map<string, string[]>();
    for (const word of candidates) {
        const groups = words.get(word) ?? [];
        const isLeaf = groups.every(({ method, segments }) => method === 'GET' && segments.length === place + 1);
        const params = [...new Set(groups.flatMap(({ query }) => [...query.keys()]))].sort().join(' ');
        const isList = groups.some(({ shape }) => shape.arrays > 0);
        if (isLeaf && params !== '') byParams.set(`${params} ${isList}`, [...(byParams.get(`${params} ${isList}`) ?? []), word]);
    }
    return [...byParams.values()].filter((alike) => alike.length >= 3).flat();
}

/** Whether a word is part of routes on many sites. */
function isUsual(word: string, place: number): boolean {
    return isRouteWord(word) || (isApiRoot(word) && place < 3);
}

function isFile(piece: Piece | undefined): boolean {
    return piece !== undefined && isVarying(piece) && isFileName(`${piece.core}${piece.suffix}`);
}

/** A file without a suffix is often written in capitals (`README`). */
function isFileName(word: string): boolean {
    return /^[A-Z]{4,}$|.\.[a-z]{2,5}$/.test(word);
}

const MIN_VIEWS = 4;

/**
 * Words whose pages below have the same addresses and look alike, such as `/harbour/tags`, `/harbour/branches` … and `/tides/tags`,
 * `/tides/branches` …: they name things, each with the same views.
 */
function withSameViews(words: ReadonlyMap<string, readonly Group[]>, candidates: readonly string[], place: number): string[] {
    const views = candidates.slice(0, MAX_COMPARED).map((word) => ({ word, below: viewsOf(words.get(word) ?? [], place) }));
    return views.flatMap(({ word, below }) => {
        const hasTwin = views.some((other) => {
            if (other.word === word || shared(new Set(below.keys()), new Set(other.below.keys())) < MIN_JSON_SIMILARITY) return false;
            const common = [...below].filter(([view]) => other.below.has(view));
            const alike = common.filter(([view, group]) => areAlike([group], [other.below.get(view) as Group], place));
            return alike.length >= MIN_VIEWS && alike.length >= common.length / 2;
        });
        return hasTwin ? [word] : [];
    });
}

/** The groups below a word whose addresses continue with a word. */
function viewsOf(groups: readonly Group[], place: number): Map<string, Group> {
    const below = groups.filter(({ segments }) => segments[place + 1]?.form === 'word' && segments[place + 1]?.core !== '');
    return new Map(
        below.map((group) => [
            `${group.method} ${group.segments
                .slice(place + 1)
                .map(textOf)
                .join('/')}`,
            group,
        ]),
    );
}

function parentOf(group: Group | undefined, place: number): Piece | undefined {
    return place === 0 ? undefined : group?.segments[place - 1];
}

/** A PUT, PATCH or DELETE below a plural targets one item, whatever its segment looks like. */
function areMembers(word: string, groups: readonly Group[], parent: Piece | undefined, place: number): boolean {
    if (parent?.form !== 'word' || !isPlural(parent.core) || NO_MEMBERS.test(word)) return false;
    return groups.some(({ method, segments }) => /^(?:PUT|PATCH|DELETE)$/.test(method) && segments.length === place + 1);
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

function areAlike(some: readonly Group[] | undefined, others: readonly Group[] | undefined, place: number): boolean {
    return (some ?? []).some((one) => (others ?? []).some((other) => one !== other && areOneRoute(one, other, place)));
}

const MAX_COMPARED = 50;

/** Responses at least this similar belong to one route. */
const MIN_JSON_SIMILARITY = 0.6;
const MIN_PAGE_SIMILARITY = 0.7;

function areOneRoute(one: Group, other: Group, place: number): boolean {
    if (one.method !== other.method || one.segments.length !== other.segments.length) return false;
    if (one.segments.slice(place + 1).some((piece, index) => textOf(piece) !== textOf(other.segments[place + 1 + index]))) return false;
    if (one.answers.json > 0 && other.answers.json > 0) {
        const [a, b] = [knownFeatures(one), knownFeatures(other)];
        return a.size > 1 && b.size > 1 && shared(a, b) >= MIN_JSON_SIMILARITY;
    }
    if (one.skeleton.size + other.skeleton.size === 0 && one.answers.text > 0 && other.answers.text > 0)
        return one.segments.length > place + 1 && other.segments[place]?.form !== 'word';
    return one.skeleton.size > 20 && other.skeleton.size > 20 && shared(one.skeleton, other.skeleton) >= MIN_PAGE_SIMILARITY;
}

const features = new WeakMap<Group, Set<string>>();

function knownFeatures(group: Group): Set<string> {
    const known = features.get(group) ?? featuresOf(group.shape);
    features.set(group, known);
    return known;
}

/** A path segment as it appears in a route template. */
export function textOf(piece: Piece | undefined): string {
    if (piece === undefined) return '';
    return piece.form === 'word' ? piece.core : `${piece.prefix}{}${piece.suffix}`;
}

/** Whether a segment contains a value instead of a word of the route. */
export function isVarying({ form }: Piece): boolean {
    return form !== 'word';
}

/** Merges the groups of the same route. Responses without a body join the group whose responses have one. */
function joinSame(groups: readonly Group[]): Group[] {
    const joined = new Map<string, Group[]>();
    for (const group of groups) {
        const key = `${group.method} ${group.origin}/${group.segments.map(textOf).join('/')} ${JSON.stringify(group.dispatch)} ${group.operation?.key ?? ''}`;
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
