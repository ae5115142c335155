import { expect } from 'chai';
import type { CatalogAnswer } from '../../shared/contracts/catalog.ts';
import { rollUpTrending } from '../../shared/store/registry/trending.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { ANY_TOPOLOGY, useWorld } from '../support/world.ts';

/** The package contains none of these words. */
const CHEAP = 'where can somebody buy the cheapest trousers nearby';

for (const topology of ANY_TOPOLOGY) {
    describe(`a catalog that learns from use, over ${topology}`, () => {
        const world = useWorld({ topology, config: { egressHosts: SHOP_HOSTS } });
        const shop = useShop();
        let maker: Person;

        before(async () => {
            maker = await join(world, { plan: 'enterprise' });
        });
        beforeEach(async () => {
            const url = (path: string) => `http://${SHOP}:${shop.port}/${path}`;
            const read = (name: string, path: string) => ({
                name,
                description: '',
                method: 'GET' as const,
                url: url(path),
                examples: [{ params: {} }],
            });
            const endpoints = [
                read('one', 'products/1'),
                read('two', 'products/2'),
                read('three', 'products/3'),
                read('broken', 'status/500'),
            ];
            dataOf(await maker.publish({ ...shopPackage(shop.port), endpoints, title: `Shop ${Math.random()}` }));
            for (const table of ['intent_outcomes', 'endpoint_days', 'usage']) await world.app.db.raw('delete from ??', [table]);
        });

        const lookUp = async (intent: string, person = maker) =>
            (await person.call('GET', `/v1/catalog/${SHOP}?intent=${encodeURIComponent(intent)}`)).body as unknown as CatalogAnswer;
        const orderOf = ({ endpoints }: CatalogAnswer) => endpoints.map(({ name }) => name);
        const fetchIn = (session: string | undefined, endpoint: string, person: Person) =>
            person.call('POST', '/v1/fetch', {
                body: { site: SHOP, endpoint },
                ...(session === undefined ? {} : { headers: { 'x-service-session': session } }),
            });
        const nextHour = async () => {
            await world.app.usage.flush();
            await world.app.lookUpSessions.flush();
            await world.clock.advance({ hours: 1 });
            expect(await rollUpTrending(world.app.db)).to.equal(true);
        };

        it('ranks endpoints higher that callers with a similar intent fetched afterwards', async () => {
            const caller = await join(world, { plan: 'pro' });
            const before = await lookUp(CHEAP, caller);
            expect(orderOf(before)).to.deep.equal(['one', 'two', 'three', 'broken']);
            dataOf(await fetchIn(before.session_id, 'three', caller));
            // Both endpoints work, so that only the intent distinguishes them.
            for (const other of ['one', 'two']) dataOf(await fetchIn(undefined, other, caller));
            await nextHour();
            expect(orderOf(await lookUp('I am looking for the cheapest trousers of all'))[0]).to.equal('three');
            expect(orderOf(await lookUp('what does the weather look like on Mars today'))[0]).not.to.equal('three');
        });

        it('learns nothing from failures, from fetches without a session, and from an unknown or somebody else’s session', async () => {
            const [caller, other] = [await join(world, { plan: 'pro' }), await join(world, { plan: 'pro' })];
            const { session_id: session } = await lookUp(CHEAP, caller);
            await fetchIn(session, 'broken', caller);
            dataOf(await fetchIn(undefined, 'three', caller));
            dataOf(await fetchIn(session, 'three', other));
            dataOf(await fetchIn('ses_unknown', 'three', caller));
            dataOf(await fetchIn('x'.repeat(300), 'three', caller));
            await nextHour();
            const { rows } = await world.app.db.raw('select * from intent_outcomes');
            expect(rows).to.deep.equal([]);
        });

        it('counts an account once an hour, and stores neither numbers nor complete intents', async () => {
            const caller = await join(world, { plan: 'pro' });
            for (let times = 0; times < 5; times++) {
                const { session_id: session } = await lookUp(`${CHEAP} call +4917012345678 or mail ada99`, caller);
                dataOf(await fetchIn(session, 'two', caller));
            }
            await nextHour();
            const { rows } = await world.app.db.raw<{ rows: { word: string; endpoint: string; callers: number }[] }>(
                'select * from intent_outcomes order by word',
            );
            expect(rows.map(({ word }) => word))
                .to.include.members(['cheapest', 'trouser'])
                .and.not.include('ada99');
            expect(rows.every(({ word, endpoint, callers }) => /^\p{L}+$/u.test(word) && endpoint === 'two' && callers === 1)).to.equal(
                true,
            );
            const kept = await world.app.db.raw('select words from catalog_sessions');
            expect(JSON.stringify(kept.rows)).not.to.match(/\d/);
        });

        it('ranks working endpoints before failing ones if the intent does not distinguish them', async () => {
            const caller = await join(world, { plan: 'pro' });
            for (let times = 0; times < 3; times++) await fetchIn(undefined, 'one', caller);
            for (let times = 0; times < 3; times++) await fetchIn(undefined, 'broken', caller);
            await world.app.db.raw("update endpoint_days set failures = 9 where endpoint = 'one'");
            dataOf(await fetchIn(undefined, 'three', caller));
            await world.app.usage.flush();
            await world.app.db.raw("update endpoint_days set failures = 9 where endpoint = 'one'");
            // Traffic statistics are cached for a second.
            await eventually(
                async () => orderOf(await lookUp(CHEAP)),
                (order) => order.join() === 'three,two,one,broken',
                5000,
            );
        });

        it('ranks endpoints first that a verification found working', async () => {
            await world.app.db.raw(
                `update verifications n set run = 1, version_id = s.latest_version_id, began_at = app_now(), ended_at = app_now(), outcome = 'failed', findings = ?
                 from sites s where s.site = n.site and n.site = ?`,
                [
                    JSON.stringify([
                        { name: 'one', verdict: 'failed' },
                        { name: 'three', verdict: 'passed' },
                    ]),
                    SHOP,
                ],
            );
            await eventually(
                async () => orderOf(await lookUp(CHEAP)),
                (order) => order.join() === 'three,two,broken,one',
                5000,
            );
        });
    });
}
