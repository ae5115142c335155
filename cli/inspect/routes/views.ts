import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import type { SiteTexts } from '../pages/site-texts.ts';
import { jaccardIndex } from '../words/jaccard-index.ts';
import { isPlural, isVarying, textOf } from '../words/segments.ts';
import { areAlike, MAX_COMPARED, MIN_JSON_SIMILARITY } from './alike.ts';
import type { Group } from './groups.ts';

/** Menus name kinds of things for people (`Ropes`). Lists name a thing as its address does. */
export function listedNames({ links }: SiteTexts, origin: string): Set<string> {
    const names = new Set<string>();
    for (const { from, to, text } of links) {
        if (to.origin !== origin) continue;
        const page = from.pathname.replace(/\/$/, '');
        const segments = to.pathname.replace(/\/$/, '').split('/').slice(1);
        for (const [place, segment] of segments.entries()) {
            const name = percentDecode(segment);
            // A list may link to the first view of a thing: `harbour` to `/harbour/changes`.
            const isName = place === segments.length - 1 ? `${text} `.startsWith(`${name} `) : text === name;
            const above = segments.slice(0, place).map((one) => `/${one}`);
            if (isName && isAbove(page, above.join(''))) names.add(`${above.join('')}/${segment}`);
        }
    }
    return names;
}

/** Whether a page is one or two segments above a name (`/harbour` above `/harbour/tree/main`). */
function isAbove(page: string, above: string): boolean {
    return page === above || (page !== '' && page === above.replace(/\/[^/]*$/, ''));
}

const MIN_SHARING = 3;

/**
 * A name below three views of one thing that a page lists by this name is not a view itself. Nor is one below three words that a program
 * marks as its own (`/_history/Tides`, `/_diff/Tides`); it is the thing beside them, too (`/Tides`).
 */
export function namesBelowViews(groups: readonly Group[], listed: ReadonlySet<string>): Set<string> {
    const pages = groups.filter(({ method, sendings }) => method === 'GET' && sendings > 0);
    const places = pages.flatMap((group) =>
        group.segments.flatMap(({ core, form }, place) => {
            const view = group.segments[place - 1];
            if (form !== 'word' || view?.form !== 'word' || isPlural(view.core)) return [];
            const above = place < 2 ? '' : pathTo(group, place - 2);
            return [{ thing: `${above}/${core}`, path: pathTo(group, place), isMarked: /^[_+][a-z]/.test(view.core) }];
        }),
    );
    return new Set(
        [...Map.groupBy(places, ({ thing }) => thing)].flatMap(([thing, same]) => {
            const pathsOf = (some: typeof same) => new Set(some.map(({ path }) => path));
            const [paths, marked] = [pathsOf(same), pathsOf(same.filter(({ isMarked }) => isMarked))];
            if (marked.size >= MIN_SHARING) return [thing, ...paths];
            return paths.size >= MIN_SHARING && [...paths].some((path) => listed.has(path)) ? [...paths] : [];
        }),
    );
}

const MIN_VIEWS = 4;

/**
 * Words that a page lists by their names, and whose pages below have the same addresses and look alike, such as `/harbour/tags`,
 * `/harbour/branches` … and `/lighthouse/tags`, `/lighthouse/branches` …: they name things, each with the same views. Kinds of things have
 * the same views too (`/ropes/new`, `/anchors/new`); they are plurals.
 */
export function withSameViews(
    words: ReadonlyMap<string, readonly Group[]>,
    candidates: readonly string[],
    place: number,
    listed: ReadonlySet<string>,
): string[] {
    const names = candidates.filter((word) => (words.get(word) ?? []).some((group) => listed.has(pathTo(group, place))));
    const views = names.slice(0, MAX_COMPARED).map((word) => ({ word, below: viewsOf(words.get(word) ?? [], place) }));
    const found = views.flatMap(({ word, below }) => {
        const hasTwin = views.some((other) => {
            if (other.word === word || jaccardIndex(new Set(below.keys()), new Set(other.below.keys())) < MIN_JSON_SIMILARITY) return false;
            const common = [...below].filter(([view]) => other.below.has(view));
            const alike = common.filter(([view, group]) => areAlike([group], [other.below.get(view) as Group], place));
            return alike.length >= MIN_VIEWS && alike.length >= common.length / 2;
        });
        return hasTwin ? [word] : [];
    });
    return found.every(isPlural) ? [] : found;
}

/** The path of a group up to `place`. */
export function pathTo({ segments }: Group, place: number): string {
    return segments
        .slice(0, place + 1)
        .map(({ prefix, core, suffix }) => `/${prefix}${core}${suffix}`)
        .join('');
}

/** The pages below a word whose addresses continue with a word. Forms that nobody sent have no page. */
function viewsOf(groups: readonly Group[], place: number): Map<string, Group> {
    const below = groups.filter(
        ({ method, sendings, segments }) =>
            method === 'GET' && sendings > 0 && segments[place + 1]?.form === 'word' && segments[place + 1]?.core !== '',
    );
    return new Map(
        below.map((group) => [
            group.segments
                .slice(place + 1)
                .map(textOf)
                .join('/'),
            group,
        ]),
    );
}

/** The route of the thing whose view is before `place`, if there is one: `/{}` of `/harbour/log/{rev}/README`. */
export function thingOf(group: Group | undefined, place: number): string | undefined {
    const thing = group?.segments.slice(0, Math.max(0, place - 2)) ?? [];
    const last = thing.at(-1);
    return last !== undefined && isVarying(last) ? thing.map((piece) => `/${textOf(piece)}`).join('') : undefined;
}
