import { expect } from 'chai';
import { publishAsStarter } from '../../bin/demo/starter-registry.ts';
import { eventually } from '../support/eventually.ts';
import { type Person, withKey } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';
import { openBrowser, openTab } from './support/browser.ts';
import { type Settled, settle } from './support/settled.ts';
import { freshAddress, signUp, visitor, wordsOf } from './support/visitor.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`the operator's page, with queue and circuits in ${topology}`, () => {
        let world: World;
        let shop: Shop;
        let operator: Settled;
        let caller: Person;
        const operators: string[] = [];

        before(async () => {
            shop = await openShop();
            world = await openWorld({ topology, config: { trustProxy: 1, egressHosts: SHOP_HOSTS, operatorEmails: operators } });
            await publishAsStarter(world.app, shopPackage(shop.port));
            operator = await settle(world);
            operators.push(operator.email.toUpperCase());
            caller = withKey(world, operator.apiKey);
        });
        after(async () => {
            shop.letGo();
            await world.close();
            await shop.close();
        });

        const shown = async () => {
            const { status, html } = await operator.get('/dashboard/operations');
            expect(status, html).to.equal(200);
            return { html, words: wordsOf(html) };
        };

        it('does not exist for anybody else', async () => {
            const somebody = await signUp(world, freshAddress());
            expect((await somebody.get('/dashboard/operations')).status).to.equal(404);
            expect((await visitor(world).get('/dashboard/operations')).status).to.equal(404);
            expect((await somebody.get('/dashboard')).html).not.to.include('/dashboard/operations');
            expect((await operator.get('/dashboard')).html).to.include('/dashboard/operations');
            await world.app.db.raw('update users set verified_at = null where id = ?', [operator.userId]);
            expect((await operator.get('/dashboard/operations')).status).to.equal(404);
            await world.app.db.raw('update users set verified_at = app_now() where id = ?', [operator.userId]);
        });

        it('says when there is nothing to report', async () => {
            const { words } = await shown();
            expect(words).to.include('The queue is empty.').and.to.include('Ledger mismatches 0');
            expect(words).to.include('None: every host may be called.').and.to.include('None: no endpoint has crashed two workers.');
            expect(words).to.match(/Slots busy \d+ of 64/);
        });

        it('shows jobs by site and age, slots and workers, but no params', async () => {
            const calls = [1, 2].map(() => caller.fetch(SHOP, 'held', {}, { timeout_ms: 60_000 }));
            await shop.waiting(2);
            await eventually(shown, ({ words: text }) => text.includes(`${SHOP} active 2`) && text.includes('Slots busy 2'));
            const { words, html } = await shown();
            expect(words).to.include('Active 2');
            expect(html).not.to.include('"values"').and.not.to.include(operator.userId);
            expect(html.match(/<form[^>]*action="([^"]*)"/g)?.filter((form) => form.includes('operations')) ?? []).to.deep.equal([]);
            shop.letGo();
            for (const { status } of await Promise.all(calls)) expect(status).to.equal(200);
            await eventually(shown, ({ words: text }) => text.includes('The queue is empty.'));
        });

        it('names open circuits, quarantined endpoints and drifted schemas', async () => {
            for (let index = 0; index < 60; index++) world.app.circuits.ended('down.test', 'failed');
            await world.app.circuits.flush();
            const { rows } = await world.app.db.raw<{ rows: { id: number }[] }>('select id from versions where site = ?', [SHOP]);
            const versionId = rows[0]?.id ?? 0;
            const death = { versionId, endpoint: 'broken', ageMs: 10, lastSuccessAt: undefined };
            await world.app.quarantine.recordDeath(death);
            await world.clock.advance({ seconds: 10 });
            expect(await world.app.quarantine.recordDeath(death)).to.equal(true);
            await world.app.db.raw('update versions set drifted_at = app_now() where id = ?', [versionId]);
            const { words } = await shown();
            expect(words).to.include('down.test');
            expect(words).to.match(/shop\.test broken, version 1 ends in \d+ (minutes|hour)/);
            expect(words).to.include(`${SHOP} version 1 just now`);
        });

        it('is complete and readable in a browser', async function () {
            const browser = await openBrowser(this);
            try {
                const tab = await openTab(browser, world.base);
                await tab.context.addCookies([...operator.cookies].map(([key, value]) => ({ name: key, value, url: world.base })));
                await tab.page.goto('/dashboard/operations');
                await tab.lookAround('dashboard.operations');
                await tab.close();
            } finally {
                await browser.close();
            }
        });
    });
}
