import { expect } from 'chai';
import type { TrendingAnswer } from '../../shared/contracts/trending.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { yank } from '../../shared/store/registry/yank.ts';
import { startRollUps } from '../../workers/roll-up.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, INTENT } from '../support/routes.ts';
import { aPackage } from '../support/schemas.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

const MORNING = 6;

for (const topology of ANY_TOPOLOGY) {
    describe(`trending, over ${topology}`, () => {
        const world = useWorld({ topology, config: { egressHosts: SHOP_HOSTS, trustProxy: 1 } });
        const shop = useShop();
        let maker: Person;
        let callers: Person[];

        before(async () => {
            // Calls of one caller on one day count together, so this test must not cross midnight.
            await world.clock.advance({ hours: (MORNING + 24 - new Date().getUTCHours()) % 24 });
            maker = await join(world, { plan: 'enterprise' });
            callers = [];
            for (let index = 0; index < 4; index++) callers.push(await join(world, { plan: 'pro' }));
            dataOf(await maker.publish(shopPackage(shop.port)));
            for (const site of ['alpha.test', 'beta.test', 'gamma.test'])
                dataOf(await maker.publish(aPackage(site, { title: `About ${site}` })));
        });

        const lookUp = async (site: string, person = stranger(world), address = '192.0.2.1') => {
            const answer = await person.call('GET', `/v1/catalog/${site}?intent=${encodeURIComponent(INTENT)}`, {
                headers: { 'x-forwarded-for': address },
            });
            expect(answer.status).to.equal(200);
        };
        const trending = async (window?: string) =>
            dataOf<TrendingAnswer>(await stranger(world).call('GET', `/v1/trending${window === undefined ? '' : `?window=${window}`}`));
        const orderOf = (answer: TrendingAnswer) => answer.sites.map(({ rank, site }) => `${rank} ${site}`);
        const nextHour = async (by: { hours?: number; days?: number } = { hours: 1 }) => {
            await world.app.usage.flush();
            await world.clock.advance(by);
            expect(await rollUpTrending(world.app.db)).to.equal(true);
        };
        const scoreOf = ({ sites: shown }: TrendingAnswer, site: string) => shown.find((entry) => entry.site === site)?.score ?? 0;

        it('is empty before the first roll-up, and shows requested schemas at once', async () => {
            for (const domain of ['wanted.test', 'wanted.test', 'also-wanted.test']) {
                const asked = await callers[0]?.call('POST', '/v1/schema-requests', {
                    body: { domain, task: 'Read the list of everything that is on sale there today.' },
                });
                expect(asked?.status).to.equal(201);
            }
            expect(await trending()).to.deep.equal({
                window: '7d',
                sites: [],
                requested: [
                    { domain: 'wanted.test', requests: 2 },
                    { domain: 'also-wanted.test', requests: 1 },
                ],
            });
        });

        it('ranks sites by the number of callers rather than by the calls of one', async () => {
            for (let times = 0; times < 12; times++) await lookUp('alpha.test', callers[0]);
            for (const caller of callers) await lookUp('beta.test', caller);
            await nextHour();
            const answer = await trending();
            expect(orderOf(answer)).to.deep.equal(['1 beta.test', '2 alpha.test']);
            expect(answer.sites[0]).to.deep.include({
                title: 'About beta.test',
                intent_category: 'commerce/product-search',
                verified: false,
                fetches: 0,
                lookups: 4,
            });
            expect(answer.sites[1]).to.include({ lookups: 12 });
            const first = scoreOf(answer, 'alpha.test');
            for (let times = 0; times < 12; times++) await lookUp('alpha.test', callers[0]);
            await nextHour();
            expect(scoreOf(await trending(), 'alpha.test') - first).to.be.within(0.01, first / 2);
        });

        it('weighs a fetch more than a look-up, and distinguishes callers without a key by address', async () => {
            for (const caller of callers.slice(0, 3)) dataOf(await caller.fetch(SHOP, 'product', { id: 1 }));
            for (const last of [1, 2, 3]) await lookUp('gamma.test', stranger(world), `198.51.100.${last}`);
            await nextHour();
            const answer = await trending('24h');
            expect(answer.sites.find(({ site }) => site === SHOP)).to.include({ fetches: 3, lookups: 0 });
            expect(scoreOf(answer, SHOP)).to.be.above(scoreOf(answer, 'gamma.test'));
            const three = scoreOf(answer, 'gamma.test');
            expect(three).to.be.closeTo(3 * Math.log(2), 0.01);
            const { rows } = await world.app.db.raw("select * from usage where site = 'gamma.test'");
            expect(JSON.stringify(rows)).not.to.include('198.51');
        });

        it('ignores failures, and calls of a site’s maintainers from any workspace', async () => {
            const before = await trending();
            for (let times = 0; times < 5; times++) await lookUp('gamma.test', maker);
            for (let times = 0; times < 3; times++) await maker.fetch(SHOP, 'product', { id: 1 });
            await world.app.db.raw("insert into memberships (workspace_id, user_id, role) values (?, ?, 'member')", [
                maker.workspaceId,
                callers[3]?.userId ?? '',
            ]);
            await lookUp('gamma.test', callers[3]);
            await callers[0]?.fetch(SHOP, 'status', { code: 500 });
            await callers[0]?.fetch(SHOP, 'nowhere');
            await nextHour();
            const after = await trending();
            for (const counted of [SHOP, 'gamma.test']) {
                const entryIn = (answer: TrendingAnswer) => answer.sites.find(({ site }) => site === counted);
                expect(entryIn(after)).to.include({
                    score: entryIn(before)?.score,
                    lookups: entryIn(before)?.lookups,
                    fetches: entryIn(before)?.fetches,
                });
            }
        });

        it('is rolled up once an hour, by one of several processes', async () => {
            await world.clock.advance({ hours: 1 });
            const done = await Promise.all(Array.from({ length: 8 }, () => rollUpTrending(world.app.db)));
            expect(done.filter(Boolean)).to.have.length(1);
            expect(await rollUpTrending(world.app.db)).to.equal(false);
            await world.clock.advance({ hours: 1 });
            const rollUps = [startRollUps(world.app), startRollUps(world.app)];
            try {
                const count = async () =>
                    (await world.app.db.raw("select count(*) from trending_rollups where hour >= app_now() - interval '1 hour'")).rows[0]
                        .count;
                await eventually(count, (rolled) => rolled === 1, 5000);
            } finally {
                for (const rollUp of rollUps) await rollUp.stop();
            }
            expect(await rollUpTrending(world.app.db)).to.equal(false);
        });

        it('shows sites in their current state, and none that is blocked or yanked', async () => {
            dataOf(await maker.publish(aPackage('alpha.test', { title: 'Renamed' })));
            expect((await trending()).sites.find(({ site }) => site === 'alpha.test')?.title).to.equal('Renamed');
            await sites.blockDomain(world.app.db, 'alpha.test', 'asked by its owner');
            await yank(world.app.db, 'gamma.test', 1, 'broken');
            const shown = orderOf(await trending());
            expect(shown.join()).not.to.match(/alpha|gamma/);
            expect(shown.map((line) => line.split(' ')[0])).to.deep.equal(shown.map((_, place) => String(place + 1)));
            await sites.unblockDomain(world.app.db, 'alpha.test');
        });

        it('forgets a day after a day, a week after a week and a month after a month', async () => {
            const has = async (window: string) =>
                orderOf(await trending(window))
                    .join()
                    .includes('beta.test');
            expect([await has('24h'), await has('7d'), await has('30d')]).to.deep.equal([true, true, true]);
            await nextHour({ days: 2 });
            expect([await has('24h'), await has('7d'), await has('30d')]).to.deep.equal([false, true, true]);
            await nextHour({ days: 7 });
            expect([await has('24h'), await has('7d'), await has('30d')]).to.deep.equal([false, false, true]);
            await nextHour({ days: 30 });
            expect([await has('24h'), await has('7d'), await has('30d')]).to.deep.equal([false, false, false]);
        });

        it('needs a known window, and has an ETag', async () => {
            for (const [query, details] of [
                ['window=1h', '/window INVALID_VALUE'],
                ['window=__proto__', '/window INVALID_VALUE'],
                ['limit=3', '/limit UNKNOWN_FIELD'],
            ]) {
                const refused = await stranger(world).call('GET', `/v1/trending?${query}`);
                expect([codeOf(refused), ...detailsOf(refused)], query).to.deep.equal(['VALIDATION_ERROR', details]);
            }
            const answer = await stranger(world).call('GET', '/v1/trending?window=30d');
            expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
            const again = await stranger(world).call('GET', '/v1/trending?window=30d', {
                headers: { 'if-none-match': answer.headers.get('etag') ?? '' },
            });
            expect(again.status).to.equal(304);
        });
    });
}

describe('trending of a new installation', () => {
    const world = useWorld();

    it('lists the first calls without waiting for the next hour', async () => {
        // This test must not cross an hour.
        await world.clock.advance({ minutes: 65 - new Date().getUTCMinutes() });
        const [maker, caller] = [await join(world), await join(world)];
        dataOf(await maker.publish(aPackage('early.test')));
        const lookUp = async (person: Person) => {
            expect((await person.call('GET', `/v1/catalog/early.test?intent=${encodeURIComponent(INTENT)}`)).status).to.equal(200);
            await world.app.usage.flush();
        };
        const trending = async () => dataOf<TrendingAnswer>(await caller.call('GET', '/v1/trending')).sites.map(({ site }) => site);
        await lookUp(maker);
        expect([await rollUpTrending(world.app.db), await trending()], 'only a maintainer called').to.deep.equal([true, []]);
        await lookUp(caller);
        expect([await rollUpTrending(world.app.db), await trending()]).to.deep.equal([true, ['early.test']]);
        await lookUp(caller);
        expect(await rollUpTrending(world.app.db), 'in the same hour').to.equal(false);
    });
});
