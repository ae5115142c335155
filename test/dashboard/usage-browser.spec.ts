import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { newId } from '../../shared/domain/text/ids.ts';
import type { UsageRow } from '../../shared/store/usage/usage.ts';
import { openWorld, type World } from '../support/world.ts';
import { DESKTOP, openBrowser, openTab, PHONE, type Tab } from './support/browser.ts';
import { type Settled, settle } from './support/settled.ts';

describe('the usage pages in a browser', () => {
    let world: World;
    let browser: Browser;
    let somebody: Settled;

    before(async function () {
        browser = await openBrowser(this);
        world = await openWorld({ workers: 0, config: { trustProxy: 1 } });
        somebody = await settle(world);
        for (const row of aBusyDay(somebody)) world.app.usage.record(row);
        await world.app.usage.flush();
        // Spreads the calls over the last day.
        await world.app.db.raw(
            `update usage_hours set hour = hour - (calls * 7 + bucket) % 20 * interval '1 hour' where workspace_id = ? and bucket <> 28`,
            [somebody.workspaceId],
        );
    });
    after(async () => {
        await browser?.close();
        await world?.close();
    });

    async function tabOf(person: Settled, viewport: typeof PHONE | typeof DESKTOP): Promise<Tab> {
        const tab = await openTab(browser, world.base, { viewport });
        await tab.context.addCookies([...person.cookies].map(([name, value]) => ({ name, value, url: world.base })));
        return tab;
    }

    it('are complete, accessible and without errors on a phone and on a desktop, light and dark', async () => {
        const tab = await tabOf(somebody, PHONE);
        for (const path of ['/dashboard/usage', '/dashboard/usage/calls', '/dashboard/statement']) {
            await tab.page.goto(path);
            const height = await tab.page.evaluate<number>('document.documentElement.scrollHeight');
            expect(height, path).to.be.at.most(2500);
            await tab.lookAround(path.slice(1).replaceAll('/', '.'));
        }
        await tab.close();
    });

    it('fold on a phone once, and open what a link leads to and all of it on a wider screen', async () => {
        const tab = await tabOf(somebody, PHONE);
        const { page } = tab;
        const mostCalled = page.getByRole('region', { name: 'Most called' });
        const table = mostCalled.getByRole('table');
        await tab.visit('/dashboard/usage');
        await mostCalled.waitFor();
        expect(await table.isVisible()).to.equal(false);
        await page.evaluate("location.hash = 'by'");
        await table.waitFor();
        await page.reload();
        await table.waitFor();
        const credits = page.getByRole('region', { name: 'Credits' }).getByRole('img');
        expect(await credits.isVisible()).to.equal(false);
        await page.setViewportSize(DESKTOP);
        await credits.waitFor();
        await page.setViewportSize(PHONE);
        // Another turn of the events: what would fold has folded.
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
        expect(await credits.isVisible()).to.equal(true);
        await tab.close();
    });

    it('open the charts as a table, and link from the most called endpoint to its charts', async () => {
        const tab = await tabOf(somebody, DESKTOP);
        const { page } = tab;
        await tab.visit('/dashboard/usage');
        await page.getByText('Show as a table').click();
        await page.getByRole('table', { name: 'Calls over time' }).waitFor();
        await page.getByRole('link', { name: 'shop.example search' }).click();
        await page.getByLabel('Endpoint').waitFor();
        expect(await page.getByLabel('Endpoint').inputValue()).to.equal('search');
        expect(await page.getByLabel('Site').inputValue()).to.equal('shop.example');
        expect(await page.locator('.figures').innerText()).to.include('120');
        await tab.look();
        await tab.close();
    });
});

/** Calls of one account to a few endpoints, some of which fail. */
function aBusyDay({ userId, workspaceId, values }: Settled): UsageRow[] {
    return Array.from({ length: 360 }, (_, index): UsageRow => {
        const isFailed = index % 11 === 0;
        return {
            kind: 'fetch',
            operation: newId('op'),
            accountId: userId,
            workspaceId,
            userId,
            keyId: values.key_id,
            site: index % 3 === 0 ? 'shop.example' : 'a-rather-long-name.of-some-market.example',
            registrable: 'shop.example',
            endpoint: index % 3 === 0 ? 'search' : `list_${index % 5}`,
            version: 1,
            outcome: isFailed ? (index % 2 === 0 ? 'UPSTREAM_TIMEOUT' : 'INSUFFICIENT_CREDITS') : 'success',
            credits: isFailed ? 0 : 1,
            durationMs: 20 + ((index * 37) % 900),
        };
    });
}
