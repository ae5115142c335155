import { isObject } from '../../../shared/domain/json/schema/structure.ts';
import type { PackageEndpoint, PackageParam } from '../../../shared/domain/types.ts';
import { argumentOf } from '../exchanges/operation.ts';
import { findCall } from '../pages/declared-names.ts';
import type { Texts } from '../pages/page-facts.ts';
import type { SiteTexts } from '../pages/site-texts.ts';
import type { Collection } from '../routes/collect.ts';
import { meaningOf } from '../routes/effects.ts';
import type { Group } from '../routes/groups.ts';
import type { SeenTexts } from '../routes/seen-texts.ts';
import {
    answeredFields,
    describeEndpoint,
    describeParam,
    isByPlace,
    isCallersOwn,
    isPlaceInList,
    joinNames,
    oneOf,
} from '../words/describe.ts';
import { isProgramWord } from '../words/harmless.ts';
import { hashOf } from '../words/values.ts';
import { createRelatedFinder, findByName, findInAnswers, hashesOf } from './describe-values.ts';
import { findMajority, isQuotable } from './quotable.ts';
import type { RouteLinks } from './route-links.ts';
import type { RouteTexts, TextsOfRoutes } from './route-texts.ts';

interface Drafted {
    endpoint: PackageEndpoint;
    group: Group;
}

/** The site's description, and the names of what was described by the site: endpoints by name, params as `endpoint param`. */
export interface Described {
    site: string | undefined;
    byPages: ReadonlySet<string>;
    /** Described by response fields or by the text of a GraphQL operation, not by pages. */
    byAnswers: ReadonlySet<string>;
}

/**
 * Describes endpoints and params with texts of the site's pages: titles, headings, meta descriptions, labels and link texts that contain no
 * data. A param without such a text is described by the response fields that contained its values, and otherwise by its name.
 */
export function describeBySite(
    drafted: readonly Drafted[],
    said: TextsOfRoutes,
    { texts, seen, answerFields }: Pick<Collection, 'texts' | 'seen' | 'answerFields'>,
): Described {
    const byPages = new Set<string>();
    const byAnswers = new Set<string>();
    const names = new Map(drafted.map(({ endpoint, group }) => [group, endpoint.name]));
    const relatedTo = createRelatedFinder(drafted.map(({ group }) => group));
    for (const one of drafted) {
        const { endpoint, group } = one;
        const here = said.of(group);
        const related = relatedTo(group);
        let place = 0;
        for (const param of endpoint.params ?? []) {
            const at = param.source === 'path' ? place++ : 0;
            const hashes = hashesOf(param, group, at);
            const ofPages = describeParamByPages(param, one, here, { place: at, texts, seen, names });
            const ofAnswers =
                ofPages === undefined
                    ? describeParamByAnswers(param, one, { hashes, fields: answerFields, routeOf: said.routeOf, related }, names)
                    : undefined;
            param.description = ofPages ?? ofAnswers ?? withoutSource(param);
            if (ofPages !== undefined) byPages.add(`${endpoint.name} ${param.name}`);
            else if (ofAnswers !== undefined) byAnswers.add(`${endpoint.name} ${param.name}`);
        }
        const declared = findCall(texts.declared, endpoint);
        const leads = [declared, ...leadOf(group, here)];
        const lead =
            leads.find((text) => text !== '' && isQuotable(text, seen) && !repeatsSent(text, group)) ?? leadOfLinks(one, here.links, names);
        endpoint.description = describeEndpoint(endpoint, lead?.startsWith(CALLED_BY) === true ? withName(endpoint, lead) : lead);
        const subject =
            lead === undefined && answeredFields(endpoint).fields.length === 0 ? subjectOf(endpoint, related, drafted) : undefined;
        if (subject !== undefined) endpoint.description += subject;
        if (lead !== undefined) byPages.add(endpoint.name);
        else if (answeredFields(endpoint).fields.length > 0) byAnswers.add(endpoint.name);
    }
    for (const all of [byPages, byAnswers]) shareDescriptions(drafted, all, [byPages, byAnswers]);
    return { site: said.about, byPages, byAnswers };
}

/**
 * What is said of a param holds for others that mean the same thing: for those of its name in the same path, and elsewhere for those of its
 * name that had one of its values.
 */
