import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import { createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import {
    type Batch,
    change,
    ended,
    FLAKY,
    type Item,
    order,
    ordered,
    products,
    read,
    remove,
    someone,
    useBatchWorld,
} from '../support/batch-world.ts';
import { join, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { SHOP } from '../support/shop.ts';
import { ANY_TOPOLOGY } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`an order of a batch, with queue and limits in ${topology}`, () => {
        const opened = useBatchWorld(topology);

        it('is refused completely for wrong items, with each problem at its place', async () => {
            const items = [{ params: { id: 1 } }, { params: { id: 0 } }, { params: { id: 2 }, site: 'nowhere.test' }, { nonsense: 1 }];
            const before = (await opened.world.app.db('jobs').count({ all: '*' }))[0];
            const answer = await order(opened.ada, { items });
            expect([answer.status, codeOf(answer)]).to.deep.equal([400, 'VALIDATION_ERROR']);
            expect(detailsOf(answer)).to.deep.equal([
                '/items/1/params/id INVALID_VALUE',
                '/items/2/site SITE_NOT_FOUND',
                '/items/3/nonsense UNKNOWN_FIELD',
            ]);
            expect((answer.body['error'] as { problems: number }).problems).to.equal(3);
            expect((await opened.world.app.db('jobs').count({ all: '*' }))[0]).to.deep.equal(before);
        });

        it('names problems of its fields and of its items at once', async () => {
            const answer = await order(opened.ada, { items: [{ params: { id: 0 } }], expires_in: 5, nonsense: 1 });
            expect(detailsOf(answer)).to.have.members([
                '/expires_in INVALID_VALUE',
                '/nonsense UNKNOWN_FIELD',
                '/items/0/params/id INVALID_VALUE',
            ]);
            expect((answer.body['error'] as { problems: number }).problems).to.equal(3);
        });

        it('names the first hundred problems, and the number of all', async () => {
            const answer = await order(opened.ada, { items: Array.from({ length: 150 }, () => ({ params: { id: 0 } })) });
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
                const answer = await order(opened.ada, { items });
                expect([answer.status, ...detailsOf(answer)]).to.deep.equal([400, detail]);
            });
        }

        it('of twenty thousand unknown fields is refused without checking each, as a batch or as one item', async () => {
            const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`k${at}`, 1]));
            const whole = await opened.ada.call('POST', '/v1/batches', { body: many });
            expect(detailsOf(whole)).to.deep.equal([' TOO_COMPLEX']);
            const item = await opened.ada.call('POST', '/v1/batches', {
                body: { defaults: { site: SHOP, endpoint: 'product' }, items: [many] },
            });
            expect(detailsOf(item)).to.deep.equal(['/items/0 TOO_COMPLEX']);
        });

        it('is refused if its key was revoked while its body arrived', async () => {
            const { world, ada } = opened;
            const { apiKey, keyId } = await createKey(world.app.db, { ...ada, name: 'late' });
            const body = JSON.stringify({ defaults: { site: SHOP, endpoint: 'product' }, items: products(2) });
            const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': body.length };
            const late = request(new URL('/v1/batches', world.base), { method: 'POST', headers });
            const answered = once(late, 'response');
            late.write(body.slice(0, 10));
            expect((await withKey(world, apiKey).call('GET', '/v1/account')).status).to.equal(200);
            await revokeKey(world.app.db, keyId);
            late.end(body.slice(10));
            const [{ statusCode }] = await answered;
            expect(statusCode).to.equal(401);
            expect(await world.app.db('batches').where({ key_id: keyId })).to.deep.equal([]);
        });

        it('accepts a file in an item, like a fetch', async () => {
            const photo = { filename: 'large.png', content_type: 'image/png', base64: Buffer.alloc(600 * 1024).toString('base64') };
            const body = { defaults: { site: SHOP, endpoint: 'upload' }, items: [{ params: { photo } }] };
            const answer = await opened.ada.call('POST', '/v1/batches?dry_run=true', { body });
            expect([answer.status, answer.body['error']]).to.deep.equal([200, undefined]);
        });

        it('may begin with a byte order mark, like every body', async () => {
            const body = `\ufeff${JSON.stringify({ defaults: { site: SHOP, endpoint: 'product' }, items: products(1) })}`;
            const answer = await opened.ada.call('POST', '/v1/batches?dry_run=true', { body });
            expect([answer.status, answer.body['error']]).to.deep.equal([200, undefined]);
        });

        it('without a site anywhere names the field', async () => {
            const answer = await opened.ada.call('POST', '/v1/batches', { body: { items: [{ params: { id: 1 } }] } });
            expect(detailsOf(answer)).to.deep.equal(['/items/0/site REQUIRED']);
        });

        it('is only checked and priced in a dry run', async () => {
            const answer = await order(opened.ada, { items: products(5) }, { query: '?dry_run=true' });
            expect([answer.status, answer.body]).to.deep.equal([
                200,
                { success: true, data: { items: 5, credits: { max: 5 }, eta_seconds: 1, warnings: [] } },
            ]);
            const poor = await join(opened.world, { plan: 'free', overrides: { allowance: 0 } });
            expect((await order(poor, { items: products(5) }, { query: '?dry_run=true' })).status).to.equal(200);
            expect(codeOf(await order(poor, { items: products(5) }))).to.equal('INSUFFICIENT_CREDITS');
        });

        it('that cannot end in time is accepted with a warning', async () => {
            const slow = await join(opened.world, { plan: 'free' });
            const batch = await ordered(slow, { items: products(100), expires_in: 60 });
            expect(batch.warnings).to.deep.equal(['EXPIRES_BEFORE_END']);
            await remove(slow, batch);
        });

        it('is estimated by what is left of the rate limits', async () => {
            const busy = await join(opened.world, { plan: 'starter', overrides: { perDay: 10 } });
            const [tomorrow, later] = [86_000, 86_400 + 86_000];
            const dryRun = async (count: number) => {
                const answer = await order(busy, { items: products(count), expires_in: 3600 }, { query: '?dry_run=true' });
                return dataOf<{ eta_seconds: number; warnings: string[] }>(answer);
            };
            expect(await dryRun(8)).to.deep.include({ eta_seconds: 1, warnings: [] });
            await ended(busy, await ordered(busy, { items: products(8) }));
            const waiting = await dryRun(1);
            expect(waiting.eta_seconds).to.be.within(tomorrow, 86_400);
            expect(waiting.warnings).to.deep.equal(['EXPIRES_BEFORE_END']);
            expect((await dryRun(9)).eta_seconds).to.be.within(later, 2 * 86_400);
            const batch = await ordered(busy, { items: products(8) });
            expect(batch.eta_seconds).to.be.above(tomorrow);
            expect((await read(busy, batch)).eta_seconds).to.be.above(tomorrow);
            await remove(busy, batch);
        });

        it('is created once for one Idempotency-Key', async () => {
            const headers = { 'idempotency-key': 'batch-once' };
            const body = { items: products(2) };
            const [first, again] = [await order(opened.ada, body, { headers }), await order(opened.ada, body, { headers })];
            expect(again.text).to.equal(first.text);
            expect([again.status, again.headers.get('location')]).to.deep.equal([202, first.headers.get('location')]);
            expect(again.headers.get('idempotent-replayed')).to.equal('true');
            expect(codeOf(await order(opened.ada, { items: products(3) }, { headers }))).to.equal('IDEMPOTENCY_CONFLICT');
            await ended(opened.ada, dataOf<Batch>(first));
        });

        it('leaves the Idempotency-Key free if it is refused', async () => {
            const headers = { 'idempotency-key': 'batch-wrong' };
            expect((await order(opened.ada, { items: [{ params: { id: 0 } }] }, { headers })).status).to.equal(400);
            expect((await order(opened.ada, { items: products(1) }, { headers })).status).to.equal(202);
        });

        it('is visible to its workspace only, and its items are found by it', async () => {
            const batch = await ordered(opened.ada, { items: products(3) });
            const bob = await someone(opened.world);
            expect(codeOf(await bob.call('GET', `/v1/batches/${batch.batch_id}`))).to.equal('BATCH_NOT_FOUND');
            expect(dataOf<Batch[]>(await bob.call('GET', '/v1/batches'))).to.deep.equal([]);
            expect(dataOf<Batch[]>(await opened.ada.call('GET', '/v1/batches?limit=1'))[0]?.batch_id).to.equal(batch.batch_id);
            await ended(opened.ada, batch);
            const jobs = dataOf<Item[]>(await opened.ada.call('GET', `/v1/jobs?batch_id=${batch.batch_id}`));
            expect(jobs.map(({ batch_id: id }) => id)).to.deep.equal(Array.from({ length: 3 }, () => batch.batch_id));
        });

        it('is one of at most 20 open batches', async () => {
            const eve = await someone(opened.world);
            opened.flaky.behaviour = 'hangs';
            const body = { defaults: { site: FLAKY, endpoint: 'thing' }, items: [{}] };
            const batches: Batch[] = [];
            for (let one = 0; one < 20; one++) batches.push(await ordered(eve, body));
            const refused = await order(eve, body);
            expect([codeOf(refused), refused.headers.get('retry-after')]).to.deep.equal(['RATE_LIMITED', '60']);
            expect((refused.body['error'] as { message: string }).message).to.include('open_batches');
            for (const batch of batches) await remove(eve, batch);
            opened.flaky.letGo();
        });

        it('counts cancelled items among the 40,000 that a free account creates a day', async () => {
            const eve = await join(opened.world, { plan: 'free', credits: 100 });
            const today = () => opened.world.app.db('job_accounts').where({ account_id: eve.userId });
            const one = { site: SHOP, endpoint: 'product', params: { id: 1 } };
            await remove(eve, await ordered(eve, { items: products(3) }));
            dataOf(await eve.call('POST', '/v1/jobs', { body: one }));
            expect(await today().first('ordered_items')).to.deep.equal({ ordered_items: 4 });
            await today().update({ ordered_items: 39_998 });

            const refused = await order(eve, { items: products(3) });
            expect(codeOf(refused)).to.equal('RATE_LIMITED');
            expect((refused.body['error'] as { message: string }).message).to.equal(
                'The window ordered_items is full: an account on free may create 40,000 jobs with 256 MiB of params a day.',
            );
            expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 86_400);
            // Refused orders store nothing and do not count.
            await remove(eve, await ordered(eve, { items: products(2) }));
            expect(codeOf(await eve.call('POST', '/v1/jobs', { body: one }))).to.equal('RATE_LIMITED');

            await today().update({ ordered_on: opened.world.app.db.raw('ordered_on - 1'), ordered_bytes: 300 * 1024 * 1024 });
            await remove(eve, await ordered(eve, { items: products(3) }));
            await today().update({ ordered_bytes: 256 * 1024 * 1024 });
            expect(codeOf(await eve.call('POST', '/v1/jobs', { body: one }))).to.equal('RATE_LIMITED');
        });

        it('is one of 60 an hour, including refused ones, dry runs and retries', async () => {
            const eve = await someone(opened.world);
            const batch = await ordered(eve, { items: products(1) });
            await ended(eve, batch);
            expect(dataOf<Batch>(await change(eve, batch, 'retry')).retried).to.equal(0);
            for (let one = 0; one < 56; one++) await order(eve, { items: [] });
            expect(detailsOf(await order(eve, { items: products(1) }, { query: '?color=red' }))).to.deep.equal(['/color UNKNOWN_FIELD']);
            expect((await order(eve, { items: products(1) }, { query: '?dry_run=true' })).status).to.equal(200);
            expect(codeOf(await order(eve, { items: products(1) }))).to.equal('RATE_LIMITED');
            expect(codeOf(await change(eve, batch, 'retry'))).to.equal('RATE_LIMITED');
        });
    });
}
