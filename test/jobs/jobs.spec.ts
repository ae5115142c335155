import { expect } from 'chai';
import { EVERY_SCOPE, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { OWN_WINDOWS } from '../../shared/domain/jobs/bounds.ts';
import { changeScopes, createKey, revokeKey } from '../../shared/store/accounts/api-keys.ts';
import { setSuspended } from '../../shared/store/accounts/users.ts';
import { pauseJobs, resumeJobs } from '../../shared/store/jobs/pauses.ts';
import { CONNECTED, connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type FlakySite, flakyPackage, openFlakySite, says } from '../support/flaky-site.ts';
import { type Answer, join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf, paginationOf } from '../support/routes.ts';
import { scopedKey } from '../support/scopes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';

const FLAKY = 'flaky.test';

interface Job {
    job_id: string;
    status: string;
    waiting_for: string | null;
    attempts: number;
    credits_used: number;
    next_attempt_at: string | null;
    params?: unknown;
    result?: { data: Record<string, unknown>; meta: Record<string, unknown> } | null;
    result_expired: boolean;
    metadata: Record<string, string>;
    error: { code: string; retryable: boolean; upstream?: { status: number } } | null;
}

for (const topology of TOPOLOGIES) {
    describe(`a job, with queue and limits in ${topology}`, () => {
        let world: World;
        let shop: Shop;
        let flaky: FlakySite;
        let ada: Person;

        before(async () => {
            shop = await openShop();
            flaky = await openFlakySite();
            world = await openWorld({
                topology,
                config: { egressHosts: new Map([...SHOP_HOSTS, ...[FLAKY, CONNECTED].map((site) => [site, ['127.0.0.1']] as const)]) },
            });
            ada = await join(world, { plan: 'pro' });
            dataOf(await ada.publish(shopPackage(shop.port)));
            dataOf(await ada.publish(flakyPackage(FLAKY, flaky.port)));
            dataOf(await ada.publish(connectedPackage(CONNECTED, { base: `http://${CONNECTED}:${shop.port}` })));
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

        const order = (person: Person, body: object, headers: Record<string, string> = {}) =>
            person.call('POST', '/v1/jobs', { body, headers });
        const product = (id = 7, more: object = {}) => ({ site: SHOP, endpoint: 'product', params: { id }, ...more });
        const ordered = async (person: Person, body: object) => dataOf<Job>(await order(person, body));
        const read = async (person: Person, { job_id: id }: { job_id: string }, wait = 0) =>
            dataOf<Job>(await person.call('GET', `/v1/jobs/${id}?wait=${wait}`));
        const until = async (person: Person, job: Job, isRight: (job: Job) => boolean, withinMs = 15_000) => {
            let last = job;
            await eventually(
                async () => {
                    last = await read(person, job);
                    return last;
                },
                isRight,
                withinMs,
            );
            return last;
        };
        const cancel = (person: Person, { job_id: id }: Job): Promise<Answer> => person.call('DELETE', `/v1/jobs/${id}`);
        const eventsOf = async ({ job_id: id }: Job): Promise<string[]> =>
            (await world.app.db('events').where({ about: id }).orderBy('at')).map(({ type }) => type);

        it('has an id that sorts after all earlier ones', async () => {
            const bob = await join(world, { plan: 'pro' });
            const ids: string[] = [];
            for (let job = 0; job < 6; job++) ids.push((await ordered(bob, product())).job_id);
            expect(ids).to.deep.equal(ids.toSorted());
        });

        it('is accepted at once, runs later and has the result of a fetch', async () => {
            const body = product(7, { metadata: { mine: 'red' } });
            const answer = await order(ada, body);
            expect(answer.status).to.equal(202);
            const job = dataOf<Job>(answer);
            expect(answer.headers.get('location')).to.equal(`/v1/jobs/${job.job_id}`);
            expect(job).to.include({ status: 'queued', attempts: 0, result: null, error: null });
            const done = await read(ada, job, 30);
            expect(done).to.deep.include({
                status: 'succeeded',
                attempts: 1,
                credits_used: 1,
                params: { id: 7 },
                metadata: { mine: 'red' },
            });
            const fetched = await ada.fetch(SHOP, 'product', { id: 7 });
            expect(done.result?.data).to.deep.equal(dataOf(fetched));
            expect(Object.keys(done.result?.meta ?? {})).to.have.members(Object.keys(fetched.body['meta'] as object));
            expect(await eventsOf(job)).to.deep.equal(['job.succeeded']);
        });

        const narrow = (keyId: string, scopes: Partial<Scopes>) =>
            changeScopes(world.app.db, keyId, { scopes: { ...EVERY_SCOPE, ...scopes }, mayWiden: false });
        for (const [what, change, code] of [
            ['that was revoked', (keyId: string) => revokeKey(world.app.db, keyId), 'INVALID_API_KEY'],
            ['whose user was suspended', () => setSuspended(world.app.db, ada.userId, true), 'FORBIDDEN'],
            ['that lost the scope of jobs', (keyId: string) => narrow(keyId, { routes: ['account'] }), 'FORBIDDEN'],
            ['that lost the site', (keyId: string) => narrow(keyId, { sites: [SHOP] }), 'JOB_NOT_FOUND'],
        ] as const) {
            it(`is not shown to a key ${what} while its call waited for the end`, async () => {
                flaky.behaviour = 'hangs';
                const job = await ordered(ada, { site: FLAKY, endpoint: 'thing' });
                await flaky.hanging(1);
                const { keyId, apiKey } = await createKey(world.app.db, { ...ada, name: 'leaked', scopes: EVERY_SCOPE });
                const waiting = withKey(world, apiKey).call('GET', `/v1/jobs/${job.job_id}?wait=30`);
                const inService = () => world.app.db('api_keys').where({ id: keyId }).whereNotNull('last_used_at').first('id');
                await eventually(inService, (used) => used !== undefined, 10_000);
                try {
                    await change(keyId);
                    flaky.behaviour = 'well';
                    flaky.letGo();
                    expect(codeOf(await waiting)).to.equal(code);
                } finally {
                    await setSuspended(world.app.db, ada.userId, false);
                }
            });
        }

        it('counts an emoji in its metadata as one character', async () => {
            const job = await ordered(ada, product(7, { metadata: { note: '🙂'.repeat(500), empty: '' } }));
            expect(job.metadata).to.deep.equal({ note: '🙂'.repeat(500), empty: '' });
            const refused = await order(ada, product(7, { metadata: { note: '🙂'.repeat(501) } }));
            expect(detailsOf(refused)).to.deep.equal(['/metadata/note INVALID_VALUE']);
        });

        it('is refused for a name in its metadata that is empty or too long', async () => {
            for (const name of ['', 'x'.repeat(65)]) {
                const { error } = (await ada.call('POST', '/v1/jobs', { body: product(7, { metadata: { [name]: 'x' } }) })).body as {
                    error?: { details: { path: string; message: string }[] };
                };
                expect(error?.details).to.deep.equal([
                    { path: `/metadata/${name}`, code: 'UNKNOWN_FIELD', message: 'A name in metadata must have 1 to 64 characters.' },
                ]);
            }
        });

        it('is charged once', async () => {
            const eve = await join(world, { plan: 'pro' });
            // The first one earns a bonus.
            await read(eve, await ordered(eve, product()), 30);
            const before = await creditsOf(eve);
            const jobs = await Promise.all(Array.from({ length: 20 }, (_, id) => ordered(eve, product(id + 1))));
            for (const job of jobs) expect((await read(eve, job, 30)).status).to.equal('succeeded');
            expect(await creditsOf(eve)).to.equal(before - 20);
        });

        for (const [name, body, code] of [
            ['a site that is not known', product(1, { site: 'nowhere.test' }), 'SITE_NOT_FOUND'],
            ['wrong params', product(0), 'INVALID_PARAMS'],
            ['an unknown endpoint', product(1, { endpoint: 'none' }), 'ENDPOINT_NOT_FOUND'],
            ['an unknown version', product(1, { version: 99 }), 'VERSION_NOT_FOUND'],
            ['an unknown field', product(1, { dry_run: true }), 'VALIDATION_ERROR'],
        ] as const) {
            it(`with ${name} is refused like a fetch, and not stored`, async () => {
                expect(codeOf(await order(ada, body))).to.equal(code);
            });
        }

        it('needs credits for one unit at least', async () => {
            const poor = await join(world, { plan: 'free', overrides: { allowance: 0 } });
            expect(codeOf(await order(poor, product()))).to.equal('INSUFFICIENT_CREDITS');
        });

        it('is one of 600 a minute, including refused ones', async () => {
            const eve = await join(world, { plan: 'pro' });
            const window = { identity: `jobs:account:${eve.workspaceId}`, windows: [OWN_WINDOWS.jobs] };
            for (let one = 0; one < 595; one++) await world.app.limits.take(window);
            const scopes = { ...EVERY_SCOPE, sites: ['other.test'] };
            const { apiKey } = await createKey(world.app.db, { ...eve, name: 'elsewhere', scopes });
            const elsewhere = order(eve, product(), { authorization: `Bearer ${apiKey}` });
            expect(codeOf(await elsewhere)).to.equal('FORBIDDEN');
            const malformed = eve.call('POST', '/v1/jobs', { body: '{' });
            expect(codeOf(await malformed)).to.equal('INVALID_JSON');
            expect(codeOf(await order(eve, { color: 'red' }))).to.equal('VALIDATION_ERROR');
            expect(codeOf(await order(eve, product(), { 'idempotency-key': 'not one word' }))).to.equal('INVALID_IDEMPOTENCY_KEY');
            expect(codeOf(await order(eve, { ...product(), endpoint: 'none' }))).to.equal('ENDPOINT_NOT_FOUND');
            for (const body of [{ color: 'red' }, product()]) {
                const { body: refused, headers } = await order(eve, body);
                expect(JSON.stringify(refused)).to.include('The window jobs is full');
                expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
            }
        });

        it('is created once for one Idempotency-Key', async () => {
            const headers = { 'idempotency-key': 'once' };
            const [first, again] = [await order(ada, product(3), headers), await order(ada, product(3), headers)];
            expect(dataOf<Job>(again).job_id).to.equal(dataOf<Job>(first).job_id);
            expect(again.status).to.equal(202);
            expect(codeOf(await order(ada, product(4), headers))).to.equal('IDEMPOTENCY_CONFLICT');
        });

        it('fails with the error of a fetch, free of charge, if another attempt would not help', async () => {
            const job = await ordered(ada, { site: SHOP, endpoint: 'status', params: { code: 404 } });
            const done = await read(ada, job, 30);
            expect(done).to.include({ status: 'failed', attempts: 1, credits_used: 0, result: null });
            expect(done.error).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
            expect(done.error?.upstream?.status).to.equal(404);
            expect(await eventsOf(job)).to.deep.equal(['job.failed']);
        });

        it('of a read is tried again later if the site asks for it', async () => {
            flaky.behaviour = says(503, { 'retry-after': '2' });
            const job = await ordered(ada, { site: FLAKY, endpoint: 'thing' });
            const waiting = await until(ada, job, ({ attempts, status }) => attempts === 1 && status === 'queued');
            expect(waiting.error?.code).to.equal('UPSTREAM_STATUS');
            expect(waiting.next_attempt_at).to.be.a('string');
            flaky.behaviour = 'well';
            await world.clock.advance({ minutes: 2 });
            const done = await read(ada, job, 30);
            expect(done).to.deep.include({ status: 'succeeded', attempts: 2, error: null, credits_used: 1 });
        });

        it('of a write is sent once, whatever the site answers', async () => {
            flaky.behaviour = says(503);
            const before = flaky.arrivals.length;
            const done = await read(ada, await ordered(ada, { site: FLAKY, endpoint: 'order' }), 30);
            expect(done).to.include({ status: 'failed', attempts: 1 });
            expect(flaky.arrivals.length - before).to.equal(1);
        });

        it('is cancelled while its read runs: the request is aborted and nothing is billed', async () => {
            const eve = await join(world, { plan: 'pro' });
            const before = await creditsOf(eve);
            flaky.behaviour = 'hangs';
            const job = await ordered(eve, { site: FLAKY, endpoint: 'thing' });
            await flaky.hanging(1);
            const cancelled = await cancel(eve, job);
            expect(dataOf<Job>(cancelled).status).to.equal('cancelled');
            expect(dataOf<Job>(await cancel(eve, job)).status, 'again').to.equal('cancelled');
            flaky.letGo();
            expect(await creditsOf(eve)).to.equal(before);
            expect(await eventsOf(job)).to.deep.equal(['job.cancelled']);
        });

        it('of a write that was sent cannot be cancelled, nor a finished job', async () => {
            flaky.behaviour = 'hangs';
            const job = await ordered(ada, { site: FLAKY, endpoint: 'order' });
            await flaky.hanging(1);
            expect(codeOf(await cancel(ada, job))).to.equal('JOB_NOT_CANCELLABLE');
            flaky.letGo();
            expect((await read(ada, job, 30)).status).to.equal('succeeded');
            expect(codeOf(await cancel(ada, job))).to.equal('JOB_NOT_CANCELLABLE');
        });

        it('waits for credits while the account holds others, then runs with what is available', async () => {
            const eve = await join(world, { plan: 'free', overrides: { allowance: 3 } });
            flaky.behaviour = 'hangs';
            const first = await ordered(eve, { site: FLAKY, endpoint: 'thing' });
            await flaky.hanging(1);
            const second = await ordered(eve, { site: SHOP, endpoint: 'search', params: { n: 10 } });
            await until(eve, second, ({ waiting_for: reason }) => reason === 'credits');
            await cancel(eve, first);
            await world.clock.advance({ seconds: 10 });
            const done = await read(eve, second, 30);
            expect(done).to.include({ status: 'succeeded', credits_used: 3 });
            expect(done.result?.meta).to.include({ truncated: true });
        });

        it('costs the price at which it was created, even if the current price exceeds its spending cap', async () => {
            const eve = await join(world, { plan: 'pro' });
            dataOf(await ada.publish(shopPackage(shop.port, { site: 'dear.test' })));
            const paused = { accountId: eve.workspaceId, site: null };
            await pauseJobs(world.app.db, paused);
            const job = await ordered(eve, { site: 'dear.test', endpoint: 'product', params: { id: 1 }, max_credits: 4 });
            await world.app.db('domains').where({ registrable: 'dear.test' }).update({ credits: 5 });
            await resumeJobs(world.app.db, paused);
            expect(await read(eve, job, 30)).to.include({ status: 'succeeded', credits_used: 1 });
            expect((await order(eve, { site: 'dear.test', endpoint: 'product', params: { id: 1 }, max_credits: 4 })).status).to.equal(400);
        });

        it('leaves a slot of the account to live calls', async () => {
            const eve = await join(world, { plan: 'pro', overrides: { concurrency: 3 } });
            flaky.behaviour = 'hangs';
            const jobs = [];
            for (let index = 0; index < 4; index++) jobs.push(await ordered(eve, { site: FLAKY, endpoint: 'thing' }));
            await flaky.hanging(2);
            await eventually(
                async () => dataOf<Job[]>(await eve.call('GET', '/v1/jobs?status=queued')),
                (waiting) => waiting.length === 2 && waiting.some(({ waiting_for: reason }) => reason === 'limits'),
                15_000,
            );
            expect((await eve.fetch(SHOP, 'product', { id: 1 })).status).to.equal(200);
            flaky.behaviour = 'well';
            flaky.letGo();
            for (const job of jobs) expect((await read(eve, job, 30)).status).to.equal('succeeded');
        });

        it('leaves a fifth of each rate-limit window to live calls', async () => {
            const eve = await join(world, { plan: 'pro', overrides: { perMinute: 5 } });
            const jobs = [];
            for (let index = 0; index < 5; index++) jobs.push(await ordered(eve, product(index + 1)));
            await eventually(
                async () => dataOf<Job[]>(await eve.call('GET', '/v1/jobs')),
                (all) =>
                    all.filter(({ status }) => status === 'succeeded').length === 4 &&
                    all.some(({ waiting_for: reason }) => reason === 'limits'),
                15_000,
            );
            expect((await eve.fetch(SHOP, 'product', { id: 1 })).status).to.equal(200);
            await world.clock.advance({ minutes: 2 });
            for (const job of jobs) expect((await read(eve, job, 30)).status).to.equal('succeeded');
        });

        it('expires if its turn does not come in time', async () => {
            const eve = await join(world, { plan: 'pro', overrides: { concurrency: 1 } });
            flaky.behaviour = 'hangs';
            const first = await ordered(eve, { site: FLAKY, endpoint: 'thing' });
            await flaky.hanging(1);
            const second = await ordered(eve, { ...product(), expires_in: 60 });
            await until(eve, second, ({ waiting_for: reason }) => reason === 'limits');
            await world.clock.advance({ minutes: 2 });
            const done = await read(eve, second, 30);
            expect(done).to.include({ status: 'expired', attempts: 0, credits_used: 0 });
            expect(await eventsOf(second)).to.deep.equal(['job.expired']);
            await cancel(eve, first);
            flaky.letGo();
        });

        it('is cancelled if its key was revoked before its turn', async () => {
            const eve = await join(world, { plan: 'pro', overrides: { concurrency: 1 } });
            flaky.behaviour = 'hangs';
            const first = await ordered(eve, { site: FLAKY, endpoint: 'thing' });
            await flaky.hanging(1);
            const other = await scopedKey(world, eve, {});
            const second = await ordered(other, product());
            await world.app
                .db('api_keys')
                .where({ name: 'scoped', user_id: eve.userId })
                .update({ revoked_at: world.app.db.raw('app_now()') });
            await cancel(eve, first);
            flaky.letGo();
            expect((await read(eve, second, 30)).status).to.equal('cancelled');
        });

        it('fails if its user lost the permission to call before its turn', async () => {
            const eve = await join(world, { plan: 'pro', overrides: { concurrency: 1 } });
            flaky.behaviour = 'hangs';
            await ordered(eve, { site: FLAKY, endpoint: 'thing' });
            await flaky.hanging(1);
            const { job_id } = await ordered(eve, product());
            await world.app.db('memberships').where({ user_id: eve.userId }).update({ role: 'billing' });
            flaky.letGo();
            const ended = async () => world.app.db('jobs').where({ job_id }).first('status', 'code', 'credits_used');
            await eventually(ended, ({ status }) => status !== 'queued' && status !== 'running');
            expect(await ended()).to.deep.equal({ status: 'failed', code: 'FORBIDDEN', credits_used: 0 });
        });

        it('is visible to its workspace only, which may cancel and clear it with keys that could have created it', async () => {
            const job = await ordered(ada, product());
            await read(ada, job, 30);
            const stranger = await join(world, { plan: 'pro' });
            const ofOther = await scopedKey(world, ada, { sites: ['other.test'] });
            const ofWrites = await scopedKey(world, ada, { effects: ['write'] });
            for (const person of [stranger, ofOther, ofWrites]) {
                expect(codeOf(await person.call('GET', `/v1/jobs/${job.job_id}`))).to.equal('JOB_NOT_FOUND');
                expect(codeOf(await cancel(person, job))).to.equal('JOB_NOT_FOUND');
                expect(codeOf(await person.call('DELETE', `/v1/jobs/${job.job_id}/result`))).to.equal('JOB_NOT_FOUND');
                const listed = dataOf<Job[]>(await person.call('GET', '/v1/jobs?limit=100'));
                expect(listed.map(({ job_id: id }) => id)).to.not.include(job.job_id);
            }
        });

        it('with a private connection is sent with it, and visible to keys of its owner that may use it', async () => {
            const secret = { value: 'a-key-of-my-own' };
            dataOf(await ada.call('POST', '/v1/connections', { body: { site: CONNECTED, secret } }));
            const job = await ordered(ada, { site: CONNECTED, endpoint: 'mine' });
            const done = await read(ada, job, 30);
            expect(done.status, JSON.stringify(done.error)).to.equal('succeeded');
            expect(shop.seen.at(-1)?.headers['x-api-key']).to.equal(secret.value);
            expect(JSON.stringify(done.result)).to.not.include(secret.value);
            const member = await join(world);
            await world.app.db('memberships').insert({ workspace_id: ada.workspaceId, user_id: member.userId, role: 'member' });
            const ofMember = await scopedKey(world, { ...member, workspaceId: ada.workspaceId }, {});
            const without = await scopedKey(world, ada, { connections: [] });
            const plain = await ordered(ada, product());
            for (const person of [ofMember, without]) {
                expect(codeOf(await person.call('GET', `/v1/jobs/${job.job_id}`))).to.equal('JOB_NOT_FOUND');
                expect((await read(person, plain)).job_id).to.equal(plain.job_id);
            }
        });

        it('is listed newest first, page by page, by status and site, without params and results', async () => {
            const eve = await join(world, { plan: 'pro' });
            const made: Job[] = [];
            for (let id = 1; id <= 5; id++) made.push(await ordered(eve, product(id)));
            for (const job of made) await read(eve, job, 30);
            const pages: string[] = [];
            for (let path: string | undefined = '/v1/jobs?limit=2&status=succeeded&site=SHOP.test'; path !== undefined; ) {
                const page: Answer = await eve.call('GET', path);
                for (const job of dataOf<Job[]>(page)) {
                    expect(job).to.not.have.any.keys('params', 'result');
                    pages.push(job.job_id);
                }
                const pagination = paginationOf(page);
                expect(pagination.total).to.equal(5);
                path =
                    pagination.next_cursor === null
                        ? undefined
                        : `/v1/jobs?limit=2&status=succeeded&site=shop.test&cursor=${pagination.next_cursor}`;
            }
            expect(pages).to.deep.equal(made.map(({ job_id: id }) => id).toReversed());
            expect(dataOf<Job[]>(await eve.call('GET', '/v1/jobs?status=failed'))).to.deep.equal([]);
        });

        it('loses params, result and the copy for max_age when it is deleted', async () => {
            const body = product(9, { max_age: 3600 });
            const job = await ordered(ada, body);
            expect((await read(ada, job, 30)).credits_used).to.equal(1);
            const again = await read(ada, await ordered(ada, body), 30);
            expect(again).to.include({ status: 'succeeded', credits_used: 0 });
            expect(again.result?.meta).to.include({ cached: true });
            const cleared = dataOf<Job>(await ada.call('DELETE', `/v1/jobs/${job.job_id}/result`));
            expect(cleared).to.deep.include({ status: 'succeeded', result: null, params: null, result_expired: true });
            const fresh = await read(ada, await ordered(ada, body), 30);
            expect(fresh.result?.meta).to.include({ cached: false });
        });

        it('keeps params and result for seven days, encrypted, and its row for ninety', async () => {
            const job = await ordered(ada, product(11));
            await read(ada, job, 30);
            const row = await world.app.db('jobs').where({ job_id: job.job_id }).first();
            for (const sealed of [row.request, row.result])
                expect(sealed.toString('latin1')).to.not.contain('product').and.not.contain('Product 11');
            await world.clock.advance({ days: 8 });
            await until(ada, job, ({ result_expired: isGone }) => isGone);
            expect(await read(ada, job)).to.deep.include({ result: null, params: null, credits_used: 1 });
            await world.clock.advance({ days: 83 });
            await eventually(
                async () => codeOf(await ada.call('GET', `/v1/jobs/${job.job_id}`)),
                (code) => code === 'JOB_NOT_FOUND',
            );
        });

        it('counts exactly what an account has open and stored', async () => {
            const { rows } = await world.app.db.raw(`
                select a.account_id from job_accounts a
                left join (select account_id, count(*) filter (where status in ('queued', 'running')) as items,
                                  coalesce(sum(octet_length(request)) filter (where status in ('queued', 'running')), 0) as bytes,
                                  coalesce(sum(octet_length(result)), 0) as results from jobs group by 1) j using (account_id)
                where (a.open_items, a.open_bytes, a.result_bytes) <> (coalesce(j.items, 0), coalesce(j.bytes, 0), coalesce(j.results, 0))`);
            expect(rows).to.deep.equal([]);
        });

        async function creditsOf(person: Person): Promise<number> {
            const account = await world.app.credits.balance(person.workspaceId);
            return account?.available ?? 0;
        }
    });
}
