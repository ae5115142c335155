import { expect } from 'chai';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

/** Timers may fire a little early. */
const EARLY_MS = 15;

for (const topology of ANY_TOPOLOGY) {
    describe(`the request rate that a package asks for, with queue and limits in ${topology}`, () => {
        let world: World;
        let site: Site;
        let ada: Person;
        let arrivals: { host: string; path: string; at: number }[] = [];
        let began = 0;

        before(async () => {
            site = await openSite((request, response) => {
                arrivals.push({ host: (request.headers.host ?? '').replace(/:\d+$/, ''), path: request.url ?? '', at: performance.now() });
                const page = Number(new URL(request.url ?? '', 'http://site.invalid').searchParams.get('page') ?? 9);
                response.setHeader('content-type', 'application/json').end(JSON.stringify(page > 3 ? [] : [page]));
            });
            const names = ['slow', 'slower', 'prepared', 'walked', 'late', 'changing', 'batched'];
            const hosts = names.flatMap((name) => ['', 'api.', 'other.', 'sister.'].map((label) => `${label}${name}.test`));
            world = await openWorld({ topology, workers: 2, config: { egressHosts: new Map(hosts.map((host) => [host, ['127.0.0.1']])) } });
            ada = await join(world, { plan: 'enterprise', credits: 10_000 });
        });

        beforeEach(() => begin());

        function begin(): void {
            arrivals = [];
            began = performance.now();
        }

        after(async () => {
            await world.close();
            await site.close();
        });

        const endpoint = (name: string, host: string, more: Partial<PackageEndpoint> = {}): PackageEndpoint => ({
            name,
            method: 'GET',
            url: `http://${host}:${site.port}/${name}`,
            ...more,
        });

        async function publish(name: string, pace: number | undefined, ...endpoints: PackageEndpoint[]): Promise<void> {
            const document: PackageDocument = {
                format: 'routebook/1',
                site: name,
                title: name,
                intent_category: 'commerce',
                ...(pace === undefined ? {} : { pace: { requests_per_minute: pace } }),
                endpoints,
            };
            const published = await ada.publish(document);
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
        }

        /** Fails if a request to a host came before its turn. The first may come at once. */
        function expectTurns(host: string, everyMs: number): void {
            const times = arrivals.filter((arrival) => arrival.host === host).map(({ at }) => at - began);
            expect(times).to.have.length.above(1);
            for (const [place, time] of times.entries()) expect(time, `request ${place + 1}`).to.be.at.least(place * everyMs - EARLY_MS);
        }

        const succeeded = (answers: readonly Answer[]) => expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));

        it('applies to all callers of a host together, and hosts do not wait for one another', async () => {
            await publish('slow.test', 60, endpoint('one', 'api.slow.test'), endpoint('two', 'other.slow.test'));
            const bob = await join(world, { plan: 'pro' });
            const calls = [ada, bob, ada, bob].map((person) => person.fetch('slow.test', 'one'));
            succeeded(await Promise.all([...calls, ada.fetch('slow.test', 'two')]));
            expectTurns('api.slow.test', 1000);
            const last = arrivals.findLast(({ host }) => host === 'api.slow.test');
            expect(arrivals.find(({ host }) => host === 'other.slow.test')?.at).to.be.below(last?.at ?? 0);
        });

        it('is the lowest of the packages of a domain that name the host', async () => {
            await publish('slower.test', 6000, endpoint('one', 'api.slower.test'));
            await publish('sister.slower.test', 240, endpoint('one', 'api.slower.test'));
            succeeded(await Promise.all(['slower.test', 'sister.slower.test', 'slower.test'].map((name) => ada.fetch(name, 'one'))));
            expectTurns('api.slower.test', 250);
        });

        it('counts the page of prepare and each page of a paginated fetch', async () => {
            const prepare = { url: `http://prepared.test:${site.port}/first` };
            await publish('prepared.test', 400, endpoint('one', 'prepared.test', { prepare }));
            succeeded([await ada.fetch('prepared.test', 'one')]);
            expect(arrivals.map(({ path }) => path)).to.deep.equal(['/first', '/one']);
            expectTurns('prepared.test', 150);

            begin();
            await publish('walked.test', 400, endpoint('all', 'walked.test', { kind: 'paginate', pagination: { param: 'page' } }));
            const walked = await ada.fetch('walked.test', 'all');
            expect(walked.body['data']).to.deep.equal({ items: [1, 2, 3] });
            expectTurns('walked.test', 150);
        });

        it('is SITE_UNAVAILABLE if there is no turn in time, free of charge and never sent', async () => {
            await publish('late.test', 1, endpoint('one', 'late.test'));
            succeeded([await ada.fetch('late.test', 'one')]);
            const refused = await ada.fetch('late.test', 'one', {}, { timeout_ms: 1000 });
            expect([refused.status, (refused.body['error'] as { code: string }).code]).to.deep.equal([503, 'SITE_UNAVAILABLE']);
            expect(refused.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
            expect(arrivals).to.have.length(1);
        });

        it('applies to a batch, which reserves no turns: a concurrent live call gets the next one', async () => {
            await publish('batched.test', 300, endpoint('one', 'batched.test'));
            const usedToday = async () => {
                const { limits } = dataOf<{ limits: { limit: number; remaining: number }[] }>(await ada.call('GET', '/v1/account'));
                return (limits[2]?.limit ?? 0) - (limits[2]?.remaining ?? 0);
            };
            const before = await usedToday();
            const body = { defaults: { site: 'batched.test', endpoint: 'one' }, items: Array.from({ length: 20 }, () => ({})) };
            const { batch_id: id } = dataOf<{ batch_id: string }>(await ada.call('POST', '/v1/batches', { body }));
            const read = async (wait: number) =>
                dataOf<{ status: string; counts: Record<string, number> }>(await ada.call('GET', `/v1/batches/${id}?wait=${wait}`));
            await eventually(
                async () => arrivals.length,
                (count) => count >= 2,
                20_000,
            );
            succeeded([await ada.fetch('batched.test', 'one')]);
            // Behind the batch it would have been the last of 21.
            expect(arrivals).to.have.length.below(20);
            expect((await read(30)).counts).to.deep.include({ succeeded: 20 });
            expectTurns('batched.test', 200);
            // An item that waited for its turn counts once.
            expect((await usedToday()) - before).to.equal(21);
            const { rows } = await world.app.db.raw('select max(attempts)::integer as most from jobs where batch_id = ?', [id]);
            expect(rows[0].most).to.equal(1);
        });

        it('applies from the moment of publishing, and ends with the version that asked for it', async () => {
            const names = ['one', 'two'].map((name) => endpoint(name, 'changing.test'));
            const calls = () => Promise.all(names.map(({ name }) => ada.fetch('changing.test', name)));
            await publish('changing.test', undefined, ...names);
            succeeded(await calls());
            await publish('changing.test', 120, ...names);
            begin();
            succeeded(await calls());
            expectTurns('changing.test', 500);
            const yanked = await ada.call('POST', '/v1/schemas/changing.test/versions/2/yank', { body: { reason: 'broken' } });
            expect(yanked.status).to.equal(200);
            // A turn that was reserved at the old rate is still waited for.
            succeeded(await calls());
            const distance = async () => {
                begin();
                succeeded(await calls());
                return (arrivals[1]?.at ?? 0) - (arrivals[0]?.at ?? 0);
            };
            await eventually(distance, (ms) => ms < 450);
        });
    });
}
