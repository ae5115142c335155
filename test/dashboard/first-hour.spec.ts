import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { eventually } from '../support/eventually.ts';
import { untilIndexed } from '../support/find.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openShop, SHOP, type Shop, shopPackage } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, type Tab } from './support/browser.ts';
import { type MailServer, openMailServer } from './support/mail-server.ts';
import { freshAddress, PASSWORD } from './support/visitor.ts';

const run = promisify(execFile);
const HARBOUR = 'harbour.test';

describe('a newcomer’s first hour, in a browser', () => {
    let world: World;
    let shop: Shop;
    let harbour: Site;
    let mail: MailServer;
    let browser: Browser;
    let folder: string;

    before(async function () {
        needs(this, 'curl', 'python3');
        browser = await openBrowser(this);
        folder = mkdtempSync(join(tmpdir(), 'routebook-first-hour-'));
        shop = await openShop();
        harbour = await openSite((_, response) =>
            response.writeHead(200, { 'content-type': 'application/json' }).end('{"tide": {"metres": 2.4}}'),
        );
        mail = await openMailServer();
        const hosts = [SHOP, HARBOUR].map((host) => [host, ['127.0.0.1']] as const);
        world = await openWorld({
            config: { trustProxy: 1, egressHosts: new Map(hosts), mail: { smtpUrl: mail.url, from: undefined } },
            verifier: { paceMs: 20, pollMs: 50 },
        });
        const document = shopPackage(shop.port);
        const [product, ...rest] = document.endpoints;
        if (product === undefined) throw new Error('the shop has a product');
        const described = { ...product, description: 'Reads one product of the shop with its price.' };
        await publishAsStarter(world.app, { ...document, endpoints: [described, ...rest] });
        await untilIndexed(world);
    });
    after(async () => {
        await browser?.close();
        await world?.close();
        await shop?.close();
        await harbour?.close();
        await mail?.close();
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    });

    async function openWindow(address: string): Promise<Tab> {
        const tab = await openTab(browser, world.base.replace('127.0.0.1', 'localhost'));
        await tab.context.setExtraHTTPHeaders({ 'x-forwarded-for': address });
        return tab;
    }

    /** Searches for a task on the home page, and opens the endpoint. */
    async function find({ visit, page, look }: Tab, task: string, endpoint: string): Promise<void> {
        await visit('/');
        await page.getByRole('searchbox', { name: 'What do you want to do?' }).fill(task);
        await page.getByRole('button', { name: 'Find endpoints' }).click();
        await page.getByRole('heading', { name: 'Endpoints that fit' }).waitFor();
        await look();
        const first = page.getByRole('region', { name: 'Endpoints that fit' }).getByRole('link').first();
        expect(await first.innerText()).to.equal(endpoint);
        await first.click();
        await page.waitForURL(/\/registry\/[^?]+$/);
    }

    async function signUp({ visit, page }: Tab): Promise<void> {
        const email = freshAddress();
        await page.getByRole('link', { name: 'Sign up', exact: true }).first().click();
        await page.getByLabel('Email').fill(email);
        await page.getByLabel('Password').fill(PASSWORD);
        await page.getByRole('button', { name: 'Create account' }).click();
        await page.getByRole('heading', { name: 'Check your email' }).waitFor();
        await visit((await mail.mailTo(email)).link ?? '');
        await page.getByText('Your account is ready.').waitFor();
    }

    async function createKey({ page, look }: Tab): Promise<string> {
        await page.getByLabel('Name').fill('first');
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('heading', { name: 'Your new key' }).waitFor();
        await look();
        return (await page.locator('#new-key').textContent()) ?? '';
    }

    it('finds by a task, signs up, brings a key, tries, fetches in code, publishes, is verified, and is found by another visitor', async () => {
        const tab = await openWindow('10.78.0.1');
        const { page, visit, look } = tab;
        await find(tab, 'read the price of one product of a shop', 'product');
        await signUp(tab);
        await visit(`/registry/${SHOP}/try/product`);
        await page.getByRole('link', { name: 'Create a key' }).click();
        const apiKey = await createKey(tab);
        await page.getByRole('link', { name: 'Continue with your call' }).click();
        await page.getByLabel('id').fill('7');
        await page.getByRole('button', { name: 'Preview the cost' }).click();
        await page.getByRole('heading', { name: 'Review the call' }).waitFor();
        await look();
        await page.getByRole('button', { name: 'Send for up to 1 credit' }).click();
        await page.getByText('"title": "Product 7"').waitFor();
        await look();

        const env = { PATH: process.env['PATH'], ROUTEBOOK_API_KEY: apiKey };
        for (const [way, command, file] of [
            ['javascript', process.execPath, 'program.js'],
            ['python', 'python3', 'program.py'],
            ['curl', '/bin/sh', 'program.sh'],
        ] as const) {
            writeFileSync(join(folder, file), (await page.locator(`#copy-${way}`).textContent()) ?? '');
            const { stdout } = await run(command, [file], { env, cwd: folder });
            expect(stdout, way).to.match(/title\W+Product 7/);
        }

        await visit('/dashboard/schemas');
        await page.getByRole('main').getByRole('link', { name: 'Publish a schema' }).first().click();
        await page.getByLabel('JSON in the routebook/1 format').fill(JSON.stringify(harbourPackage(harbour.port), undefined, 2));
        await page.getByRole('button', { name: 'Check', exact: true }).click();
        await page.getByRole('heading', { name: 'Ready to publish' }).waitFor();
        await look();
        await page.getByRole('button', { name: 'Publish version 1' }).click();
        await page.getByRole('heading', { name: 'Harbour' }).or(page.getByText(HARBOUR).first()).first().waitFor();
        await eventually(
            async () => {
                await visit(`/registry/${HARBOUR}`);
                return page.getByRole('main').innerText();
            },
            (text) => text.includes('verified') && !text.includes('not verified'),
        );

        await untilIndexed(world);
        const other = await openWindow('10.78.0.2');
        await find(other, 'measure the tide at the harbour', 'tide_level');
        await other.page.getByText('verified', { exact: true }).first().waitFor();
        await other.close();
        await tab.close();
    });
});

function harbourPackage(port: number) {
    const tide = anEndpoint(HARBOUR, {
        name: 'tide_level',
        description: 'Measures how high the tide is at the harbour now.',
        url: `http://${HARBOUR}:${port}/tide`,
        params: [],
    });
    return aPackage(HARBOUR, { title: 'Harbour', endpoints: [{ ...tide, examples: [{ params: {} }] }] });
}
