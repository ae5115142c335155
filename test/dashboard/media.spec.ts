import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { openWorld, type World } from '../support/world.ts';
import { openBrowser, PHONE } from './support/browser.ts';
import { pathOf, SHOWN } from './support/places.ts';
import { type Settled, settle } from './support/settled.ts';

const MEMBER_PAGES = SHOWN.filter(({ audience, isPart }) => audience !== 'anyone' && audience !== 'operator' && isPart !== true);

/** What can be operated, stands on the page and would do nothing: it is neither sent with a form nor does it open or lead anywhere. */
const DEAD = `[...document.querySelectorAll('main :is(button, input, select, textarea)')]
    .filter((one) => one.checkVisibility() && (one.form === null || (one.type === 'button' || (one.tagName !== 'BUTTON' && one.name === ''))))
    .map((one) => one.outerHTML.slice(0, 80))`;

describe('a page of the dashboard', () => {
    let world: World;
    let browser: Browser;
    let person: Settled;

    before(async function () {
        browser = await openBrowser(this);
        world = await openWorld({ workers: 0, config: { trustProxy: 1 } });
        person = await settle(world);
    });
    after(async () => {
        await browser?.close();
        await world?.close();
    });

    /** Shows each page that a member sees, and resolves with what was found on each. */
    async function onEach<T>(
        options: BrowserContextOptions,
        look: (page: Page) => Promise<T>,
        shownIn = browser,
    ): Promise<[path: string, found: T][]> {
        const context = await shownIn.newContext({ baseURL: world.base, ...options });
        await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
        const page = await context.newPage();
        const found: [string, T][] = [];
        for (const shown of MEMBER_PAGES) {
            const answer = await page.goto(pathOf(shown, person.values)).catch(() => null);
            // A download shows no page.
            if (answer !== null) found.push([shown.path, await look(page)]);
        }
        await context.close();
        return found;
    }

    it('shows nothing that does nothing without scripts', async () => {
        const found = await onEach({ javaScriptEnabled: false }, (page) => page.evaluate<string[]>(DEAD));
        expect(found.length).to.be.greaterThan(30);
        for (const [path, dead] of found) expect(dead, path).to.deep.equal([]);
    });

    it('underlines its own entry of the menu alone, also in the colours of the system', async () => {
        const lines = `[...document.querySelectorAll('.tabs a')]
            .filter((one) => getComputedStyle(one).borderBottomColor !== getComputedStyle(document.documentElement).backgroundColor)
            .map((one) => one.getAttribute('aria-current'))`;
        const found = await onEach({ forcedColors: 'active' }, (page) => page.evaluate<(string | null)[]>(lines));
        for (const [path, underlined] of found) expect(underlined, path).to.satisfy((all: unknown[]) => all.every((one) => one === 'page'));
        expect(found.find(([path]) => path === '/dashboard')?.[1]).to.deep.equal(['page']);
    });

    it('prints no buttons and fields, and no dark page', async () => {
        const printed = `({
            operable: [...document.querySelectorAll('button, input, select, textarea, summary.button, a.button')].filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80)),
            ink: getComputedStyle(document.body).color,
        })`;
        const look = async (page: Page) => {
            await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
            const seen = await page.evaluate<{ operable: string[]; ink: string }>(printed);
            await page.emulateMedia({ media: 'screen' });
            return seen;
        };
        for (const [path, { operable, ink }] of await onEach({}, look)) {
            expect(operable, path).to.deep.equal([]);
            expect(ink, path).to.equal('rgb(23, 32, 28)');
        }
    });

    it('prints no table wider than a sheet of A4', async () => {
        const cut = `[...document.querySelectorAll('main :is(td, th)')]
            .filter((cell) => cell.checkVisibility() && cell.getBoundingClientRect().right > document.documentElement.clientWidth)
            .map((cell) => cell.textContent)`;
        const look = async (page: Page) => {
            await page.emulateMedia({ media: 'print' });
            const found = await page.evaluate<string[]>(cut);
            await page.emulateMedia({ media: 'screen' });
            return found;
        };
        // The sheet has 210 mm, and margins of 10 mm.
        for (const [path, found] of await onEach({ viewport: { width: 718, height: 1047 } }, look)) expect(found, path).to.deep.equal([]);
    });

    it('shows no value behind the button of its row at a zoom of 200 %', async () => {
        const behind = `[...document.querySelectorAll('table.compact tbody tr')].flatMap((row) => {
            const button = row.querySelector('.acts a, .acts button, summary')?.getBoundingClientRect();
            const values = [...row.querySelectorAll('td[data-label]')].map((value) => ({ text: value.textContent, ...value.getBoundingClientRect().toJSON() }));
            return button === undefined ? [] : values.filter(({ left, top }) => left > button.left && top < button.bottom).map(({ text }) => text);
        })`;
        const zoomed = { viewport: { width: 640, height: 512 }, deviceScaleFactor: 2 };
        const found = await onEach(zoomed, async (page) => ({
            behind: await page.evaluate<string[]>(behind),
            over: await page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        }));
        for (const [path, seen] of found) expect(seen, path).to.deep.equal({ behind: [], over: 0 });
    });

    it('grows with the size of text that people set, and still fits a phone at twice the size', async function () {
        const enlarged = await openBrowser(this, { textSize: 32 });
        const seen = await onEach(
            { viewport: PHONE },
            (page) =>
                page.evaluate<[size: string, over: number]>(
                    '[getComputedStyle(document.body).fontSize, document.documentElement.scrollWidth - document.documentElement.clientWidth]',
                ),
            enlarged,
        );
        await enlarged.close();
        for (const [path, found] of seen) expect(found, path).to.deep.equal(['32px', 0]);
    });

    it('keeps the plan in its header in one line on a phone, beside a long name', async () => {
        const { db } = world.app;
        const [name, plan] = ['a workspace with a long name', 'enterprise'];
        const before = await db('workspaces').where({ id: person.workspaceId }).first('name', 'plan');
        await db('workspaces').where({ id: person.workspaceId }).update({ name, plan });
        const lines = `(() => {
            const range = document.createRange();
            range.selectNodeContents(document.querySelector('.workspace-menu summary .tag'));
            return new Set([...range.getClientRects()].map(({ bottom }) => bottom)).size;
        })()`;
        const found = await onEach({ viewport: PHONE }, async (page) =>
            (await page.locator('.workspace-menu').count()) === 0 ? 1 : page.evaluate<number>(lines),
        );
        await db('workspaces').where({ id: person.workspaceId }).update(before);
        for (const [path, seen] of found) expect(seen, path).to.equal(1);
    });

    it('prints what a small screen folds, and folds it again', async () => {
        const context = await browser.newContext({ baseURL: world.base, viewport: PHONE });
        await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
        const page = await context.newPage();
        await page.goto('/dashboard/usage');
        const folded = "document.querySelectorAll('details[data-folds]:not([open])').length";
        const before = await page.evaluate<number>(folded);
        await page.evaluate(`addEventListener('beforeprint', () => { document.body.dataset.onPaper = ${folded}; })`);
        await page.pdf();
        expect(before).to.be.greaterThan(2);
        expect(await page.evaluate('document.body.dataset.onPaper')).to.equal('0');
        expect(await page.evaluate(folded)).to.equal(before);
        await context.close();
    });

    describe('by keyboard', () => {
        let page: Page;
        const focusIsOn = (words: string) => page.locator(':focus').filter({ hasText: words }).waitFor();

        before(async () => {
            const context = await browser.newContext({ baseURL: world.base });
            await context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
            page = await context.newPage();
        });
        after(() => page?.context().close());

        it('is always shown where it is, also on the parts of a date', async () => {
            await page.goto('/dashboard/usage/calls');
            const isShown = `(() => { const { outlineStyle } = getComputedStyle(document.activeElement); return outlineStyle !== 'none'; })()`;
            const name = "document.activeElement.name ?? ''";
            const reached = new Set<string>();
            for (let presses = 0; presses < 60 && !reached.has('to'); presses++) {
                await page.keyboard.press('Tab');
                reached.add(await page.evaluate<string>(name));
                expect(await page.evaluate<boolean>(isShown), [...reached].at(-1)).to.equal(true);
            }
            for (let presses = 0; presses < 3; presses++) {
                await page.keyboard.press('Tab');
                expect(await page.evaluate<boolean>(isShown), 'a part of the last day').to.equal(true);
            }
        });

        it('closes a menu that the focus leaves', async () => {
            await page.goto('/dashboard');
            await page.locator('.workspace-menu summary').focus();
            await page.keyboard.press('Enter');
            expect(await page.locator('.workspace-menu[open]').count()).to.equal(1);
            for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Tab');
            expect(await page.locator('details.menu[open]').count()).to.equal(0);
        });

        it('moves the focus into a question, and back to where it was asked by "Not now" or Escape', async () => {
            await page.goto(`/dashboard/keys/${person.values.key_id}`);
            const ask = page.getByText('Revoke …');
            for (const leave of [() => page.getByRole('button', { name: 'Not now' }).press('Enter'), () => page.keyboard.press('Escape')]) {
                await ask.focus();
                await page.keyboard.press('Enter');
                await focusIsOn('Not now');
                await leave();
                await focusIsOn('Revoke …');
                expect(await page.locator('details.ask[open]').count()).to.equal(0);
            }
        });
    });
});
