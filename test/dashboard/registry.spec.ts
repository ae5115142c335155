import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { FINDS } from '../../shared/domain/accounts/plans.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { untilIndexed } from '../support/find.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { visitor, wordsOf } from './support/visitor.ts';

const MARKUP = '<img src=x onerror=alert(1)><script>alert(2)</script>';

describe('the registry’s pages', () => {
    const world = useWorld({ config: { trustProxy: 1 } });
    let ada: Person;

    before(async () => {
        ada = await join(world, { credits: 100 });
        const lens = anEndpoint('lens-shop.example', {
            name: 'find_lenses',
            kind: 'search',
            url: 'https://lens-shop.example/search',
            params: [
                { name: 'q', source: 'query', required: true, schema: { type: 'string', maxLength: 40 }, example: 'wide' },
                { name: 'sort', source: 'query', required: false, schema: { enum: ['price', 'name'] }, default: 'name' },
            ],
            billing: { unit: 'result', max_results: 20 },
        });
        const order = anEndpoint('lens-shop.example', { name: 'order_lens', method: 'POST', effect: 'write' });
        for (const document of [
            aPackage('lens-shop.example', { title: 'Lens Shop', endpoints: [lens] }),
            aPackage('lens-shop.example', { title: 'Lens Shop', endpoints: [{ ...lens, description: 'Every lens there is.' }, order] }),
            aPackage('weather.example', {
                title: 'Weather',
                intent_category: 'weather/current',
                endpoints: [anEndpoint('weather.example', { name: 'forecast', description: 'The weather of the coming days.' })],
            }),
            aPackage('sea.example', {
                title: 'Coasts',
                endpoints: [
                    anEndpoint('sea.example', {
                        name: 'tide_level',
                        description: 'Measures the level of the tide at a harbour, every hour.',
                    }),
                ],
            }),
            aPackage('evil.example', {
                title: MARKUP,
                description: MARKUP,
                endpoints: [anEndpoint('evil.example', { description: MARKUP })],
            }),
        ]) {
            const { status, body } = await ada.publish(document);
            expect(status, JSON.stringify(body)).to.equal(201);
        }
    });

    const show = async (path: string) => {
        const { status, html } = await visitor(world).get(path);
        expect(status, path).to.equal(200);
        return { html, words: wordsOf(html) };
    };

    it('find a site by its name, also mistyped, and link to its page', async () => {
        for (const q of ['lens', 'lens-shop.example', 'lnes shop']) {
            const { html } = await show(`/registry?q=${encodeURIComponent(q)}`);
            expect(html, q).to.include('href="/registry/lens-shop.example"').and.not.include('weather.example');
        }
    });

    it('find endpoints by a task, with words that are in no site’s name, from the home page', async () => {
        await untilIndexed(world);
        const { html: home } = await show('/');
        const [, action] = /<form class="search" role="search" action="([^"]*)" method="get">/.exec(home) ?? [];
        expect(home).to.match(/<input id="search" name="q"/);
        const { html, words } = await show(`${action}?q=${encodeURIComponent('measure the tide at a harbour')}`);
        expect(html).to.include('href="/registry/sea.example#tide_level"').and.not.include('weather.example');
        expect(words).to.include('Endpoints that fit').and.not.include('Nothing found');
        const none = await show(`${action}?q=${encodeURIComponent('measure the tide at a harbour')}&category=weather`);
        expect(none.words).to.include('Nothing found').and.not.include('Endpoints that fit');
    });

    it('still find sites, and say why no endpoints are shown, when an address searches too often', async () => {
        const busy = visitor(world, { address: '198.51.100.77' });
        let html = '';
        for (let asked = 0; asked <= FINDS.limit; asked++) ({ html } = await busy.get('/registry?q=lens'));
        expect(html).to.include('href="/registry/lens-shop.example"');
        expect(wordsOf(html)).to.include('Endpoints are not shown: The window find is full');
    });

    it('filter by category and by verification, and keep the chosen filters in the form', async () => {
        const { html } = await show('/registry?category=weather&sort=name');
        expect(html).to.include('/registry/weather.example').and.not.include('/registry/lens-shop.example');
        expect(html).to.match(/<option value="weather" selected>/);
        expect(html).to.match(/<option value="name" selected>/);
        expect((await show('/registry?verified=true')).words).to.include('Nothing found');
    });

    it('ignore invalid filters', async () => {
        for (const query of ['category=no/such', 'sort=up', 'from=gone', 'verified=perhaps', `q=${'x'.repeat(300)}`, 'q=%00', 'q=a&q=b']) {
            expect((await visitor(world).get(`/registry?${query}`)).status, query).to.equal(200);
        }
    });

    it('cut a long search, also within a character, as does the documentation', async () => {
        const q = encodeURIComponent(`${'x'.repeat(99)}\u{1f98a}`);
        for (const path of [`/registry?q=${q}`, `/docs/search?q=${q}`, `/registry?q=${q}&sort=name`]) {
            const { status, html } = await visitor(world).get(path);
            expect(status, path).to.equal(200);
            expect(html).to.include('x'.repeat(99));
        }
    });

    it('show many sites page by page, each of them once', async () => {
        for (let number = 10; number < 40; number++) {
            await publishAsStarter(world.app, aPackage(`many${number}.example`, { title: `Crowd ${number}` }));
        }
        const seen: string[] = [];
        let path: string | undefined = '/registry?q=crowd&sort=name';
        while (path !== undefined) {
            const { html } = await show(path);
            seen.push(...[...html.matchAll(/<h3><a href="\/registry\/(many\d+\.example)">/g)].map(([, site = '']) => site));
            path = /href="([^"]*)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
        }
        expect(seen).to.deep.equal(Array.from({ length: 30 }, (_, index) => `many${index + 10}.example`));
    });

    it('say where to request a site without a schema', async () => {
        const { status, html } = await visitor(world).get('/registry/nobody-wrote-it.example');
        expect(status).to.equal(404);
        expect(html).to.include('href="/requests/new?domain=nobody-wrote-it.example"');
        expect((await visitor(world).get('/registry/not_a_name')).status).to.equal(404);
        const { html: misspelt } = await visitor(world).get('/registry/lens-shpo.example');
        expect(wordsOf(misspelt)).to.include('Did you mean lens-shop.example');
        expect((await visitor(world).get('/registry/LENS-shop.example')).to).to.equal('/registry/lens-shop.example');
    });

    it('ask for the site or the task that nothing was found for', async () => {
        expect((await show('/registry?q=nobody-wrote-it.example')).html).to.include('href="/requests/new?domain=nobody-wrote-it.example"');
        expect((await show('/registry?q=zzyzx+qwrtp')).html).to.include('href="/requests/new?task=zzyzx+qwrtp"');
    });

    it('are where a visitor is again after the sign-in', async () => {
        expect((await show('/registry/lens-shop.example')).html).to.include('href="/login?next=%2Fregistry%2Flens-shop.example"');
        expect((await show('/docs')).html).to.include('href="/login"');
    });

    describe('on the page of a site', () => {
        it('show params, response and price of each endpoint, and how well it works', async () => {
            const { words } = await show('/registry/lens-shop.example');
            for (const text of [
                'find_lenses',
                'GET https://lens-shop.example/search',
                'q required string, at most 40 characters query',
                'one of "price", "name", default "name"',
                '1 credit per result, up to 20; failures are free',
                'Results are in items.',
                'no calls yet',
                'not verified',
                'order_lens',
                'POST',
            ]) {
                expect(words).to.include(text);
            }
            const { name } = dataOf<{ name: string }[]>(await ada.call('GET', '/v1/schemas/lens-shop.example/maintainers'))[0] ?? {
                name: '?',
            };
            expect(words).to.include(`Maintainer ${name}`);
        });

        it('begin with a link to each endpoint, if there are several', async () => {
            const { html } = await show('/registry/lens-shop.example');
            const [, links = ''] = /<nav [^>]*aria-label="Endpoints on this page">(.*?)<\/nav>/s.exec(html) ?? [];
            expect([...links.matchAll(/href="#(\w+)"/g)].map(([, name]) => name)).to.deep.equal(['find_lenses', 'order_lens']);
            for (const id of ['find_lenses', 'order_lens']) {
                expect(html).to.include(`<article class="card endpoint" id="${id}">`);
                expect(html).to.include(`<summary><h3>${id}</h3></summary>`);
            }
            expect((await show('/registry/sea.example')).html).not.to.include('Endpoints on this page');
        });

        it('describe the site to search engines, without a script', async () => {
            const { html } = await show('/registry/lens-shop.example');
            expect(html).to.include('<title>Lens Shop (lens-shop.example): endpoints · Routebook</title>');
            expect(html).to.match(/<meta name="description" content="A shop for tests\.">/);
            expect(html).to.match(/<link rel="canonical" href="http[^"]*\/registry\/lens-shop\.example">/);
            expect(html).not.to.match(/<script(?![^>]* src=)/);
        });

        it('name their canonical address, with the parts that select the content and no others', async () => {
            const canonicalOf = async (path: string) => /<link rel="canonical" href="([^"]*)">/.exec((await show(path)).html)?.[1];
            for (const [path, kept] of [
                ['/registry?utm_source=mail', '/registry'],
                ['/registry?verified=true&q=lens&sort=name&from=x&x=1', '/registry?q=lens&amp;verified=true&amp;sort=name'],
                ['/registry?category=commerce&sort=nonsense', '/registry?category=commerce'],
                ['/registry/lens-shop.example?page=9', '/registry/lens-shop.example'],
                ['/registry/lens-shop.example/versions?to=2&from=1&x=1', '/registry/lens-shop.example/versions?from=1&amp;to=2'],
                ['/registry/lens-shop.example/versions?to=2', '/registry/lens-shop.example/versions'],
            ] as const) {
                expect(await canonicalOf(path), path).to.equal(world.app.publicUrl() + kept);
            }
        });

        it('show each endpoint as curl, JavaScript, Python and MCP, and link to every download', async () => {
            const { html, words } = await show('/registry/lens-shop.example');
            expect(words)
                .to.include('"endpoint": "find_lenses"')
                .and.include('call = {"site": "lens-shop.example", "endpoint": "find_lenses", "params": {"q": "wide"}}')
                .and.include('Arguments of the tool fetch');
            expect(words).to.include('"endpoint":"find_lenses","params":{"q":"wide"}').and.include('/v1/catalog/lens-shop.example');
            for (const format of ['', '?format=openapi', '?format=tools']) {
                const path = `/v1/schemas/lens-shop.example/package${format}`;
                expect(html).to.include(`href="${path}"`);
                expect((await ada.call('GET', path)).status).to.equal(200);
            }
        });

        it('show an example of each param, and a line that calls the site itself', async () => {
            const { words } = await show('/registry/lens-shop.example');
            expect(words).to.include('Example: wide').and.include('Call it yourself');
            expect(words).to.include("curl -sg 'https://lens-shop.example/");
        });

        it('show the fields of a response with their types, and no more of a large one than a reader wants', async () => {
            const field = (schema: JsonObject) => ({ type: 'object', properties: schema });
            const many = Object.fromEntries(Array.from({ length: 80 }, (_, number) => [`f${number}`, { type: 'string' }]));
            const nested = Array.from({ length: 7 }).reduce<JsonObject>((inside) => field({ in: inside }), { type: 'string' });
            const endpoints = [
                ['rates', field({ base: { type: 'string' }, rates: { type: 'object', additionalProperties: { type: 'number' } } })],
                ['papers', field({ items: { type: 'array', items: field({ title: { type: ['string', 'null'] } }) } })],
                ['many', field(many)],
                ['nested', nested],
                ['no_fields', { type: 'string' }],
            ] as const;
            const { status, body } = await ada.publish(
                aPackage('fields.example', {
                    endpoints: endpoints.map(([name, schema]) => anEndpoint('fields.example', { name, response: { schema } })),
                }),
            );
            expect(status, JSON.stringify(body)).to.equal(201);
            const { words } = await show('/registry/fields.example');
            expect(words).to.include('{ "base": "string", "rates": { "…": "number" } }');
            expect(words).to.include('{ "items": [ { "title": "string or null" } ] }');
            expect(words).to.include('"f59": "string", "…": ""').and.not.include('f60');
            expect(words).to.include('{ "in": { "in": { "in": { "in": { "in": { "in": "…" } } } } } }');
            expect(words).to.include('Response fields of nested').and.not.include('Response fields of no_fields');
        });

        it('show everything that a stranger published as text', async () => {
            for (const path of ['/registry/evil.example', '/registry/evil.example/versions', '/registry?q=evil']) {
                const { html, words } = await show(path);
                expect(html, path).not.to.match(/<img|<script>/);
                expect(words, path).to.include(MARKUP);
            }
        });

        it('warn of yanked versions, of drift, of blocks, and of a misleading name', async () => {
            await publishAsStarter(world.app, aPackage('wikipedia.org', { title: 'Wikipedia' }));
            const other = await join(world);
            for (const title of ['Wlkipedia', 'Wlkipedia two', 'Wlkipedia three']) {
                await other.publish(aPackage('wlkipedia.org', { title }));
            }
            await other.call('POST', '/v1/schemas/wlkipedia.org/versions/3/yank', { body: { reason: 'security' } });
            await world.app.db.raw("update versions set drifted_at = app_now() where site = 'wlkipedia.org' and version = 2");
            const { words } = await show('/registry/wlkipedia.org');
            expect(words).to.include('Check the name.').and.include('older wikipedia.org by');
            expect(words).to.include('Version 3 was yanked: for security. Calls use version 2.').and.include('no longer verified');
            expect((await show('/registry/wikipedia.org')).words).not.to.include('Check the name');

            await world.app.db.raw("update domains set blocked_at = app_now(), block_reason = 'abuse' where registrable = 'wlkipedia.org'");
            expect((await show('/registry/wlkipedia.org')).words).to.include('blocked by its owner or the operator');
            for (const version of [1, 2]) {
                await other.call('POST', `/v1/schemas/wlkipedia.org/versions/${version}/yank`, { body: { reason: 'broken' } });
            }
            const gone = await visitor(world).get('/registry/wlkipedia.org');
            expect(gone.status).to.equal(404);
            expect(wordsOf(gone.html)).to.include('All versions');
        });

        it('stay under 100 KiB with the largest possible package, page after page', async () => {
            const param = (index: number) => ({
                name: `p${index}`,
                source: 'query' as const,
                required: false,
                description: 'd'.repeat(200),
            });
            const endpoints = Array.from({ length: 500 }, (_, index) =>
                anEndpoint('large.example', {
                    name: `endpoint_${index}`,
                    description: 'A long tale. '.repeat(60),
                    url: 'https://large.example/all',
                    params: [0, 1, 2].map(param),
                }),
            );
            expect((await ada.publish(aPackage('large.example', { endpoints }))).status).to.equal(201);
            const { html } = await show('/registry/large.example');
            expect(Buffer.byteLength(html)).to.be.lessThan(100 * 1024);
            expect(html).to.include('id="endpoint_19"').and.not.include('id="endpoint_20"');
            const last = await show('/registry/large.example?page=25');
            expect(last.html)
                .to.include('id="endpoint_499"')
                .and.match(/<link rel="canonical" href="[^"]*large\.example\?page=25">/);
        });
    });

    describe('on the page of its versions', () => {
        it('show what changed from one to the next, and between any two', async () => {
            const { words, html } = await show('/registry/lens-shop.example/versions?from=1&to=2');
            expect(words).to.include('From version 1 to 2 minor').and.include('order_lens added').and.include('find_lenses changed');
            expect(html).to.match(/<del>- +&quot;description&quot;: &quot;One product with its price\.&quot;,<\/del>/);
            expect(html).to.match(/<ins>\+ +&quot;description&quot;: &quot;Every lens there is\.&quot;,<\/ins>/);
            expect((await show('/registry/lens-shop.example/versions?from=2&to=1')).words).to.include('order_lens removed');
        });

        it('read and compare two versions once for twenty concurrent visitors', async () => {
            let reads = 0;
            const count = ({ sql }: { sql: string }) => {
                if (sql.startsWith('select document')) reads += 1;
            };
            for (const title of ['One', 'Two']) await ada.publish(aPackage('compared.example', { title }));
            world.app.browse.on('query', count);
            const path = '/registry/compared.example/versions?from=1&to=2';
            const pages = await Promise.all(Array.from({ length: 20 }, () => show(path)));
            world.app.browse.off('query', count);
            for (const { words } of pages) expect(words).to.include('From version 1 to 2 patch');
            expect(reads).to.equal(2);
        });

        it('say so if a version is unavailable, such as those yanked for legal reasons', async () => {
            const sued = await join(world);
            for (const title of ['Sued', 'Sued no more'])
                await sued.publish(aPackage('sued.example', { title, description: `${title}: a secret recipe` }));
            await sued.call('POST', '/v1/schemas/sued.example/versions/1/yank', { body: { reason: 'legal' } });
            for (const query of ['from=1&to=2', 'from=2&to=77']) {
                const { words } = await show(`/registry/sued.example/versions?${query}`);
                expect(words).to.include('not available').and.not.include('Sued: a secret');
            }
            for (const query of ['from=0&to=2', 'from=x', 'before=99999999999', 'from=1&from=2&to=2'])
                await show(`/registry/sued.example/versions?${query}`);
        });
    });
});
