import { expect } from 'chai';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { baseOf, loadHtml } from '../../workers/select/html.ts';
import { selectHtml } from '../../workers/select/select-html.ts';
import { endpointOf, inspectCalls, SHOP } from './inspect/har.ts';
import { JSON_LD_PAGES } from './inspect/json-ld-pages.ts';

const page = (body: string) =>
    `<!doctype html><html><head><title>Shop</title></head><body><h1>Boats and more</h1><p>Long enough to be read by somebody.</p>${body}</body></html>`;
const ld = (...blocks: unknown[]) => blocks.map((block) => `<script type="application/ld+json">${JSON.stringify(block)}</script>`).join('');
const next = (props: object) =>
    `<script id="__NEXT_DATA__" type="application/json">${JSON.stringify({ props: { pageProps: props }, page: '/x' })}</script>`;

const boat = (name: string, price: number) => ({
    '@context': 'https://schema.org',
    '@type': 'Product',
    name,
    image: ['/a.png'],
    offers: { '@type': 'Offer', price, priceCurrency: 'EUR' },
    brand: { '@type': 'Brand', name: 'Keel' },
});

/** Drafts from two pages of a route, and returns what the draft selects from the second one. */
async function selected(path: string, pages: readonly string[]): Promise<{ data: JsonObject; description: string; text: string }> {
    const calls = pages.map((body, place) => ({ url: `${SHOP}${path}/${place + 17}`, html: page(body) }));
    const found = await inspectCalls(calls);
    expect(checkPackage(found.package, { isPortAllowed: () => false }).ok).to.equal(true);
    const [endpoint] = found.package.endpoints;
    const select = endpoint?.response?.select as JsonObject;
    const $ = loadHtml(page(pages.at(-1) ?? ''));
    return { data: selectHtml($, select, baseOf($, SHOP)), description: endpoint?.description ?? '', text: JSON.stringify(found) };
}

describe('routebook inspect selects data inside pages', () => {
    it('reads the main item of a page from JSON-LD, without what surrounds it', async () => {
        const crumbs = { '@type': 'BreadcrumbList', itemListElement: [{ name: 'Home' }, { name: 'Boats' }] };
        const site = {
            '@graph': [
                { '@type': 'WebSite', name: 'Shop', url: SHOP },
                { '@type': 'Organization', name: 'Shop', url: SHOP },
            ],
        };
        const { data, description, text } = await selected('/boats', [
            ld(site, crumbs, boat('Tug', 5)),
            ld(site, crumbs, boat('Ferry', 7)),
        ]);
        expect(data).to.deep.equal({ name: 'Ferry', image: ['/a.png'], price: 7, price_currency: 'EUR', brand: 'Keel' });
        expect(description).to.include('Answers with name, image, price, price_currency and brand.');
        expect(text).not.to.match(/Ferry|Tug|Keel/);
    });

    for (const { form, blocks, selected: expected } of JSON_LD_PAGES) {
        it(`reads JSON-LD as real sites write it: ${form}`, async () => {
            const { data } = await selected('/boats', [ld(...blocks('Tug')), ld(...blocks('Ferry'))]);
            expect(data).to.deep.equal(expected);
        });
    }

    it('reads lists from JSON-LD: of an ItemList, and of separate blocks', async () => {
        const list = (...names: string[]) =>
            ld({
                '@type': 'ItemList',
                itemListElement: names.map((name, place) => ({ '@type': 'ListItem', position: place, item: { name, url: `/${name}` } })),
            });
        const { data, description } = await selected('/lists', [list('a', 'b'), list('c', 'd', 'e')]);
        expect(data).to.deep.equal({ items: ['c', 'd', 'e'].map((name) => ({ name, url: `/${name}` })) });
        expect(description).to.include('Each item has name and url.');
        const alone = await selected('/alone', [ld(boat('Tug', 5), boat('Ferry', 7)), ld(boat('Raft', 1), boat('Canoe', 2))]);
        expect((alone.data['items'] as JsonObject[]).map(({ name, price }) => [name, price])).to.deep.equal([
            ['Raft', 1],
            ['Canoe', 2],
        ]);
    });

    it('reads microdata, and treats the last page of a list as a list', async () => {
        const post = (name: string) =>
            `<div itemscope itemtype="https://schema.org/BlogPosting"><b itemprop="headline">${name}</b><time itemprop="datePublished" datetime="2026-01-02"></time></div>`;
        const one = await selected('/posts', [post('Tides'), post('Ropes')]);
        expect(one.data).to.deep.equal({ headline: 'Ropes', date_published: '2026-01-02' });
        const many = await selected('/pages', [post('Last'), post('Tides') + post('Ropes')]);
        expect(many.data).to.deep.equal({
            items: ['Tides', 'Ropes'].map((headline) => ({ headline, date_published: '2026-01-02' })),
        });
    });

    it('reads the initial state of scripts, but no map whose names are values', async () => {
        const state = (names: string[]) =>
            next({
                menu: [
                    { title: 'Home', url: '/' },
                    { title: 'Boats', url: '/boats' },
                    { title: 'Help', url: '/help' },
                ],
                byKeeper: { ada: { name: 'Ada', age: 1 }, bob: { name: 'Bob', age: 2 } },
                results: { boats: names.map((name) => ({ name, length: 5, keeper: { name: 'K' } })) },
            });
        const { data, text } = await selected('/fleet', [state(['Tug', 'Ferry']), state(['Raft', 'Canoe'])]);
        expect(data).to.deep.equal({ items: ['Raft', 'Canoe'].map((name) => ({ name, length: 5, keeper: 'K' })) });
        expect(text).not.to.match(/Ada|\bada\b|bob/);
        const window = (title: string) => `<script>window.__STATE__ = ${JSON.stringify({ boat: { title, length: 5 } })};</script>`;
        expect((await selected('/one', [window('Tug'), window('Raft')])).data).to.deep.equal({ title: 'Raft', length: 5 });
    });

    it('keeps the list of elements if a page has one, beside the item of the page', async () => {
        const rows =
            '<main><ul class="parts">' +
            ['keel', 'mast', 'sail'].map((name) => `<li class="part"><a href="/p/${name}">The ${name} of a boat</a></li>`).join('') +
            '</ul></main>';
        const found = await inspectCalls([
            { url: `${SHOP}/boats/17`, html: page(rows + ld(boat('Tug', 5))) },
            { url: `${SHOP}/boats/18`, html: page(rows + ld(boat('Ferry', 7))) },
        ]);
        const select = endpointOf(found, 'GET /boats/{boat_id}').response?.select as JsonObject;
        expect(Object.keys(select)).to.deep.equal(['name', 'image', 'price', 'price_currency', 'brand', 'items']);
        expect(JSON.stringify(select['items'])).to.include('li.part');
    });
});
