import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { balanceOf } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type KeyedAnswer, sendKeyed } from '../support/keyed.ts';
import { join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const CALLS = 20;
const TIMEOUT_MS = 2000;

for (const topology of ANY_TOPOLOGY) {
    describe(`an API process that is killed while keyed calls are in flight (${topology})`, () => {
        let world: World;
        let shop: Shop;
        let ada: Person;
        let doomed: Running;
        let doomedBase: string;
        let redis: OwnRedis | undefined;

        beforeEach(async () => {
            shop = await openShop();
            // Real processes use the product's own key prefix, so they get a Redis of their own.
            redis = topology === 'redis' ? await startRedis() : undefined;
            const store = redis === undefined ? {} : { redisUrl: redis.url, keyPrefix: '{routebook}' };
            world = await openWorld({ topology, config: { egressHosts: SHOP_HOSTS, ...store } });
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
            await ada.fetch(SHOP, 'product', { id: 1 });
            doomed = startProcess('api', {
                DATABASE_URL: world.databaseUrl,
                PORT: '0',
                HOST: '127.0.0.1',
                ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
            });
            const line = await doomed.said('routebook ready on');
            doomedBase = `http://127.0.0.1:${/routebook ready on http:\/\/[^:]+:(\d+)/.exec(line)?.[1]}`;
        });

        afterEach(async () => {
            await doomed.end('SIGKILL');
            shop.letGo();
            await world.close();
            await shop.close();
            await redis?.remove();
        });

        const send = (base: string, key: string, body: object) => sendKeyed(base, ada, key, body);

        it('leaves every key with its stored response, or free to be used again, and never a second charge', async () => {
            const before = await balanceOf(ada);
            const body = (index: number) => ({ site: SHOP, endpoint: 'product', params: { id: index + 1 }, timeout_ms: TIMEOUT_MS });
            const answered = new Map<number, KeyedAnswer>();
            const all = Array.from({ length: CALLS }, async (_, index) => {
                const answer = await send(doomedBase, `key-${index}`, body(index)).catch(() => undefined);
                if (answer !== undefined) answered.set(index, answer);
                if (answered.size === CALLS / 4) doomed.signal('SIGKILL');
            });
            await Promise.all(all);
            await world.clock.advance({ seconds: 10 });
            for (let index = 0; index < CALLS; index++) {
                const later = await send(world.base, `key-${index}`, body(index));
                expect(later.status, later.text).to.equal(200);
                const first = answered.get(index);
                if (first !== undefined) expect(later.text).to.equal(first.text);
                expect(JSON.parse(later.text).data.id).to.equal(index + 1);
            }
            expect(await balanceOf(ada)).to.equal(before - CALLS);
            const { rows } = await world.app.db.raw("select count(*) from holds where state = 'charged'");
            expect(rows[0].count).to.equal(CALLS + 1);
            expect(await ledger.checkLedger(world.app.db)).to.deep.equal([]);
        });

        it('never lets a write be sent twice: its key has an unknown outcome', async () => {
            const body = { site: SHOP, endpoint: 'held_write', params: {}, timeout_ms: TIMEOUT_MS };
            const lost = send(doomedBase, 'write', body).catch(() => 'lost');
            await shop.waiting(1);
            doomed.signal('SIGKILL');
            expect(await lost).to.equal('lost');
            expect((await send(world.base, 'write', body)).code).to.equal('IDEMPOTENCY_IN_PROGRESS');
            await world.clock.advance({ seconds: 10 });
            // Another body does not show whether the first one was sent.
            expect((await send(world.base, 'write', { ...body, max_results: 1 })).code).to.equal('IDEMPOTENCY_CONFLICT');
            const [first, second] = [await send(world.base, 'write', body), await send(world.base, 'write', body)];
            expect([first.status, first.code]).to.deep.equal([502, 'OUTCOME_UNKNOWN']);
            expect(JSON.parse(first.text).error.retryable).to.equal(false);
            expect(second.text).to.equal(first.text);
            expect(shop.seen.filter(({ method }) => method === 'POST')).to.have.lengthOf(1);
            expect(await ledger.totalHeld(world.app.db)).to.equal(0);
        });

        it('lets a read run again once its time is up, and charges it once', async () => {
            const before = await balanceOf(ada);
            const body = { site: SHOP, endpoint: 'held', params: {}, timeout_ms: TIMEOUT_MS };
            const lost = send(doomedBase, 'read', body).catch(() => 'lost');
            await shop.waiting(1);
            doomed.signal('SIGKILL');
            expect(await lost).to.equal('lost');
            expect((await send(world.base, 'read', body)).code).to.equal('IDEMPOTENCY_IN_PROGRESS');
            await world.clock.advance({ seconds: 10 });
            const again = send(world.base, 'read', body);
            await eventually(
                async () => shop.seen.filter(({ path }) => path === '/held').length,
                (count) => count === 2,
            );
            shop.letGo();
            expect((await again).status).to.equal(200);
            expect((await send(world.base, 'read', body)).text).to.equal((await again).text);
            expect(await balanceOf(ada)).to.equal(before - 1);
        });

        it('stores the response of a charge for its key, even if the caller never got it', async () => {
            const before = await balanceOf(ada);
            const body = { site: SHOP, endpoint: 'product', params: { id: 5 } };
            const { app, base } = await world.openAnotherApi();
            const { charge } = app.credits;
            // The last moment: the charge is committed, and the process dies before it learns that.
            Object.assign(app.credits, {
                charge: async (order: Parameters<typeof charge>[0]) => {
                    await charge(order);
                    throw new Error('the process died here');
                },
                // A live process would find out about its charge, and deliver it.
                release: () => Promise.reject(new Error('the process died here')),
            });
            expect((await send(base, 'charged', body)).status).to.be.at.least(500);
            const later = await send(world.base, 'charged', body);
            expect([later.status, later.headers.get('idempotent-replayed')]).to.deep.equal([200, 'true']);
            expect(JSON.parse(later.text)).to.have.nested.property('meta.credits_remaining', before - 1);
            expect(await balanceOf(ada)).to.equal(before - 1);
            expect(shop.seen.filter(({ path }) => path === '/products/5')).to.have.lengthOf(1);
        });
    });
}
