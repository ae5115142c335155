import { expect } from 'chai';
import { NO_POLICY } from '../../shared/domain/site/site-policy.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { eventually } from '../support/eventually.ts';
import { BAZAAR, FAIR, MARKET, stall } from '../support/market.ts';
import { dataOf, INTENT } from '../support/routes.ts';
import { lackOf, scopedKey } from '../support/scopes.ts';
import { openVerifying, type Verifying } from '../support/verifying.ts';
import { TOPOLOGIES, type WorldOptions } from '../support/world.ts';

const PATIENCE_MS = 20_000;

for (const topology of TOPOLOGIES) {
    describe(`verification (${topology})`, function () {
        this.timeout(60_000);
        let v: Verifying;

        const open = async (options: WorldOptions = {}) => {
            v = await openVerifying(topology, options);
        };
        const fruit = (name = 'fruit') => stall(v.market, MARKET, name);

        afterEach(() => v.close());

        it('is earned by the examples of a published version, which nobody pays for and nothing counts', async () => {
            await open();
            const balance = async () => dataOf<{ credits: object }>(await v.ada.call('GET', '/v1/account')).credits;
            await v.publish(MARKET, [fruit(), stall(v.market, MARKET, 'bread', { kind: 'search' })]);
            const before = await balance();
            expect((await v.ended(MARKET, 1)).outcome).to.equal('passed');

            const shown = await v.card(MARKET);
            expect(shown.verified).to.equal(true);
            expect(shown).to.deep.include({ fetches_7d: 0, health: { success_rate_7d: null, p95_ms: null, last_success_at: null } });
            const looked = await v.ada.call('GET', `/v1/catalog/${MARKET}?intent=${encodeURIComponent(INTENT)}`);
            expect(looked.body['schema']).to.include({ version: 1, verified: true, verified_at: shown.verified_at });
            expect(await balance()).to.deep.equal(before);
            expect(v.market.seen.map(({ path }) => path)).to.deep.equal(['/fruit?kind=first', '/bread?kind=first']);
            const { rows } = await v.world.app.db.raw<{ rows: unknown[] }>("select from usage where kind = 'fetch'");
            expect(rows).to.have.length(0);
        });

        it('calls hosted reads that have an example, twenty of them at the most, and never a write', async () => {
            await open();
            await v.publish(MARKET, [
                stall(v.market, MARKET, 'order', { method: 'POST' }),
                stall(v.market, MARKET, 'count', { effect: 'write' }),
                stall(v.market, MARKET, 'replace', { method: 'PUT' }),
                stall(v.market, MARKET, 'asked', { method: 'POST', effect: 'read' }),
                stall(v.market, MARKET, 'abroad', { hosted: false }),
                stall(v.market, MARKET, 'plain', { examples: [] }),
                stall(v.market, MARKET, 'found', { method: 'POST', kind: 'search' }),
                stall(v.market, MARKET, 'looked_at', { method: 'HEAD', response: {} }),
                ...Array.from({ length: 22 }, (_, number) => stall(v.market, MARKET, `stall_${number}`)),
            ]);
            const { outcome } = await v.ended(MARKET, 1);
            expect(outcome).to.equal('passed');
            expect(v.stallsCalled()).to.deep.equal(['found', 'looked_at', ...Array.from({ length: 18 }, (_, number) => `stall_${number}`)]);
            expect(v.market.calls.slice(0, 2).map(({ method }) => method)).to.deep.equal(['POST', 'HEAD']);
        });

        it('keeps the pace that the package asks for', async () => {
            await open();
            const stalls = ['apples', 'pears', 'plums'].map((name) => fruit(name));
            await v.publish(MARKET, stalls, { pace: { requests_per_minute: 200 } });
            expect((await v.ended(MARKET, 1)).outcome).to.equal('passed');
            const times = v.market.calls.map(({ at }) => at);
            for (const [place, at] of times.slice(1).entries()) expect(at - (times[place] ?? 0)).to.be.at.least(285);
        });

        it('lets a key that only reads call the POST that was called, in that version, and no other one', async () => {
            await open();
            const { world, market, ada } = v;
            const reader = await scopedKey(world, ada, { effects: ['read'] });
            const post = (name: string, more: object = {}) => stall(market, MARKET, name, { method: 'POST', effect: 'read', ...more });
            const lack = async (endpoint: string) => lackOf(await reader.fetch(MARKET, endpoint, { kind: 'x' }, { dry_run: true }));
            const endpoints = [fruit(), post('found', { kind: 'search' }), post('asked'), post('bare', { kind: 'search', examples: [] })];
            const version = await v.publish(MARKET, endpoints);
            expect(await lack('found'), 'before anything was called').to.equal('effects: write');
            await v.ended(MARKET, 1);
            expect((await v.card(MARKET)).verified).to.equal(true);
            expect(await lack('found')).to.equal(undefined);
            for (const never of ['asked', 'bare']) expect(await lack(never), never).to.equal('effects: write');
            await v.publish(MARKET, [...endpoints, fruit('bread')]);
            expect(await lack('found'), 'in a newer version').to.equal('effects: write');
            const named = await reader.fetch(MARKET, 'found', { kind: 'x' }, { version, dry_run: true });
            expect(lackOf(named), 'in that version').to.equal(undefined);
        });

        it('sends no POST to a site whose owner allows no writes', async () => {
            await open();
            const { app } = v.world;
            await app.db.raw('insert into domains (registrable) values (?)', [MARKET]);
            await setPolicy(app.db, MARKET, { ...NO_POLICY, writes: false });
            await v.publish(MARKET, [stall(v.market, MARKET, 'found', { method: 'POST', kind: 'search' }), fruit()]);
            await v.ended(MARKET, 1);
            expect(v.stallsCalled()).to.not.include('found');
            expect((await v.card(MARKET)).verified).to.equal(false);
        });

        it('comes to every endpoint of a large package in turn, and back to what failed', async () => {
            await open();
            const names = Array.from({ length: 35 }, (_, number) => `stall_${number}`);
            await v.publish(
                MARKET,
                names.map((name) => fruit(name)),
            );
            const runsTo = async (run: number) => {
                const before = v.stallsCalled().length;
                if (run > 1) await v.world.clock.advance({ days: 1 });
                const { outcome } = await v.ended(MARKET, run);
                const { verified } = await v.card(MARKET);
                return { outcome, verified, called: v.stallsCalled().slice(before) };
            };
            expect(await runsTo(1)).to.deep.equal({ outcome: 'passed', verified: true, called: names.slice(0, 20) });
            expect(await runsTo(2)).to.deep.equal({ outcome: 'passed', verified: true, called: names.slice(10, 30) });
            v.market.changed.add('stall_34');
            expect(await runsTo(3)).to.deep.include({ outcome: 'failed', verified: true });
            expect(new Set(v.stallsCalled())).to.have.keys(names);
            for (const [run, verified] of [
                [4, true],
                [5, false],
            ] as const) {
                const { called, ...how } = await runsTo(run);
                expect(how).to.deep.equal({ outcome: 'failed', verified });
                expect(called[0]).to.equal('stall_34');
                expect(called).to.have.length(20);
            }
        });

        it('calls nobody where there is no example, and never verifies that', async () => {
            await open();
            await v.publish(MARKET, [stall(v.market, MARKET, 'fruit', { examples: [] })]);
            expect(await v.ended(MARKET, 1)).to.include({ outcome: 'nothing', domainWaitS: 0 });
            expect(await v.card(MARKET)).to.include({ verified: false, verified_at: null });
            expect((await v.admin('schema', 'verify', MARKET)).json).to.deep.include({
                outcome: 'nothing',
                verified: false,
                endpoints: [],
            });
            expect(v.market.calls).to.have.length(0);
        });

        it('is repeated each day, and lost with the third failure in a row, until it passes again', async () => {
            await open();
            await v.publish(MARKET, [fruit(), fruit('bread')]);
            await v.ended(MARKET, 1);
            const first = (await v.card(MARKET)).verified_at ?? '';
            await v.world.clock.advance({ days: 1 });
            await v.ended(MARKET, 2);
            const second = (await v.card(MARKET)).verified_at ?? '';
            expect(Date.parse(second) - Date.parse(first)).to.be.within(86_400_000, 86_400_000 + PATIENCE_MS);

            v.market.changed.add('bread');
            for (const [run, verified] of [
                [3, true],
                [4, true],
                [5, false],
                [6, false],
            ] as const) {
                await v.world.clock.advance({ days: 1 });
                const { outcome, findings } = await v.ended(MARKET, run);
                expect(outcome).to.equal('failed');
                expect(findings.map(({ name, code }) => [name, code])).to.deep.equal([
                    ['fruit', null],
                    ['bread', 'UPSTREAM_INVALID_RESPONSE'],
                ]);
                expect(await v.card(MARKET), `run ${run}`).to.include({ verified, verified_at: verified ? second : null });
            }
            expect((await v.admin('site', 'show', MARKET)).json['sites']).to.deep.equal([
                { site: MARKET, latest: 1, versions: 1, verified: false, drift: true },
            ]);
            expect((await v.admin('schema', 'verify', MARKET)).json).to.include({ drift: true, failures_in_a_row: 4 });
            const told = v.world.logged.filter(({ message }) => String(message).startsWith('a schema drifted'));
            expect(told).to.have.length(1);
            expect(told[0]).to.deep.include({ site: MARKET, version: 1, missed: ['bread UPSTREAM_INVALID_RESPONSE'] });
            const metrics = await (await fetch(`${v.world.base}/metrics`)).text();
            expect(metrics).to.include('routebook_schemas_drifted 1').and.include('routebook_verification_runs_total{outcome="failed"} 4');

            v.market.changed.clear();
            await v.world.clock.advance({ days: 1 });
            await v.ended(MARKET, 7);
            expect((await v.card(MARKET)).verified).to.equal(true);
            expect((await v.admin('site', 'show', MARKET)).json['sites']).to.deep.equal([
                { site: MARKET, latest: 1, versions: 1, verified: true, drift: false },
            ]);
        });

        it('counts only failures in a row', async () => {
            await open();
            await v.publish(MARKET, [fruit()]);
            await v.ended(MARKET, 1);
            for (const [index, status] of [404, 500, 200, 404, 404].entries()) {
                v.market.closed.set('fruit', status);
                await v.world.clock.advance({ days: 1 });
                await v.ended(MARKET, 2 + index);
                expect((await v.card(MARKET)).verified).to.equal(true);
            }
        });

        it('has to be earned anew by each version, ten minutes after the last run of the domain at the earliest', async () => {
            await open();
            await v.publish(MARKET, [fruit()]);
            await v.ended(MARKET, 1);
            expect(await v.publish(MARKET, [fruit('bread')])).to.equal(2);
            expect((await v.card(MARKET)).verified).to.equal(false);
            await v.publish(FAIR, [stall(v.market, FAIR, 'rides')]);
            await v.nothingIsDue();
            expect((await v.state(MARKET)).run).to.equal(1);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(MARKET, 2);
            expect((await v.card(MARKET)).verified).to.equal(true);
            await v.nothingIsDue();
            expect((await v.state(FAIR)).run).to.equal(0);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(FAIR, 1);
            expect((await v.card(FAIR)).verified).to.equal(true);
            expect(v.stallsCalled()).to.deep.equal(['fruit', 'bread', 'rides']);
        });

        it('goes back to the version that is the latest once the one above it was yanked', async () => {
            await open();
            await v.publish(MARKET, [fruit()]);
            await v.ended(MARKET, 1);
            await v.publish(MARKET, [fruit('bread')]);
            await v.admin('schema', 'yank', MARKET, '2', '--reason', 'broken');
            expect((await v.card(MARKET)).verified).to.equal(true);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(MARKET, 2);
            expect(v.stallsCalled()).to.deep.equal(['fruit', 'fruit']);
        });

        it('says nothing where the site limits us, and tries again after 10 minutes, then after 20', async () => {
            await open();
            v.market.closed.set('fruit', 429);
            await v.publish(MARKET, [fruit(), fruit('bread')]);
            expect((await v.ended(MARKET, 1)).outcome).to.equal('undecided');
            expect(v.stallsCalled()).not.to.include('bread');
            await v.world.clock.advance({ minutes: 10 });
            expect((await v.ended(MARKET, 2)).outcome).to.equal('undecided');
            await v.world.clock.advance({ minutes: 19 });
            await v.nothingIsDue();
            expect((await v.state(MARKET)).run).to.equal(2);
            v.market.closed.clear();
            await v.world.clock.advance({ minutes: 1 });
            expect((await v.ended(MARKET, 3)).outcome).to.equal('passed');
            expect((await v.card(MARKET)).verified).to.equal(true);
        });

        it('is made by one of several workers', async () => {
            await open({ workers: 3 });
            const names = ['fruit', 'bread', 'cheese', 'fish'];
            await v.publish(
                MARKET,
                names.map((name) => fruit(name)),
            );
            await v.ended(MARKET, 1);
            await v.nothingIsDue();
            expect((await v.state(MARKET)).run).to.equal(1);
            expect(v.stallsCalled()).to.deep.equal(names);
        });

        it('calls a site once a second', async () => {
            await open({ verifier: { lookMs: 20 } });
            await v.publish(
                MARKET,
                ['fruit', 'bread', 'cheese'].map((name) => fruit(name)),
            );
            await v.ended(MARKET, 1);
            const times = v.market.calls.map(({ at }) => at);
            expect(times).to.have.length(3);
            for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).to.be.at.least(1000);
        });

        it('waits while callers fill the share of the site', async () => {
            await open();
            await v.admin('site', 'set', MARKET, '--concurrency', '1');
            await v.publish(MARKET, [stall(v.market, MARKET, 'held', { examples: [] })]);
            await v.ended(MARKET, 1);
            const held = v.ada.fetch(MARKET, 'held', { kind: 'any' });
            await v.market.waiting(1);
            await v.publish(MARKET, [fruit()]);
            await eventually(
                () => v.state(MARKET),
                ({ run }) => run === 2,
                PATIENCE_MS,
            );
            v.market.letGo();
            expect((await held).status).to.equal(200);
            expect((await v.ended(MARKET, 2)).outcome).to.equal('passed');
            expect(v.stallsCalled()).to.deep.equal(['held', 'fruit']);
        });

        it('belongs to the version that was called, also where a newer one is published meanwhile', async () => {
            await open();
            await v.publish(MARKET, [stall(v.market, MARKET, 'held')]);
            await v.market.waiting(1);
            await v.publish(MARKET, [fruit()]);
            v.market.letGo();
            expect((await v.ended(MARKET, 1)).outcome).to.equal('passed');
            expect((await v.card(MARKET)).verified).to.equal(false);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(MARKET, 2);
            expect((await v.card(MARKET)).verified).to.equal(true);
            expect(v.stallsCalled()).to.deep.equal(['held', 'fruit']);
        });

        it('lets callers pass', async () => {
            await open({ config: { workerConcurrency: 1 } });
            await v.publish(BAZAAR, [
                stall(v.market, BAZAAR, 'held', { examples: [] }),
                stall(v.market, BAZAAR, 'spices', { examples: [] }),
            ]);
            await v.ended(BAZAAR, 1);
            const first = v.ada.fetch(BAZAAR, 'held', { kind: 'any' });
            await v.market.waiting(1);
            await v.publish(MARKET, [fruit()]);
            const waiting = (jobs: number) =>
                eventually(
                    () => v.world.app.queue.counts(),
                    (counts) => counts.waiting === jobs,
                    PATIENCE_MS,
                );
            await waiting(1);
            const second = v.ada.fetch(BAZAAR, 'spices', { kind: 'any' });
            await waiting(2);
            v.market.letGo();
            for (const { status } of await Promise.all([first, second])) expect(status).to.equal(200);
            expect((await v.ended(MARKET, 1)).outcome).to.equal('passed');
            expect(v.stallsCalled()).to.deep.equal(['held', 'spices', 'fruit']);
        });
    });
}