function shareDescriptions(drafted: readonly Drafted[], found: Set<string>, known: readonly ReadonlySet<string>[]): void {
    const all = drafted.flatMap(({ endpoint: { name, url, params = [] }, group }) =>
        params.map((param) => ({
            param,
            key: `${name} ${param.name}`,
            values: new Set(param.source === 'path' ? [] : hashesOf(param, group, 0)),
            path: param.source === 'path' ? url.split(`{${param.name}}`, 1)[0]?.replaceAll(/\{[^{}]*\}/g, '{}') : undefined,
        })),
    );
    for (const same of Map.groupBy(all, ({ param, path }) => `${param.name} ${path}`).values()) {
        const sources = same.filter(({ key }) => found.has(key));
        for (const { param, key, path, values } of same) {
            if (known.some((some) => some.has(key))) continue;
            const source = sources.find((one) => path !== undefined || [...values].some((value) => one.values.has(value)));
            if (source === undefined) continue;
            param.description = source.param.description ?? '';
            found.add(key);
        }
    }
}

/** What a write without an answer acts on, by the fields that a read of the same thing answers with. */
function subjectOf({ method }: PackageEndpoint, related: readonly Group[], drafted: readonly Drafted[]): string | undefined {
    if (method === 'GET') return undefined;
    const read = related
        .flatMap((group) => drafted.find((one) => one.group === group)?.endpoint ?? [])
        .find((endpoint) => answeredFields(endpoint).fields.length > 0);
    return read && ` It acts on what ${read.name} answers with: ${joinNames(answeredFields(read).fields)}.`;
}

type Names = ReadonlyMap<Group, string>;

const CALLED_BY = 'Called by the page';

/** One page can call many routes, so that the name of the endpoint is needed to distinguish them. */
function withName({ name }: PackageEndpoint, calledBy: string): string {
    return `${name.replaceAll('_', ' ')}, ${calledBy.charAt(0).toLowerCase()}${calledBy.slice(1)}`;
}

/** Candidates for the description of an endpoint, best first. */
function leadOf(group: Group, { own, title, heading, link, submit, caller, search }: RouteTexts): string[] {
    const { titles, headings, callers } = group.pages;
    const both = title === '' || heading === '' ? [] : [overlaps(title, heading) ? longer(title, heading) : `${title}: ${heading}`];
    const form = submit === '' ? [] : [caller === '' ? submit : `${submit}, the form of “${caller}”`, submit];
    const calledBy = group.answers.html === 0 && callers.size > 0 ? [...callers.keys()].map((text) => `${CALLED_BY} “${text}”`) : [];
    const isHome = group.segments.every(({ core }) => core === '') && group.dispatch.length === 0 && group.selector === undefined;
    const home = isHome ? [[...titles.keys()][0] ?? '', [...headings.keys()][0] ?? ''] : [];
    return [search?.about ?? '', ...form, own, ...both, title, heading, link, ...home, ...calledBy.slice(0, 3)];
}

