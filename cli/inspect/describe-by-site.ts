import { isObject } from '../../shared/domain/json/schema/structure.ts';
import { percentDecode } from '../../shared/domain/text/percent-decode.ts';
import type { PackageEndpoint, PackageParam } from '../../shared/domain/types.ts';
import type { Collection } from './collect.ts';
import { answeredFields, describeEndpoint, describeParam, isCallersOwn, isPlaceInList, joinNames, oneOf } from './describe.ts';
import { findInAnswers, hashesOf } from './describe-values.ts';
import { isVarying } from './fold.ts';
import type { Group } from './groups.ts';
import { argumentOf } from './operation.ts';
import { addText, type Texts } from './page-facts.ts';
import { findMajority, isQuotable, sharedText, siteParts } from './quotable.ts';
import type { SeenTexts } from './seen-texts.ts';
import { readSegment } from './segments.ts';
import type { SiteLink, SiteTexts } from './site-texts.ts';

interface Drafted {
    endpoint: PackageEndpoint;
    group: Group;
}

/** The site's description, and what else the site describes: endpoints by name, and params as `endpoint param`. */
export interface Described {
    site: string | undefined;
    byPages: ReadonlySet<string>;
    /** Described by fields of answers or by the text of a GraphQL operation, and not by pages. */
    byAnswers: ReadonlySet<string>;
}

/**
 * Describes endpoints and params with texts of the site's pages: titles, headings, meta descriptions, labels and link texts that contain no
 * data. Params without such texts are described by the fields of answers that had their values, the rest by its names.
 */
export function describeBySite(
    drafted: readonly Drafted[],
    { texts, seen, answerFields }: Pick<Collection, 'texts' | 'seen' | 'answerFields'>,
): Described {
    const byPages = new Set<string>();
    const byAnswers = new Set<string>();
    const ofSite = siteParts(drafted.map(({ group }) => group.pages.titles));
    const about = siteAbout(drafted, seen);
    const routeOf = openRoutes(drafted);
    const links = linksByRoute(routeOf, texts);
    for (const one of drafted) {
        const { endpoint, group } = one;
        const here = links.get(one) ?? { texts: new Map(), targets: new Set<string>(), from: new Set<Drafted>(), params: new Map() };
        let place = 0;
        for (const param of endpoint.params ?? []) {
            const hashes = hashesOf(param, group, param.source === 'path' ? place++ : 0);
            const ofPages = describeParamByPages(param, one, here, texts, seen);
            const ofAnswers =
                ofPages === undefined ? describeParamByAnswers(param, one, { hashes, fields: answerFields, routeOf }) : undefined;
            param.description = ofPages ?? ofAnswers ?? withoutSource(param);
            if (ofPages !== undefined) byPages.add(`${endpoint.name} ${param.name}`);
            else if (ofAnswers !== undefined) byAnswers.add(`${endpoint.name} ${param.name}`);
        }
        const lead = leadOf(group, here, ofSite, about).find((text) => text !== '' && isQuotable(text, seen)) ?? leadOfLinks(one, here);
        endpoint.description = describeEndpoint(endpoint, lead?.startsWith(CALLED_BY) === true ? withName(endpoint, lead) : lead);
        if (lead !== undefined) byPages.add(endpoint.name);
        else if (answeredFields(endpoint).fields.length > 0) byAnswers.add(endpoint.name);
    }
    return { site: about, byPages, byAnswers };
}

/** The description that most pages of a site carry. */
function siteAbout(drafted: readonly Drafted[], seen: SeenTexts): string | undefined {
    const all: Texts = new Map();
    for (const { group } of drafted) for (const [text, times] of group.pages.abouts) addText(all, text, times);
    const [most] = [...all].sort(([, a], [, b]) => b - a);
    const isOfSite = most !== undefined && drafted.filter(({ group }) => group.pages.abouts.has(most[0])).length > 1;
    return isOfSite && isQuotable(most[0], seen) ? most[0] : undefined;
}

const CALLED_BY = 'Called by the page';

/** One page calls many routes; only their names distinguish them. */
function withName({ name }: PackageEndpoint, calledBy: string): string {
    return `${name.replaceAll('_', ' ')}, ${calledBy.charAt(0).toLowerCase()}${calledBy.slice(1)}`;
}

