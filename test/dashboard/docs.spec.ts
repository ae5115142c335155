import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';
import { DESKTOP, openBrowser, openTab, PHONE, type Tab } from './support/browser.ts';

describe('the page of the API', function () {
    this.timeout(120_000);
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
    // Closing a tab tells of console errors, scripts that broke, and requests to another host.
    beforeEach(async () => {
        tab = await openTab(browser, world.base, { viewport: DESKTOP });
        await tab.visit('/docs');
        if (process.env['SCREENSHOTS']) await tab.page.screenshot({ path: `${process.env['SCREENSHOTS']}/docs-top.png` });
    });
    afterEach(() => tab.close());

    it('has every route, with what it takes and answers', async () => {
        for (const { name, path, body } of CONTRACTS) {
            const route = tab.page.locator(`#${name}`);
            const words = (await route.textContent()) ?? '';
            expect(words).to.include(path).and.not.include('`');
            // Of the document itself there is no example but itself.
            expect(words.includes('Example response'), name).to.equal(name !== 'getOpenApi');
            await route.getByText('Try it').click();
            await route.getByRole('button', { name: 'Send' }).waitFor();
            expect(await route.locator('textarea').count(), name).to.equal(body === undefined ? 0 : 1);
        }
        const example = tab.page.locator('#getAccount');
        await example.getByText('Example response').click();
        await example.getByText('"concurrency": {').waitFor();
        const fields = await tab.page.locator('#postFetch .docs-fields').innerText();
        for (const said of ['timeout_ms', '1,000–120,000', 'dry_run', 'true or false', 'Spending cap of this call', 'body, required'])
            expect(fields).to.include(said);
        expect(await tab.page.locator('#getSchemas .docs-fields').innerText()).to.include('integer, 1–100, default 20');
    });

    it('lets one choose where there are few choices, and sends what was chosen', async () => {
        const route = tab.page.locator('#getSchemas');
        await route.getByText('Try it').click();
        await route.getByLabel('sort').selectOption('name');
        await route.getByLabel('limit').fill('1');
        const [asked] = await Promise.all([tab.page.waitForRequest(/v1\/schemas\?/), route.getByRole('button', { name: 'Send' }).click()]);
        await route.getByText('200 OK').waitFor();
        expect(new URL(asked.url()).search).to.equal('?sort=name&limit=1');
    });

    it('leads to every route on a phone too', async () => {
        const phone = await openTab(browser, world.base, { viewport: PHONE });
        await phone.visit('/docs');
        await phone.page.getByText('All routes').click();
        await phone.page.getByRole('link', { name: 'GET /trending' }).click();
        await phone.page.waitForURL(/#getTrending$/);
        await phone.close();
    });

    it('lets one try a call without a key', async () => {
        const route = tab.page.locator('#getSchema');
        await route.getByText('Try it').click();
        await route.getByLabel('site').fill(SHOP);
        await route.getByRole('button', { name: 'Send' }).click();
        await route.getByText('200 OK').waitFor();
        expect(await route.locator('[data-answer] pre').textContent()).to.include('"title": "Test shop"');
        if (process.env['SCREENSHOTS']) await tab.page.screenshot({ path: `${process.env['SCREENSHOTS']}/docs-tried.png` });
    });

    it('lets one fetch with a key, and shows markup of a site as text', async () => {
        await tab.page.getByLabel('Your API key').fill(ada.apiKey ?? '');
        const route = tab.page.locator('#postFetch');
        await route.getByText('Try it').click();
        await route
            .getByLabel('Body')
            .fill(JSON.stringify({ site: SHOP, endpoint: 'echo', params: { name: '<img src=x onerror=alert(1)>' } }));
        await route.getByRole('button', { name: 'Send' }).click();
        await route.getByText('200 OK').waitFor();
        expect(await route.locator('[data-answer] img').count()).to.equal(0);
        expect(await route.locator('[data-answer] pre').textContent()).to.include('"credits_used": 1');
    });

    it('shows an error with its code', async () => {
        // The browser writes every 404 to its console, which the tab of a test takes for a fault.
        const page = await browser.newPage();
        await page.goto(`${world.base}/docs`);
        const route = page.locator('#getSchema');
        await route.getByText('Try it').click();
        await route.getByLabel('site').fill('nobody.example');
        await route.getByRole('button', { name: 'Send' }).click();
        await route.locator('pre', { hasText: 'SITE_NOT_FOUND' }).waitFor();
        await page.close();
    });
});

describe('llms.txt', () => {
    it('tells an agent in plain text how to look a site up and how to have it called', async () => {
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
