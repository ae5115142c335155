import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { withoutAction } from '../exchanges/operation.ts';
import type { SiteTexts } from '../pages/site-texts.ts';
import { DISPATCHERS, isDispatch, MAYBE_DISPATCHERS, MAYBE_FORMATS, namesFormat } from '../words/is-dispatch.ts';
import { jaccardIndex } from '../words/jaccard-index.ts';
import { addShape, createShape, featuresOf } from '../words/shape.ts';
import { addValues, createValues, wasEmpty } from '../words/values.ts';
import { type Group, mergeGroups } from './groups.ts';
import type { SeenTexts } from './seen-texts.ts';

/** A program has at most this many routes at one address by one param. A param with more different words has values. */
const MAX_WORDS = 60;
/** Two words may be two views of one thing. */
const MIN_WORDS = 3;
const MIN_USUAL_WORDS = 2;
/** Filters with so many words have pages that are alike. */
const MANY_WORDS = 6;
/** How many groups of one word are compared with those of another word. */
const MAX_COMPARED = 3;
/** Pages or responses less similar than this belong to different routes. */
const MIN_SIMILARITY = 0.7;

/** Counts the words that may select a route. A param that keeps changing does not get a group for each word. */
export class DispatchWords {
    readonly #words = new Map<string, Set<string>>();

