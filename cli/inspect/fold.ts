import { percentDecode } from '../../shared/domain/text/percent-decode.ts';
import { shared } from './dispatch.ts';
import { type Group, mergeGroups } from './groups.ts';
import type { SeenTexts } from './seen-texts.ts';
import { isApiRoot, isLanguage, isPlural, isRouteWord, type Piece, precedesPerson, precedesSearchTerm } from './segments.ts';
import { featuresOf } from './shape.ts';

/**
 * Finds the segments that vary although their form does not say so (`/packages/lodash`, `/packages/react`), and joins the groups that
 * thereby are one route. A word varies where the site itself gave it as a value, where it follows a search or names somebody, or
 * where things of one kind (`/posts/…`) answer alike; words that routes are made of everywhere stay. What holds for one method
 * holds for all of them.
 */
export function foldGroups(groups: Iterable<Group>, seen: SeenTexts): Group[] {
    const all = [...groups];
    for (const origin of new Set(all.map((group) => group.origin)))
        foldBelow(
            all.filter((group) => group.origin === origin),
            0,
            seen,
        );
    return joinSame(all);
}

/** `groups` have the same pieces before `place`. */
function foldBelow(groups: readonly Group[], place: number, seen: SeenTexts): void {
    const here = groups.filter((group) => group.segments.length > place);
    if (here.length === 0) return;
    const words = new Map<string, Group[]>();
    for (const group of here) {
        const piece = group.segments[place];
        if (piece?.form === 'word') words.set(piece.core, [...(words.get(piece.core) ?? []), group]);
    }
    const siblings = here.filter((group) => group.segments[place]?.form !== 'word');
    const varying = varyingWords(words, siblings, place, seen);
    for (const group of here) {
        const piece = group.segments[place];
        if (piece?.form === 'word' && varying.has(piece.core))
            group.segments[place] = { form: isLanguage(piece.core) ? 'locale' : 'slug', prefix: '', core: piece.core, suffix: '' };
    }
    for (const [, below] of Map.groupBy(here, (group) => textOf(group.segments[place]))) foldBelow(below, place + 1, seen);
}

function varyingWords(
    words: ReadonlyMap<string, readonly Group[]>,
    siblings: readonly Group[],
    place: number,
    seen: SeenTexts,
): Set<string> {
    const parent = parentOf([...words.values()][0]?.[0] ?? siblings[0], place);
    const open = [...words.keys()].filter((word) => word !== '' && !isRouteWord(word) && !(isApiRoot(word) && place < 3));
    const varying = new Set<string>();
    for (const [word, groups] of words) if (areMembers(word, groups, parent, place)) varying.add(word);
    const languages = open.filter(isLanguage);
    // Where most are none, they are words like the others.
    const isMostly = languages.length > 1 && languages.length * 2 >= open.length;
    if (isMostly || siblings.some((group) => group.segments[place]?.form === 'locale')) for (const word of languages) varying.add(word);
    const wasValue = (word: string) => seen.wasSaid(percentDecode(word));
    const isRoot = parent === undefined || (parent.form === 'word' && isApiRoot(parent.core));
    for (const word of open) {
        const isAfterSearch = parent?.form === 'word' && (precedesSearchTerm(parent.core) || precedesPerson(parent.core));
        if (isAfterSearch || parent?.prefix === '@' || isValueWithNext(words.get(word) ?? [], place, seen)) varying.add(word);
        else if (
            seen.wasName(percentDecode(word)) ||
            (!isRoot && wasValue(word) && isMember(words.get(word) ?? [], parent, place, varying.size + siblings.length))
        )
            varying.add(word);
    }
    for (const word of likeFiles(words, open, parent, place)) varying.add(word);
    // Right below the beginning a single word that was also a value proves little.
    const values = isRoot ? open.filter(wasValue) : [];
    for (const word of values)
        if (values.slice(0, MAX_COMPARED).some((other) => other !== word && areAlike(words.get(word), words.get(other), place)))
            varying.add(word);
    if (isRoot) return varying;
    const known = [...siblings, ...[...varying].flatMap((word) => words.get(word) ?? [])].slice(0, MAX_COMPARED);
    // Thousands of names below one parent are checked by a few of them.
    const compared = open.slice(0, MAX_COMPARED);
    const isOfThings = parent?.form === 'word' && isPlural(parent.core);
    for (const word of open) {
        if (varying.has(word)) continue;
        const alike = compared.filter((other) => other !== word && areAlike(words.get(word), words.get(other), place));
        const isLikeKnown = areAlike(words.get(word), known, place);
        if (isLikeKnown || (isOfThings && alike.length > 0)) varying.add(word);
        else if (alike.length >= 2 && [word, ...alike].filter((one) => !/^[a-z]+$/.test(one)).length > alike.length / 2) varying.add(word);
    }
    return varying;
}

