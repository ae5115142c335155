import { expect } from 'chai';
import { changePlan } from '../../shared/store/credits/accounts.ts';
import { countOpenJobs } from '../../shared/store/jobs/open-jobs.ts';
import { pauseJobs, resumeJobs } from '../../shared/store/jobs/pauses.ts';
import { setDomain } from '../../shared/store/registry/sites.ts';
import { balanceOf } from '../support/credits.ts';
import { eventually } from '../support/eventually.ts';
import { type FlakySite, flakyPackage, openFlakySite, says } from '../support/flaky-site.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const FLAKY = 'flaky.test';

interface Batch {
    batch_id: string;
    status: string;
    paused_reason: string | null;
    counts: Record<string, number>;
    credits: { used: number; max: number };
    warnings?: string[];
    retried?: number;
    waiting_for: string | null;
    eta_seconds: number | null;
    finished_at: string | null;
}

interface Item {
    job_id: string;
    batch_id: string;
    custom_id: string | null;
    status: string;
    cursor: string;
    credits_used: number;
    result: { data: Record<string, unknown> } | null;
    error: { code: string } | null;
}

for (const topology of ANY_TOPOLOGY) {
    describe(`a batch, with queue and limits in ${topology}`, () => {
        let world: World;
        let shop: Shop;
        let flaky: FlakySite;
        let ada: Person;

        before(async () => {
            shop = await openShop();
            flaky = await openFlakySite();
            world = await openWorld({
                topology,
                config: { egressHosts: new Map([...SHOP_HOSTS, [FLAKY, ['127.0.0.1']]]) },
            });
            ada = await someone();
            dataOf(await ada.publish(shopPackage(shop.port)));
            dataOf(await ada.publish(flakyPackage(FLAKY, flaky.port)));
        });
        beforeEach(() => {
            flaky.behaviour = 'well';
            flaky.letGo();
        });
        after(async () => {
            flaky.letGo();
            shop.letGo();
            await world.close();
            await shop.close();
            await flaky.close();
        });

        const someone = () => join(world, { plan: 'enterprise', overrides: { perMinute: 100_000, perHour: 100_000, perDay: 100_000 } });
        const products = (count: number, first = 1) =>
            Array.from({ length: count }, (_, at) => ({ params: { id: first + at }, custom_id: `p${first + at}` }));
        const order = (
            person: Person,
            body: object,
            { query = '', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
        ) =>
            person.call('POST', `/v1/batches${query}`, {
                body: { defaults: { site: SHOP, endpoint: 'product' }, ...body },
                headers,
            });
        const ordered = async (person: Person, body: object) => dataOf<Batch>(await order(person, body));
        const read = async (person: Person, { batch_id: id }: { batch_id: string }, wait = 0) =>
            dataOf<Batch>(await person.call('GET', `/v1/batches/${id}?wait=${wait}`));
        const ended = async (person: Person, batch: { batch_id: string }) => {
            let last = await read(person, batch, 30);
            await eventually(
                async () => {
                    last = await read(person, batch, 30);
                    return last;
                },
                ({ finished_at }) => finished_at !== null,
                30_000,
            );
            return last;
        };
        const change = (person: Person, { batch_id: id }: { batch_id: string }, verb: string, body?: object): Promise<Answer> =>
            person.call('POST', `/v1/batches/${id}/${verb}`, body === undefined ? {} : { body });
        const remove = (person: Person, { batch_id: id }: { batch_id: string }) => person.call('DELETE', `/v1/batches/${id}`);
        const resultsOf = async (person: Person, { batch_id: id }: { batch_id: string }, query = '') =>
            dataOf<Item[]>(await person.call('GET', `/v1/batches/${id}/results?limit=1000${query}`));
        const eventsOf = async ({ batch_id: id }: { batch_id: string }): Promise<string[]> =>
            (await world.app.db('events').where({ about: id }).orderBy(['at', 'id'])).map(({ type }) => type);
        const jobsOf = (batch: { batch_id: string }) => world.app.db('jobs').where({ batch_id: batch.batch_id });

        it('is accepted at once, runs all items and reports its end once', async () => {
            const answer = await order(ada, { name: 'prices', items: products(20), metadata: { mine: 'red' } });
            expect(answer.status).to.equal(202);
            const batch = dataOf<Batch>(answer);
            expect(answer.headers.get('location')).to.equal(`/v1/batches/${batch.batch_id}`);
            expect(batch).to.deep.include({
                status: 'running',
                name: 'prices',
                metadata: { mine: 'red' },
                counts: { total: 20, queued: 20, running: 0, succeeded: 0, failed: 0, cancelled: 0, expired: 0 },
                credits: { used: 0, max: 20 },
                warnings: [],
            });
            const done = await ended(ada, batch);
            expect(done).to.deep.include({ status: 'succeeded', credits: { used: 20, max: 20 }, eta_seconds: null, waiting_for: null });
            expect(done.counts).to.deep.include({ total: 20, succeeded: 20 });
            const items = await resultsOf(ada, batch);
            expect(items.map(({ custom_id: name }) => name)).to.have.members(products(20).map(({ custom_id: name }) => name));
            expect(items.every(({ status, result }) => status === 'succeeded' && result !== null)).to.equal(true);
            expect(await eventsOf(batch)).to.deep.equal(['batch.finished']);
            expect(
                await world.app.db('events').whereIn(
                    'about',
                    items.map(({ job_id: id }) => id),
                ),
            ).to.deep.equal([]);
        });

        it('charges each item once, and says how many credits all items used', async () => {
            const eve = await someone();
            await ended(eve, await ordered(eve, { items: products(1) }));
            const before = await balanceOf(eve);
            const batch = await ordered(eve, { items: products(30) });
            await ended(eve, batch);
            expect(await balanceOf(eve)).to.equal(before - 30);
            expect((await resultsOf(eve, batch)).reduce((sum, { credits_used: used }) => sum + used, 0)).to.equal(30);
        });

        it('moves credits by holds of many items, which are charged in parts that name the batch and their number of items', async () => {
            const eve = await someone();
            const mixed = products(30).map((item, at) => (at % 3 === 0 ? { ...item, endpoint: 'status', params: { code: 404 } } : item));
            const batch = await ordered(eve, { items: mixed });
            await ended(eve, batch);
            const items = await resultsOf(eve, batch);
            const used = items.reduce((sum, { credits_used: credits }) => sum + credits, 0);
            expect(used).to.equal(20);
            const entries: { kind: string; available_delta: number; held_delta: number; items: number }[] = await world.app
                .db('ledger_entries')
                .where({ account_id: eve.workspaceId, batch_id: batch.batch_id })
                .select('kind', 'available_delta', 'held_delta', 'items');
            const sumOf = (kinds: string[], figure: (entry: (typeof entries)[number]) => number) =>
                entries.filter(({ kind }) => kinds.includes(kind)).reduce((sum, entry) => sum + figure(entry), 0);
            expect(sumOf(['charge'], (entry) => -entry.available_delta - entry.held_delta)).to.equal(used);
            expect(sumOf(['hold'], ({ items: count }) => count)).to.equal(30);
            expect(sumOf(['charge', 'release'], ({ items: count }) => count)).to.equal(30);
            expect(entries.filter(({ kind }) => kind === 'hold')).to.have.length.below(15);
            const holds = await world.app.db('holds').where({ batch_id: batch.batch_id }).select('items', 'charged');
            expect(holds.reduce((sum, { charged }) => sum + (charged ?? 0), 0)).to.equal(used);
            expect(holds.reduce((sum, { items: count }) => sum + count, 0)).to.equal(30);
        });

        it('is refused completely for wrong items, with each problem at its place', async () => {
            const items = [{ params: { id: 1 } }, { params: { id: 0 } }, { params: { id: 2 }, site: 'nowhere.test' }, { nonsense: 1 }];
            const before = (await world.app.db('jobs').count({ all: '*' }))[0];
            const answer = await order(ada, { items });
            expect([answer.status, codeOf(answer)]).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(detailsOf(answer)).to.deep.equal([
                '/items/1/params/id INVALID_VALUE',
                '/items/2/site SITE_NOT_FOUND',
                '/items/3/nonsense UNKNOWN_FIELD',
            ]);
            expect((answer.body['error'] as { problems: number }).problems).to.equal(3);
            expect((await world.app.db('jobs').count({ all: '*' }))[0]).to.deep.equal(before);
        });

        it('names the first hundred problems, and the number of all', async () => {
            const answer = await order(ada, { items: Array.from({ length: 150 }, () => ({ params: { id: 0 } })) });
            expect(detailsOf(answer)).to.have.length(100);
            expect((answer.body['error'] as { problems: number }).problems).to.equal(150);
        });

        for (const [name, items, detail] of [
            [
                'the same custom_id twice',
                [
                    { params: { id: 1 }, custom_id: 'a' },
                    { params: { id: 2 }, custom_id: 'a' },
                ],
                '/items/1/custom_id REPEATED',
            ],
            ['a custom_id of 65 characters', [{ params: { id: 1 }, custom_id: 'a'.repeat(65) }], '/items/0/custom_id INVALID_VALUE'],
            ['a custom_id with a space', [{ params: { id: 1 }, custom_id: 'a b' }], '/items/0/custom_id INVALID_VALUE'],
            ['an item of more than 2 MiB', [{ params: { id: 1 } }, { params: { id: 'y'.repeat(2049 * 1024) } }], '/items/1 TOO_COMPLEX'],
            ['no items', [], '/items INVALID_VALUE'],
            ['10,001 items', Array.from({ length: 10_001 }, () => ({ params: { id: 1 } })), '/items INVALID_VALUE'],
        ] as const) {
            it(`with ${name} is refused`, async () => {
                const answer = await order(ada, { items });
                expect([answer.status, ...detailsOf(answer)]).to.deep.equal([400, detail]);
            });
        }

        it('of twenty thousand unknown fields is refused without checking each, as a batch or as one item', async () => {
            const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1]));
            const whole = await ada.call('POST', '/v1/batches', { body: many });
            expect(detailsOf(whole)).to.deep.equal([' TOO_COMPLEX']);
            const item = await ada.call('POST', '/v1/batches', { body: { defaults: { site: SHOP, endpoint: 'product' }, items: [many] } });
            expect(detailsOf(item)).to.deep.equal(['/items/0 TOO_COMPLEX']);
        });

        it('accepts a file in an item, like a fetch', async () => {
            const photo = { filename: 'large.png', content_type: 'image/png', base64: Buffer.alloc(600 * 1024).toString('base64') };
            const body = { defaults: { site: SHOP, endpoint: 'upload' }, items: [{ params: { photo } }] };
            const answer = await ada.call('POST', '/v1/batches?dry_run=true', { body });
            expect([answer.status, answer.body['error']]).to.deep.equal([200, undefined]);
        });

        it('without a site anywhere names the field', async () => {
            const answer = await ada.call('POST', '/v1/batches', { body: { items: [{ params: { id: 1 } }] } });
            expect(detailsOf(answer)).to.deep.equal(['/items/0/site REQUIRED']);
        });

        it('is only checked and priced in a dry run', async () => {
            const answer = await order(ada, { items: products(5) }, { query: '?dry_run=true' });
            expect([answer.status, answer.body]).to.deep.equal([
                200,
                { success: true, data: { items: 5, credits: { max: 5 }, eta_seconds: 1, warnings: [] } },
            ]);
            const poor = await join(world, { plan: 'free', overrides: { allowance: 0 } });
            expect((await order(poor, { items: products(5) }, { query: '?dry_run=true' })).status).to.equal(200);
            expect(codeOf(await order(poor, { items: products(5) }))).to.equal('INSUFFICIENT_CREDITS');
        });

        it('that cannot end in time is accepted with a warning', async () => {
            const slow = await join(world, { plan: 'free' });
            const batch = await ordered(slow, { items: products(100), expires_in: 60 });
            expect(batch.warnings).to.deep.equal(['EXPIRES_BEFORE_END']);
            await remove(slow, batch);
        });

        it('is created once for one Idempotency-Key', async () => {
            const headers = { 'idempotency-key': 'batch-once' };
            const body = { items: products(2) };
            const [first, again] = [await order(ada, body, { headers }), await order(ada, body, { headers })];
            expect(again.text).to.equal(first.text);
            expect([again.status, again.headers.get('location')]).to.deep.equal([202, first.headers.get('location')]);
            expect(again.headers.get('idempotent-replayed')).to.equal('true');
            expect(codeOf(await order(ada, { items: products(3) }, { headers }))).to.equal('IDEMPOTENCY_CONFLICT');
            await ended(ada, dataOf<Batch>(first));
        });

        it('leaves the Idempotency-Key free if it is refused', async () => {
            const headers = { 'idempotency-key': 'batch-wrong' };
            expect((await order(ada, { items: [{ params: { id: 0 } }] }, { headers })).status).to.equal(400);
            expect((await order(ada, { items: products(1) }, { headers })).status).to.equal(202);
        });

        it('with failed items is finished, and only these are retried', async () => {
            const eve = await someone();
            const items = [...products(3), { endpoint: 'status', params: { code: 404 }, custom_id: 'gone' }];
            const batch = await ordered(eve, { items });
            const done = await ended(eve, batch);
            expect([done.status, done.counts['failed'], done.counts['succeeded']]).to.deep.equal(['finished', 1, 3]);
            expect((await resultsOf(eve, batch, '&status=failed')).map(({ custom_id: name, error }) => [name, error?.code])).to.deep.equal([
                ['gone', 'UPSTREAM_STATUS'],
            ]);
            expect(dataOf<Batch>(await change(eve, batch, 'retry', { codes: ['UPSTREAM_TIMEOUT'] }))).to.deep.include({
                retried: 0,
                status: 'finished',
            });
            const misspelt = await change(eve, batch, 'retry', { codes: ['UPSTREAM_STATUS', 'UPSTREAM_STATE'] });
            expect([misspelt.status, ...detailsOf(misspelt)]).to.deep.equal([400, '/codes/1 INVALID_VALUE']);
            expect(misspelt.text).to.contain('GET /v1/errors');
            const retried = dataOf<Batch>(await change(eve, batch, 'retry'));
            expect([retried.retried, retried.status, retried.finished_at]).to.deep.equal([1, 'running', null]);
            expect((await ended(eve, batch)).counts).to.deep.include({ failed: 1, succeeded: 3 });
            expect(await eventsOf(batch)).to.deep.equal(['batch.finished', 'batch.finished']);
            expect(await resultsOf(eve, batch)).to.have.length(4);
        });

        it('is priced again by a retry, which says what it costs at most', async () => {
            const eve = await someone();
            const gone = { endpoint: 'status', params: { code: 404 } };
            const batch = await ordered(eve, { items: [...products(2), gone, { ...gone, max_credits: 3 }] });
            expect((await ended(eve, batch)).credits).to.deep.equal({ used: 2, max: 4 });
            try {
                await setDomain(world.app.db, SHOP, { credits: 3 });
                await eventually(
                    async () => dataOf<{ credits_max: number }>(await eve.fetch(SHOP, 'status', { code: 404 }, { dry_run: true })),
                    ({ credits_max: max }) => max === 3,
                    10_000,
                );
                // Two items keep their outcome; two are retried at three credits each.
                expect(dataOf<Batch>(await change(eve, batch, 'retry')).credits).to.deep.equal({ used: 2, max: 8 });
                expect((await ended(eve, batch)).credits).to.deep.equal({ used: 2, max: 8 });
            } finally {
                await setDomain(world.app.db, SHOP, { credits: 1 });
            }
        });

        it('continues with a changed payer: after a retry, and for an item that is tried again', async () => {
            const eve = await join(world, { plan: 'free', credits: 100 });
            const gone = { endpoint: 'status', params: { code: 404 } };
            const old = await ordered(eve, { items: [gone, ...products(1)] });
            await ended(eve, old);
            await pauseJobs(world.app.db, { accountId: null, site: null });
            const open = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}] });
            await changePlan(world.app.db, eve.workspaceId, { plan: 'starter', planAllowance: 5000 });
            flaky.behaviour = says(503, { 'retry-after': '1' });
            await resumeJobs(world.app.db, { accountId: null, site: null });
            await eventually(
                () => jobsOf(open).first('status', 'attempts'),
                ({ status, attempts }) => status === 'queued' && attempts === 1,
                20_000,
            );
            flaky.behaviour = 'well';
            expect((await ended(eve, open)).counts).to.deep.include({ succeeded: 1 });

            expect(dataOf<Batch>(await change(eve, old, 'retry')).retried).to.equal(1);
            expect((await ended(eve, old)).counts).to.deep.include({ failed: 1, succeeded: 1 });
            expect(
                await world.app.db('job_accounts').whereIn('account_id', [eve.userId, eve.workspaceId]).sum({ open: 'open_items' }),
            ).to.deep.equal([{ open: '0' }]);
        });

        it('is retried while an item starts', async () => {
            const eve = await someone();
            const gone = { endpoint: 'status', params: { code: 404 } };
            const batch = await ordered(eve, { items: [gone, ...products(1)] });
            await ended(eve, batch);
            const { db } = world.app;
            await pauseJobs(db, { accountId: null, site: null });
            const first = await jobsOf(batch).where({ status: 'succeeded' }).first('job_id');
            await db('batches').where({ batch_id: batch.batch_id }).update({ status: 'running', finished_at: null });
            await jobsOf(batch).where(first).update({ status: 'queued', end_number: null, finished_at: null });
            // In the order of locks of a start: the item, then its batch.
            const begin = await db.transaction();
            await begin('jobs').where(first).forUpdate().first('job_id');
            const retry = change(eve, batch, 'retry');
            const waiting = () =>
                db('pg_stat_activity')
                    .where({ wait_event_type: 'Lock', datname: db.raw('current_database()') })
                    .select('pid');
            await eventually(waiting, (blocked) => blocked.length > 0);
            await begin('batches').where({ batch_id: batch.batch_id }).forUpdate().first('status');
            await begin.rollback();
            expect(dataOf<Batch>(await retry).retried).to.equal(1);
            await resumeJobs(db, { accountId: null, site: null });
            expect((await ended(eve, batch)).counts).to.deep.include({ failed: 1, succeeded: 1 });
        });

        it('shows each result once to a reader who continues with the last cursor', async () => {
            const batch = await ordered(ada, { items: products(25) });
            const seen: string[] = [];
            let after = '';
            for (;;) {
                const page = await ada.call(
                    'GET',
                    `/v1/batches/${batch.batch_id}/results?limit=4&after=${encodeURIComponent(after)}`.replace(/&after=$/, ''),
                );
                seen.push(...dataOf<Item[]>(page).map(({ job_id: id }) => id));
                const { next_cursor: next } = (page.body['meta'] as { pagination: { next_cursor: string | null } }).pagination;
                if (next === null) break;
                after = next;
            }
            expect(seen).to.have.length(25);
            expect(new Set(seen).size).to.equal(25);
        });

        it('streams results as lines, each with its cursor', async () => {
            const batch = await ordered(ada, { items: products(12) });
            await ended(ada, batch);
            const path = `/v1/batches/${batch.batch_id}/results`;
            const answer = await ada.call('GET', path, { headers: { accept: 'application/x-ndjson' } });
            expect(answer.headers.get('content-type')).to.match(/^application\/x-ndjson/);
            const items = (answer.text ?? '')
                .trim()
                .split('\n')
                .map((line): Item => JSON.parse(line));
            expect(items).to.have.length(12);
            const rest = await ada.call('GET', `${path}?after=${encodeURIComponent(items[9]?.cursor ?? '')}`, {
                headers: { accept: 'application/x-ndjson' },
            });
            expect((rest.text ?? '').trim().split('\n')).to.have.length(2);
            expect(items.every(({ result }) => result !== null)).to.equal(true);
        });

        it('streams a result as one line if its site indents JSON', async () => {
            flaky.behaviour = says(200, {}, '{\r\n    "id": 12345678901234567890,\n    "text": "two\\nlines"\r}\n');
            const batch = await ordered(ada, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}] });
            await ended(ada, batch);
            const headers = { accept: 'application/x-ndjson' };
            const { text = '' } = await ada.call('GET', `/v1/batches/${batch.batch_id}/results`, { headers });
            const lines = text.trimEnd().split(/\r\n|\r|\n/);
            expect(lines.map((line) => (JSON.parse(line) as Item).result?.data['text'])).to.deep.equal(['two\nlines', 'two\nlines']);
            expect(text).to.include('12345678901234567890');
        });

        it('answers results in the form that Accept prefers', async () => {
            const batch = await ordered(ada, { items: products(1) });
            await ended(ada, batch);
            const formOf = async (accept: string) =>
                (await ada.call('GET', `/v1/batches/${batch.batch_id}/results`, { headers: { accept } })).headers.get('content-type');
            for (const accept of [
                ...['application/json, application/x-ndjson;q=0.5', 'application/x-ndjson;q=0', '*/*'],
                ...['application/x-ndjson;q=0.5, */*', 'application/*, application/x-ndjson;q=0.9'],
            ])
                expect(await formOf(accept), accept).to.match(/^application\/json/);
            for (const accept of [
                'application/x-ndjson, */*;q=0.1',
                'application/json;q=0.9, Application/X-NDJSON',
                'application/x-ndjson; q=0.2',
            ])
                expect(await formOf(accept), accept).to.match(/^application\/x-ndjson/);
        });

        it('starts no item while it is paused', async () => {
            const eve = await someone();
            flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing' },
                items: Array.from({ length: 30 }, () => ({})),
            });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['running'] ?? 0) > 0,
            );
            const paused = dataOf<Batch>(await change(eve, batch, 'pause'));
            expect([paused.status, paused.paused_reason, paused.eta_seconds]).to.deep.equal(['paused', 'caller', null]);
            expect((await change(eve, batch, 'pause')).status).to.equal(200);
            flaky.behaviour = 'well';
            flaky.letGo();
            await eventually(
                () => read(eve, batch),
                ({ counts }) => counts['running'] === 0,
            );
            const { counts } = await read(eve, batch);
            expect(counts['queued']).to.be.greaterThan(0);
            expect(dataOf<Batch>(await change(eve, batch, 'resume')).status).to.equal('running');
            expect((await ended(eve, batch)).status).to.equal('succeeded');
            expect(await eventsOf(batch)).to.deep.equal(['batch.paused', 'batch.finished']);
        });

        it('ends at once when it is cancelled: queued items are cancelled and running reads aborted, free of charge', async () => {
            const eve = await someone();
            const before = await balanceOf(eve);
            flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing' },
                items: Array.from({ length: 30 }, () => ({})),
            });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['running'] ?? 0) > 0,
            );
            const cancelled = dataOf<Batch>(await remove(eve, batch));
            expect([cancelled.status, cancelled.counts['cancelled']]).to.deep.equal(['cancelled', 30]);
            expect(await balanceOf(eve)).to.equal(before);
            expect((await remove(eve, batch)).status).to.equal(200);
            for (const verb of ['pause', 'resume']) expect(codeOf(await change(eve, batch, verb))).to.equal('BATCH_NOT_OPEN');
            flaky.letGo();
        });

        it('is cancelled completely if the cancelling process dies in the middle', async () => {
            const eve = await someone();
            await pauseJobs(world.app.db, { accountId: eve.workspaceId, site: null });
            const batch = await ordered(eve, { items: products(3) });
            await world.app.db('batches').where({ batch_id: batch.batch_id }).update({ status: 'cancelling' });
            const done = await ended(eve, batch);
            expect([done.status, done.counts['cancelled']]).to.deep.equal(['cancelled', 3]);
            await resumeJobs(world.app.db, { accountId: eve.workspaceId, site: null });
        });

        it('that has ended cannot be paused, resumed or cancelled', async () => {
            const batch = await ordered(ada, { items: products(1) });
            await ended(ada, batch);
            for (const verb of ['pause', 'resume']) expect(codeOf(await change(ada, batch, verb))).to.equal('BATCH_NOT_OPEN');
            expect(codeOf(await remove(ada, batch))).to.equal('BATCH_NOT_OPEN');
        });

        it('pauses before it costs more than its max_credits', async () => {
            const eve = await someone();
            const batch = await ordered(eve, { items: products(10), max_credits: 4 });
            expect(batch.credits.max).to.equal(4);
            const paused = await eventually(
                () => read(eve, batch),
                ({ status }) => status === 'paused',
                20_000,
            ).then(() => read(eve, batch));
            expect(paused).to.deep.include({ paused_reason: 'max_credits', credits: { used: 4, max: 4 } });
            expect(paused.counts['succeeded']).to.equal(4);
            dataOf(await change(eve, batch, 'resume', { max_credits: 10 }));
            expect((await ended(eve, batch)).credits).to.deep.equal({ used: 10, max: 10 });
        });

        it('uses no rate limit while an item waits for credits', async () => {
            const eve = await someone();
            const day = { name: 'day' as const, limit: 100_000, seconds: 86_400 };
            const left = async () =>
                (await world.app.limits.peek(`account:${eve.workspaceId}`, [day], eve.workspaceId)).windows[0]?.remaining ?? 0;
            flaky.behaviour = 'hangs';
            const batch = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}], max_credits: 1 });
            const looks = new Map<number, number>();
            await eventually(
                async () => {
                    const row = await world.app.db('batches').where({ batch_id: batch.batch_id }).first('waiting_for', 'due_at');
                    if (row.waiting_for === 'credits') looks.set(row.due_at.getTime(), await left());
                    return looks.size;
                },
                (count) => count >= 4,
                20_000,
            );
            const [, afterFirst, ...later] = looks.values();
            expect(new Set(later)).to.deep.equal(new Set([afterFirst]));
            await remove(eve, batch);
            flaky.letGo();
        });

        it('pauses after the given number of failures', async () => {
            const eve = await someone();
            const items = Array.from({ length: 200 }, () => ({ endpoint: 'status', params: { code: 404 } }));
            const batch = await ordered(eve, { items, stop_after_failures: 3 });
            await eventually(
                () => read(eve, batch),
                ({ status }) => status === 'paused',
                20_000,
            );
            const paused = await read(eve, batch);
            expect(paused.paused_reason).to.equal('failures');
            expect(paused.counts['queued']).to.be.greaterThan(0);
            await remove(eve, batch);
        });

        it('pauses if its key is revoked', async () => {
            const eve = await someone();
            flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing' },
                items: Array.from({ length: 30 }, () => ({})),
            });
            await eventually(
                async () => jobsOf(batch).where({ status: 'running' }),
                (running) => running.length > 0,
            );
            await world.app
                .db('api_keys')
                .where({ user_id: eve.userId })
                .update({ revoked_at: world.app.db.raw('app_now()') });
            flaky.behaviour = 'well';
            flaky.letGo();
            const row = () => world.app.db('batches').where({ batch_id: batch.batch_id }).first('status', 'paused_reason');
            await eventually(row, ({ status }) => status === 'paused', 20_000);
            expect(await row()).to.deep.equal({ status: 'paused', paused_reason: 'key' });
        });

        it('expires at its deadline, and keeps its results', async () => {
            const eve = await someone();
            flaky.behaviour = 'hangs';
            const batch = await ordered(eve, {
                defaults: { site: FLAKY, endpoint: 'thing', timeout_ms: 120_000 },
                items: Array.from({ length: 40 }, () => ({})),
                expires_in: 60,
            });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['running'] ?? 0) > 0,
            );
            await world.clock.advance({ minutes: 2 });
            await eventually(
                () => read(eve, batch),
                ({ counts }) => (counts['expired'] ?? 0) > 0,
                20_000,
            );
            flaky.behaviour = 'well';
            flaky.letGo();
            expect((await ended(eve, batch)).status).to.equal('expired');
        });

        it('takes turns with other accounts and with other batches of its account', async () => {
            const [eve, bob] = [await someone(), await someone()];
            const long = await ordered(eve, { items: products(400) });
            const short = await ordered(eve, { items: products(2) });
            const other = await ordered(bob, { items: products(2) });
            expect((await ended(eve, short)).status).to.equal('succeeded');
            expect((await ended(bob, other)).status).to.equal('succeeded');
            expect((await read(eve, long)).counts['queued']).to.be.greaterThan(0);
            await remove(eve, long);
        });

        it('waits while an operator has paused jobs of its site or account', async () => {
            const [eve, bob] = [await someone(), await someone()];
            const paused = [
                { accountId: eve.workspaceId, site: null },
                { accountId: null, site: SHOP },
            ];
            for (const pause of paused) {
                await pauseJobs(world.app.db, pause);
                const batch = await ordered(eve, { items: products(2) });
                const job = dataOf<Item & { waiting_for: string }>(
                    await eve.call('POST', '/v1/jobs', { body: { site: SHOP, endpoint: 'product', params: { id: 1 } } }),
                );
                // Others have their turn meanwhile.
                const { job_id: id } = dataOf<Item>(await bob.call('POST', '/v1/jobs', { body: { site: FLAKY, endpoint: 'thing' } }));
                expect(dataOf<Item>(await bob.call('GET', `/v1/jobs/${id}?wait=30`)).status).to.equal('succeeded');
                expect([(await read(eve, batch)).waiting_for, job.waiting_for]).to.deep.equal(['operator', 'operator']);
                expect((await read(eve, batch)).counts['queued']).to.equal(2);
                await resumeJobs(world.app.db, pause);
                expect((await ended(eve, batch)).status).to.equal('succeeded');
            }
        });

        it('frees the credits of an item that could not start and is then cancelled', async () => {
            const eve = await someone();
            const pause = { accountId: eve.workspaceId, site: null };
            await pauseJobs(world.app.db, pause);
            const batch = await ordered(eve, { items: products(1) });
            const lock = await world.app.db.transaction();
            try {
                await lock.raw('select from batches where batch_id = ? for update', [batch.batch_id]);
                await resumeJobs(world.app.db, pause);
                const cancelStart = () =>
                    world.app.db.raw(
                        "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
                    );
                await eventually(cancelStart, ({ rows }) => rows.length > 0);
                await eventually(async () => world.logged.some(({ message }) => /failed to start/.test(String(message))), Boolean);
            } finally {
                await lock.rollback();
            }
            await remove(eve, batch);
            await eventually(
                async () => (await world.app.credits.balance(eve.workspaceId))?.held,
                (held) => held === 0,
            );
        });

        it('is counted by what its items wait for', async () => {
            const eve = await someone();
            const batch = await ordered(eve, { items: products(3) });
            await change(eve, batch, 'pause');
            const counted = await countOpenJobs(world.app.db);
            const waiting = await world.app
                .db('jobs as j')
                .join('batches as b', 'b.batch_id', 'j.batch_id')
                .where({ 'j.status': 'queued', 'b.status': 'paused' });
            expect(counted.find(({ state }) => state === 'paused')?.jobs).to.equal(waiting.length);
            expect(counted.map(({ state }) => state)).to.include.members(['running', 'worker', 'credits', 'limits', 'site', 'storage']);
            await remove(eve, batch);
        });

        it('is visible to its workspace only, and its items are found by it', async () => {
            const batch = await ordered(ada, { items: products(3) });
            const bob = await someone();
            expect(codeOf(await bob.call('GET', `/v1/batches/${batch.batch_id}`))).to.equal('BATCH_NOT_FOUND');
            expect(dataOf<Batch[]>(await bob.call('GET', '/v1/batches'))).to.deep.equal([]);
            expect(dataOf<Batch[]>(await ada.call('GET', '/v1/batches?limit=1'))[0]?.batch_id).to.equal(batch.batch_id);
            await ended(ada, batch);
            const jobs = dataOf<Item[]>(await ada.call('GET', `/v1/jobs?batch_id=${batch.batch_id}`));
            expect(jobs.map(({ batch_id: id }) => id)).to.deep.equal(Array.from({ length: 3 }, () => batch.batch_id));
        });

        it('is one of at most 20 open batches', async () => {
            const eve = await someone();
            flaky.behaviour = 'hangs';
            const body = { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}] };
            const batches: Batch[] = [];
            for (let one = 0; one < 20; one++) batches.push(await ordered(eve, body));
            const refused = await order(eve, body);
            expect([codeOf(refused), refused.headers.get('retry-after')]).to.deep.equal(['RATE_LIMITED', '60']);
            expect((refused.body['error'] as { message: string }).message).to.include('open_batches');
            for (const batch of batches) await remove(eve, batch);
            flaky.letGo();
        });

        it('counts cancelled items among the 40,000 that a free account creates a day', async () => {
            const eve = await join(world, { plan: 'free', credits: 100 });
            const today = () => world.app.db('job_accounts').where({ account_id: eve.userId });
            const one = { site: SHOP, endpoint: 'product', params: { id: 1 } };
            await remove(eve, await ordered(eve, { items: products(3) }));
            dataOf(await eve.call('POST', '/v1/jobs', { body: one }));
            expect(await today().first('ordered_items')).to.deep.equal({ ordered_items: 4 });
            await today().update({ ordered_items: 39_998 });

            const refused = await order(eve, { items: products(3) });
            expect(codeOf(refused)).to.equal('RATE_LIMITED');
            expect((refused.body['error'] as { message: string }).message).to.include(
                'ordered_items is full: 40,000 new jobs with 256 MiB',
            );
            expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 86_400);
            // Refused orders store nothing and do not count.
            await remove(eve, await ordered(eve, { items: products(2) }));
            expect(codeOf(await eve.call('POST', '/v1/jobs', { body: one }))).to.equal('RATE_LIMITED');

            await today().update({ ordered_on: world.app.db.raw('ordered_on - 1'), ordered_bytes: 300 * 1024 * 1024 });
            await remove(eve, await ordered(eve, { items: products(3) }));
            await today().update({ ordered_bytes: 256 * 1024 * 1024 });
            expect(codeOf(await eve.call('POST', '/v1/jobs', { body: one }))).to.equal('RATE_LIMITED');
        });

        it('is one of 60 an hour, including refused ones, dry runs and retries', async () => {
            const eve = await someone();
            const batch = await ordered(eve, { items: products(1) });
            await ended(eve, batch);
            expect(dataOf<Batch>(await change(eve, batch, 'retry')).retried).to.equal(0);
            for (let one = 0; one < 56; one++) await order(eve, { items: [] });
            expect(detailsOf(await order(eve, { items: products(1) }, { query: '?color=red' }))).to.deep.equal(['/color UNKNOWN_FIELD']);
            expect((await order(eve, { items: products(1) }, { query: '?dry_run=true' })).status).to.equal(200);
            expect(codeOf(await order(eve, { items: products(1) }))).to.equal('RATE_LIMITED');
            expect(codeOf(await change(eve, batch, 'retry'))).to.equal('RATE_LIMITED');
        });

        it('waits if the site fails for a moment, and tries again', async () => {
            const eve = await someone();
            flaky.behaviour = says(503, { 'retry-after': '60' });
            const batch = await ordered(eve, { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}, {}] });
            await eventually(
                () => jobsOf(batch).where({ attempts: 1, status: 'queued' }),
                (waiting) => waiting.length === 2,
                20_000,
            );
            flaky.behaviour = 'well';
            await world.clock.advance({ minutes: 2 });
            expect((await ended(eve, batch)).status).to.equal('succeeded');
        });
    });
}