/** Candidates for the description of an endpoint, best first. */
function leadOf(group: Group, links: RouteLinks, ofSite: ReadonlySet<string>, about: string | undefined): string[] {
    const { addresses, titles, headings, abouts, submits, callers } = group.pages;
    const isFixed = !group.segments.some(isVarying) && [...group.query.values()].every(({ different }) => different.size <= 1);
    const pages = { isFixed, addresses: addresses.size };
    const own = sharedText(abouts, { ...pages, isWhole: true }, new Set(about === undefined ? [] : [about]));
    const title = sharedText(titles, pages, ofSite);
    const heading = sharedText(headings, pages, ofSite);
    const both = title === '' || heading === '' ? [] : [overlaps(title, heading) ? longer(title, heading) : `${title}: ${heading}`];
    const caller = findMajority(
        new Map([...callers].map(([text, times]) => [sharedText(new Map([[text, 1]]), { isFixed: true, addresses: 1 }, ofSite), times])),
    );
    const isForm = group.form !== undefined && (group.method === 'POST' || addresses.size === 0);
    const submit = findMajority(submits);
    const form = isForm && submit !== '' ? [caller === '' ? submit : `${submit}, the form of “${caller}”`, submit] : [];
    const link = links.targets.size > 1 || isFixed ? findMajority(links.texts) : '';
    const calledBy = group.answers.json > 0 && callers.size > 0 ? [...callers.keys()].map((text) => `${CALLED_BY} “${text}”`) : [];
    const isHome = group.segments.every(({ core }) => core === '') && group.dispatch.length === 0;
    const home = isHome ? [[...titles.keys()][0] ?? '', [...headings.keys()][0] ?? ''] : [];
    return [...form, own, ...both, title, heading, link, ...home, ...calledBy.slice(0, 3)];
}

/** Describes an endpoint by the pages that link to it, if its own pages have no text in common. */
function leadOfLinks({ endpoint }: Drafted, { from }: RouteLinks): string | undefined {
    const names = [...from].map((one) => one.endpoint.name).filter((name) => name !== endpoint.name);
    return names.length === 0 ? undefined : `${endpoint.name.replaceAll('_', ' ')}, linked from ${joinNames(names.slice(0, 3))}`;
}

function overlaps(one: string, other: string): boolean {
    const [a, b] = [one.toLowerCase(), other.toLowerCase()];
    return a.includes(b) || b.includes(a);
}

function longer(one: string, other: string): string {
    return other.length > one.length ? other : one;
}

interface RouteLinks {
    texts: Texts;
    targets: Set<string>;
    from: Set<Drafted>;
    /** Texts of links with a query param, by its name. */
    params: Map<string, { texts: Texts; from: Set<Drafted> }>;
}

/** Finds the read of an address. */
function openRoutes(drafted: readonly Drafted[]): (url: URL) => Drafted | undefined {
    const reads = drafted.filter(({ group }) => group.method === 'GET');
    const byLength = Map.groupBy(reads, ({ group }) => group.segments.length);
    const known = new Map<string, Drafted | undefined>();
    return (url) => {
        const address = `${url.origin}${url.pathname}${url.search}`;
        if (!known.has(address)) known.set(address, findMatch(byLength, url));
        return known.get(address);
    };
}

function linksByRoute(routeOf: (url: URL) => Drafted | undefined, { links }: SiteTexts): Map<Drafted, RouteLinks> {
    const found = new Map<Drafted, RouteLinks>();
    for (const link of links) {
        if (link.to.pathname === link.from.pathname && link.to.search === link.from.search) continue;
        const to = routeOf(link.to);
        if (to !== undefined) addLink(found, to, routeOf(link.from), link);
    }
    return found;
}

function addLink(found: Map<Drafted, RouteLinks>, to: Drafted, from: Drafted | undefined, { to: url, text }: SiteLink): void {
    const links = found.get(to) ?? { texts: new Map(), targets: new Set<string>(), from: new Set<Drafted>(), params: new Map() };
    found.set(to, links);
    addText(links.texts, text);
    links.targets.add(url.pathname + url.search);
    if (from !== undefined) links.from.add(from);
    for (const name of url.searchParams.keys()) {
        const param = links.params.get(name) ?? { texts: new Map(), from: new Set<Drafted>() };
        links.params.set(name, param);
        addText(param.texts, text);
        if (from !== undefined) param.from.add(from);
    }
}

