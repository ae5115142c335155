import { getOrMake } from '../../../shared/domain/get-or-make.ts';
import { percentDecode } from '../../../shared/domain/text/percent-decode.ts';
import { addText, type Texts } from '../pages/page-facts.ts';
import type { SiteLink, SiteTexts } from '../pages/site-texts.ts';
import type { Group } from '../routes/groups.ts';
import { isVarying, readSegment } from '../words/segments.ts';

/** The links to one route. */
export interface RouteLinks {
    texts: Texts;
    targets: Set<string>;
    from: Set<Group>;
    /** Texts of the links that set a query param, by its name. */
    params: Map<string, { texts: Texts; from: Set<Group> }>;
}

/** Initial value for a route, before any link. */
export function createRouteLinks(): RouteLinks {
    return { texts: new Map(), targets: new Set(), from: new Set(), params: new Map() };
}

/** Finds the route of an address: that of a GET, that of a call by POST if there is no GET, or that of an operation whose body names it. */
export type RouteOf = (url: URL, operation?: string) => Group | undefined;

/** Returns a function that finds the route of an address. */
export function createRouteFinder(routes: readonly Group[]): RouteOf {
    const reads = routes.filter(({ method, operation }) => method === 'GET' || operation !== undefined);
    const calls = routes.filter(({ method, operation, answers }) => method === 'POST' && operation === undefined && answers.json > 0);
    const byOperation = Map.groupBy([...reads, ...calls], ({ operation }) => operation?.key);
    const byLength = new Map([...byOperation].map(([key, some]) => [key, Map.groupBy(some, ({ segments }) => segments.length)]));
    const known = new Map<string, Group | undefined>();
    return (url, operation) => {
        const address = `${operation ?? ''} ${url.origin}${url.pathname}${url.search}`;
        if (!known.has(address)) known.set(address, findMatch(byLength.get(operation) ?? new Map(), url));
        return known.get(address);
    };
}

/** The links of all pages, by the route they lead to. */
export function linksByRoute(routeOf: (url: URL) => Group | undefined, { links }: SiteTexts): Map<Group, RouteLinks> {
    const found = new Map<Group, RouteLinks>();
    for (const link of links) {
        if (link.to.pathname === link.from.pathname && link.to.search === link.from.search) continue;
        const to = routeOf(link.to);
        if (to !== undefined) addLink(found, to, routeOf(link.from), link);
    }
    return found;
}

function addLink(found: Map<Group, RouteLinks>, to: Group, from: Group | undefined, { to: url, text }: SiteLink): void {
    const links = getOrMake(found, to, createRouteLinks);
    addText(links.texts, text);
    links.targets.add(url.pathname + url.search);
    if (from !== undefined) links.from.add(from);
    for (const name of url.searchParams.keys()) {
        const param = getOrMake(links.params, name, () => ({ texts: new Map(), from: new Set() }));
        addText(param.texts, text);
        if (from !== undefined) param.from.add(from);
    }
}

/** The route of an address. Of several matches, the one with the most fixed parts. */
function findMatch(byLength: ReadonlyMap<number, readonly Group[]>, url: URL): Group | undefined {
    const pieces = url.pathname.slice(1).split('/').map(readSegment);
    let best: { one: Group; weight: number } | undefined;
    for (const one of byLength.get(pieces.length) ?? []) {
        const { segments, origin, dispatch, selector } = one;
        const fits =
            origin === url.origin &&
            segments.every((piece, place) => isVarying(piece) || percentDecode(piece.core) === percentDecode(pieces[place]?.core ?? '')) &&
            dispatch.every(([name, value]) => url.searchParams.get(name) === value) &&
            (selector === undefined || url.searchParams.has(selector));
        const chosen = dispatch.length + (selector === undefined ? 0 : 1);
        const weight = chosen * 100 + segments.filter((piece) => !isVarying(piece)).length;
        if (fits && weight > (best?.weight ?? -1)) best = { one, weight };
    }
    return best?.one;
}
