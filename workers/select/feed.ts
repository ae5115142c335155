import { parseFeed } from 'feedsmith';
import { isExact, parseExact } from '../../shared/domain/json/exact-numbers.ts';
import { isObject, listOf, objectOf } from '../../shared/domain/json/schema/structure.ts';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { InvalidResponse } from './invalid-response.ts';
import { parseJson } from './json.ts';
import { walkXml, withoutUnfit } from './xml.ts';

type ParsedFeed = ReturnType<typeof parseFeed>;
type FeedOf<Format extends ParsedFeed['format']> = Extract<ParsedFeed, { format: Format }>['feed'];
type ItemOf<Feed> = Feed extends { items?: (infer Item)[] } ? Item : Feed extends { entries?: (infer Entry)[] } ? Entry : never;

type RssItem = ItemOf<FeedOf<'rss'>>;
type RdfItem = ItemOf<FeedOf<'rdf'>>;
type AtomEntry = ItemOf<FeedOf<'atom'>>;
type JsonItem = ItemOf<FeedOf<'json'>>;

/**
 * A feed of RSS, RDF, Atom or JSON as `{title, url, items}` (docs/api.md, "Schema packages"). Every item has every field; a field that the
 * feed lacks is null or an empty list. Relative URLs are resolved; times are in UTC.
 * @param url of the feed
 * @throws InvalidResponse for a text that is not a feed
 */
export function readFeed(text: string, url: string): JsonObject {
    const written = text.trim();
    const isJson = written.startsWith('{');
    const body = isJson ? written : withoutUnfit(written);
    if (!isJson) walkXml(body);
    const parsed = parse(isJson ? withTextIds(parseExact(body, parseJson(body))) : body);
    const link = (href: string | undefined) => linkOf(href, url);
    if (parsed.format === 'rss') return shape(parsed.feed.title, link(parsed.feed.link), parsed.feed.items, (item) => ofRss(item, link));
    if (parsed.format === 'rdf') return shape(parsed.feed.title, link(parsed.feed.link), parsed.feed.items, (item) => ofRdf(item, link));
    if (parsed.format === 'atom') {
        const { title, links, entries, authors, xml } = parsed.feed;
        const base = linkOf(xml?.base, url) ?? url;
        return shape(title?.value, linkOf(pageOf(links), base), entries, (entry) => {
            const own = linkOf(entry.xml?.base, base) ?? base;
            return ofAtom(entry, authors, (href) => linkOf(href, own));
        });
    }
    const { title, home_page_url: page, items, authors } = parsed.feed;
    return shape(title, link(page), items, (item) => ofJson(item, authors, link));
}

/** Ids that JavaScript would round become texts: the parser writes numbers as texts itself. */
function withTextIds(feed: Json): Json {
    const items = listOf(objectOf(feed)['items']);
    for (const item of items) if (isObject(item) && isExact(item['id'])) item['id'] = String(item['id']);
    return feed;
}

function parse(body: Json): ParsedFeed {
    try {
        return parseFeed(body);
    } catch {
        throw new InvalidResponse('The answer is not a feed (RSS, RDF, Atom or JSON).');
    }
}

function shape<Item>(title: string | undefined, url: Json, items: Item[] | undefined, read: (item: Item) => JsonObject): JsonObject {
    return { title: title ?? null, url, items: (items ?? []).map(read) };
}

type Link = (href: string | undefined) => string | null;

/** Makes a URL absolute. An absolute URL is not changed. */
function linkOf(href: string | undefined, base: string): string | null {
    if (href === undefined || URL.canParse(href)) return href ?? null;
    return URL.parse(href, base)?.href ?? href;
}

function ofRss(item: RssItem, link: Link): JsonObject {
    const { guid, enclosures = [], authors = [], categories = [], dc, dcterms, atom, media, itunes } = item;
    const isPage = guid?.isPermaLink !== false && /^https?:/i.test(guid?.value ?? '');
    return {
        id: guid?.value ?? null,
        url: link(item.link ?? (isPage ? guid?.value : undefined)),
        title: item.title ?? itunes?.title ?? null,
        summary: item.description ?? null,
        content: item.content?.encoded ?? null,
        authors: different([...authors.map(nameOf), ...(dc?.creators ?? []), itunes?.author]),
        published_at: timeIn(item.pubDate ?? dc?.dates?.[0] ?? atom?.published),
        updated_at: timeIn(atom?.updated ?? dcterms?.modified?.[0]),
        categories: different([...categories.map(({ name }) => name), ...(dc?.subjects ?? [])]),
        media: files([...enclosures.map(({ url, type, length }) => ({ url, type, bytes: length })), ...mediaOf(media)], link),
    };
}

function ofRdf(item: RdfItem, link: Link): JsonObject {
    const { dc, dcterms, media } = item;
    return {
        id: item.rdf?.about ?? null,
        url: link(item.link),
        title: item.title ?? null,
        summary: item.description ?? null,
        content: item.content?.encoded ?? null,
        authors: different(dc?.creators ?? []),
        published_at: timeIn(dc?.dates?.[0]),
        updated_at: timeIn(dcterms?.modified?.[0]),
        categories: different(dc?.subjects ?? []),
        media: files(mediaOf(media), link),
    };
}