/**
 * Answers say many words, `local` and `default` among them. One in the middle of a path is a value only below the name of a collection or
 * beside other values.
 */
function isMember(groups: readonly Group[], parent: Piece | undefined, place: number, beside: number): boolean {
    const isLast = groups.some(({ segments }) => segments.length === place + 1);
    return isLast || beside > 0 || parent?.form !== 'word' || isPlural(parent.core);
}

/** Three or more of one collection that are all asked for with the same params, such as `/locales/…?lng=`. */
function likeFiles(
    words: ReadonlyMap<string, readonly Group[]>,
    open: readonly string[],
    parent: Piece | undefined,
    place: number,
): string[] {
    if (parent?.form !== 'word' || !isPlural(parent.core)) return [];
    const byParams = new Map<string, string[]>();
    for (const word of open) {
        const groups = words.get(word) ?? [];
        const isLeaf = groups.every(({ method, segments }) => method === 'GET' && segments.length === place + 1);
        const params = [...new Set(groups.flatMap(({ query }) => [...query.keys()]))].sort().join(' ');
        if (isLeaf && params !== '') byParams.set(params, [...(byParams.get(params) ?? []), word]);
    }
    return [...byParams.values()].filter((alike) => alike.length >= 3).flat();
}

function parentOf(group: Group | undefined, place: number): Piece | undefined {
    return place === 0 ? undefined : group?.segments[place - 1];
}

/** A PUT, PATCH or DELETE below a collection targets one of its members, whatever the segment looks like. */
function areMembers(word: string, groups: readonly Group[], parent: Piece | undefined, place: number): boolean {
    if (parent?.form !== 'word' || !isPlural(parent.core) || NO_MEMBERS.test(word)) return false;
    return groups.some(({ method, segments }) => /^(?:PUT|PATCH|DELETE)$/.test(method) && segments.length === place + 1);
}

const NO_MEMBERS =
    /^(?:|me|self|current|all|bulk|batch|settings|preferences|options|password|status|state|avatar|image|photo|order|read)$/i;

/** Names such as `owner/repository` are one value in two segments. */
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

/** Enough in common to have come from one route, if they stood at one address. */
const ALIKE_JSON = 0.6;
const ALIKE_PAGES = 0.7;

function areOneRoute(one: Group, other: Group, place: number): boolean {
    if (one.method !== other.method || one.segments.length !== other.segments.length) return false;
    if (one.segments.slice(place + 1).some((piece, index) => textOf(piece) !== textOf(other.segments[place + 1 + index]))) return false;
    if (one.answers.json > 0 && other.answers.json > 0) {
        const [a, b] = [knownFeatures(one), knownFeatures(other)];
        return a.size > 1 && b.size > 1 && shared(a, b) >= ALIKE_JSON;
    }
    return one.skeleton.size > 20 && other.skeleton.size > 20 && shared(one.skeleton, other.skeleton) >= ALIKE_PAGES;
}

const features = new WeakMap<Group, Set<string>>();

function knownFeatures(group: Group): Set<string> {
    const known = features.get(group) ?? featuresOf(group.shape);
    features.set(group, known);
    return known;
}

/** A path segment as route templates show it. */
export function textOf(piece: Piece | undefined): string {
    if (piece === undefined) return '';
    return piece.form === 'word' ? piece.core : `${piece.prefix}{}${piece.suffix}`;
}

/** Whether a piece of a path holds a value, and no word of the route. */
export function isVarying({ form }: Piece): boolean {
    return form !== 'word';
}

/** Groups of the same route become one; answers without a body belong to whichever sort the others have. */
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
