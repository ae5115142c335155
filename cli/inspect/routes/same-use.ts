import { jaccardIndex } from '../words/jaccard-index.ts';
import { isPlural, isRouteWord, isVarying, textOf } from '../words/segments.ts';
import { isVerb } from '../words/verbs.ts';
import { areAlike, haveOneLayout, MAX_COMPARED, MIN_JSON_SIMILARITY } from './alike.ts';
import type { Group } from './groups.ts';
import { isLast, isWritten } from './written-words.ts';

/**
 * Words that were sent as values in queries, and that have at least two equal names below them. Kinds of things have equal names below them
 * too, so plurals do not count.
 */
export function withSameBelow(words: ReadonlyMap<string, readonly Group[]>, sent: readonly string[], place: number): string[] {
    const below = sent.map((word) => ({ word, names: new Set((words.get(word) ?? []).flatMap((group) => namesBelow(group, place))) }));
    const found = below.filter(({ word, names }) =>
        below.some((other) => other.word !== word && names.size > 1 && jaccardIndex(names, other.names) >= MIN_JSON_SIMILARITY),
    );
    return found.every(({ word }) => isPlural(word)) ? [] : found.map(({ word }) => word);
}

function namesBelow({ segments }: Group, place: number): string[] {
    const below = segments.slice(place + 1);
    return below.some(({ form, core }) => form === 'word' && core !== '') ? [below.map(textOf).join('/')] : [];
}

/** The names that share no address below them with any other of the names. */
export function unlikeNames(words: ReadonlyMap<string, readonly Group[]>, names: readonly string[], place: number): ReadonlySet<string> {
    const below = names.map((name) => ({ name, requests: new Set((words.get(name) ?? []).flatMap((group) => namesBelow(group, place))) }));
    const unlike = below.filter(
        ({ name, requests }) =>
            requests.size > 0 && below.every((other) => other.name === name || [...requests].every((one) => !other.requests.has(one))),
    );
    return new Set(unlike.length > 1 ? unlike.map(({ name }) => name) : []);
}

/**
 * The names below the root of an API whose answers resemble those of no other word or value there. Users and things of one kind answer alike;
 * parts of the API (`/api/v1/charts`) may have the name of something, too.
 */
export function unlikeAnswers(
    words: ReadonlyMap<string, readonly Group[]>,
    names: readonly string[],
    { siblings, place }: { siblings: readonly Group[]; place: number },
): string[] {
    const others = [...words].slice(0, MAX_COMPARED);
    return names.filter((name) => {
        const own = words.get(name) ?? [];
        if (!own.every((group) => group.method === 'GET' && isLast(group, place) && group.answers.json > 0)) return false;
        return !areAlike(own, siblings, place) && !others.some(([other, groups]) => other !== name && areAlike(own, groups, place));
    });
}

/**
 * Words with the same requests: at least two, one of them a write to the word itself, that have the same method, path after the word and body
 * fields, and similar responses. Kinds of things have the same requests too, so plurals do not count.
 */
export function withSameRequests(words: ReadonlyMap<string, readonly Group[]>, candidates: readonly string[], place: number): string[] {
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
    if (common.length < 2 || jaccardIndex(new Set(some.keys()), new Set(others.keys())) < MIN_JSON_SIMILARITY) return false;
    const pairs = common.map(([request, group]) => [group, others.get(request) as Group] as const);
    const answered = pairs.filter((pair) => pair.every(({ shape, skeleton }) => shape.objects + shape.arrays > 0 || skeleton.size > 20));
    const alike = answered.filter(([one, other]) => areAlike([one], [other], place));
    return alike.length * 2 >= answered.length && pairs.some(([group]) => group.method !== 'GET' && isLast(group, place));
}

/**
 * Three or more words whose pages look alike, as do the pages of the things below them: the sections of a newspaper (`/science`,
 * `/science/{article}`). Kinds of things have such pages too, so plurals alone do not count, nor words to which something is sent.
 */
export function withSamePages(words: ReadonlyMap<string, readonly Group[]>, candidates: readonly string[], place: number): string[] {
    const pages = candidates.slice(0, MAX_COMPARED).flatMap((word) => {
        const groups = words.get(word) ?? [];
        if (groups.some(({ method }) => method !== 'GET')) return [];
        const read = groups.filter(({ answers }) => answers.html > 0);
        const own = read.filter((group) => isLast(group, place));
        const below = read.filter(({ segments }) => segments.length === place + 2 && segments.slice(place + 1).every(isVarying));
        return own.length > 0 && below.length > 0 ? [{ word, own, below }] : [];
    });
    const found = pages.filter(
        (one) =>
            pages.filter((other) => areAlike(one.own, other.own, place) && areAlike(one.below, other.below, place)).length >= MIN_SECTIONS,
    );
    return found.every(({ word }) => isPlural(word)) ? [] : found.map(({ word }) => word);
}

/**
 * The sections of a site of articles, and the articles beside them: three or more words whose pages below them all look alike, two of them
 * with nothing but articles (`/install/first-steps`, `/usage/new-pages`, `/ropes/hemp`). Usual words of routes do not count (`/docs`).
 */
export function withArticles(words: ReadonlyMap<string, readonly Group[]>, place: number): string[] {
    const pages = [...words].filter(([word, groups]) => word !== '' && !isRouteWord(word) && groups.every(isPage)).slice(0, MAX_COMPARED);
    const sections = pages.flatMap(([word, groups]) => {
        const below = groups.filter(({ segments }) => segments.length === place + 2);
        return below.length > 0
            ? [{ word, below, areArticles: below.every(({ segments }) => isArticle(segments[place + 1]?.core ?? '')) }]
            : [];
    });
    const [first, ...others] = sections.filter(({ areArticles }) => areArticles);
    if (first === undefined || others.length === 0) return [];
    const alike = sections.filter((one) => one === first || areAlike(one.below, first.below, place, { below: 'any' }));
    if (alike.length <= MIN_SECTIONS || !others.every((one) => alike.includes(one))) return [];
    const beside = pages.filter(([, groups]) =>
        groups.some((group) => isLast(group, place) && haveOneLayout(group, first.below[0] as Group)),
    );
    return [...alike.map(({ word }) => word), ...beside.map(([word]) => word)];
}

function isPage({ method, answers }: Group): boolean {
    return method === 'GET' && answers.html > 0;
}

/** The name of an article has several words, and does not say what is done. */
export function isArticle(name: string): boolean {
    const words = name.split('-');
    return words.length > 1 && words.every((word) => /^[a-z\d]+$/i.test(word)) && !isVerb(words[0] ?? '');
}

/** How many other sections a section has at least. */
const MIN_SECTIONS = 2;
