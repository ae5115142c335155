import { createShapeFinder, type Declared, namedThings } from '../pages/declared-names.ts';
import type { SiteTexts } from '../pages/site-texts.ts';
import { isLanguage, isPlural, type Piece, textOf } from '../words/segments.ts';
import { areAlike } from './alike.ts';
import { settleForms } from './form-inputs.ts';
import { type Group, mergeGroups } from './groups.ts';
import type { SeenTexts } from './seen-texts.ts';
import { type Evidence, kindsIn, pathOf, varyingWords } from './varying-words.ts';
import { listedNames, namesBelowViews } from './views.ts';

/**
 * Finds varying segments that look like words (`/packages/lodash`, `/packages/react`) and merges the groups that are one route. A word
 * varies
 * - if the site also sent it as a value, unless it is one of several named modules without common addresses;
 * - if it does not look like a word of a program (`C024BE91L`, `PROJ-12`), below a plural or beside another such word or a value;
 * - if it is one of several languages that pages at this place say they are in;
 * - if it follows a search, names a person, or is one of two ids in capitals and small letters;
 * - if it is a thing in another format (`/tides.html` beside `/tides.json`);
 * - if it is read and written in the same ways as another word, with the same fields;
 * - if queries have it as a value, and another such word has the same names below it;
 * - if its siblings below a plural (`/posts/…`), or the values beside it, have similar responses;
 * - if a PUT, PATCH or DELETE names it, below a plural or beside values;
 * - if a page lists it by its name, beside another name with the same pages below it (`/harbour/tags`, `/lighthouse/tags`);
 * - if it is the name of a file below a value, beside other files with similar responses, or below another view of the same thing
 *   (`/log/{rev}/README`, `/diff/{rev}/README`);
 * - if it follows what names follow on most sites (`/tag/rope`) or the date of a page, or is a value at another address beside another such word;
 * - if it begins with a capital below a value, beside another such word whose pages look alike (`/{id}/Norway`, `/{id}/Sweden`);
 * - if it is one of several sections of a site of articles, or an article beside them (`/usage/new-pages`, `/ropes/old-hemp`);
 * - if it names a plain field of the thing above it, beside another one (`/cpu/user`, `/cpu/system`);
 * - if answers have it as a value, and the site has all that is below it at its root, too (`/host/harbour/api/charts`);
 * - if a page lists it by its name and three views have it (`/log/README`, `/tree/README`, `/blame/README`).
 * Usual words of routes vary only among such files and in writes. What is found for one method applies to all methods.
 */
export function foldGroups(groups: Iterable<Group>, { seen, texts }: { seen: SeenTexts; texts: SiteTexts }): Group[] {
    const all = [...groups];
    for (const origin of new Set(all.map((group) => group.origin))) {
        const own = all.filter((group) => group.origin === origin);
        const fixed = settleDeclared(own, texts.declared);
        const listed = listedNames(texts, origin);
        const evidence = {
            fixed,
            seen,
            listed,
            languages: texts.languages,
            viewed: namesBelowViews(own, listed),
            files: new Map(),
            found: new Set<string>(),
            paths: new Set(own.map(({ segments }) => pathOf(segments))),
            kinds: kindsIn(own),
        };
        foldBelow(own, 0, evidence);
    }
    const routes = joinSame(all);
    settleForms(routes, routeOf);
    return joinSame(routes);
}

/** Applies the path templates of the site's own API description. Returns the segments that are words in it. */
function settleDeclared(groups: readonly Group[], declared: Declared): ReadonlySet<Piece> {
    const fixed = new Set<Piece>();
    const shapeOf = createShapeFinder(declared);
    const things = namedThings(declared);
    for (const group of groups) {
        const own = group.segments.map(({ prefix, core, suffix }) => prefix + core + suffix);
        const parts = shapeOf(group.method, own) ?? [];
        for (const [at, part] of parts.entries()) {
            const place = own.length - parts.length + at;
            const piece = group.segments[place] as Piece;
            const read = part === '{}' ? (piece.form === 'word' ? asValue(piece.core, '') : piece) : asWord(part);
            group.segments[place] = read;
            if (part !== '{}' && !things.has(parts.slice(0, at + 1).join('/'))) fixed.add(read);
        }
    }
    return fixed;
}

function asWord(core: string): Piece {
    return { form: 'word', prefix: '', core, suffix: '' };
}

