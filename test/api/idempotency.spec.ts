import { expect } from 'chai';
import { KEPT_BYTES, sweepAnswers } from '../../shared/store/fetch/idempotency.ts';
import { leftFor } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type KeyedAnswer, sendKeyed } from '../support/keyed.ts';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const WRITES = 'dear.test';
const PRODUCT = { site: SHOP, endpoint: 'product', params: { id: 7 } };
const LIMITS = ['ratelimit', 'ratelimit-policy', 'x-ratelimit-remaining'];

for (const topology of TOPOLOGIES) {
    describe(`an Idempotency-Key, with queue and limits in ${topology}`, () => {
        let world: World;
        let shop: Shop;
        let ada: Person;

        before(async () => {
            shop = await openShop();
            world = await openWorld({ topology, config: { egressHosts: SHOP_HOSTS } });
            ada = await join(world, { plan: 'pro' });
            await ada.publish(shopPackage(shop.port));
            // The bonus for the first fetch would disturb the counts.
            await ada.fetch(SHOP, 'product', { id: 1 });
            const base = `http://${WRITES}:${shop.port}`;
            const code = { name: 'code', source: 'path', required: true, schema: { type: 'integer' } } as const;
            await ada.publish({
                ...shopPackage(shop.port, { site: WRITES }),
                endpoints: [
                    { name: 'write_status', method: 'POST', url: `${base}/status/{code}`, params: [code] },
                    { name: 'unreachable', method: 'POST', url: `http://${WRITES}:1/` },
                ],
            });
        });

        after(async () => {
            shop.letGo();
            const { rows } = await world.app.db.raw(
                `select coalesce(sum(i.size), 0) - coalesce(max(b.bytes), 0) as off
                 from idempotency i full join idempotency_bytes b using (workspace_id) group by workspace_id`,
            );
            for (const row of rows) expect(Number(row.off), 'the bytes that a workspace keeps are counted exactly').to.equal(0);
            await world.close();
            await shop.close();
        });

        const send = (key: string, body: object | string = PRODUCT, who = ada, base = world.base): Promise<KeyedAnswer> =>
            sendKeyed(base, who, key, body);
        const calls = (path: string) => shop.seen.filter((seen) => seen.path === path).length;

        it('repeats the first response, byte for byte, without a second call, charge or count', async () => {
            const before = { calls: calls('/products/7'), ...(await leftFor(ada)) };
            const first = await send('again');
            expect(first.status).to.equal(200);
            expect(first.headers.get('idempotent-replayed')).to.equal(null);
            const after = await leftFor(ada);
            expect(after.remaining).to.equal(before.remaining - 1);
            for (let time = 0; time < 3; time++) {
                const again = await send('again');
                expect([again.status, again.text]).to.deep.equal([200, first.text]);
                expect(again.headers.get('idempotent-replayed')).to.equal('true');
                expect(again.headers.get('content-type')).to.equal(first.headers.get('content-type'));
                // The header has the id of this request; the body has that of the first one.
                expect(again.headers.get('x-request-id')).to.match(/^req_/).and.not.equal(first.headers.get('x-request-id'));
                for (const header of LIMITS) expect(again.headers.get(header), header).to.equal(null);
            }
            expect(calls('/products/7')).to.equal(before.calls + 1);
            expect(await leftFor(ada)).to.deep.equal(after);
        });

        it('answers 503 if no key of the ring decrypts its stored response, and never runs a second time', async () => {
            const first = await send('key-gone');
            const before = { calls: calls('/products/7'), ...(await leftFor(ada)) };
            const change = async () => {
                const { rows } = await world.app.db.raw(
                    `update idempotency set sealed = set_byte(sealed, 2, get_byte(sealed, 2) # 1) where idempotency_key = 'key-gone' returning 1`,
                );
                expect(rows).to.have.length(1);
            };
            // The first letter of the id of its encryption key.
            await change();
            for (let time = 0; time < 2; time++) {
                const refused = await send('key-gone');
                expect([refused.status, refused.code]).to.deep.equal([503, 'SERVICE_UNAVAILABLE']);
                expect(JSON.parse(refused.text).error.message).to.include('Idempotency-Key cannot be decrypted');
                expect(refused.headers.get('retry-after')).to.equal('60');
            }
            expect(await leftFor(ada)).to.deep.include({ balance: before.balance });
            expect(calls('/products/7')).to.equal(before.calls);
            await change();
            expect((await send('key-gone')).text).to.equal(first.text);
        });

        it('matches the same call in any JSON spelling, and no other call', async () => {
            const first = await send('spelling', `{"site":"${SHOP}","endpoint":"product","params":{"id":7},"max_results":5}`);
            const same = await send(
                'spelling',
                ` { "max_results" : 5.0, "params":{ "id" : 7e0 }, "endpoint":"pro\\u0064uct", "site":"${SHOP}"}`,
            );
            expect(same.text).to.equal(first.text);
            for (const other of [
                { ...PRODUCT, max_results: 6 },
                { ...PRODUCT, params: { id: 8 }, max_results: 5 },
            ]) {
                const refused = await send('spelling', other);
                expect([refused.status, refused.code]).to.deep.equal([409, 'IDEMPOTENCY_CONFLICT']);
                for (const header of LIMITS) expect(refused.headers.get(header)).to.equal(null);
            }
        });

        it('is 409 while the first call runs, and replayed afterwards', async () => {
            const body = { site: SHOP, endpoint: 'held', params: {} };
            const running = send('running', body);
            await shop.waiting(1);
            const meanwhile = await send('running', body);
            expect([meanwhile.status, meanwhile.code]).to.deep.equal([409, 'IDEMPOTENCY_IN_PROGRESS']);
            expect(JSON.parse(meanwhile.text).error).to.include({ retryable: true, retry_after: 1 });
            expect(meanwhile.headers.get('retry-after')).to.equal('1');
            expect((await send('running', { ...body, max_results: 1 })).code).to.equal('IDEMPOTENCY_CONFLICT');
            shop.letGo();
            const first = await running;
            expect(first.status).to.equal(200);
            expect((await send('running', body)).text).to.equal(first.text);
        });

        it('is one upstream call and one charge if sent a thousand times at once over two processes', async () => {
            const { base: other } = await world.openAnotherApi();
            const before = { calls: calls('/held'), ...(await leftFor(ada)) };
            const body = { site: SHOP, endpoint: 'held', params: {} };
            const all = Array.from({ length: 1000 }, (_, index) => send('thousand', body, ada, index % 2 === 0 ? world.base : other));
            await shop.waiting(1);
            const done: KeyedAnswer[] = [];
            for (const one of all) void one.then((answer) => done.push(answer));
            await eventually(
                async () => done.length,
                (length) => length === 999,
                20_000,
            );
            shop.letGo();
            const codes = (await Promise.all(all)).map(({ code }) => code);
            expect(codes.filter((code) => code === 'success')).to.have.lengthOf(1);
            expect(codes.filter((code) => code === 'IDEMPOTENCY_IN_PROGRESS')).to.have.lengthOf(999);
            const replays = await Promise.all(Array.from({ length: 50 }, () => send('thousand', body, ada, other)));
            expect(new Set(replays.map(({ text }) => text)).size).to.equal(1);
            expect(calls('/held')).to.equal(before.calls + 1);
            expect((await leftFor(ada)).balance).to.equal(before.balance - 1);
        });

        it('of a failed read may be used again', async () => {
            const body = { site: SHOP, endpoint: 'status', params: { code: 404 } };
            const before = calls('/status/404');
            for (let time = 0; time < 2; time++) {
                const answer = await send('failed-read', body);
                expect(answer.code).to.equal('UPSTREAM_STATUS');
                expect(answer.headers.get('idempotent-replayed')).to.equal(null);
            }
            expect(calls('/status/404')).to.equal(before + 2);
            expect((await send('failed-read', PRODUCT)).status).to.equal(200);
        });

        it('of a call that was refused before sending may be used again', async () => {
            const poor = await join(world, { overrides: { allowance: 0 } });
            expect((await send('poor', PRODUCT, poor)).code).to.equal('INSUFFICIENT_CREDITS');
            const unknown = { site: SHOP, endpoint: 'not_yet', params: {} };
            expect((await send('refused', unknown)).code).to.equal('ENDPOINT_NOT_FOUND');
            expect((await send('refused', { ...PRODUCT, params: { id: 'x' } })).code).to.equal('INVALID_PARAMS');
            expect((await send('refused', { ...PRODUCT, site: 'http://x' })).code).to.equal('INVALID_DOMAIN');
            expect((await send('refused')).status).to.equal(200);
        });

        it('of a write that may have been sent keeps its outcome, and the site is called once', async () => {
            for (const [code, expected] of [
                [500, 'UPSTREAM_STATUS'],
                [429, 'UPSTREAM_RATE_LIMITED'],
            ] as const) {
                const body = { site: WRITES, endpoint: 'write_status', params: { code } };
                const first = await send(`write-${code}`, body);
                expect(first.code).to.equal(expected);
                expect(JSON.parse(first.text).error).to.include({ retryable: false });
                const again = await send(`write-${code}`, body);
                expect([again.status, again.text]).to.deep.equal([first.status, first.text]);
                expect(again.headers.get('retry-after')).to.equal(first.headers.get('retry-after'));
                expect(again.headers.get('idempotent-replayed')).to.equal('true');
                expect(calls(`/status/${code}`)).to.equal(1);
            }
            const held = { site: SHOP, endpoint: 'held_write', params: {}, timeout_ms: 1000 };
            const posts = () => shop.seen.filter(({ method, path }) => method === 'POST' && path === '/held').length;
            const [before, first, again] = [posts(), await send('write-timeout', held), await send('write-timeout', held)];
            expect([first.code, again.text]).to.deep.equal(['UPSTREAM_TIMEOUT', first.text]);
            expect(posts()).to.equal(before + 1);
        });

        it('of a write that was not sent may be used again', async () => {
            const body = { site: WRITES, endpoint: 'unreachable', params: {} };
            for (let time = 0; time < 2; time++) {
                const answer = await send('unsent', body);
                expect(answer.code).to.equal('UPSTREAM_UNREACHABLE');
                expect(answer.headers.get('idempotent-replayed')).to.equal(null);
            }
        });

        it('of a write that was marked as sent after its time was over may be used again', async () => {
            const body = { site: WRITES, endpoint: 'write_status', params: { code: 200 }, timeout_ms: 4000 };
            const before = calls('/status/200');
            await world.app.db.raw(`
                create function mark_slowly() returns trigger language plpgsql as $$ begin
                    -- Until the deadline, however late the call came here.
                    perform pg_sleep(greatest(0, extract(epoch from new.created_at + interval '4 seconds' - app_now())));
                    return new;
                end $$;
                create trigger slow_mark before update on holds for each row when (old.state = 'held' and new.state = 'sent')
                execute function mark_slowly()`);
            const late = await send('marked-too-late', body);
            await world.app.db.raw('drop trigger slow_mark on holds; drop function mark_slowly()');
            expect(JSON.parse(late.text)).to.deep.include({ success: false });
            expect(JSON.parse(late.text).error).to.include({ code: 'DEADLINE_EXCEEDED', retryable: true });
            expect(calls('/status/200')).to.equal(before);
            const again = await send('marked-too-late', body);
            expect([again.status, again.headers.get('idempotent-replayed')]).to.deep.equal([200, null]);
            expect(calls('/status/200')).to.equal(before + 1);
        });

        it('serves a caller who disconnected: a read runs again, a write is never repeated', async () => {
            for (const [endpoint, expected] of [
                ['held', 'success'],
                ['held_write', 'OUTCOME_UNKNOWN'],
            ] as const) {
                const body = { site: SHOP, endpoint, params: {} };
                const before = calls('/held');
                const hangUp = new AbortController();
                const gone = sendKeyed(world.base, ada, `gone-${endpoint}`, body, hangUp.signal).catch(() => 'gone');
                await shop.waiting(1);
                hangUp.abort();
                expect(await gone).to.equal('gone');
                let last: KeyedAnswer | undefined;
                const asking = eventually(
                    async () => {
                        last = await send(`gone-${endpoint}`, body);
                        return last.code;
                    },
                    (code) => code !== 'IDEMPOTENCY_IN_PROGRESS',
                    5000,
                );
                if (expected === 'success') {
                    await eventually(
                        async () => calls('/held'),
                        (count) => count === before + 2,
                        5000,
                    );
                    await shop.waiting(1);
                    shop.letGo();
                }
                await asking;
                expect(last?.code).to.equal(expected);
                expect(calls('/held')).to.equal(before + (expected === 'success' ? 2 : 1));
            }
        });

        it('is separate for each workspace', async () => {
            const bob = await join(world);
            const [hers, his] = [await send('shared'), await send('shared', { ...PRODUCT, params: { id: 8 } }, bob)];
            expect([hers.status, his.status]).to.deep.equal([200, 200]);
            expect(JSON.parse(his.text).data.id).to.equal(8);
            expect((await send('shared')).text).to.equal(hers.text);
        });

        it('is 1 to 255 visible ASCII characters', async () => {
            for (const key of ['', ' ', 'two words', 'k'.repeat(256), 'é', 'tab\tbed']) {
                const refused = await send(key);
                expect([refused.status, refused.code], JSON.stringify(key)).to.deep.equal([400, 'INVALID_IDEMPOTENCY_KEY']);
            }
            expect((await send('one, two')).text, 'sent twice').to.include('Send one Idempotency-Key');
            for (const key of ['!', '~'.repeat(255), `"'\\{}%00`]) expect((await send(key)).status, key).to.equal(200);
        });

        it('is free again after a dry run, which is another body than the call', async () => {
            for (const turn of [1, 2]) expect((await send('dry', { ...PRODUCT, dry_run: true })).status, `${turn}`).to.equal(200);
            const real = await send('dry');
            expect(JSON.parse(real.text).data).to.have.property('title');
            const dry = await send('dry', { ...PRODUCT, dry_run: true });
            expect([dry.status, dry.code]).to.deep.equal([409, 'IDEMPOTENCY_CONFLICT']);
            expect((await send('dry')).text).to.equal(real.text);
        });

        it('replays nothing of a site that was blocked since', async () => {
            const site = 'blocked.test';
            await ada.publish(shopPackage(shop.port, { site }));
            expect((await send('blocked', { ...PRODUCT, site })).status).to.equal(200);
            await world.app.db.raw("update domains set blocked_at = app_now(), block_reason = 'its owner asked' where registrable = ?", [
                site,
            ]);
            const refused = await send('blocked', { ...PRODUCT, site });
            expect([refused.status, refused.code]).to.deep.equal([403, 'SITE_BLOCKED']);
        });

        it('costs a call two SQL statements, and none without a key', async () => {
            const asked: string[] = [];
            const note = ({ sql }: { sql: string }) => void asked.push(sql);
            const about = () => asked.splice(0).filter((sql) => /idempotency/.test(sql)).length;
            await send('warm');
            world.app.db.on('query', note);
            try {
                await ada.fetch(SHOP, 'product', { id: 7 });
                expect(about()).to.equal(0);
                await send('counted');
                expect(about()).to.be.at.most(2);
                await send('counted');
                expect(about()).to.be.at.most(2);
            } finally {
                world.app.db.off('query', note);
            }
        });

        it('stores its response for 24 hours and then is free', async () => {
            const eve = await join(world);
            const first = await send('day', PRODUCT, eve);
            await world.clock.advance({ hours: 23, minutes: 59 });
            expect((await send('day', PRODUCT, eve)).text).to.equal(first.text);
            await world.clock.advance({ minutes: 2 });
            // Whether or not the sweep has run.
            const fresh = await send('day', { ...PRODUCT, params: { id: 9 } }, eve);
            expect(JSON.parse(fresh.text).data.id).to.equal(9);
            await world.clock.advance({ hours: 25 });
            while ((await sweepAnswers(world.app.db)) > 0);
            const { rows } = await world.app.db.raw(
                'select (select count(*) from idempotency)::integer as answers, (select sum(bytes) from idempotency_bytes)::integer as bytes',
            );
            expect(rows[0]).to.deep.equal({ answers: 0, bytes: 0 });
        });

        it('is refused before sending beyond 256 MiB, and accepted again when a response expires', async () => {
            const full = await join(world, { plan: 'starter' });
            const kept = await send('kept', PRODUCT, full);
            await fill(world, full.workspaceId);
            const before = calls('/products/7');
            const refused = await send('one-more', PRODUCT, full);
            expect([refused.status, refused.code]).to.deep.equal([429, 'RATE_LIMITED']);
            expect(JSON.parse(refused.text).error.message).to.match(/idempotency/);
            const wait = Number(refused.headers.get('retry-after'));
            expect(wait).to.be.within(3500, 3600);
            for (const header of LIMITS) expect(refused.headers.get(header), header).to.be.a('string');
            expect(calls('/products/7')).to.equal(before);
            expect((await send('kept', PRODUCT, full)).text).to.equal(kept.text);
            expect((await full.fetch(SHOP, 'product', { id: 7 })).status).to.equal(200);
            expect((await send('one-more')).status, 'of another workspace').to.equal(200);
            await world.clock.advance({ seconds: wait });
            expect((await send('one-more', PRODUCT, full)).status).to.equal(200);
        });
    });
}

/** Fills the workspace's storage as if almost a day ago: its first response expires in an hour. */
async function fill(world: World, workspaceId: string): Promise<void> {
    await world.app.db.raw(
        `with made as (
             insert into idempotency (workspace_id, route, idempotency_key, body_hash, operation, status, sealed, size, running_until, expires_at)
             select :workspaceId, 'postFetch', 'old-' || n, '\\x00', 'op_old', 200, '', :bytes / 2, app_now(), app_now() + n * interval '1 hour'
             from generate_series(1, 2) n returning size
         )
         update idempotency_bytes set bytes = bytes + (select sum(size) from made) where workspace_id = :workspaceId`,
        { workspaceId, bytes: KEPT_BYTES },
    );
}
