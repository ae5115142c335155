import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { useWorld } from '../support/world.ts';
import { openBrowser, openTab } from './support/browser.ts';

const SITE = 'elpmaxe.test';

describe('a title with characters that reorder words', () => {
    const world = useWorld({ workers: 0 });
    let browser: Browser;
    before(async function () {
        browser = await openBrowser(this);
    });
    after(() => browser?.close());

    it('does not turn the name of its site around', async () => {
        const ada = await join(world);
        dataOf(await ada.publish(aPackage(SITE, { title: 'A shop \u202e' })));
        world.app.usage.record({
            kind: 'fetch',
            operation: 'op_1',
            accountId: 'usr_caller',
            workspaceId: 'wsp_caller',
            userId: 'usr_caller',
            keyId: 'key_caller',
            site: SITE,
            registrable: SITE,
            endpoint: 'product',
            outcome: 'success',
            credits: 1,
            durationMs: 1,
        });
        await world.app.usage.flush();
        await world.clock.advance({ hours: 1 });
        await rollUpTrending(world.app.db);
        const tab = await openTab(browser, world.base);
        await tab.visit('/trending');
        const places = await tab.page.evaluate<number[]>(`{
            const text = document.querySelector('li code').firstChild;
            [0, 1].map((at) => {
                const range = document.createRange();
                range.setStart(text, at);
                range.setEnd(text, at + 1);
                return range.getBoundingClientRect().left;
            });
        }`);
        await tab.close();
        expect(places[1]).to.be.above(places[0] ?? Number.POSITIVE_INFINITY);
    });
});
