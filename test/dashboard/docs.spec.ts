import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { DOCUMENTS } from '../../api/dashboard/docs/documents.ts';
import { libraryOf } from '../../api/dashboard/docs/library.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';
import { DESKTOP, openBrowser, openTab, PHONE, type Tab } from './support/browser.ts';
import { visitor, wordsOf } from './support/visitor.ts';

/** For the browser: one query for all routes of a page is twenty times as fast as one for each. */
const textsOf = (names: readonly string[]) => `${JSON.stringify(names)}.map((name) => document.getElementById(name).textContent)`;
const openAll = (names: readonly string[]) =>
    `for (const name of ${JSON.stringify(names)})
        for (const summary of document.querySelectorAll('#' + name + ' summary')) if (summary.textContent.includes('Try it')) summary.click()`;
const areOpen = (names: readonly string[]) =>
    `${JSON.stringify(names)}.every((name) => document.querySelector('#' + name + ' button[type=submit]')?.textContent === 'Send')`;
const areasOf = (names: readonly string[]) =>
    `${JSON.stringify(names)}.map((name) => document.querySelectorAll('#' + name + ' textarea').length)`;

const PLACES = new Map(CONTRACTS.map(({ name, tag }) => [name, `/docs/api/${tag.toLowerCase()}#${name}`]));

describe('the pages of the API', () => {
    let world: World;
    let browser: Browser;
    let shop: Shop;
    let ada: Person;
    let tab: Tab;

    before(async function () {
        browser = await openBrowser(this);
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world);
        await ada.publish(shopPackage(shop.port));
    });
    after(async () => {
        await browser?.close();
        await world?.close();
        await shop?.close();
    });
    // Closing a tab reports console errors, failing scripts and requests to other hosts.
    beforeEach(async () => {
        tab = await openTab(browser, world.base, { viewport: DESKTOP });
    });
    const open = (name: string) => tab.visit(PLACES.get(name) ?? '/');
    afterEach(() => tab.close());

    it('have every route, with its request and response', async () => {
        for (const chapter of Map.groupBy(CONTRACTS, ({ tag }) => tag).values()) {
            await open(chapter[0]?.name ?? '');
            const names = chapter.map(({ name }) => name);
            const texts = await tab.page.evaluate<string[]>(textsOf(names));
            await tab.page.evaluate(openAll(names));
            await eventually(() => tab.page.evaluate<boolean>(areOpen(names)), Boolean);
            const areas = await tab.page.evaluate<number[]>(areasOf(names));
            for (const [index, { name, path, body }] of chapter.entries()) {
                const words = texts[index] ?? '';
                expect(words, name).to.include(path).and.not.include('`');
                // The OpenAPI document has no example of itself.
                expect(words.includes('Example response'), name).to.equal(name !== 'getOpenApi');
                expect(areas[index], name).to.equal(body === undefined ? 0 : 1);
            }
        }
        await open('getAccount');
        const example = tab.page.locator('#getAccount');
        await example.getByText('Example response').click();
        await example.getByText('"concurrency": {').waitFor();
        await open('postFetch');
        const fields = await tab.page.locator('#postFetch .docs-fields').innerText();
        for (const said of ['timeout_ms', '1,000–120,000', 'dry_run', 'true or false', 'Spending cap of this call', 'body, required'])
            expect(fields).to.include(said);
        await open('getSchemas');
        expect(await tab.page.locator('#getSchemas .docs-fields').innerText()).to.include('integer, 1–100, default 20');
    });

    it('offer a choice if there are few values, and send the chosen one', async () => {
        await open('getSchemas');
        const route = tab.page.locator('#getSchemas');
        await route.locator('summary', { hasText: 'Try it' }).click();
        await route.getByLabel('sort').selectOption('name');
        await route.getByLabel('limit').fill('1');
        const [asked] = await Promise.all([tab.page.waitForRequest(/v1\/schemas\?/), route.getByRole('button', { name: 'Send' }).click()]);
        await route.getByText('200 OK').waitFor();
        expect(new URL(asked.url()).search).to.equal('?sort=name&limit=1');
    });

    it('lead to every route, on a phone too', async () => {
        const phone = await openTab(browser, world.base, { viewport: PHONE });
        await phone.visit('/docs');
        await phone.page.locator('summary', { hasText: 'Discovery' }).click();
        await phone.page.getByRole('link', { name: 'GET /trending' }).click();
        await phone.page.waitForURL(/\/docs\/api\/discovery#getTrending$/);
        await phone.page.getByText('Contents').click();
        await phone.page.getByRole('link', { name: 'Package format' }).click();
        await phone.page.getByRole('heading', { name: 'The package format' }).waitFor();
        await phone.close();
    });

    it('mark their chapter where a reader sees it in a long menu', async () => {
        const chapters = [...new Set(CONTRACTS.map((one) => `/docs/api/${one.tag.toLowerCase()}`))];
        for (const path of [...chapters, '/docs/api/stripe-webhook', '/docs/operations/alerts']) {
            await tab.visit(path);
            const isSeen = `(() => {
                const [menu, mark] = ['.docs-menu', '.docs-menu [aria-current]'].map((one) => document.querySelector(one).getBoundingClientRect());
                return mark.top >= menu.top && mark.bottom <= menu.bottom;
            })()`;
            expect(await tab.page.evaluate<boolean>(isSeen), path).to.equal(true);
        }
    });

    it('have tables that no phone has to scroll sideways', async () => {
        const phone = await openTab(browser, world.base, { viewport: PHONE });
        const { articles } = await libraryOf(world.app);
        for (const path of articles.flatMap(({ row, article }) => [row.path, ...article.parts.map((part) => part.path)])) {
            await phone.visit(path);
            const cut = "[...document.querySelectorAll('.wide-table')].filter((box) => box.scrollWidth > box.clientWidth).length";
            expect(await phone.page.evaluate(cut), path).to.equal(0);
        }
        await phone.close();
    });

    it('name the column of each number on a phone, where the cells of a row stand below each other', async () => {
        const phone = await openTab(browser, world.base, { viewport: PHONE });
        await phone.visit('/docs/api/limits');
        const names =
            "[...document.querySelectorAll('.wide-table tr:nth-child(2) td')].map((cell) => getComputedStyle(cell, '::before').content)";
        expect((await phone.page.evaluate<string[]>(names)).slice(0, 3)).to.deep.equal(['none', '"a minute "', '"an hour "']);
        await phone.close();
    });

    it('run a call without a key', async () => {
        await open('getSchema');
        const route = tab.page.locator('#getSchema');
        await route.locator('summary', { hasText: 'Try it' }).click();
        await route.getByLabel('site').fill(SHOP);
        await route.getByRole('button', { name: 'Send' }).click();
        await route.getByText('200 OK').waitFor();
        expect(await route.locator('[data-answer] pre').textContent()).to.include('"title": "Test shop"');
        if (process.env['SCREENSHOTS']) await tab.page.screenshot({ path: `${process.env['SCREENSHOTS']}/docs-tried.png` });
    });

    it('run a fetch with a key, and show HTML of a site as text', async () => {
        await open('postFetch');
        await tab.page.getByLabel('Your API key').fill(ada.apiKey ?? '');
        const route = tab.page.locator('#postFetch');
        await route.locator('summary', { hasText: 'Try it' }).click();
        await route
            .getByLabel('Body')
            .fill(JSON.stringify({ site: SHOP, endpoint: 'echo', params: { name: '<img src=x onerror=alert(1)>' } }));
        await route.getByRole('button', { name: 'Send' }).click();
        await route.getByText('200 OK').waitFor();
        expect(await route.locator('[data-answer] img').count()).to.equal(0);
        expect(await route.locator('[data-answer] pre').textContent()).to.include('"credits_used": 1');
    });

    it('show an error with its code', async () => {
        // The browser logs every 404 as a console error, which the test's tab would report.
        const page = await browser.newPage();
        await page.goto(`${world.base}${PLACES.get('getSchema')}`);
        const route = page.locator('#getSchema');
        await route.locator('summary', { hasText: 'Try it' }).click();
        await route.getByLabel('site').fill('nobody.example');
        await route.getByRole('button', { name: 'Send' }).click();
        await route.locator('pre', { hasText: 'SITE_NOT_FOUND' }).waitFor();
        await page.close();
    });
});

