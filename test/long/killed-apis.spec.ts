import { expect } from 'chai';
import * as ledger from '../../shared/store/credits/ledger.ts';
import { type OwnRedis, startRedis } from '../queue/redis-server.ts';
import { balanceOf } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type KeyedAnswer, sendKeyed } from '../support/keyed.ts';
import { join, type Person } from '../support/people.ts';
import { type Running, startProcess } from '../support/processes.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

describe('an Idempotency-Key', () => {
    let world: World;
    let shop: Shop;
    let ada: Person;
    let redis: OwnRedis;
    const running: Running[] = [];

    beforeEach(async () => {
        shop = await openShop();
        // Real processes use the product's own key prefix, so they get a Redis of their own.
        redis = await startRedis();
        world = await openWorld({
            topology: 'redis',
            config: { egressHosts: SHOP_HOSTS, redisUrl: redis.url, keyPrefix: '{routebook}' },
        });
        const overrides = { perMinute: 1e6, perHour: 1e6, perDay: 1e6, allowance: 1e6, concurrency: 5000 };
        ada = await join(world, { plan: 'enterprise', overrides });
        dataOf(await ada.publish(shopPackage(shop.port)));
        // The bonus of a first fetch would disturb the counts.
        dataOf(await ada.fetch(SHOP, 'product', { id: 1 }));
    });
    afterEach(async () => {
        await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
        shop.letGo();
        await world.close();
        await shop.close();
        await redis.remove();
    });

    async function startApi(): Promise<{ process: Running; base: string }> {
        const process = startProcess('api', { DATABASE_URL: world.databaseUrl, REDIS_URL: redis.url, PORT: '0', HOST: '127.0.0.1' });
        running.push(process);
        const line = await process.said('routebook ready on');
        return { process, base: `http://127.0.0.1:${/routebook ready on http:\/\/[^:]+:(\d+)/.exec(line)?.[1]}` };
    }

    it('returns its stored answer or can be used again, and is never charged twice, while APIs are killed 50 times (R10)', async () => {
        const CALLS = 12;
        const before = await balanceOf(ada);
        let next = startApi();
        let [lost, succeeded] = [0, 0];
        for (let death = 0; death < 50; death++) {
            const { process, base } = await next;
            next = startApi();
            const body = (index: number) => ({ site: SHOP, endpoint: 'product', params: { id: index + 1 }, timeout_ms: 2000 });
            const answered = new Map<number, KeyedAnswer>();
            const all = Array.from({ length: CALLS }, async (_, index) => {
                const answer = await sendKeyed(base, ada, `${death}-${index}`, body(index)).catch(() => undefined);
                if (answer !== undefined) answered.set(index, answer);
                if (answered.size === 1 + (death % 4)) process.signal('SIGKILL');
            });
            await Promise.all(all);
            lost += CALLS - answered.size;
            await world.clock.advance({ seconds: 10 });
            for (let index = 0; index < CALLS; index++) {
                const later = await sendKeyed(world.base, ada, `${death}-${index}`, body(index));
                expect(later.status, later.text).to.equal(200);
                const first = answered.get(index);
                // A failed read is not remembered, so the same key runs it again.
                if (first?.status === 200) {
                    succeeded += 1;
                    expect(later.text).to.equal(first.text);
                } else if (first !== undefined) {
                    expect(JSON.parse(first.text).error.retryable, first.text).to.equal(true);
                }
            }
            expect(await balanceOf(ada), `after death ${death}`).to.equal(before - (death + 1) * CALLS);
            expect(await ledger.checkLedger(world.app.db)).to.deep.equal([]);
        }
        await next;
        expect(lost, 'calls that the dead processes did not answer').to.be.above(50);
        expect(succeeded, 'calls that they answered').to.be.above(0);
        expect(await ledger.totalHeld(world.app.db)).to.equal(0);
    });

    it('runs one of a thousand calls that reach four APIs at once, twenty times (R13)', async () => {
        const bases = (await Promise.all([1, 2, 3, 4].map(startApi))).map(({ base }) => base);
        const body = { site: SHOP, endpoint: 'held', params: {} };
        const calls = () => shop.seen.filter(({ path }) => path === '/held').length;
        for (let round = 1; round <= 20; round++) {
            const before = await balanceOf(ada);
            const done: KeyedAnswer[] = [];
            const all = Array.from({ length: 1000 }, async (_, index) => {
                const answer = await sendKeyed(bases[index % 4] ?? '', ada, `thousand-${round}`, body);
                done.push(answer);
                return answer;
            });
            await eventually(
                async () => done.length,
                (length) => length === 999,
                60_000,
            );
            await shop.waiting(1);
            shop.letGo();
            const codes = (await Promise.all(all)).map(({ code }) => code);
            expect(codes.filter((code) => code === 'success')).to.have.lengthOf(1);
            const others = codes.filter((code) => code !== 'success' && code !== 'IDEMPOTENCY_IN_PROGRESS');
            expect(others, `round ${round}`).to.deep.equal([]);
            expect(calls()).to.equal(round);
            expect(await balanceOf(ada)).to.equal(before - 1);
            const replays = await Promise.all(bases.map((base) => sendKeyed(base, ada, `thousand-${round}`, body)));
            expect(new Set(replays.map(({ text }) => text)).size).to.equal(1);
            expect(calls()).to.equal(round);
        }
    });
});
