import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { eventually } from '../support/eventually.ts';
import { withKey } from '../support/people.ts';
import { openShop, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { type LocalStripe, openStripe } from '../support/stripe-server.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, PHONE, type Tab } from './support/browser.ts';
import { type MailServer, openMailServer } from './support/mail-server.ts';
import { freshAddress, PASSWORD } from './support/visitor.ts';

const run = promisify(execFile);

interface Account {
    plan: string;
    limits: { limit: number }[];
    credits: { balance: number };
}

describe('a new user, in a browser', () => {
    let world: World;
    let shop: Shop;
    let mail: MailServer;
    let stripe: LocalStripe;
    let browser: Browser;

    before(async function () {
        needs(this, 'curl');
        browser = await openBrowser(this);
        shop = await openShop();
        mail = await openMailServer();
        stripe = await openStripe();
        world = await openWorld({
            config: { trustProxy: 1, egressHosts: SHOP_HOSTS, mail: { smtpUrl: mail.url, from: undefined }, stripe: stripe.settings },
        });
        stripe.serve(world);
        stripe.deliverAtOnce();
        const document = shopPackage(shop.port);
        const [product, ...rest] = document.endpoints;
        if (product === undefined) throw new Error('the shop has a product');
        await publishAsStarter(world.app, { ...document, endpoints: [{ ...product, examples: [{ params: { id: 7 } }] }, ...rest] });
    });
    after(async () => {
        await browser?.close();
        await world?.close();
        await shop?.close();
        await mail?.close();
        await stripe?.close();
    });

    /** Only payment happens on another host, and Stripe leads back to PUBLIC_URL. */
    async function tabOfSomebodyNew(address: string): Promise<Tab> {
        const base = world.base.replace('127.0.0.1', 'localhost');
        const tab = await openTab(browser, base, { expects: new RegExp(`a request to ${new URL(stripe.url).host}`) });
        await tab.context.setExtraHTTPHeaders({ 'x-forwarded-for': address });
        return tab;
    }

    async function signUpIn(tab: Tab, email: string): Promise<void> {
        await tab.visit('/');
        await tab.page.getByRole('link', { name: 'Sign up free' }).click();
        await fillIn(tab, email);
    }

    /** Submits the sign-up form, and opens the link of the mail. */
    async function fillIn(tab: Tab, email: string): Promise<void> {
        await tab.page.getByLabel('Email').fill(email);
        await tab.page.getByLabel('Password').fill(PASSWORD);
        await tab.page.getByRole('button', { name: 'Create account' }).click();
        await tab.page.getByRole('heading', { name: 'Check your email' }).waitFor();
        await tab.look();
    }

    async function confirm(tab: Tab, email: string): Promise<void> {
        await tab.visit((await mail.mailTo(email)).link ?? '');
        await tab.page.getByText('Your account is ready.').waitFor();
    }

    /** Creates a key. Resolves with it and with the command beside it, as the copy button copies it. */
    async function makeKey(tab: Tab, name: string): Promise<{ apiKey: string; line: string }> {
        const { page, context } = tab;
        await page.getByRole('main').getByRole('link', { name: 'New key' }).first().click();
        await page.getByLabel('Name').fill(name);
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('heading', { name: 'Your new key' }).waitFor();
        await tab.look();
        await context.grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'Copy' }).last().click();
        await page.getByRole('button', { name: 'Copied' }).waitFor();
        const line = await page.evaluate<string>('navigator.clipboard.readText()');
        expect(await page.locator('#curl').textContent()).to.equal(line);
        return { apiKey: (await page.locator('#new-key').textContent()) ?? '', line };
    }

    /** Runs a command in a shell, unchanged. */
    async function runLine(line: string): Promise<object> {
        const { stdout } = await run('/bin/sh', ['-c', line]);
        return JSON.parse(stdout);
    }

    it('signs up, makes a key, runs the shown line, sees call and credit, invites, earns, upgrades and revokes: 401 within a second', async () => {
        const tab = await tabOfSomebodyNew('10.77.0.1');
        const { page } = tab;
        const email = freshAddress();
        await signUpIn(tab, email);
        await confirm(tab, email);

        const { apiKey, line } = await makeKey(tab, 'my laptop');
        await page.getByRole('link', { name: 'See the call arrive' }).click();
        await page.getByText('No calls yet.').waitFor();
        expect(line).to.match(/^curl /);
        expect(await runLine(line)).to.have.nested.property('meta.credits_used', 1);
        // It appears without a reload.
        await page.locator('#recent').getByText('success').waitFor();
        await tab.visit('/dashboard');
        expect(await page.locator('.figure-big').textContent()).to.equal('1,049');
        await page.getByText('999 of 1,000', { exact: true }).first().waitFor();
        expect(await page.getByRole('heading', { name: 'Get started' }).count()).to.equal(0);
        await page.getByRole('link', { name: 'Usage', exact: true }).click();
        await page.getByRole('link', { name: 'Request log' }).click();
        const call = page.getByRole('row').filter({ hasText: 'shop.test' });
        expect((await call.innerText()).replaceAll(/\s+/g, ' ')).to.match(/^shop\.test product 200 success 1 [\d,]+ ms my laptop /);
        await tab.look();

        await page.locator('.person-menu summary').click();
        await page.getByRole('link', { name: 'Invite friends' }).click();
        await page.getByText('Nobody has signed up with your link yet.').waitFor();
        await tab.look();
        const friend = await tabOfSomebodyNew('10.77.0.2');
        await friend.visit(new URL((await page.locator('#invite-link').textContent()) ?? '').pathname);
        await friend.page.getByRole('heading', { name: 'You are invited' }).waitFor();
        const theirs = freshAddress();
        await fillIn(friend, theirs);
        await confirm(friend, theirs);
        const { line: theirLine } = await makeKey(friend, 'first');
        expect(await runLine(theirLine)).to.have.property('success', true);
        await friend.close();
        await tab.visit('/dashboard/invite');
        expect(await page.locator('#came').innerText()).to.include('0 credits');
        await world.clock.advance({ days: 1 });
        expect(await runLine(theirLine)).to.have.property('success', true);
        await tab.visit('/dashboard/invite');
        expect(await page.locator('#came').innerText()).to.include('100 credits');
        await tab.visit('/dashboard');
        expect(await page.locator('.figure-big').textContent()).to.equal('1,149');

        await page.getByRole('link', { name: 'Billing', exact: true }).click();
        await page.getByRole('button', { name: 'Get Starter' }).click();
        await page.waitForURL(/\/c\/pay\//);
        await page.getByRole('button', { name: 'Subscribe' }).click();
        await page.waitForURL(/\/dashboard\/billing$/);
        await tab.look();
        const billing = await page.locator('main').innerText();
        expect(billing).to.include('$49').and.include('15,000 of 15,000').and.include('60 calls a minute').and.include('15,150');
        const caller = withKey(world, apiKey);
        await eventually(
            async () => (await caller.call('GET', '/v1/account')).body['data'] as Account,
            ({ plan, limits, credits }) => plan === 'starter' && limits[0]?.limit === 60 && credits.balance === 15_150,
            1000,
        );
        expect(await runLine(line)).to.have.nested.property('meta.credits_remaining', 15_149);

        await page.getByRole('link', { name: 'Keys', exact: true }).click();
        await page.getByRole('link', { name: 'Manage my laptop' }).click();
        await page.getByText('Revoke …').click();
        await tab.look();
        await page.getByRole('button', { name: 'Revoke this key' }).click();
        await page.getByText('The key is revoked.').waitFor();
        await eventually(
            async () => (await caller.call('GET', '/v1/account')).status,
            (status) => status === 401,
            1000,
        );
        expect(await runLine(line)).to.have.nested.property('error.code', 'INVALID_API_KEY');
        await tab.look();
        await tab.close();
    });

    it('needs no mouse: signs up, opens the menus and signs out by keyboard, and skips repeated navigation', async () => {
        const tab = await openTab(browser, world.base);
        const { page } = tab;
        const focused = () => page.evaluate<string>('document.activeElement.textContent.trim()');
        await tab.visit('/signup');
        const email = freshAddress();
        await page.keyboard.type(email);
        await page.keyboard.press('Tab');
        await page.keyboard.type(PASSWORD);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Check your email' }).waitFor();
        await tab.visit((await mail.mailTo(email)).link ?? '');
        await page.keyboard.press('Tab');
        expect(await focused()).to.equal('Skip to content');
        await page.keyboard.press('Enter');
        expect(await page.evaluate('document.activeElement.id')).to.equal('main');
        await page.locator('.person-menu summary').focus();
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Sign out' }).waitFor();
        await tab.look();
        await page.keyboard.press('Escape');
        expect(await page.getByRole('button', { name: 'Sign out' }).isVisible()).to.equal(false);
        await page.keyboard.press('Enter');
        for (let step = 0; step < 3; step++) await page.keyboard.press('Tab');
        expect(await focused()).to.equal('Sign out');
        await page.keyboard.press('Enter');
        await page.waitForURL('**/login');
        await page.getByText('You are signed out.').waitFor();
        await tab.close();
    });

    it('sees each error beside its field, on a phone, and keeps what was typed', async () => {
        const tab = await openTab(browser, world.base, { viewport: PHONE, scheme: 'dark' });
        const { page } = tab;
        await tab.visit('/signup');
        await page.getByLabel('Email').fill('ada@people.example');
        await page.getByLabel('Password').fill('short');
        await page.getByRole('button', { name: 'Create account' }).click();
        await page.getByText('Use at least 10 characters').waitFor();
        await tab.look();
        expect(await page.getByLabel('Email').inputValue()).to.equal('ada@people.example');
        expect(await page.getByLabel('Password').inputValue()).to.equal('');
        expect(await page.getByLabel('Password').getAttribute('aria-invalid')).to.equal('true');
        await tab.close();
    });

    it('invites a colleague by a link, who joins after signing up, on a phone', async () => {
        const owner = await openTab(browser, world.base);
        const email = freshAddress();
        await signUpIn(owner, email);
        await owner.visit((await mail.mailTo(email)).link ?? '');
        await owner.visit('/dashboard/workspace');
        await owner.page.getByRole('button', { name: 'Create invitation' }).click();
        const link = new URL((await owner.page.locator('#invitation-link').textContent()) ?? '').pathname;
        await owner.look();

        const colleague = await openTab(browser, world.base, { viewport: PHONE });
        const theirs = freshAddress();
        await colleague.visit(link);
        await colleague.page.getByRole('main').getByRole('link', { name: 'Sign up' }).click();
        await colleague.page.getByLabel('Email').fill(theirs);
        await colleague.page.getByLabel('Password').fill(PASSWORD);
        await colleague.page.getByRole('button', { name: 'Create account' }).click();
        await colleague.page.getByRole('heading', { name: 'Check your email' }).waitFor();
        await colleague.look();
        await colleague.visit((await mail.mailTo(theirs)).link ?? '');
        await colleague.visit(link);
        await colleague.page.getByRole('button', { name: `Join as ${theirs}` }).click();
        await colleague.page.getByText('Welcome! You are now a member.').waitFor();
        await colleague.look();

        await owner.visit('/dashboard/workspace');
        const row = owner.page.getByRole('row').filter({ hasText: theirs });
        await row.getByText('Manage').click();
        await owner.look();
        await row.getByLabel('Role').selectOption('admin');
        await row.getByRole('button', { name: 'Change role' }).click();
        await owner.page.getByText('Role changed.').waitFor();
        await owner.close();
        await colleague.close();
    });
});