describe('the documentation', () => {
    let world: World;

    before(async () => {
        world = await openWorld({ workers: 0, config: { publicUrl: 'https://routebook.example', demo: false } });
    });
    after(() => world?.close());

    it('has a page for every guide, with the address of this server and without the demo key of a local start', async () => {
        for (const { path, file } of DOCUMENTS) {
            const { status, html } = await visitor(world).get(path);
            expect(status, path).to.equal(200);
            const [title] = /(?<=^# ).*/.exec(readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8')) ?? [];
            expect(wordsOf(html)).to.include(title);
            expect(html).not.to.include('localhost:8080').and.not.include('.data/demo-key').and.not.include('.md"');
        }
        expect((await visitor(world).get('/docs/caller')).html).to.include('login --server https://routebook.example');
    });

    it('links only to existing sections', async () => {
        const pages = new Map<string, string>();
        const { articles } = await libraryOf(world.app);
        const paths = articles.flatMap(({ row, article }) => [row.path, ...article.parts.map(({ path }) => path)]);
        for (const path of paths) pages.set(path, (await visitor(world).get(path)).html);
        for (const path of paths) {
            const html = pages.get(path) ?? '';
            const article = html.slice(html.indexOf('<article'));
            for (const [, page = path, id] of article.matchAll(/href="(\/docs\/[\w/-]+)?(?:#([^"]+))?"/g)) {
                if (!pages.has(page)) pages.set(page, (await visitor(world).get(page)).html);
                expect(pages.get(page), `${path} leads to ${page}`).not.to.include('Page not found');
                if (id !== undefined) expect(pages.get(page), `${path} leads to ${page}#${id}`).to.include(` id="${id}"`);
            }
        }
    });

    it('has a page for each part of a long document, in order, and leads there from its old headings', async () => {
        const { articles } = await libraryOf(world.app);
        const split = articles.filter(({ row }) => row.isSplit);
        expect(split.map(({ row }) => row.path)).to.deep.equal(['/docs/api', '/docs/operations']);
        for (const { row, article } of split) {
            const { html: list } = await visitor(world).get(row.path);
            const headings = readFileSync(new URL(`../../docs/${row.file}`, import.meta.url), 'utf8').match(/(?<=^#{2,3} ).*/gm) ?? [];
            for (const heading of headings) {
                const id = heading
                    .toLowerCase()
                    .replaceAll(/[^\w -]/g, '')
                    .replaceAll(' ', '-');
                expect(list, heading).to.match(new RegExp(`id="${id}"(?:><a)? href="${row.path}/`));
            }
            for (const [place, { path, title }] of article.parts.entries()) {
                const { status, html } = await visitor(world).get(path);
                expect(status, path).to.equal(200);
                expect(html).to.include(`<h1>${title.replaceAll("'", '&#39;')}</h1>`);
                expect(html).to.include(`href="${article.parts[place - 1]?.path ?? row.path}" rel="prev"`);
                const next = article.parts[place + 1]?.path;
                expect(html.includes('rel="next"')).to.equal(next !== undefined);
                if (next !== undefined) expect(html).to.include(`href="${next}" rel="next"`);
            }
        }
    });

    const asked: [words: string, first: string][] = [
        ['SITE_BUSY', '/docs/errors#SITE_BUSY'],
        ['pagination', '/docs/packages#pages'],
        ['multipart', '/docs/packages#bodies'],
        ['GET /v1/trending', '/docs/api/discovery#getTrending'],
        ['key ring', '/docs/operations/the-key-ring'],
        ['RoutebookQueueWaits', '/docs/operations/alerts#routebookqueuewaits'],
    ];
    for (const [words, place] of asked) {
        it(`finds ${words}`, async () => {
            const { html } = await visitor(world).get(`/docs/search?q=${encodeURIComponent(words)}`);
            const found = [...html.matchAll(/<h2><a href="([^"]+)"/g)].map(([, path]) => path);
            expect(found.slice(0, 5)).to.include(place);
        });
    }

    it('finds words in spite of typing mistakes, and says what it looked for', async () => {
        const read = async (words: string) => (await visitor(world).get(`/docs/search?q=${encodeURIComponent(words)}`)).html;
        expect(await read('zzyzxy keey')).to.include('Nothing found');
        const html = await read('mutlipart boddy');
        expect(html).to.include('Results for <strong>multipart body</strong>').and.include('/docs/packages#bodies');
        expect(await read('multipart')).not.to.include('Results for');
    });

    it('shows whole words around what it finds', async () => {
        const { html } = await visitor(world).get('/docs/search?q=webhook');
        const { passages } = await libraryOf(world.app);
        const shown = [...html.matchAll(/<p class="small-print">[^<]+<\/p><p>([^<]*)<\/p>/g)].map(([, text = '']) => wordsOf(text));
        expect(shown).to.have.length.above(5);
        const words = new Set(passages.flatMap(({ text }) => text.split(' ')));
        for (const text of shown) {
            const parts = text.split(' ').filter((part) => part !== '…');
            for (const part of [parts.at(0), parts.at(-1)]) expect(words.has(part ?? ''), `${part} of ${text}`).to.equal(true);
            expect(text).to.not.match(/ [,.;]/);
        }
    });

    it('says where to look if nothing is found, and shows the query as text', async () => {
        const { status, html } = await visitor(world).get(`/docs/search?q=${encodeURIComponent('<script>zzz')}`);
        expect(status).to.equal(200);
        expect(wordsOf(html)).to.include('Nothing found');
        expect(html).not.to.include('<script>zzz');
    });
});

describe('llms.txt', () => {
    it('tells an agent in plain text how to look up a site and fetch from it', async () => {
        const world = await openWorld({ workers: 0 });
        try {
            const answer = await fetch(`${world.base}/llms.txt`);
            expect(answer.status).to.equal(200);
            expect(answer.headers.get('content-type')).to.equal('text/plain; charset=utf-8');
            const text = await answer.text();
            expect(text).to.match(/^# Routebook\n/);
            for (const part of ['/v1/catalog/', '/v1/fetch', '/v1/openapi.json', '/mcp', 'Idempotency-Key', 'retryable'])
                expect(text).to.include(part);
        } finally {
            await world.close();
        }
    });
});
