import { expect } from 'chai';
import { ACCOUNT_BYTES, MAX_KEPT_BYTES, sweepResults } from '../../shared/store/fetch/results.ts';
import { leftFor } from '../support/credits.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { SHOP_HOSTS, shopPackage } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'dear.test';
const metaOf = ({ body }: Answer) => body['meta'] as Record<string, unknown>;
const dataOf = ({ body }: Answer) => body['data'] as { n: number };

for (const topology of ANY_TOPOLOGY) {
    describe(`max_age, with queue and limits in ${topology}`, () => {
        let world: World;
        let news: Site;
        let ada: Person;
        let answers = 0;

        before(async () => {
            news = await openSite((request, response) => {
                answers += 1;
                const { searchParams } = new URL(request.url ?? '/', 'http://news.invalid');
                if (searchParams.has('hop')) {
                    const headers = Object.fromEntries([(searchParams.get('hop') ?? '').split(': ')]);
                    response.writeHead(302, { location: '/', ...headers }).end();
                    return;
                }
                for (const [name, value] of searchParams) if (/^(cache-control|set-cookie)$/.test(name)) response.setHeader(name, value);
                const length = Number(searchParams.get('length') ?? 0);
                response.setHeader('content-type', 'application/json');
                response.end(JSON.stringify({ n: answers, filling: 'x'.repeat(length), items: [1, 2, 3] }));
            });
            world = await openWorld({ topology, config: { egressHosts: SHOP_HOSTS } });
            ada = await join(world, { plan: 'pro' });
            const url = `http://${SITE}:${news.port}/`;
            const params = [
                { name: 'q', source: 'query', required: false, schema: { type: 'string' }, default: 'all' },
                { name: 'length', source: 'query', required: false, schema: { type: 'integer' } },
                { name: 'cache-control', source: 'query', required: false },
                { name: 'set-cookie', source: 'query', required: false },
                { name: 'hop', source: 'query', required: false },
            ] as const;
            const published = await ada.publish({
                ...shopPackage(news.port, { site: SITE }),
                endpoints: [
                    { name: 'news', method: 'GET', url, params: [...params] },
                    { name: 'other', method: 'GET', url, params: [...params] },
                    {
                        name: 'items',
                        method: 'GET',
                        url,
                        params: [...params],
                        billing: { unit: 'result', results: 'items', max_results: 9 },
                    },
                    { name: 'pages', kind: 'paginate', method: 'GET', url, params: [...params], pagination: { param: 'page' } },
                    { name: 'write', method: 'POST', url, effect: 'write' },
                    { name: 'session', method: 'GET', url, params: [...params], prepare: { url } },
                ],
            });
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
            // The bonus for the first fetch would disturb the counts.
            await ada.fetch(SITE, 'news', { q: 'first' });
        });

        after(async () => {
            const { rows } = await world.app.db.raw(
                `select coalesce(sum(r.size), 0) - coalesce(max(b.bytes), 0) as off
                 from kept_results r full join kept_result_bytes b using (account_id) group by account_id`,
            );
            for (const row of rows) expect(Number(row.off), 'the bytes that an account keeps are counted exactly').to.equal(0);
            await world.close();
            await news.close();
        });

        const ask = (q: string, more: object = { max_age: 60 }, who = ada, endpoint = 'news', params: object = {}) =>
            who.fetch(SITE, endpoint, { q, ...params }, { ...more });

        it('returns the result that the account already paid for, free of charge, and says so', async () => {
            const first = await ask('again');
            expect(metaOf(first)).to.include({ credits_used: 1, cached: false });
            const { balance, remaining } = await leftFor(ada);
            const [seen, second] = [answers, await ask('again')];
            expect(second.body['data']).to.deep.equal(first.body['data']);
            expect(metaOf(second)).to.include({ credits_used: 0, credits_remaining: balance, cached: true, results: 3, version: 1 });
            // Its meta has no fields about a call of the site.
            expect(metaOf(second)).not.to.have.any.keys('upstream', 'queue_ms');
            expect(answers).to.equal(seen);
            expect(await leftFor(ada)).to.deep.equal({ balance, remaining: remaining - 1 });
            expect(second.headers.get('ratelimit')).to.be.a('string');
        });

        it('says why a stored walk over pages ended, as the first answer did', async () => {
            const walked = await ask('pages', { max_age: 60 }, ada, 'pages');
            const again = await ask('pages', { max_age: 60 }, ada, 'pages');
            expect(metaOf(walked)).to.include({ pagination_end: 'repeated', cached: false });
            expect(metaOf(again)).to.include({ pagination_end: 'repeated', cached: true });
            expect(again.body['data']).to.deep.equal(walked.body['data']);
        });

        it('never returns a result older than requested', async () => {
            const first = dataOf(await ask('old')).n;
            await world.clock.advance({ seconds: 59 });
            expect(dataOf(await ask('old')).n).to.equal(first);
            expect(dataOf(await ask('old', { max_age: 30 })).n, 'too old for this caller').not.to.equal(first);
            await world.clock.advance({ hours: 23 });
            expect(metaOf(await ask('old', { max_age: 86_400 }))).to.include({ cached: true });
            await world.clock.advance({ hours: 2 });
            expect(metaOf(await ask('old', { max_age: 86_400 }))).to.include({ cached: false });
        });

        it('is set on the call that stores and on the call that is served', async () => {
            const first = dataOf(await ask('unasked', {})).n;
            const second = dataOf(await ask('unasked')).n;
            expect(second, 'the first one was not to be kept').not.to.equal(first);
            for (const more of [{}, { max_age: 0 }])
                expect(metaOf(await ask('unasked', more))).to.include({ cached: false, credits_used: 1 });
        });

        it('matches the same read only: endpoint, version, values, max_results', async () => {
            const first = dataOf(await ask('all')).n;
            // An explicit value that equals the default is the same value.
            expect(dataOf(await ada.fetch(SITE, 'news', {}, { max_age: 60 })).n).to.equal(first);
            // Price and wait limits of the caller do not make another read.
            expect(dataOf(await ask('all', { max_age: 60, max_credits: 5, timeout_ms: 5000, version: 1 })).n).to.equal(first);
            for (const other of [
                () => ask('ALL'),
                () => ask('all', { max_age: 60, max_results: 5 }),
                () => ask('all', { max_age: 60 }, ada, 'other'),
                () => ask('all', { max_age: 60 }, ada, 'news', { length: 1 }),
            ]) {
                expect(metaOf(await other())).to.include({ cached: false });
            }
        });

        it('never returns what another account paid for', async () => {
            const bob = await join(world);
            await ask('private');
            expect(metaOf(await ask('private', { max_age: 60 }, bob))).to.include({ cached: false, credits_used: 1 });
        });

        it('applies to reads: a write is sent each time', async () => {
            const [one, two] = [await ada.fetch(SITE, 'write', {}, { max_age: 60 }), await ada.fetch(SITE, 'write', {}, { max_age: 60 })];
            expect(dataOf(one).n).not.to.equal(dataOf(two).n);
        });

        it('stores nothing that the site calls private, that sets a cookie, or that used a session', async () => {
            const headers: object[] = [
                { 'cache-control': 'private' },
                { 'cache-control': 'max-age=60, No-Store' },
                { 'cache-control': 'private="set-cookie"' },
                { 'set-cookie': 'a=b' },
                { hop: 'set-cookie: a=b' },
                { hop: 'cache-control: no-store' },
            ];
            for (const params of headers) {
                await ask('kept?', { max_age: 60 }, ada, 'news', params);
                expect(metaOf(await ask('kept?', { max_age: 60 }, ada, 'news', params)), JSON.stringify(params)).to.include({
                    cached: false,
                });
            }
            const open = { 'cache-control': 'public, max-age=0, no-cache' };
            await ask('kept!', { max_age: 60 }, ada, 'news', open);
            expect(metaOf(await ask('kept!', { max_age: 60 }, ada, 'news', open)), 'how old it may be is for the caller to say').to.include(
                {
                    cached: true,
                },
            );
            const moved = { hop: 'cache-control: public' };
            await ask('moved', { max_age: 60 }, ada, 'news', moved);
            expect(metaOf(await ask('moved', { max_age: 60 }, ada, 'news', moved))).to.include({ cached: true });
            await ask('session', { max_age: 60 }, ada, 'session');
            expect(metaOf(await ask('session', { max_age: 60 }, ada, 'session'))).to.include({ cached: false });
        });

        it('stores nothing that was cut off', async () => {
            const cut = { max_age: 60, max_results: 2 };
            expect(metaOf(await ask('cut', cut, ada, 'items'))).to.include({ truncated: true, credits_used: 2 });
            expect(metaOf(await ask('cut', cut, ada, 'items'))).to.include({ cached: false });
            await ask('whole', { max_age: 60 }, ada, 'items');
            expect(metaOf(await ask('whole', { max_age: 60 }, ada, 'items'))).to.include({ cached: true, results: 3, credits_used: 0 });
        });

        it('stores results of up to 1 MiB', async () => {
            for (const [length, cached] of [
                [MAX_KEPT_BYTES - 100, true],
                [MAX_KEPT_BYTES, false],
            ] as const) {
                await ask('large', { max_age: 60 }, ada, 'news', { length });
                expect(metaOf(await ask('large', { max_age: 60 }, ada, 'news', { length }))).to.include({ cached });
            }
        });

        it('stores up to 64 MiB for an account, and drops the oldest first', async () => {
            const rich = await join(world, { plan: 'pro' });
            await ask('first', { max_age: 600 }, rich);
            await world.clock.advance({ seconds: 1 });
            await ask('second', { max_age: 600 }, rich);
            await world.clock.advance({ seconds: 1 });
            // Uses up the rest of the space.
            await world.app.db.raw(
                `with kept as (select bytes from kept_result_bytes where account_id = :account),
                 filler as (insert into kept_results (account_id, question, sealed, results, size, kept_at)
                     select :account, '\\x00', '\\x000000', 1, :room - bytes, app_now() from kept returning size)
                 update kept_result_bytes set bytes = bytes + (select size from filler) where account_id = :account`,
                { account: rich.workspaceId, room: ACCOUNT_BYTES },
            );
            await ask('third', { max_age: 600 }, rich);
            expect(metaOf(await ask('second', { max_age: 600 }, rich))).to.include({ cached: true });
            expect(metaOf(await ask('third', { max_age: 600 }, rich))).to.include({ cached: true });
            expect(metaOf(await ask('first', { max_age: 600 }, rich))).to.include({ cached: false });
        });

        it('serves at any balance, under a key like any success, and not in a dry run', async () => {
            const poor = await join(world, { overrides: { allowance: 0 }, credits: 1 });
            await ask('poor', { max_age: 60 }, poor);
            // Spends what the first fetch earned.
            await world.app.db.raw(
                `with spent as (update credit_accounts set bonus_available = 0 where id = ? returning id, ?::bigint as bonus)
                 insert into ledger_entries (account_id, kind, available_delta, held_delta, at) select id, 'expire', -bonus, 0, app_now() from spent`,
                [poor.userId, 50],
            );
            const served = await ask('poor', { max_age: 60 }, poor);
            expect(metaOf(served)).to.include({ cached: true, credits_used: 0, credits_remaining: 0 });
            await ask('keyed');
            const send = () =>
                ada.call('POST', '/v1/fetch', {
                    body: { site: SITE, endpoint: 'news', params: { q: 'keyed' }, max_age: 60 },
                    headers: { 'idempotency-key': 'kept' },
                });
            const [first, second] = [await send(), await send()];
            expect(metaOf(first)).to.include({ cached: true });
            expect(second.body).to.deep.equal(first.body);
            expect(second.headers.get('idempotent-replayed')).to.equal('true');
            const dry = await ask('keyed', { max_age: 60, dry_run: true });
            expect(dry.body['data']).to.have.keys('request', 'credits_max');
        });

        it('is encrypted in the database, and absent if no key of the ring decrypts it', async () => {
            const first = await ask('secret-7f3a');
            const { rows } = await world.app.db.raw('select to_jsonb(r) as row, sealed from kept_results r order by kept_at desc limit 1');
            const dump = `${JSON.stringify(rows[0].row)} ${rows[0].sealed.toString('latin1')}`;
            const text = JSON.stringify(first.body['data']);
            expect(text.length).to.be.above(10);
            expect(dump).not.to.include(text).and.not.to.include(Buffer.from(text).toString('hex'));
            expect(metaOf(await ask('secret-7f3a'))).to.include({ cached: true });
            // The first letter of the id of its encryption key.
            await world.app.db.raw('update kept_results set sealed = set_byte(sealed, 2, get_byte(sealed, 2) # 1)');
            expect(metaOf(await ask('secret-7f3a'))).to.include({ cached: false });
        });

        it('counts neither for health nor as a charged fetch, and is marked in the request log', async () => {
            const eve = await join(world);
            await ask('log', { max_age: 60 }, eve);
            await ask('log', { max_age: 60 }, eve);
            await world.app.usage.flush();
            const { rows } = await world.app.db.raw('select cached, credits, outcome from usage where workspace_id = ? order by id', [
                eve.workspaceId,
            ]);
            expect(rows).to.deep.equal([
                { cached: false, credits: 1, outcome: 'success' },
                { cached: true, credits: 0, outcome: 'success' },
            ]);
        });

        it('deletes results that are too old to be requested', async () => {
            await world.clock.advance({ hours: 25 });
            while ((await sweepResults(world.app.db)) > 0);
            const { rows } = await world.app.db.raw(
                'select (select count(*) from kept_results)::integer as results, (select sum(bytes) from kept_result_bytes)::integer as bytes',
            );
            expect(rows[0]).to.deep.equal({ results: 0, bytes: 0 });
        });
    });
}
