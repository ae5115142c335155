import type { Texts } from '../pages/page-facts.ts';
import type { Collection } from '../routes/collect.ts';
import type { Group } from '../routes/groups.ts';
import { searches } from '../routes/searches.ts';
import { wordsOf } from '../words/harmless.ts';
import { inLatin } from '../words/latin.ts';
import { isRouteWord, isVarying, precedesSearchTerm, singular } from '../words/segments.ts';
import { namingWordsOf } from './naming.ts';
import { isQuotable } from './quotable.ts';
import type { RouteTexts, TextsOfRoutes } from './route-texts.ts';

/**
 * Names the subjects of routes whose path does not name them: `articles` for `/index.php?search=`, from the button "Search articles". The
 * names come from headings, titles, link texts, labels and buttons that contain no data. Two routes of one method never get the same name.
 */
export function thingNames(
    routes: readonly Group[],
    textsOfRoutes: TextsOfRoutes,
    { texts, seen }: Pick<Collection, 'texts' | 'seen'>,
): Map<Group, string> {
    const read = wordsOnPages(routes, texts);
    const common = commonWords(routes.map(({ pages }) => [...pages.titles.keys(), ...pages.headings.keys()]));
    const found = new Map<Group, string>();
    for (const route of routes) {
        const isSearch = searches(route);
        if (!isPage(route) || !saysNothing(route, { isSearch, read })) continue;
        const candidates = isSearch ? searchTexts(route, textsOfRoutes.of(route), texts.labels) : pageTexts(route, textsOfRoutes.of(route));
        const thing = candidates
            .filter((text) => isQuotable(text, seen))
            .map((text) => thingIn(text, common))
            .find((one) => one !== undefined);
        if (thing !== undefined) found.set(route, thing);
    }
    const claims = Map.groupBy(found, ([{ method }, thing]) => `${method} ${thing}`);
    return new Map([...claims.values()].flatMap((same) => (same.length === 1 ? same : [])));
}

function isPage({ answers, form, operation }: Group): boolean {
    return operation === undefined && (answers.html > 0 || (form !== undefined && answers.json + answers.text === 0));
}

/** Words of paths that name no subject. */
const EMPTY = /^(?:index|main|default|view|viewer|show|display|content|start|cgi|bin|.)$/;

/** Whether the path of a route names no subject: none of its words is usual in paths or appears on a page. */
function saysNothing(route: Group, { isSearch, read }: { isSearch: boolean; read: ReadonlySet<string> }): boolean {
    const words = namingWordsOf(route);
    // A path that consists of values, or the home page, may contain anything.
    if (words.length === 0 && !isSearch && route.segments.every((piece) => isVarying(piece) || piece.core === '')) return false;
    return words
        .flatMap(wordsOf)
        .every((word) => EMPTY.test(word) || (isSearch && precedesSearchTerm(word)) || !(isRouteWord(word) || read.has(singular(word))));
}

function wordsOnPages(routes: readonly Group[], { links, labels, hints }: Collection['texts']): Set<string> {
    const ofRoutes = routes.flatMap(({ pages: { titles, headings, submits } }) =>
        [titles, headings, submits].flatMap((one) => [...one.keys()]),
    );
    const ofFields = [...labels.values(), ...hints.values()].flatMap((one) => [...one.keys()]);
    return new Set([...links.map(({ text }) => text), ...ofRoutes, ...ofFields].flatMap(wordsOf).map(singular));
}

/** Words in the titles and headings of most routes, such as the name of the site. */
function commonWords(texts: readonly string[][]): Set<string> {
    const all = texts.filter(({ length }) => length > 0).map((own) => new Set(own.map(inLatin).flatMap(wordsOf)));
    const least = Math.max(2, all.length / 2);
    return new Set(
        [...new Set(all.flatMap((words) => [...words]))].filter((word) => all.filter((words) => words.has(word)).length >= least),
    );
}

function pageTexts({ form, method }: Group, { heading, title, link, caller, submit }: RouteTexts): string[] {
    return form !== undefined && method === 'POST' ? [caller, submit] : [heading, title, link];
}

/** Texts that say what the search finds. */
function searchTexts(
    { form, query }: Group,
    { heading, title, link, submit, search }: RouteTexts,
    labels: ReadonlyMap<string, Texts>,
): string[] {
    const fields = [...query.keys(), ...(form?.fields.keys() ?? [])];
    const ofFields = fields.flatMap((name) => [...(labels.get(name)?.keys() ?? [])]);
    return [submit, ...ofFields, search?.about ?? '', heading, title, link].filter((text) => SEARCHES.test(text));
}

const SEARCHES = /\b(?:search|find|look up)\b/i;
/** Words before and after the subject in a heading or label. */
const BEFORE =
    /^(?:search(?:es)?|find|look|up|for|in|view|show|open|see|browse|display|type|enter|to|go|the|a|an|all|our|my|your|results?|of)$/;
const BEHIND = /^(?:search|results?|page|here|now|by|for|in|of|and|or|the|with)$/;
/** Words that name no subject on their own. */
const VAGUE =
    /^(?:more|next|previous|back|here|home|details?|untitled|welcome|site|page|words?|terms?|keywords?|query|text|phrase|something|anything|submit|save|send|ok|go|apply|preview|continue|yes|no)$/;
const MAX_WORDS = 4;
const MAX_LENGTH = 40;

/** The subject that a text names, as an identifier; undefined if it has digits, letters without a Latin form, or too many words. */
function thingIn(text: string, common: ReadonlySet<string>): string | undefined {
    const plain = inLatin(text.replaceAll(/['’]/g, ''));
    if (/\p{N}|(?![A-Za-z])\p{L}/u.test(plain)) return undefined;
    const words = wordsOf(plain).filter((word) => !common.has(word));
    const first = words.findIndex((word) => !BEFORE.test(word));
    if (first === -1) return undefined;
    const thing = words.slice(first, words.findLastIndex((word) => !BEHIND.test(word)) + 1);
    const name = thing.join('_');
    return thing.length > MAX_WORDS || name.length > MAX_LENGTH || thing.every((word) => VAGUE.test(word)) ? undefined : name;
}
