import { expect } from 'chai';
import type { PackageParam } from '../../shared/domain/types.ts';
import { balanceOf } from '../support/credits.ts';
import { errorOf, metaOf, useFetchWorld } from '../support/fetch-world.ts';
import { join } from '../support/people.ts';
import { isWhole } from '../support/sample.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { SHOP, shopPackage } from '../support/shop.ts';
import { storePackage } from '../support/stored-package.ts';
import { TOPOLOGIES } from '../support/world.ts';

/** What a caller gets when no worker reported in time. */
const LATE: ReadonlySet<unknown> = new Set(['DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN']);

for (const topology of TOPOLOGIES) {
    describe(`a hosted fetch, with queue and limits in ${topology}`, () => {
        const { world, shop, ada } = useFetchWorld(topology);

        it('returns the result and charges exactly one credit for one request', async () => {
            const before = await balanceOf(ada);
            const answer = await ada.fetch(SHOP, 'product', { id: 7 });
            expect(answer.status).to.equal(200);
            expect(answer.body['data']).to.deep.equal({ id: 7, title: 'Product 7', price: { amount: 10 } });
            // The first charged fetch of a person earns 50 credits, which are in its own response.
            expect(metaOf(answer)).to.include({ credits_used: 1, credits_remaining: before - 1 + 50, site: SHOP, endpoint: 'product' });
            expect(metaOf(answer)).to.include({ version: 1, results: 1, truncated: false, cached: false });
            expect(metaOf(answer)['upstream']).to.include({ status: 200, attempts: 1 });
            expect(await balanceOf(ada)).to.equal(before - 1 + 50);
        });

        it('returns JSON as the site wrote it, with numbers that JavaScript rounds, also under its key and by max_age', async () => {
            const site = 'numbers.test';
            const url = `http://${site}:${shop.port}/numbers`;
            const endpoints = [{ name: 'numbers', method: 'GET', url }];
            expect((await ada.publish(shopPackage(shop.port, { site, endpoints } as object))).status).to.equal(201);
            const headers = { authorization: `Bearer ${ada.apiKey}`, 'content-type': 'application/json' };
            const ask = async (more: Record<string, string>) => {
                const body = JSON.stringify({ site, endpoint: 'numbers', max_age: 60 });
                const response = await fetch(`${world.base}/v1/fetch`, { method: 'POST', headers: { ...headers, ...more }, body });
                return response.text();
            };
            const texts = [await ask({ 'idempotency-key': 'numbers' }), await ask({ 'idempotency-key': 'numbers' }), await ask({})];
            for (const text of texts) expect(text).to.include('"data":{ "id": 12345678901234567890 },');
            expect(JSON.parse(texts[2] ?? '').meta).to.include({ cached: true, credits_used: 0 });
        });

        it('bills by the result if the schema says so, and nothing for no results', async () => {
            const answer = await ada.fetch(SHOP, 'search', { n: 4 });
            expect(metaOf(answer)).to.include({ credits_used: 4, results: 4, truncated: false });
            const none = await ada.fetch(SHOP, 'search', { n: 0 });
            expect(none.status).to.equal(200);
            expect(metaOf(none)).to.include({ credits_used: 0, results: 0 });
        });

        it('cuts results at max_results, at max_credits and at the balance, and says so', async () => {
            const byResults = await ada.fetch(SHOP, 'search', { n: 9 }, { max_results: 2 });
            expect(metaOf(byResults)).to.include({ credits_used: 2, results: 2, truncated: true });
            const byCredits = await ada.fetch(SHOP, 'search', { n: 9 }, { max_credits: 3 });
            expect(metaOf(byCredits)).to.include({ credits_used: 3, results: 3, truncated: true });
            const poor = await join(world, { overrides: { allowance: 4 } });
            const byBalance = await poor.fetch(SHOP, 'search', { n: 9 });
            expect(metaOf(byBalance)).to.include({ credits_used: 4, results: 4, truncated: true, credits_remaining: 50 });
        });

        it('sends exactly what the schema says: path, query, headers, and no more', async () => {
            const answer = await ada.fetch(SHOP, 'echo', { name: 'a b/ü', tag: ['x', 'y z'] });
            const echoed = answer.body['data'] as { path: string; headers: Record<string, string> };
            expect(echoed.path).to.equal('/echo/a%20b%2F%C3%BC?fixed=1&tag=x&tag=y%20z');
            expect(echoed.headers).to.include({ 'x-client': 'shop' });
            expect(echoed.headers['user-agent']).to.match(/^Routebook\/\d+\.\d+\.\d+ \(\+http/);
            const sent = Object.keys(echoed.headers).sort();
            expect(sent).to.deep.equal(['accept', 'accept-encoding', 'connection', 'host', 'user-agent', 'x-client']);
        });

        it('sends bodies flat or by template, with defaults and without absent params', async () => {
            const order = await ada.fetch(SHOP, 'order', { product: 3 });
            expect(JSON.parse((order.body['data'] as { body: string }).body)).to.deep.equal({ product: 3, quantity: 1 });
            const query = await ada.fetch(SHOP, 'graphql', { q: '"} injected {"' });
            expect(JSON.parse((query.body['data'] as { body: string }).body)).to.deep.equal({
                operationName: 'Search',
                variables: { q: '"} injected {"' },
            });
        });

        it('reads HTML as a page, or as the fields that the schema selects', async () => {
            const page = (await ada.fetch(SHOP, 'page')).body['data'] as { markdown: string; links: unknown[] };
            expect(page).to.include({ title: 'The shop', description: 'All we have' });
            expect(page.markdown).to.include('Welcome').and.not.include('alert');
            expect(page.links[0]).to.deep.equal({ href: `http://${SHOP}:${shop.port}/products/1`, text: 'One' });
            const items = await ada.fetch(SHOP, 'page_items');
            expect(items.body['data']).to.deep.equal({ title: 'Welcome', items: [{ name: 'One' }, { name: 'Two' }] });
        });

        it('wraps arrays, texts and empty responses in an object', async () => {
            expect((await ada.fetch(SHOP, 'list')).body['data']).to.deep.equal({ items: [1, 2, 3] });
            expect((await ada.fetch(SHOP, 'text')).body['data']).to.deep.equal({ value: 'just text' });
            expect((await ada.fetch(SHOP, 'empty')).body['data']).to.deep.equal({});
        });

        it('is free if the site refuses, fails, responds with something else or hangs', async () => {
            const before = await balanceOf(ada);
            const failures: [string, Record<string, unknown>, number, string][] = [
                ['status', { code: 404 }, 502, 'UPSTREAM_STATUS'],
                ['status', { code: 500 }, 502, 'UPSTREAM_STATUS'],
                ['status', { code: 429 }, 503, 'UPSTREAM_RATE_LIMITED'],
                ['status', { code: 302 }, 502, 'UPSTREAM_STATUS'],
                ['broken', {}, 502, 'UPSTREAM_INVALID_RESPONSE'],
                ['cut', {}, 502, 'UPSTREAM_UNREACHABLE'],
                ['strict', {}, 502, 'UPSTREAM_INVALID_RESPONSE'],
                ['held', {}, 504, 'UPSTREAM_TIMEOUT'],
                ['held_write', {}, 504, 'UPSTREAM_TIMEOUT'],
            ];
            for (const [endpoint, params, status, code] of failures) {
                // On a busy machine, the deadline may pass before the worker reports.
                let answer = await ada.fetch(SHOP, endpoint, params, { timeout_ms: 1000 });
                for (let again = isWhole ? 5 : 0; again < 5 && LATE.has(errorOf(answer)['code']); again++)
                    answer = await ada.fetch(SHOP, endpoint, params, { timeout_ms: 1000 });
                expect(errorOf(answer), endpoint).to.include({ code, status });
                expect(answer.status).to.equal(status);
                expect(metaOf(answer)).to.include({ credits_used: 0, credits_remaining: before });
            }
            expect(await balanceOf(ada)).to.equal(before);
        });

        it('reports the site’s response, and whether a retry may help', async () => {
            const gone = errorOf(await ada.fetch(SHOP, 'status', { code: 410 }));
            expect(gone['upstream']).to.deep.equal({ status: 410, snippet: '{"status":410}' });
            expect(gone['retryable']).to.equal(false);
            const failed = errorOf(await ada.fetch(SHOP, 'status', { code: 500 }, { timeout_ms: 2000 }));
            expect(failed['retryable']).to.equal(true);
            expect(errorOf(await ada.fetch(SHOP, 'held_write', {}, { timeout_ms: 1000 }))['retryable']).to.equal(false);
        });

        it('refuses wrong params before anything is counted, naming each', async () => {
            const refused = await ada.fetch(SHOP, 'order', { quantity: 'two', colour: 'red' });
            expect(refused.status).to.equal(400);
            expect(errorOf(refused)['code']).to.equal('INVALID_PARAMS');
            const problems = (errorOf(refused)['details'] as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`);
            expect(problems.sort()).to.deep.equal([
                '/params/colour UNKNOWN_FIELD',
                '/params/product REQUIRED',
                '/params/quantity INVALID_TYPE',
            ]);
            expect(refused.headers.get('ratelimit')).to.equal(null);
        });

        it('says what a version can be', async () => {
            const rule = 'version must be the number of a version, such as 3, or its hash';
            for (const version of ['1', 'latest', '', null, true]) {
                const [detail] = errorOf(await ada.fetch(SHOP, 'product', { id: 1 }, { version }))['details'] as { message: string }[];
                const words = version === null ? `${rule}, not null; leave the field out if it has no value.` : `${rule}.`;
                expect(detail?.message, String(version)).to.equal(words);
            }
        });

        it('counts a call whose site, endpoint or version does not exist, and names those that do', async () => {
            const cases: [Record<string, unknown>, number, string][] = [
                [{ site: 'unknown.test', endpoint: 'x' }, 404, 'SITE_NOT_FOUND'],
                [{ site: SHOP, endpoint: 'produkt' }, 404, 'ENDPOINT_NOT_FOUND'],
                [{ site: SHOP, endpoint: 'constructor' }, 404, 'ENDPOINT_NOT_FOUND'],
                [{ site: SHOP, endpoint: 'product', params: { id: 1 }, version: 9 }, 404, 'VERSION_NOT_FOUND'],
                [{ site: SHOP, endpoint: 'product', params: { id: 1 }, version: 2 ** 31 }, 404, 'VERSION_NOT_FOUND'],
                [{ site: SHOP, endpoint: 'product', params: { id: 1 }, version: 'a'.repeat(64) }, 404, 'VERSION_NOT_FOUND'],
                [{ site: SHOP, endpoint: 'not_hosted' }, 422, 'ENDPOINT_NOT_HOSTED'],
            ];
            for (const [body, status, code] of cases) {
                const answer = await ada.call('POST', '/v1/fetch', { body });
                expect(answer.status, code).to.equal(status);
                expect(errorOf(answer)['code']).to.equal(code);
                expect(answer.headers.get('ratelimit')).to.match(/^"minute";r=\d+;t=\d+, "hour";r=\d+;t=\d+, "day";r=\d+;t=\d+$/);
            }
            expect(errorOf(await ada.fetch(SHOP, 'produkt'))['did_you_mean']).to.include('product');
        });

        it('of a version from before the limit of param schemas is refused, and the version can be read', async () => {
            const site = 'wide.test';
            const params = Array.from({ length: 21 }, (_, at): PackageParam => {
                const schema = { anyOf: Array.from({ length: 100 }, (_, length) => ({ type: 'string' as const, minLength: length })) };
                return { name: `p${at}`, source: 'query', required: false, schema };
            });
            await storePackage(
                world,
                aPackage(site, { endpoints: [anEndpoint(site, { name: 'wide', url: `https://${site}/`, params })] }),
                ada,
            );
            const answer = await ada.fetch(site, 'wide');
            expect(answer.status).to.equal(422);
            expect(errorOf(answer)).to.include({ code: 'ENDPOINT_NOT_HOSTED' });
            expect(errorOf(answer)['message']).to.match(/at most 2,000 schemas/);
            expect((await ada.call('GET', `/v1/schemas/${site}/package`)).status).to.equal(200);
        });

        it('is in the request log, whatever the name of its endpoint', async () => {
            const letters = Array.from({ length: 1024 }, (_, place) => String.fromCodePoint(0x4e00 + ((place * 7919) % 20_000))).join('');
            expect(errorOf(await ada.fetch(SHOP, letters))['code']).to.equal('ENDPOINT_NOT_FOUND');
            const fetched = await ada.fetch(SHOP, 'product', { id: 1 });
            await world.app.usage.flush();
            const { rows } = await world.app.db.raw<{ rows: { endpoint: string; outcome: string }[] }>(
                `select endpoint, outcome from usage where user_id = ? and kind = 'fetch' order by at desc, id desc limit 2`,
                [ada.userId],
            );
            expect(fetched.status).to.equal(200);
            expect(rows.map(({ endpoint, outcome }) => [endpoint, outcome])).to.deep.include.members([['product', 'success']]);
            expect(world.logged.filter((line) => line['part'] === 'usage')).to.deep.equal([]);
        });

        it('delivers the result that was billed, also if the database confirmed the charge too late', async () => {
            const { credits } = world.app;
            const { charge } = credits;
            try {
                credits.charge = async (order) => {
                    await charge(order);
                    throw new Error('Connection terminated unexpectedly');
                };
                const before = await balanceOf(ada);
                const answer = await ada.fetch(SHOP, 'product', { id: 7 });
                expect(answer.status).to.equal(200);
                expect(metaOf(answer)).to.include({ credits_used: 1, credits_remaining: before - 1 });
                expect(await balanceOf(ada)).to.equal(before - 1);
                credits.charge = () => Promise.reject(new Error('Connection terminated unexpectedly'));
                expect(errorOf(await ada.fetch(SHOP, 'product', { id: 7 }))['code']).to.equal('DEADLINE_EXCEEDED');
                expect(await balanceOf(ada)).to.equal(before - 1);
            } finally {
                credits.charge = charge;
            }
        });

        it('shows in a dry run the exact request and its maximum price, free of charge', async () => {
            const before = await balanceOf(ada);
            const sentBefore = shop.seen.length;
            const dry = await ada.fetch(SHOP, 'order', { product: 3, note: 'ü' }, { dry_run: true });
            expect(dry.status).to.equal(200);
            expect(shop.seen.length).to.equal(sentBefore);
            const { request, credits_max } = dry.body['data'] as { request: Record<string, unknown>; credits_max: number };
            expect(credits_max).to.equal(1);
            expect(request).to.include({ method: 'POST', url: `http://${SHOP}:${shop.port}/echo/orders` });
            expect(request['body']).to.deep.equal({ product: 3, note: 'ü', quantity: 1 });
            const real = (await ada.fetch(SHOP, 'order', { product: 3, note: 'ü' })).body['data'] as { headers: Record<string, string> };
            const { host: _host, connection: _connection, 'content-length': _length, ...ours } = real.headers;
            expect(request['headers']).to.deep.equal(ours);
            expect(await balanceOf(ada)).to.equal(before - 1);
        });

        it('has a separate error for a site at a non-public address', async () => {
            const site = 'inside.test';
            await ada.publish({
                ...shopPackage(shop.port, { site }),
                endpoints: [{ name: 'peek', method: 'GET', url: `https://${site}/` }],
            });
            const answer = await ada.fetch(site, 'peek');
            expect(answer.status).to.equal(502);
            expect(errorOf(answer)).to.include({ code: 'EGRESS_DENIED', fault: 'schema' });
        });

        it('uses the current version of a site, also for calls in quick succession', async () => {
            const site = 'changing.test';
            const once = shopPackage(shop.port, { site });
            await ada.publish(once);
            const first = await ada.fetch(site, 'product', { id: 1 });
            expect(metaOf(first)).to.include({ version: 1, credits_used: 1 });
            await ada.publish({ ...once, title: 'Changed' });
            expect(metaOf(await ada.fetch(site, 'product', { id: 1 }))).to.include({ version: 2, credits_used: 1 });
            const set = (change: string) => world.app.db.raw(`update domains set ${change} where registrable = ?`, [site]);
            await set('credits = 3');
            expect(metaOf(await ada.fetch(site, 'product', { id: 1 }))).to.include({ version: 2, credits_used: 3 });
            await set("blocked_at = app_now(), block_reason = 'its owner asked'");
            expect(errorOf(await ada.fetch(site, 'product', { id: 1 }))).to.include({ code: 'SITE_BLOCKED' });
            await set('blocked_at = null, block_reason = null');
            expect((await ada.fetch(site, 'product', { id: 1 })).status).to.equal(200);
        });

        it('finds an endpoint that was published a moment after a call did not find it', async () => {
            const site = 'growing.test';
            const whole = shopPackage(shop.port, { site });
            await ada.publish({ ...whole, endpoints: whole.endpoints.filter(({ name }) => name !== 'product') });
            expect((await ada.fetch(site, 'search', { n: 1 })).status).to.equal(200);
            expect(errorOf(await ada.fetch(site, 'product', { id: 1 }))).to.include({ code: 'ENDPOINT_NOT_FOUND' });
            await ada.publish(whole);
            expect((await ada.fetch(site, 'product', { id: 1 })).status).to.equal(200);
        });

        it('stops within a second of a block of its site', async () => {
            const site = 'blocked.test';
            await ada.publish(shopPackage(shop.port, { site }));
            await world.app.db.raw("update domains set blocked_at = app_now(), block_reason = 'its owner asked' where registrable = ?", [
                site,
            ]);
            const answer = await ada.fetch(site, 'product', { id: 1 });
            expect(answer.status).to.equal(403);
            expect(errorOf(answer)).to.include({ code: 'SITE_BLOCKED', fault: 'service' });
        });
    });
}