/** Whether a text has a value that was sent in the query, as “Results for rope” has. Words of the program are no such values. */
function repeatsSent(text: string, { query }: Group): boolean {
    const words = text
        .split(/[\s“”"'«»]+/)
        .map((word) => word.replace(/^[(:,]+|[):,;.!?…]+$/g, ''))
        .filter((word) => word !== '');
    return words.some((_, from) =>
        words.slice(from, from + MAX_SENT_WORDS).some((_word, more) => {
            const part = words.slice(from, from + more + 1).join(' ');
            const hash = hashOf(JSON.stringify(part));
            return [...query].some(
                ([name, { different }]) =>
                    different.has(hash) && (!isProgramWord(part) || isCallersOwn({ name, source: 'query', schema: {} })),
            );
        }),
    );
}

const MAX_SENT_WORDS = 5;

/** Describes an endpoint by the pages that link to it, if its own pages have no common text. */
function leadOfLinks({ endpoint }: Drafted, { from }: RouteLinks, all: Names): string | undefined {
    const names = namesOf(from, all).filter((name) => name !== endpoint.name);
    return names.length === 0 ? undefined : `${endpoint.name.replaceAll('_', ' ')}, linked from ${joinNames(names.slice(0, 3))}`;
}

function namesOf(routes: Iterable<Group>, names: Names): string[] {
    return [...routes].flatMap((route) => names.get(route) ?? []);
}

function overlaps(one: string, other: string): boolean {
    const [a, b] = [one.toLowerCase(), other.toLowerCase()];
    return a.includes(b) || b.includes(a);
}

function longer(one: string, other: string): string {
    return other.length > one.length ? other : one;
}

/** Describes a param by the response field that contained its value, by what answers show of it, or by its use in a GraphQL operation. */
function describeParamByAnswers(
    param: PackageParam,
    one: Drafted,
    found: Parameters<typeof findInAnswers>[2],
    names: Names,
): string | undefined {
    const argument = param.source === 'body' ? argumentOf(one.group.operation, param.name) : undefined;
    if (argument !== undefined) return `${describeParam(param)} The operation takes it as ${argument}.`;
    // A value of one argument says nothing of all of them.
    if (isByPlace(param)) return undefined;
    const isPlace = isPlaceInList(param.name);
    if (isPlace && param.source === 'path') return undefined;
    const { field, route } = (isPlace ? findByName(param.name, [one.group]) : findInAnswers(param, one.group, found)) ?? {};
    if (field === undefined || route === undefined) {
        const meaning = meaningOf(one.group.effects, param.name);
        return meaning === undefined ? undefined : `${describeParam(param)} ${meaning}`;
    }
    const from = `the field “${field}” in the answer of ${names.get(route) ?? one.endpoint.name}`;
    const source =
        route === one.group
            ? `The answers have it as the field “${field}”`
            : isCallersOwn(param)
              ? `It is ${from}`
              : `Take it from ${from}`;
    return `${describeParam(param)} ${source}.`;
}

/**
 * Describes a param by the label of the form field with its name, by the site's OpenSearch document, or by the pages whose links set it.
 */
function describeParamByPages(
    param: PackageParam,
    { group, endpoint }: Drafted,
    { links, search }: RouteTexts,
    { place, texts: { labels, hints, declared }, seen, names }: { place: number; texts: SiteTexts; seen: SeenTexts; names: Names },
): string | undefined {
    const { name, source } = param;
    const field = source === 'body' ? fieldOf(endpoint, name) : name;
    if (group.form?.hidden.has(field) === true) return `${describeParam(param)} A hidden input of the form; its page has the value.`;
    const labelOf = (one: PackageParam) => mostUsual(labels.get(one.source === 'body' ? fieldOf(endpoint, one.name) : one.name), seen);
    const text = labelOf(param);
    // A text beside several fields is that of the one without choices: `Length [below|above] [ ]`.
    const sharing = text === undefined ? [] : (endpoint.params ?? []).filter((one) => labelOf(one) === text);
    const label = (sharing.find((one) => !hints.has(one.name)) ?? sharing[0]) === param ? text : undefined;
    const hint = source === 'path' ? undefined : mostUsual(hints.get(name), seen);
    const byHint = hint === undefined ? undefined : `${describeParam(param)} ${hint}.`;
    if (label !== undefined && (source !== 'path' || group.form !== undefined)) return withLabel(param, label);
    const said = source === 'path' ? '' : findMajority(declared.params.get(field) ?? new Map());
    if (said !== '' && isQuotable(said, seen)) return `${said}.`;
    if (source === 'body') return byHint;
    const meaning = source === 'path' ? search?.path[place] : search?.query.get(name);
    if (meaning !== undefined && meaning !== '') return meaning;
    const given = source === 'path' ? links : links.params.get(name);
    if (given === undefined) return byHint;
    if (isPlaceInList(name)) {
        const texts = [...given.texts.keys()].filter((text) => text.length <= 24 && isQuotable(text, seen)).slice(0, 4);
        if (texts.length > 0) return `${describeParam(param)} Links that set it: ${texts.map((text) => `“${text}”`).join(', ')}.`;
    }
    const pages = [...given.from].filter((one) => one !== group);
    const sources = namesOf(pages.length > 0 ? pages : given.from, names);
    if (sources.length === 0) return byHint;
    const answers = `in the answer of ${oneOf([...new Set(sources)].slice(0, 3))}`;
    return `${describeParam(param)} ${isCallersOwn(param) ? `Links ${answers} set it` : `Take it from a link ${answers}`}.`;
}

/** The source of a path param is unknown, but links on the site contain it. */
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

/** The field that a placeholder of the body fills (`issue[notes]` for `issue_notes`). */
function fieldOf({ body }: PackageEndpoint, name: string): string {
    const found = isObject(body) ? Object.entries(body).find(([, value]) => value === `{${name}}`) : undefined;
    return found?.[0] ?? name;
}