    /** Counts the query pairs of an address. Returns false if the words of one exceed their limit. */
    tryAdd({ origin, pathname }: URL, pairs: readonly [string, string][]): boolean {
        const known = pairs.map(([name, word]) => {
            const words = getOrMake(this.#words, JSON.stringify([origin, pathname, name]), () => new Set());
            if (words.size < MAX_WORDS) words.add(word);
            return words.has(word);
        });
        return known.every((isKnown) => isKnown);
    }
}

/**
 * Decides which candidate params select a route: those that only had words, several of them, and whose pages differ in at least three of
 * four pairs of words. Other params become normal params, and the groups of their words are merged.
 */
export function settleDispatch(groups: Iterable<Group>, { seen, texts }: { seen: SeenTexts; texts: SiteTexts }): Group[] {
    const all = [...groups];
    const menu = menuOf(texts);
    settleFlags(all, seen);
    const byPath = Map.groupBy(all, pathOf);
    const addresses = [...byPath.values()].map((same) => [...Map.groupBy(same, actionOf).values()].flatMap(settleNames));
    const usual = new Set(
        addresses.flatMap((some) => wordNamesIn(some).filter((name) => MAYBE_DISPATCHERS.test(name) && chooses(name, some, menu))),
    );
    return addresses.flatMap((some) => settleAddress(some, menu, usual));
}

/** The names of the query params whose words may select a route. */
function wordNamesIn(groups: readonly Group[]): string[] {
    const words = groups.flatMap(({ dispatch }) => dispatch.filter(([name, word]) => word !== '' && !isDispatch(name, word)));
    return [...new Set(words.map(([name]) => name))];
}

/** The actions that the address certainly selects. */
function actionOf({ dispatch }: Group): string {
    return JSON.stringify(dispatch.filter(([name, word]) => isDispatch(name, word) && DISPATCHERS.test(name)));
}

/**
 * Decides what queries with one name and no value are. `/boats?size` selects a route if several addresses have this flag and others.
 * `/wiki.cgi?Old_Crane` names a thing if most such names of the address were also sent as values (`/wiki.cgi?id=Red_Lion`); a package cannot
 * send those. Other flags are params.
 */
function settleFlags(groups: readonly Group[], seen: SeenTexts): void {
    const flagged = groups.flatMap((group) => group.dispatch.flatMap(([name, value]) => (value === '' ? [{ name, group }] : [])));
    const paths = new Map([...Map.groupBy(flagged, ({ name }) => name)].map(([name, some]) => [name, new Set(some.map(pathIn))]));
    const byPath = Map.groupBy(flagged, pathIn);
    // A flag that is the only one of its addresses is a param, unless the address responds with pages.
    const extending = new Set(flagged.filter(extendingIn(groups)).map(({ name }) => name));
    const selecting = new Set(
        [...byPath.values()]
            .map((same) => same.filter(({ name }) => !extending.has(name)))
            .filter((same) => new Set(same.map(({ name }) => name)).size > 1 || same.some(({ group }) => group.answers.html > 0))
            .flatMap((same) => same.map(({ name }) => name)),
    );
    for (const same of byPath.values()) {
        const own = same.filter(({ name }) => paths.get(name)?.size === 1 || !selecting.has(name));
        // Several flags, each alone in its query, ask a program for its pages.
        const arePages = own.length >= MIN_WORDS && own.every(({ group }) => group.answers.html > 0);
        const areThings = own.filter(({ name }) => seen.wasSent(name)).length * 2 >= own.length;
        for (const { name, group } of same) {
            const isFlag = (arePages && !areThings) || !own.some((one) => one.name === name);
            if (isFlag || areThings) group.names = group.names.filter((one) => one !== name);
            if (!isFlag && areThings) group.dispatch = group.dispatch.filter(([one]) => one !== name);
            else if (!isFlag) makeParam(group, name);
        }
    }
}

/**
 * Tells flags whose answer is that of the same request without a flag, or has all of it: `?expand` adds to a thing, and is no part
 * of it; `?updated` marks a page.
 */
function extendingIn(groups: readonly Group[]): (flagged: { group: Group }) => boolean {
    const requestOf = (group: Group) => `${group.method} ${pathOf(group)}`;
    const plain = Map.groupBy(
        groups.filter(({ dispatch, shape, skeleton }) => dispatch.length === 0 && (shape.seen > 0 || skeleton.size > 0)),
        requestOf,
    );
    return ({ group }) => plain.get(requestOf(group))?.some((one) => holdsAnswer(group, one)) === true;
}

function holdsAnswer(flagged: Group, plain: Group): boolean {
    const titles = [...flagged.pages.titles.keys()];
    if (plain.shape.seen === 0) return titles.some((title) => plain.pages.titles.has(title)) && answersAlike(flagged, plain);
    const [all, wanted] = [featuresOf(flagged.shape), featuresOf(plain.shape)];
    return wanted.size > 1 && [...wanted].filter((one) => all.has(one)).length / wanted.size >= MIN_HELD;
}

/** The share of the fields of an answer that a longer one of the same thing has. */
const MIN_HELD = 0.8;

function pathIn({ group }: { group: Group }): string {
    return pathOf(group);
}

function pathOf({ origin, segments }: Group): string {
    return `${origin}/${segments.map(({ prefix, core, suffix, form }) => (form === 'word' ? core : `${prefix}{}${suffix}`)).join('/')}`;
}

/** @param usual names that select routes at some address of the site: at others two words are enough */
function settleAddress(groups: readonly Group[], menu: ReadonlySet<string>, usual: ReadonlySet<string>): Group[] {
    const isChoice = (name: string) => chooses(name, groups, menu, usual.has(name) ? MIN_USUAL_WORDS : MIN_WORDS);
    const values = wordNamesIn(groups).filter(
        (name) =>
            !(areFormats(name, groups)
                ? asksForFormat(name, groups)
                : isChoice(name) || (MAYBE_FORMATS.test(name) && asksForFormat(name, groups))),
    );
    const actions = new Set(groups.flatMap(({ operation }) => operation?.doubtful ?? []));
    const fields = [...actions].filter((name) => !choosesByBody(name, groups));
    if (values.length + fields.length === 0) return [...groups];
    for (const group of groups) {
        for (const name of values) makeParam(group, name);
        for (const name of fields) if (group.operation?.doubtful.includes(name) === true) makeField(group, name);
    }
    return joinSame(groups);
}

/**
 * Decides which query params of one path select a route by being there: pages have at most one of them, and three of four pairs of their
 * pages differ. If none does, params do not separate groups.
 */
function settleNames(groups: readonly Group[]): Group[] {
    if (groups.every(({ names }) => names.length === 0)) return [...groups];
    const pages = groups.filter(({ method, sendings, answers }) => method === 'GET' && sendings > 0 && answers.html > 0);
    const selectors = selectorsOf(pages);
    const empty = new Set([...selectors].filter((name) => pages.every(({ query }) => isEmptyIn(query, name))));
    for (const group of groups) {
        const name = group.names.find((one) => selectors.has(one));
        if (name === undefined) continue;
        if (empty.has(name)) {
            group.dispatch = [...group.dispatch, [name, '']];
            group.query.delete(name);
        } else group.selector = name;
    }
    return joinSame(groups);
}

function isEmptyIn(query: Group['query'], name: string): boolean {
    const values = query.get(name);
    return values === undefined || wasEmpty(values);
}

/** Names that at most half of the pages have and that are seen twice, the most frequent first, unless a page has two of them. */
function selectorsOf(pages: readonly Group[]): ReadonlySet<string> {
    const byName = new Map<string, Group[]>();
    for (const page of pages) for (const name of page.names) byName.set(name, [...(byName.get(name) ?? []), page]);
    const rare = [...byName].filter(([, some]) => some.length * 2 <= pages.length).sort(([, a], [, b]) => b.length - a.length);
    const found = new Map<string, Group[]>();
    if (rare.length < MIN_WORDS) return new Set();
    for (const [name, some] of rare)
        if (isSeenTwice(name, some) && !some.some(({ names }) => names.some((one) => found.has(one)))) found.set(name, some);
    const layout = layoutOf(pages);
    const areRoutes = areUnlike([...found.values()], (some, others) =>
        some.some((one) => others.some((other) => looksLike(one, other, layout))),
    );
    return new Set(areRoutes ? found.keys() : []);
}

/** What all answers of a program have: the layout of pages, titles that are the name of the site, fields around the data. */
interface Layout {
    marks: ReadonlySet<unknown>;
    titles: ReadonlySet<string>;
}

function layoutOf(pages: readonly Group[]): Layout {
    const [first, ...others] = pages;
    const traits = others.map(traitsOf);
    const marks = first === undefined ? [] : [...traitsOf(first)].filter((mark) => traits.every((all) => all.has(mark)));
    const titles = [...(first?.pages.titles.keys() ?? [])].filter((title) => others.every((other) => other.pages.titles.has(title)));
    return { marks: new Set(marks), titles: new Set(titles) };
}

/** A param with one value may be a filter, whose page happens to differ. A route has no value at all, or several. */
function isSeenTwice(name: string, pages: readonly Group[]): boolean {
    const values = new Set(pages.flatMap(({ query }) => [...(query.get(name)?.different ?? [])]));
    return values.size > 1 || pages.every(({ query }) => isEmptyIn(query, name));
}

/** Whether two pages are alike, or have one title, or differ in little but what all pages have in common. */
function looksLike(one: Group, other: Group, { marks, titles }: Layout): boolean {
    const [own, others] = [one, other].map((group) => new Set([...traitsOf(group)].filter((mark) => !marks.has(mark))));
    const isOneTitle = [...one.pages.titles.keys()].some((title) => !titles.has(title) && other.pages.titles.has(title));
    return answersAlike(one, other) && (isOneTitle || jaccardIndex(own ?? new Set(), others ?? new Set()) >= MIN_SIMILARITY);
}

/** Merges the groups that are one route as far as is known. */
function joinSame(groups: readonly Group[]): Group[] {
    const joined = new Map<string, Group>();
    for (const group of groups) {
        const { method, dispatch, selector, operation, form, inputs } = group;
        const key = JSON.stringify([method, dispatch, selector, operation?.key, form === undefined, answerTypeOf(group), inputs]);
        const same = joined.get(key);
        if (same === undefined) joined.set(key, group);
        else mergeGroups(same, group);
    }
    return [...joined.values()];
}

function answerTypeOf({ answers }: Group): string {
    return (['json', 'html', 'text', 'none'] as const).find((sort) => answers[sort] > 0) ?? '';
}

function chooses(name: string, groups: readonly Group[], menu: ReadonlySet<string>, least = MIN_WORDS): boolean {
    if (groups.some(({ query, form }) => query.has(name) || form?.fields.has(name) === true)) return false;
    const sent = groups.filter(({ sendings }) => sendings > 0);
    const reads = sent.filter(({ method }) => method === 'GET');
    // A word that selects a page selects the form that is sent to it.
    const byWord = Map.groupBy(reads.length > 0 ? reads : sent, ({ dispatch }) => dispatch.find(([one]) => one === name)?.[1]);
    // A param that some pages lack is a filter, unless its name is that of an action, or it has many words and most pages differ.
    if (byWord.delete(undefined) && !MAYBE_DISPATCHERS.test(name) && byWord.size < MANY_WORDS) return false;
    const inMenu = [...byWord].filter(([word, some]) => some.some((group) => menu.has(`${pathOf(group)} ${name}=${word}`)));
    if (MAYBE_DISPATCHERS.test(name) && inMenu.length >= MIN_WORDS) return true;
    const layout = layoutOf(reads);
    return areUnlike(
        [...byWord.values()],
        (some, others) => some.some((one) => others.some((other) => paramsOf(one) === paramsOf(other) && looksLike(one, other, layout))),
        least,
    );
}

/** The addresses that most pages link to, each with one of its params: what a menu offers is chosen by the program. */
function menuOf({ links }: SiteTexts): ReadonlySet<string> {
    const pages = new Set(links.map(({ from }) => from.href));
    const byPair = new Map<string, Set<string>>();
    for (const { from, to } of links)
        for (const [name, value] of to.searchParams) {
            const pair = `${to.origin}${to.pathname} ${name}=${value}`;
            getOrMake(byPair, pair, () => new Set()).add(from.href);
        }
    const least = Math.max(MIN_WORDS, pages.size * MIN_LINKING);
    return new Set([...byPair].filter(([, from]) => from.size >= least).map(([pair]) => pair));
}

/** The share of pages that have the menu of a site. */
const MIN_LINKING = 0.6;

function areFormats(name: string, groups: readonly Group[]): boolean {
    return groups.every((group) => namesFormat(wordOf(group, name) ?? 'json'));
}

function wordOf({ dispatch }: Group, name: string): string | undefined {
    return dispatch.find(([one]) => one === name)?.[1];
}

/**
 * Whether a param asks for formats: what is asked for is no page, but without it there are pages; or its words are names of formats of
 * several kinds, each always of the same.
 */
function asksForFormat(name: string, groups: readonly Group[]): boolean {
    const byWord = Map.groupBy(
        groups.filter(({ sendings }) => sendings > 0),
        (group) => wordOf(group, name),
    );
    const plain = byWord.get(undefined) ?? [];
    byWord.delete(undefined);
    const asked = [...byWord.values()];
    if (plain.some(({ answers }) => answers.html > 0) && asked.flat().every(({ answers }) => answers.html === 0)) return true;
    const kinds = asked.map((some) => new Set(some.map(kindOf)));
    return (
        areFormats(name, groups) &&
        kinds.every(({ size }) => size === 1) &&
        new Set([...kinds.flatMap((one) => [...one]), ...plain.map(kindOf)]).size > 1
    );
}

/** How the answers of a group are read. */
function kindOf(group: Group): string {
    return [answerTypeOf(group), ...[...group.formats].sort()].filter((one) => one !== '').join(' ');
}

/**
 * Whether a field that names an action does so: its words have different answers, or forms that hide them have different fields. The same
 * answers say that a word is a value.
 */
function choosesByBody(name: string, groups: readonly Group[]): boolean {
    if (groups.some(({ form }) => form?.fields.has(name) === true)) return false;
    const byWord = Map.groupBy(groups, ({ operation }) => operation?.fixed[name]);
    byWord.delete(undefined);
    return areUnlike([...byWord.values()], (some, others) => some.some((one) => others.some((other) => actAlike(one, other))));
}

function actAlike(one: Group, other: Group): boolean {
    if (one.sendings > 0 && other.sendings > 0) return answersAlike(one, other);
    const [some, others] = [one, other].map(({ form, body }) => new Set([...(form?.fields.keys() ?? []), ...(body?.fields.keys() ?? [])]));
    return jaccardIndex(some ?? new Set(), others ?? new Set()) >= MIN_SIMILARITY;
}

/** Whether there are several words, and three of four pairs of them differ. */
function areUnlike(
    byWord: readonly Group[][],
    alike: (some: readonly Group[], others: readonly Group[]) => boolean,
    least = MIN_WORDS,
): boolean {
    const words = byWord.map((some) => some.slice(0, MAX_COMPARED));
    if (words.length < least || words.length >= MAX_WORDS) return false;
    const pairs = words.flatMap((some, place) => words.slice(place + 1).map((others) => alike(some, others)));
    return pairs.filter((isAlike) => isAlike).length * 4 <= pairs.length;
}

function paramsOf({ query }: Group): string {
    return [...query.keys()].sort().join(' ');
}

function answersAlike(one: Group, other: Group): boolean {
    return answerTypeOf(one) === answerTypeOf(other) && jaccardIndex(traitsOf(one), traitsOf(other)) >= MIN_SIMILARITY;
}

function traitsOf({ shape, skeleton }: Group): ReadonlySet<unknown> {
    return shape.seen > 0 ? featuresOf(shape) : skeleton;
}

/** Turns the dispatch pair of a group into a normal query param. */
function makeParam(group: Group, name: string): void {
    const pair = group.dispatch.find(([one]) => one === name);
    if (pair === undefined) return;
    group.dispatch = group.dispatch.filter((one) => one !== pair);
    if (group.sendings === 0) return;
    const values = createValues();
    for (let sent = 0; sent < group.sendings; sent++) addValues(values, [pair[1]]);
    group.query = new Map([[name, values], ...group.query]);
}

/** Turns a field that may name an action into a normal field of the body. */
function makeField(group: Group, name: string): void {
    const value = group.operation?.fixed[name];
    if (group.operation === undefined || value === undefined) return;
    group.operation = withoutAction(group.operation, name);
    const field = { values: createValues(), shape: createShape() };
    for (let sent = 0; sent < group.sendings; sent++) {
        addValues(field.values, [value]);
        addShape(field.shape, value);
    }
    if (group.body !== undefined) group.body.fields = new Map([[name, field], ...group.body.fields]);
}
