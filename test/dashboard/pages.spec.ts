import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { makeLink, tokenOfLink } from '../../shared/store/accounts/mail-links.ts';
import { eventually } from '../support/eventually.ts';
import { join as joinWorld } from '../support/people.ts';
import { aPackage } from '../support/schemas.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, PHONE, type Tab } from './support/browser.ts';
import { pathOf, SHOWN } from './support/places.ts';
import { type Settled, settle, userOf } from './support/settled.ts';
import { freshAddress, PASSWORD } from './support/visitor.ts';

/** All pages except for fragments and downloads. */
const PAGES_OF_THEIR_OWN = SHOWN.filter(({ isPart }) => isPart !== true);

describe('every page of the table', () => {
    let world: World;
    let browser: Browser;
    let somebody: Settled;
    let operator: Settled;
    let tabs: Record<'stranger' | 'member' | 'operator', Tab>;
    const operatorEmails: string[] = [];

    before(async function () {
        browser = await openBrowser(this);
        const mail = { smtpUrl: 'smtp://127.0.0.1:1', from: undefined };
        world = await openWorld({ workers: 0, config: { trustProxy: 1, mail, operatorEmails } });
        const contributor = await joinWorld(world);
        await contributor.publish(
            aPackage('books.example', { title: 'Example Books', description: 'Every book, with its price and where it stands.' }),
        );
        somebody = await settle(world);
        operator = await settle(world);
        operatorEmails.push(operator.email);
        tabs = { stranger: await tabFor(), member: await tabFor(somebody), operator: await tabFor(operator) };
    });
    after(async () => {
        await browser?.close();
        await world?.close();
    });

    for (const page of PAGES_OF_THEIR_OWN) {
        it(`is complete, accessible and without errors on a phone and on a desktop, light and dark: ${page.path}`, async () => {
            const tab = page.audience === 'anyone' ? tabs.stranger : page.audience === 'operator' ? tabs.operator : tabs.member;
            const answer = await tab.page.goto(pathWithQuery(pathOf(page, somebody.values)));
            // Without a requesting app, the page shows an error.
            const expected = page.path === '/oauth/authorize' ? 400 : 200;
            expect([answer?.status(), new URL(tab.page.url()).pathname]).to.deep.equal([expected, pathOf(page, somebody.values)]);
            await tab.lookAround(nameOf(page.path));
        });
    }

    it('causes no errors until it is closed', async () => {
        for (const tab of Object.values(tabs)) await tab.close();
    });

    async function tabFor(person?: Settled): Promise<Tab> {
        const tab = await openTab(browser, world.base, { viewport: PHONE });
        const cookies = [...(person?.cookies ?? [])].map(([name, value]) => ({ name, value, url: world.base }));
        if (cookies.length > 0) await tab.context.addCookies(cookies);
        return tab;
    }

    /** The link in the mail to a new account. */
    async function verifyPath(email: string): Promise<string> {
        const find = async () =>
            (await world.app.db.raw<{ rows: { id: string }[] }>('select id from users where email = ?', [email])).rows[0];
        await eventually(find, (row) => row !== undefined);
        const userId = await userOf(world, email);
        const linkId = await makeLink(world.app.db, { purpose: 'verify', userId, address: email });
        return `/verify?token=${await tokenOfLink(world.app.secrets, linkId)}`;
    }

    /** States of pages after an action, which the table alone does not show. */
    const SCENES: Readonly<Record<string, (tab: Tab) => Promise<unknown>>> = {
        'scene.not-found': ({ page }) => page.goto('/no/such/page'),
        'scene.sign-up-problems': async ({ page }) => {
            await page.goto('/signup?invite=abc');
            await page.getByLabel('Email').fill('ada@people.example');
            await page.getByLabel('Password').fill('short');
            await page.getByRole('button', { name: 'Create account' }).click();
            await page.getByText('Use at least 10 characters').waitFor();
        },
        'scene.first-day': async ({ page }) => {
            await page.goto('/signup');
            const email = freshAddress();
            await page.getByLabel('Email').fill(email);
            await page.getByLabel('Password').fill(PASSWORD);
            await page.getByRole('button', { name: 'Create account' }).click();
            await page.getByRole('heading', { name: 'Check your email' }).waitFor();
            await page.goto(await verifyPath(email));
            await page.getByText('Your account is ready.').waitFor();
        },
        'scene.no-keys': ({ page }) => page.goto('/dashboard/keys'),
        'scene.new-key': async ({ page }) => {
            await page.getByLabel('Name').fill('laptop');
            await page.getByRole('button', { name: 'Create key' }).click();
            await page.getByRole('heading', { name: 'Your new key' }).waitFor();
        },
        'scene.revoke': async ({ page }) => {
            await page.goto('/dashboard/keys');
            await page.getByRole('link', { name: 'Manage laptop' }).click();
            await page.getByText('Revoke …').click();
        },
        'scene.menu': async ({ page }) => {
            await page.goto('/dashboard');
            await page.locator('.workspace-menu summary').click();
        },
        'scene.workspace': async ({ page, context }) => {
            await context.addCookies([...somebody.cookies].map(([name, value]) => ({ name, value, url: world.base })));
            await page.goto('/dashboard/workspace');
            await page.getByRole('button', { name: 'Create invitation' }).click();
            await page.getByText('Invitation created.').waitFor();
            await page.locator('summary', { hasText: 'Manage' }).first().click();
        },
        'scene.versions-compared': ({ page }) => page.goto(`/registry/${somebody.values.site}/versions?from=1&to=2`),
        'scene.docs-found': ({ page }) => page.goto('/docs/search?q=batch'),
        'scene.site-absent': ({ page }) => page.goto('/registry/nobody-wrote-it.example'),
        'scene.nothing-found': ({ page }) => page.goto('/registry?q=zzzzzz&verified=true'),
        'scene.try-a-write': async ({ page }) => {
            await page.goto(`/registry/${somebody.values.site}/try/book_berth`);
            await page.getByRole('button', { name: 'Preview the cost' }).click();
            await page.getByText('cannot be undone').waitFor();
        },
        'scene.publish-problems': async ({ page }) => {
            await page.goto(`/dashboard/schemas/new?site=${somebody.values.site}`);
            await page
                .getByLabel('JSON in the routebook/1 format')
                .fill('{"format":"routebook/1","site":"localhost","endpoints":[{"name":"A"}]}');
            await page.getByRole('button', { name: 'Check', exact: true }).click();
            await page.locator('.lint').waitFor();
        },
        'scene.publish-report': async ({ page }) => {
            await page.goto(`/dashboard/schemas/new?site=${somebody.values.site}`);
            const text = await page.getByLabel('JSON in the routebook/1 format').inputValue();
            await page.getByLabel('JSON in the routebook/1 format').fill(text.replace('find_berth', 'look_for_berth'));
            await page.getByRole('button', { name: 'Check', exact: true }).click();
            await page.getByText('Ready to publish').waitFor();
        },
        'scene.yank': async ({ page }) => {
            await page.goto(`/dashboard/schemas/${somebody.values.site}`);
            await page.getByText('Yank … version 1').click();
        },
        'scene.request-problems': async ({ page }) => {
            await page.goto('/requests/new?domain=ferries.example');
            await page.getByLabel('What you want to do there').fill('short');
            await page.getByRole('button', { name: 'Submit request' }).click();
            await page.locator('.problem').first().waitFor();
        },
        'scene.settings-problems': async ({ page }) => {
            await page.goto('/dashboard/settings');
            await page.getByText('Delete …').click();
            await page.locator('#password-old').fill('not the password');
            await page.locator('#password-new').fill('short');
            await page.getByRole('button', { name: 'Change password' }).click();
            await page.locator('#password .problem').first().waitFor();
        },
    };

    it('fits the longest names that people can choose, on a phone', async () => {
        const tab = await openTab(browser, world.base, { viewport: PHONE });
        const { page } = tab;
        const email = `${'m'.repeat(60)}@${'w'.repeat(60)}.${'w'.repeat(60)}.example`;
        const name = 'W'.repeat(60);
        await tab.visit('/signup');
        await page.getByLabel('Email').fill(email);
        await page.getByLabel('Password').fill(PASSWORD);
        await page.getByRole('button', { name: 'Create account' }).click();
        await page.getByRole('heading', { name: 'Check your email' }).waitFor();
        await tab.visit(await verifyPath(email));
        await world.app.db.raw(
            'update workspaces set name = ? where id in (select workspace_id from memberships m join users u on u.id = m.user_id where u.email = ?)',
            [name, email],
        );
        await tab.visit('/dashboard/keys');
        await page.getByLabel('Name').fill(name);
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('heading', { name: 'Your new key' }).waitFor();
        await tab.look();
        await tab.visit('/dashboard/keys');
        await page.getByRole('link', { name: `Manage ${name}` }).click();
        await page.getByText('Revoke …').click();
        await tab.look();
        await tab.visit('/dashboard/workspace');
        await page.getByRole('button', { name: 'Create invitation' }).click();
        const link = (await page.locator('#invitation-link').textContent()) ?? '';
        await tab.look();
        for (const path of ['/dashboard', '/dashboard/settings', '/dashboard/invite', new URL(link).pathname]) await tab.visit(path);
        await tab.visit('/dashboard');
        await page.locator('.workspace-menu summary').click();
        await tab.look();
        await page.locator('.person-menu summary').click();
        await tab.look();
        await tab.close();
    });

    describe('after an action', () => {
        let tab: Tab;
        before(async () => {
            tab = await tabFor();
        });

        for (const [name, play] of Object.entries(SCENES)) {
            it(`is complete and accessible: ${name}`, async () => {
                await play(tab);
                await tab.lookAround(name);
            });
        }

        it('causes no errors until it is closed', () => tab.close());
    });

    function pathWithQuery(path: string): string {
        const { links, stop } = somebody;
        const tokens: Readonly<Record<string, string>> = { '/verify': links.verify, '/reset': links.reset, '/maintainers/stop': stop };
        const token = tokens[path];
        return token === undefined ? path : `${path}?token=${token}`;
    }
});

function nameOf(path: string): string {
    return path === '/' ? 'home' : path.slice(1).replaceAll(/[{}]/g, '').replaceAll('/', '.');
}
