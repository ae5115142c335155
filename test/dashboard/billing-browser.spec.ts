import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { createNotice } from '../../shared/store/accounts/notices.ts';
import { findSignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type LocalStripe, openStripe } from '../support/stripe-server.ts';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab, type Tab } from './support/browser.ts';
import { freshAddress, PASSWORD, signUp, type Visitor, visitor } from './support/visitor.ts';

describe('billing in a browser', () => {
    let stripe: LocalStripe;
    let world: World;
    let browser: Browser;
    before(async function () {
        browser = await openBrowser(this);
        stripe = await openStripe();
        world = await openWorld({
            workers: 0,
            config: { trustProxy: 1, stripe: stripe.settings, operatorEmails: ['ops@routebook.example'] },
        });
        stripe.serve(world);
        stripe.deliverAtOnce();
    });
    after(async () => {
        await browser?.close();
        await world?.close();
        await stripe?.close();
    });

    async function tabOf(person: Visitor): Promise<Tab> {
        // Only payment happens on another host. Stripe leads back to PUBLIC_URL, which in tests is another name for the same server.
        const base = world.base.replace('127.0.0.1', 'localhost');
        const tab = await openTab(browser, base, { expects: new RegExp(`a request to ${new URL(stripe.url).host}`) });
        await tab.context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: base })));
        return tab;
    }

    const home = (tab: Tab) => tab.page.waitForURL(/\/dashboard\/billing$/);

    /** One notice of every kind. */
    async function tellEverything(person: Visitor): Promise<void> {
        const me = await findSignedIn(world.app.db, person.cookies.get('routebook_session') ?? '');
        const whose = { accountId: me?.userId ?? '', workspaceId: me?.current?.workspaceId, userId: me?.userId };
        const { keyId } = await createKey(world.app.db, {
            workspaceId: whose.workspaceId ?? '',
            userId: whose.accountId,
            name: 'nightly run',
        });
        const calls = { keyId, keyName: 'nightly run', site: 'books.example', endpoint: 'search', calls: 50, code: 'UPSTREAM_TIMEOUT' };
        for (const [kind, subject, facts] of [
            ['allowance_80', 'period 1', { limit: 1000, left: 200 }],
            ['failing', 'key', calls],
            ['payment_failed', 'sub', {}],
            ['plan_ended', 'sub', { why: 'unpaid' }],
        ] as const) {
            await createNotice(world.app.db, { kind, subject, facts, ...whose });
        }
    }

    it('shows a problem above its field, so that the button beside the field stays on its line', async () => {
        const tab = await tabOf(await signUp(world));
        const { page } = tab;
        await tab.visit('/dashboard/billing');
        await page.locator('#cap form').evaluate('(form) => { form.noValidate = true; }');
        await page.getByLabel('Credits a day').fill('-1');
        await page.getByRole('button', { name: 'Save cap' }).click();
        const problem = await page.locator('#cap .problem').boundingBox();
        const field = await page.getByLabel('Credits a day').boundingBox();
        const button = await page.getByRole('button', { name: 'Save cap' }).boundingBox();
        if (problem === null || field === null || button === null) throw new Error('one of the three is not shown');
        expect(problem.y + problem.height).to.be.at.most(field.y);
        expect(Math.abs(field.y + field.height - button.y - button.height)).to.be.below(1);
        await tab.look();
        await tab.close();
    });

    it('goes from the link of a 402 directly to Checkout, and to a larger plan from there', async () => {
        const person = await signUp(world);
        const tab = await tabOf(person);
        await tab.page.goto('/upgrade?plan=starter');
        await tab.page.waitForURL(/\/c\/pay\//);
        await tab.page.getByRole('button', { name: 'Subscribe' }).click();
        await home(tab);
        expect(await tab.page.textContent('main'))
            .to.include('$49 a month')
            .and.include('15,000 of 15,000');
        await tab.visit('/upgrade?plan=pro');
        await tab.page.getByRole('button', { name: 'Switch to Pro' }).click();
        await tab.look();
        await tab.page.getByRole('button', { name: 'Pay and switch' }).click();
        await home(tab);
        await tab.look();
        expect(await tab.page.textContent('main')).to.include('60,000 of 60,000');
        await tab.close();
    });

    it('goes from the link of a 402 through signing in, or signing up, to Checkout', async () => {
        const email = freshAddress();
        await signUp(world, email);
        for (const [button, address] of [
            ['Sign in', email],
            ['Create account', freshAddress()],
        ] as const) {
            const tab = await tabOf(visitor(world));
            await tab.visit('/upgrade?plan=starter');
            if (button === 'Create account') await tab.page.getByRole('main').getByRole('link', { name: 'Sign up' }).click();
            await tab.page.getByLabel('Email').fill(address);
            await tab.page.getByLabel('Password').fill(PASSWORD);
            await tab.page.getByRole('button', { name: button }).click();
            await tab.page.waitForURL(/\/c\/pay\//);
            await tab.close();
        }
    });

    it('from the billing page to the portal', async () => {
        const person = await signUp(world);
        const session = /cs_\w+/.exec((await person.get('/upgrade?plan=starter')).to ?? '')?.[0] ?? '';
        stripe.bank.pay(session);
        await person.get(`/dashboard/billing?checkout=${session}`);
        const tab = await tabOf(person);
        await tab.visit('/dashboard/billing');
        await tab.page.getByRole('button', { name: 'Card and invoices' }).click();
        await tab.page.waitForURL(/\/p\/session\//);
        await tab.page.getByRole('link', { name: 'Back' }).click();
        await home(tab);
        await tab.close();
    });

    it('keeps the digits of prices and credits on one line beside long words', async () => {
        const person = await signUp(world);
        const session = /cs_\w+/.exec((await person.get('/upgrade?plan=starter')).to ?? '')?.[0] ?? '';
        stripe.bank.pay(session);
        await person.get(`/dashboard/billing?checkout=${session}`);
        const tab = await tabOf(person);
        await tab.visit('/dashboard/billing');
        const lines = await tab.page.evaluate<
            number[]
        >(`[...document.querySelectorAll('#plans td')].slice(0, 12).filter((cell) => /^\\$?[\\d,]+$/.test(cell.textContent)).map((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return range.getClientRects().length;
        })`);
        expect(lines).to.deep.equal([1, 1, 1, 1, 1, 1]);
        await tab.close();
    });

    it('needs a button if another page prefetched or embeds the link', async () => {
        const person = await signUp(world);
        const tab = await tabOf(person);
        const asked = stripe.asked.length;
        await tab.visit('/dashboard/billing');
        const text = await tab.page.evaluate<string>("fetch('/upgrade?plan=starter').then((answer) => answer.text())");
        expect(text).to.include('<button class="button" type="submit">Get Starter</button>');
        expect(stripe.asked.length).to.equal(asked);
        await tab.close();
    });

    it('is complete, accessible and without errors in each state, on a phone and a desktop, light and dark', async () => {
        const people = await Promise.all(Array.from({ length: 5 }, () => signUp(world)));
        const [fresh, payer, late, told, lost] = people as [Visitor, Visitor, Visitor, Visitor, Visitor];
        const states: readonly (readonly [string, Visitor, string])[] = [
            ['free', fresh, '/dashboard/billing'],
            ['plans', fresh, '/upgrade'],
            ['offer-of-change', payer, '/upgrade?plan=pro'],
            ['paid', payer, '/dashboard/billing'],
            ['late', late, '/dashboard/billing'],
            ['told', told, '/dashboard'],
        ];
        await tellEverything(told);
        for (const person of [payer, late, lost]) {
            const { to } = await person.send('/upgrade', { plan: 'starter' });
            const session = /cs_\w+/.exec(to ?? '')?.[0] ?? '';
            const { customer, id } = stripe.bank.pay(session);
            await person.get(`/dashboard/billing?checkout=${session}`);
            await person.get('/dashboard/billing');
            if (person === payer) await person.send('/dashboard/billing/plan/confirm', { plan: 'free' }, { from: '/dashboard/billing' });
            if (person === lost) stripe.bank.customers.delete(customer);
            if (person === late) {
                stripe.bank.get(stripe.bank.customers, customer, 'customer').card = 'declined';
                stripe.bank.get(stripe.bank.subscriptions, id, 'subscription').end = Math.floor(world.app.clock.now() / 1000);
                stripe.bank.turn();
                await stripe.deliver();
            }
        }
        for (const [name, person, path] of states) {
            const tab = await tabOf(person);
            await tab.page.goto(path);
            await tab.lookAround(`billing-${name}`);
            await tab.close();
        }
        const tab = await tabOf(payer);
        await tab.page.goto('/dashboard/billing');
        await tab.page.getByRole('button', { name: 'Switch to Pro' }).click();
        await tab.page.getByRole('button', { name: 'Pay and switch' }).waitFor();
        await tab.lookAround('billing-confirm');
        await tab.close();
        const ahead = await tabOf(fresh);
        await ahead.page.setExtraHTTPHeaders({ 'sec-purpose': 'prefetch' });
        await ahead.page.goto('/upgrade?plan=starter');
        await ahead.lookAround('billing-offer');
        await ahead.close();
        const unknown = await tabOf(lost);
        await unknown.page.goto('/dashboard/billing');
        await unknown.page.getByRole('button', { name: 'Card and invoices' }).click();
        await unknown.page.waitForLoadState();
        await unknown.lookAround('billing-no-portal');
        await unknown.close();
    });
});
