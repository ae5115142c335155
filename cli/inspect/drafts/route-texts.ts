import type { OpenSearch } from '../exchanges/open-search.ts';
import { addText, type Texts } from '../pages/page-facts.ts';
import type { Collection } from '../routes/collect.ts';
import type { Group } from '../routes/groups.ts';
import type { SeenTexts } from '../routes/seen-texts.ts';
import { isVarying } from '../words/segments.ts';
import { findMajority, isQuotable, sharedText, siteParts } from './quotable.ts';
import { createRouteFinder, createRouteLinks, linksByRoute, type RouteLinks, type RouteOf } from './route-links.ts';

/** Texts that pages contain about one route; '' for missing ones. `quotable.ts` decides later whether they may be quoted. */
export interface RouteTexts {
    /** The meta description, title and heading that its pages have in common. */
    own: string;
    title: string;
    heading: string;
    /** The usual text of links to it. */
    link: string;
    /** The button that submits its form, and the title of the page with the form. */
    submit: string;
    caller: string;
    links: RouteLinks;
    /** Its search in the site's OpenSearch document. */
    search: OpenSearch | undefined;
}

/** What the pages of a site say about its routes. */
export interface TextsOfRoutes {
    /** The description that most pages have. */
    about: string | undefined;
    /** Finds the route of an address. */
    routeOf: RouteOf;
    of: (route: Group) => RouteTexts;
}

/** Collects what the pages of a site say about each route. */
export function readRouteTexts(
    routes: readonly Group[],
    { texts, seen, searches }: Pick<Collection, 'texts' | 'seen' | 'searches'>,
): TextsOfRoutes {
    const ofSite = siteParts(routes.map(({ pages }) => pages.titles));
    const about = siteAbout(routes, seen);
    const routeOf = createRouteFinder(routes);
    const links = linksByRoute(routeOf, texts);
    const described = new Map(searches.map((search) => [routeOf(search.address), search]));
    const read = (route: Group) => ({
        ...textsOf(route, links.get(route) ?? createRouteLinks(), { ofSite, about }),
        search: described.get(route),
    });
    const all = new Map(routes.map((route) => [route, read(route)]));
    return { about, routeOf, of: (route) => all.get(route) ?? read(route) };
}

/** Whether all of its requests have the same address. */
function hasOneAddress({ segments, query }: Group): boolean {
    return !segments.some(isVarying) && [...query.values()].every(({ different }) => different.size <= 1);
}

function textsOf(
    route: Group,
    links: RouteLinks,
    { ofSite, about }: { ofSite: ReadonlySet<string>; about: string | undefined },
): Omit<RouteTexts, 'search'> {
    const { addresses, titles, headings, abouts, submits, callers } = route.pages;
    const isFixed = hasOneAddress(route);
    const pages = { isFixed, addresses: addresses.size };
    const isForm = route.form !== undefined && (route.method === 'POST' || addresses.size === 0);
    return {
        own: sharedText(abouts, { ...pages, isWhole: true }, new Set(about === undefined ? [] : [about])),
        title: sharedText(titles, pages, ofSite),
        heading: sharedText(headings, pages, ofSite),
        link: links.targets.size > 1 || isFixed ? findMajority(links.texts) : '',
        submit: isForm ? findMajority(submits) : '',
        caller: findMajority(
            new Map(
                [...callers].map(([text, times]) => [sharedText(new Map([[text, 1]]), { isFixed: true, addresses: 1 }, ofSite), times]),
            ),
        ),
        links,
    };
}

/** The description that most pages of a site have. */
function siteAbout(routes: readonly Group[], seen: SeenTexts): string | undefined {
    const all: Texts = new Map();
    for (const { pages } of routes) for (const [text, times] of pages.abouts) addText(all, text, times);
    const [first] = [...all].sort(([, a], [, b]) => b - a);
    const isOfSite = first !== undefined && routes.filter(({ pages }) => pages.abouts.has(first[0])).length > 1;
    return isOfSite && isQuotable(first[0], seen) ? first[0] : undefined;
}