/** The route of an address; of several, the one with the most fixed parts. */
function findMatch(byLength: ReadonlyMap<number, readonly Drafted[]>, url: URL): Drafted | undefined {
    const pieces = url.pathname.slice(1).split('/').map(readSegment);
    let best: { one: Drafted; weight: number } | undefined;
    for (const one of byLength.get(pieces.length) ?? []) {
        const { segments, origin, dispatch } = one.group;
        const fits =
            origin === url.origin &&
            segments.every((piece, place) => isVarying(piece) || percentDecode(piece.core) === percentDecode(pieces[place]?.core ?? '')) &&
            dispatch.every(([name, value]) => url.searchParams.get(name) === value);
        const weight = dispatch.length * 100 + segments.filter((piece) => !isVarying(piece)).length;
        if (fits && weight > (best?.weight ?? -1)) best = { one, weight };
    }
    return best?.one;
}

/** Describes a param by the field of an answer that had its value, or by its place in a GraphQL operation. */
function describeParamByAnswers(
    param: PackageParam,
    one: Drafted,
    found: Parameters<typeof findInAnswers<Drafted>>[2],
): string | undefined {
    const argument = param.source === 'body' ? argumentOf(one.group.operation, param.name) : undefined;
    if (argument !== undefined) return `${describeParam(param)} The operation takes it as ${argument}.`;
    if (isPlaceInList(param.name)) return undefined;
    const { field, route } = findInAnswers(param, one, found) ?? {};
    if (field === undefined || route === undefined) return undefined;
    const place = `the field “${field}” in the answer of ${route.endpoint.name}`;
    const from =
        route === one ? `The answers have it as the field “${field}”` : isCallersOwn(param) ? `It is ${place}` : `Take it from ${place}`;
    return `${describeParam(param)} ${from}.`;
}

/** Describes a param by the label of a field of its name, or by the pages that link with it. */
function describeParamByPages(
    param: PackageParam,
    { group, endpoint }: Drafted,
    links: RouteLinks,
    { labels, hints }: SiteTexts,
    seen: SeenTexts,
): string | undefined {
    const { name, source } = param;
    const label = mostUsual(labels.get(name), seen);
    const hint = source === 'path' ? undefined : mostUsual(hints.get(name), seen);
    const byHint = hint === undefined ? undefined : `${describeParam(param)} ${hint}.`;
    if (label !== undefined && (source !== 'path' || group.form !== undefined)) return withLabel(param, label);
    if (source === 'body') return byHint;
    const given = source === 'path' ? links : links.params.get(name);
    if (given === undefined) return byHint;
    if (isPlaceInList(name)) {
        const texts = [...given.texts.keys()].filter((text) => text.length <= 24 && isQuotable(text, seen)).slice(0, 4);
        if (texts.length > 0) return `${describeParam(param)} Links that set it: ${texts.map((text) => `“${text}”`).join(', ')}.`;
    }
    const pages = [...given.from].filter(({ endpoint: one }) => one !== endpoint);
    const sources = (pages.length > 0 ? pages : [...given.from]).map(({ endpoint: one }) => one.name);
    if (sources.length === 0) return byHint;
    const answers = `in the answer of ${oneOf([...new Set(sources)].slice(0, 3))}`;
    return `${describeParam(param)} ${isCallersOwn(param) ? `Links ${answers} set it` : `Take it from a link ${answers}`}.`;
}

/** Of a part of a path nothing is known but that something on the site leads there. */
function withoutSource(param: PackageParam): string {
    const said = describeParam(param);
    return param.source === 'path' && said.startsWith('Which ') ? `${said} Lists and links of the site have it.` : said;
}

function mostUsual(texts: Texts | undefined, seen: SeenTexts): string | undefined {
    return [...(texts ?? [])].sort(([, a], [, b]) => b - a).find(([text]) => isQuotable(text, seen))?.[0];
}

function withLabel(param: PackageParam, label: string): string {
    const { schema } = param;
    const type = isObject(schema) ? schema['type'] : undefined;
    return type === 'boolean' && !/^\W*whether/i.test(label) ? `Whether “${label}” is chosen.` : `${label.replace(/[.:…\s]+$/, '')}.`;
}