/** All `groups` have the same segments before `place`. */
function foldBelow(groups: readonly Group[], place: number, evidence: Evidence & { fixed: ReadonlySet<Piece> }): void {
    const here = groups.filter((group) => group.segments.length > place);
    if (here.length === 0) return;
    const words = new Map<string, Group[]>();
    keepVersion(here, place);
    numberThings(here, place);
    for (const group of here) {
        const piece = group.segments[place];
        if (piece?.form === 'word' && !evidence.fixed.has(piece)) words.set(piece.core, [...(words.get(piece.core) ?? []), group]);
    }
    const siblings = here.filter((group) => group.segments[place]?.form !== 'word');
    const above = groups.filter(({ segments }) => segments.length === place);
    const varying = varyingWords(words, { siblings, above }, place, evidence);
    const areInFormats = haveFormats([...varying], evidence.seen);
    // A page and its data have one name: `/products/rope` and `/products/lamp.js`.
    const arePages = [...varying].some((word) => !FORMAT.test(word) && words.get(word)?.some(({ answers }) => answers.html > 0));
    const isFormat = (word: string) =>
        areInFormats ||
        siblings.some(({ segments }) => segments[place]?.suffix === FORMAT.exec(word)?.[1]) ||
        /\.data$/.test(word) ||
        (arePages && !evidence.seen.wasSaid(word) && words.get(word)?.every(({ answers }) => answers.json > 0));
    for (const group of here) {
        const piece = group.segments[place];
        if (piece?.form === 'word' && varying.has(piece.core))
            group.segments[place] = asValue(piece.core, isFormat(piece.core) ? (FORMAT.exec(piece.core)?.[1] ?? '') : '');
    }
    for (const [, below] of Map.groupBy(here, (group) => textOf(group.segments[place]))) foldBelow(below, place + 1, evidence);
}

/** Keeps the version of an API, or a number or month directly after its root, as a word if all requests have the same one. */
function keepVersion(here: readonly Group[], place: number): void {
    const parent = here[0]?.segments[place - 1];
    if (parent?.form !== 'word' || isPlural(parent.core)) return;
    const pieces = here.map(({ segments }) => segments[place]).filter((piece) => piece !== undefined);
    const [first] = pieces;
    const isOne = first !== undefined && pieces.every(({ core, isSeveral }) => core === first.core && isSeveral !== true);
    const isVersion =
        first?.form === 'version' || (/^(?:number|date)$/.test(first?.form ?? '') && /^(?:apis?|rest|rpc)$/i.test(parent.core));
    if (!isOne || !isVersion || here.some((group) => group.segments.length === place + 1)) return;
    for (const group of here) group.segments[place] = asWord(first.prefix + first.core + first.suffix);
}

/**
 * Reads words that begin alike and end with different numbers (`/issue7`, `/issue12`) as numbers, if two of them have similar responses.
 * Other numbered words beside them become numbers, too (`/user3`).
 */
function numberThings(here: readonly Group[], place: number): void {
    const numbered = here.flatMap((group) => {
        const [, kind = '', number = ''] = NUMBERED.exec(group.segments[place]?.core ?? '') ?? [];
        return kind === '' || !isWhole(group.segments[place]) ? [] : [{ group, kind, number }];
    });
    const areNumbered = [...Map.groupBy(numbered, ({ kind }) => kind).values()].some((same) =>
        same.some((one) => same.some((other) => one.number !== other.number && areAlike([one.group], [other.group], place))),
    );
    if (areNumbered)
        for (const { group, kind, number } of numbered) group.segments[place] = { form: 'number', prefix: kind, core: number, suffix: '' };
}

const NUMBERED = /^([A-Za-z]{2,20}[_-]?)(\d{1,9})$/;

function isWhole(piece: Piece | undefined): boolean {
    return (piece?.form === 'word' || piece?.form === 'code') && piece.prefix === '' && piece.suffix === '';
}

/** The segment of a value that looks like a word. */
function asValue(text: string, suffix: string): Piece {
    const core = text.slice(0, text.length - suffix.length);
    return { form: isLanguage(text) ? 'locale' : 'slug', prefix: '', core, suffix };
}

const FORMAT = /.(\.(?:data|html?|json|js))$/;

/** Whether the suffix of all values is the requested format. A `.json` that also occurred in values belongs to the name of a file. */
function haveFormats(values: readonly string[], seen: SeenTexts): boolean {
    return (
        values.length > 1 &&
        values.every((value) => FORMAT.test(value)) &&
        !values.some((value) => /\.json$/.test(value) && seen.wasSaid(value))
    );
}

/** Merges the groups of the same route. Responses without a body join the group whose responses have one. */
function joinSame(groups: readonly Group[]): Group[] {
    const joined = new Map<string, Group[]>();
    for (const group of groups) {
        const key = `${routeOf(group)} ${group.inputs}`;
        const routes = joined.get(key) ?? [];
        const same = routes.find((route) => mayBeOneRoute(answerTypeOf(route), answerTypeOf(group)));
        if (same === undefined) routes.push(group);
        else mergeGroups(same, group);
        joined.set(key, routes);
    }
    return [...joined.values()].flat();
}

function routeOf({ method, origin, segments, dispatch, selector, operation }: Group): string {
    return `${method} ${origin}/${segments.map(textOf).join('/')} ${JSON.stringify([dispatch, selector])} ${operation?.key ?? ''}`;
}

/** Whether groups with these types of answers may be one route. A site may show a browser as text what it sends a script as JSON. */
function mayBeOneRoute(one: string, other: string): boolean {
    return one === other || [one, other].includes('none') || [one, other].sort().join(' ') === 'json text';
}

function answerTypeOf({ answers }: Group): string {
    if (answers.json > 0) return 'json';
    if (answers.html > 0) return 'html';
    return answers.text > 0 ? 'text' : 'none';
}
