import { expect } from 'chai';
import { DOCUMENTS } from '../../api/dashboard/docs/documents.ts';
import { libraryOf } from '../../api/dashboard/docs/library.ts';
import { PAGES } from '../../api/dashboard/pages.ts';
import { LISTED } from '../../api/dashboard/search-engines.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { siteRanges } from '../../shared/store/registry/sites.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';

describe('pages for search engines', () => {
    const world = useWorld({ workers: 0 });

    before(async () => {
        const maker = await join(world, { plan: 'enterprise' });
        for (const site of ['a-shop.example', 'b-shop.example', 'c-shop.example', 'gone.example', 'blocked.example'])
            dataOf(await maker.publish(aPackage(site)));
        dataOf(await maker.call('POST', '/v1/schemas/gone.example/versions/1/yank', { body: { reason: 'broken' } }));
        await world.app.db.raw("update domains set blocked_at = app_now(), block_reason = 'asked' where registrable = 'blocked.example'");
    });

    async function get(path: string): Promise<string> {
        const answer = await fetch(new URL(path, world.base));
        expect(answer.status, path).to.equal(200);
        expect(answer.headers.get('cache-control'), path).to.equal('public, max-age=3600');
        return answer.text();
    }
    const here = (path: string) => world.app.publicUrl() + path;
    const locationsOf = (xml: string) => [...xml.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, loc = '']) => loc.replaceAll('&amp;', '&'));
    const pathsOf = (xml: string) => locationsOf(xml).map((loc) => loc.replace(world.app.publicUrl(), ''));

    it('are listed if they are public; every other page of the table and the API is excluded', async () => {
        const text = await get('/robots.txt');
        expect(text)
            .to.match(/^User-agent: \*\n/)
            .and.include(`Sitemap: ${here('/sitemap.xml')}\n`);
        const rules = [...text.matchAll(/^(Allow|Disallow): (\S+)$/gm)].map(([, verb, path = '']) => ({ verb, path }));
        /** The rules of RFC 9309. */
        const mayRead = (path: string) => {
            const fitting = rules.filter((rule) => new RegExp(`^${rule.path.replaceAll('.', '\\.').replaceAll('*', '.*')}`).test(path));
            return fitting.toSorted((a, b) => b.path.length - a.path.length)[0]?.verb !== 'Disallow';
        };
        for (const page of PAGES.filter(({ method }) => method === 'GET')) {
            const path = page.path.replaceAll(/\{\w+\}/g, 'some-thing.example');
            const isListed = LISTED.includes(page.path);
            expect(mayRead(path), path).to.equal(isListed);
            if (isListed) expect(page.audience, path).to.equal('anyone');
        }
        expect(mayRead('/v1/schemas/a-shop.example')).to.equal(false);
        for (const path of ['/v1/openapi.json', '/llms.txt', '/assets/1/style.css']) expect(mayRead(path), path).to.equal(true);
        for (const path of LISTED)
            expect(
                PAGES.some((page) => page.path === path && page.method === 'GET'),
                path,
            ).to.equal(true);
    });

    it('are all in one sitemap, with every usable site that is not blocked', async () => {
        const index = pathsOf(await get('/sitemap.xml'));
        const listed = (await Promise.all(index.map(get))).flatMap(pathsOf);
        const parts = (await libraryOf(world.app)).articles.flatMap(({ article }) => article.parts.map(({ path }) => path));
        expect(parts).to.include('/docs/api/limits').and.include('/docs/operations/alerts');
        expect(listed).to.have.members([
            ...parts,
            ...DOCUMENTS.map(({ path }) => path),
            ...new Set(CONTRACTS.map(({ tag }) => `/docs/api/${tag.toLowerCase()}`)),
            ...[
                '/',
                '/docs',
                '/docs/errors',
                '/registry',
                '/requests',
                '/trending',
                '/upgrade',
                '/abuse',
                '/security',
                '/status',
                '/terms',
                '/privacy',
            ],
            ...['a-shop', 'b-shop', 'c-shop'].map((name) => `/registry/${name}.example`),
        ]);
        for (const path of listed) expect((await fetch(new URL(path, world.base))).status, path).to.equal(200);
    });

    it('are split over several sitemaps if there are many sites, each site in one', async () => {
        expect(await siteRanges(world.app.browse, 2)).to.deep.equal(['a-shop.example', 'c-shop.example']);
        const sites = async (query: string) => pathsOf(await get(`/sitemaps/sites.xml?${query}`));
        expect(await sites('from=a-shop.example&before=c-shop.example')).to.deep.equal([
            '/registry/a-shop.example',
            '/registry/b-shop.example',
        ]);
        expect(await sites('from=c-shop.example')).to.deep.equal(['/registry/c-shop.example']);
    });

    it('are in no sitemap with an invalid start', async () => {
        for (const query of ['', '?from=', '?from=%00', '?from=a.example&from=b.example', '?from=a.example&before=%27']) {
            expect((await fetch(`${world.base}/sitemaps/sites.xml${query}`)).status, query).to.equal(404);
        }
    });
});