/** An entry without authors has those of its feed (RFC 4287, 4.2.1). */
function ofAtom(entry: AtomEntry, authors: AtomEntry['authors'], link: Link): JsonObject {
    const { id, title, summary, content, links = [], categories = [], published, updated, media } = entry;
    const enclosed = links.filter(({ rel }) => rel === 'enclosure').map(({ href, type, length }) => ({ url: href, type, bytes: length }));
    return {
        id: id ?? null,
        url: link(pageOf(links)),
        title: title?.value ?? null,
        summary: summary?.value ?? null,
        content: content?.value ?? null,
        authors: different((entry.authors ?? authors ?? []).map(nameOf)),
        published_at: timeIn(published),
        updated_at: timeIn(updated),
        categories: different(categories.map(({ label, term }) => label ?? term)),
        media: files([...enclosed, ...mediaOf(media)], link),
    };
}

/** An item without authors has those of its feed (JSON Feed 1.1, "Top-level"). */
function ofJson(item: JsonItem, authors: JsonItem['authors'], link: Link): JsonObject {
    const { id, url, title, summary, tags, attachments = [] } = item;
    const attached = attachments.map((one) => ({ url: one.url, type: one.mime_type, bytes: one.size_in_bytes }));
    return {
        id: id ?? null,
        url: link(url ?? item.external_url),
        title: title ?? null,
        summary: summary ?? null,
        content: item.content_html ?? item.content_text ?? null,
        authors: different((item.authors ?? authors ?? []).map(nameOf)),
        published_at: timeIn(item.date_published),
        updated_at: timeIn(item.date_modified),
        categories: different(tags ?? []),
        media: files(attached, link),
    };
}

/** The link to the page among the links of Atom. A link without a relation leads to the page, too. */
function pageOf(links: AtomEntry['links'] = []): string | undefined {
    const pages = links.filter(({ rel = 'alternate' }) => rel === 'alternate');
    return (pages.find(({ type = 'text/html' }) => type === 'text/html') ?? pages[0])?.href;
}

function nameOf({ name, email }: { name?: string; email?: string }): string | undefined {
    return name ?? email;
}

function different(texts: readonly (string | undefined)[]): string[] {
    return [...new Set(texts.filter((text) => text !== undefined && text !== ''))] as string[];
}

interface File {
    url: string | undefined;
    type: string | undefined;
    bytes: number | undefined;
}

function mediaOf(media: RssItem['media']): File[] {
    const contents = [...(media?.contents ?? []), ...(media?.groups ?? []).flatMap((group) => group.contents ?? [])];
    return contents.map(({ url, type, fileSize }) => ({ url, type, bytes: fileSize }));
}

function files(all: readonly File[], link: Link): JsonObject[] {
    const byUrl = new Map<string, JsonObject>();
    for (const { url, type = null, bytes = null } of all) {
        const target = link(url);
        if (target !== null && !byUrl.has(target)) byUrl.set(target, { url: target, type, bytes });
    }
    return [...byUrl.values()];
}

/** `2026-11-24`, `2026-11-24T10:00:00+01:00` and the like. */
const ISO = /^(\d{4}-\d\d(?:-(\d\d))?)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** `Tue, 24 Nov 2026 10:00:00 GMT` and the like (RFC 822), also without a time. A comment such as ` (UTC)` may follow. */
const MAIL =
    /^((?:[a-z]{3,9}(?:,\s*|\s+))?((\d{1,2})\s+[a-z]{3,9}\s+\d{2,4})(?:\s+\d{1,2}:\d\d(?::\d\d)?(\s*(?:[+-]\d\d:?\d\d|[a-z]{1,4}))?)?)(?:\s*\([^()]*\))?$/i;

/**
 * The time in a text of a feed, in UTC with milliseconds; null without one. A time without a zone is in UTC.
 * @param text a time in the format of ISO 8601 or RFC 822
 */
function timeIn(text: unknown): string | null {
    const written = typeof text === 'string' ? text.trim() : '';
    const time = new Date(isoTime(written) ?? mailTime(written) ?? Number.NaN);
    return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function isoTime(text: string): string | undefined {
    const [, date = '', day = '1', time, zone = 'Z'] = ISO.exec(text) ?? [];
    if (!isInCalendar(date, day)) return undefined;
    return time === undefined ? date : `${date}T${time}${zone.toUpperCase().replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')}`;
}

function mailTime(text: string): string | undefined {
    const [, time, date = '', day = '', zone] = MAIL.exec(text) ?? [];
    if (!isInCalendar(`${date} GMT`, day)) return undefined;
    return zone === undefined ? `${time} GMT` : time;
}

/** Whether a month has the day: JavaScript reads 31 February as 3 March. */
function isInCalendar(date: string, day: string): boolean {
    return new Date(date).getUTCDate() === Number(day);
}
