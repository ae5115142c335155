import type { Request, Server } from '@hapi/hapi';
import { LRUCache } from 'lru-cache';
import type { App } from '../../shared/app.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import { Refusal } from '../../shared/refusals.ts';
import { siteRanges, sitesBetween } from '../../shared/store/registry/sites.ts';
import { servePublic } from '../answers/public-file.ts';
import { DOCUMENTS } from './docs/documents.ts';
import { libraryOf } from './docs/library.ts';
import type { Page } from './page.ts';

/** Pages that search engines may list. The sitemaps contain all of them except the pages of versions. */
export const LISTED: readonly Page['path'][] = [
    '/',
    '/docs',
    ...DOCUMENTS.map(({ path }) => path),
    '/docs/api/{chapter}',
    '/docs/operations/{section}',
    '/docs/errors',
    '/registry',
    '/registry/{site}',
    '/registry/{site}/versions',
    '/requests',
    '/trending',
    '/upgrade',
    '/abuse',
    '/security',
    '/status',
    '/terms',
    '/privacy',
];

const KEPT_SECONDS = 3600;
/** Maximum number of sites in a sitemap. The protocol allows 50,000, but each sitemap is built in memory at once. */
const SITES = 5000;
const TEXT = 'text/plain; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** Serves `/robots.txt` and the sitemaps, generated from the table of pages. */
export function searchEngines(server: Server, app: App, pages: readonly Page[]): void {
    const url = (path: string) => app.publicUrl() + path;
    const ranges = new LRUCache<'all', string[]>({
        max: 1,
        ttl: KEPT_SECONDS * 1000,
        fetchMethod: () => siteRanges(app.browse, SITES),
    });
    const serve = (path: string, type: string, read: (request: Request) => Promise<string> | string) =>
        servePublic(server, path, { type, isOpen: false, seconds: KEPT_SECONDS, read });

    serve('/robots.txt', TEXT, () => robots(pages, url('/sitemap.xml')));
    serve('/sitemap.xml', XML, async () => {
        const firsts = (await ranges.fetch('all')) ?? [];
        const paths = firsts.map((from, place) => {
            const before = firsts[place + 1];
            return `/sitemaps/sites.xml?${new URLSearchParams({ from, ...(before === undefined ? {} : { before }) })}`;
        });
        return document(
            'sitemapindex',
            'sitemap',
            ['/sitemaps/pages.xml', ...paths].map((path) => ({ loc: url(path) })),
        );
    });
    serve('/sitemaps/pages.xml', XML, async () => {
        const { articles, chapters } = await libraryOf(app);
        const parts = articles.flatMap(({ article }) => article.parts.map(({ path }) => path));
        const paths = [...LISTED.filter((path) => !path.includes('{')), ...chapters.map(({ slug }) => `/docs/api/${slug}`), ...parts];
        return document(
            'urlset',
            'url',
            paths.map((path) => ({ loc: url(path) })),
        );
    });
    serve('/sitemaps/sites.xml', XML, async ({ query: { from, before } }) => {
        const range = { from: readName(from), before: before === undefined ? undefined : readName(before), limit: SITES };
        const sites = await sitesBetween(app.browse, range);
        const entries = sites.map(({ site, publishedAt }) => ({ loc: url(`/registry/${site}`), lastmod: publishedAt.toISOString() }));
        return document('urlset', 'url', entries);
    });
}

/** Writes the rules (RFC 9309). A path without a rule is allowed. If two rules match, the longer one applies. */
function robots(pages: readonly Page[], sitemap: string): string {
    const hidden = pages
        .filter(({ method, path }) => method === 'GET' && !LISTED.includes(path))
        .map(({ path }) => path.replaceAll(/\{\w+\}/g, '*'))
        .toSorted();
    const prefixes = hidden.filter((path) => !hidden.some((other) => other !== path && path.startsWith(other)));
    return [
        'User-agent: *',
        ...[...new Set(prefixes), '/v1/'].map((path) => `Disallow: ${path}`),
        // The OpenAPI document is public.
        'Allow: /v1/openapi.json',
        '',
        `Sitemap: ${sitemap}`,
        '',
    ].join('\n');
}

function document(root: string, item: string, entries: readonly { loc: string; lastmod?: string }[]): string {
    const lines = entries.map(({ loc, lastmod }) => {
        const when = lastmod === undefined ? '' : `<lastmod>${lastmod}</lastmod>`;
        return `<${item}><loc>${loc.replaceAll('&', '&amp;')}</loc>${when}</${item}>\n`;
    });
    return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${lines.join('')}</${root}>\n`;
}

function readName(value: unknown): string {
    const name = normaliseSite(typeof value === 'string' ? value : '');
    if (!name.ok) throw new Refusal('NOT_FOUND');
    return name.site;
}
