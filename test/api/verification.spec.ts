import { expect } from 'chai';
import { NO_POLICY } from '../../shared/domain/site/site-policy.ts';
import { setPolicy } from '../../shared/store/registry/site-policies.ts';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { codeOf, dataOf, INTENT } from '../support/routes.ts';
import { lackOf, scopedKey } from '../support/scopes.ts';
import { OTHER_DOMAIN, page, SIBLING, SITE } from '../support/site-with-pages.ts';
import { openVerifying, type Verifying } from '../support/verifying.ts';
import { ANY_TOPOLOGY, type WorldOptions } from '../support/world.ts';

const PATIENCE_MS = 20_000;

for (const topology of ANY_TOPOLOGY) {
    describe(`verification (${topology})`, () => {
        let v: Verifying;

        const open = async (options: WorldOptions = {}) => {
            v = await openVerifying(topology, options);
        };
        const fruit = (name = 'fruit') => page(v.site, SITE, name);

        afterEach(() => v.close());

        it('runs the examples of a published version, free of charge and uncounted', async () => {
            await open();
            const balance = async () => dataOf<{ credits: object }>(await v.ada.call('GET', '/v1/account')).credits;
            await v.publish(SITE, [fruit(), page(v.site, SITE, 'bread', { kind: 'search' })]);
            const before = await balance();
            expect((await v.ended(SITE, 1)).outcome).to.equal('passed');

            const shown = await v.card(SITE);
            expect(shown.verified).to.equal(true);
            expect(shown).to.deep.include({ fetches_7d: 0, health: { success_rate_7d: null, p95_ms: null, last_success_at: null } });
            const looked = await v.ada.call('GET', `/v1/catalog/${SITE}?intent=${encodeURIComponent(INTENT)}`);
            expect(looked.body['schema']).to.include({ version: 1, verified: true, verified_at: shown.verified_at });
            expect(await balance()).to.deep.equal(before);
            expect(v.site.seen.map(({ path }) => path)).to.deep.equal(['/fruit?kind=first', '/bread?kind=first']);
            const { rows } = await v.world.app.db.raw<{ rows: unknown[] }>("select from usage where kind = 'fetch'");
            expect(rows).to.have.length(0);
        });

        it('calls hosted reads that have an example, at most twenty, and never a write', async () => {
            await open();
            await v.publish(SITE, [
                page(v.site, SITE, 'order', { method: 'POST' }),
                page(v.site, SITE, 'count', { effect: 'write' }),
                page(v.site, SITE, 'replace', { method: 'PUT' }),
                page(v.site, SITE, 'asked', { method: 'POST', effect: 'read' }),
                page(v.site, SITE, 'abroad', { hosted: false }),
                page(v.site, SITE, 'plain', { examples: [] }),
                page(v.site, SITE, 'found', { method: 'POST', kind: 'search' }),
                page(v.site, SITE, 'looked_at', { method: 'HEAD', response: {} }),
                ...Array.from({ length: 22 }, (_, number) => page(v.site, SITE, `page_${number}`)),
            ]);
            const { outcome } = await v.ended(SITE, 1);
            expect(outcome).to.equal('passed');
            expect(v.pagesCalled()).to.deep.equal([
                'asked',
                'found',
                'looked_at',
                ...Array.from({ length: 17 }, (_, number) => `page_${number}`),
            ]);
            expect(v.site.calls.slice(0, 3).map(({ method }) => method)).to.deep.equal(['POST', 'POST', 'HEAD']);
        });

        it('uses a connection only if a maintainer of the site lent it, for endpoints that need one, and counts it there', async () => {
            await open();
            const { ada, site, world } = v;
            const auth = [{ id: 'key', type: 'header' as const, name: 'X-Api-Key' }];
            const needing = (name: string) => page(site, SITE, name, { auth: 'required' });
            await v.publish(
                SITE,
                [fruit(), needing('mine')].map((one, at) => (at === 0 ? { ...one, auth: 'none' as const } : one)),
                { auth },
            );
            const connect = async (person: typeof ada, value: string) => {
                const made = await person.call('POST', '/v1/connections', { body: { site: SITE, secret: { value } } });
                return dataOf<{ connection_id: string; verify_with: boolean }>(made);
            };
            const lend = (person: typeof ada, id: string) => person.call('PATCH', `/v1/connections/${id}`, { body: { verify_with: true } });
            const stranger = await join(world, { plan: 'pro' });
            const [mine, theirs] = [await connect(ada, 'the-key-of-ada-4711'), await connect(stranger, 'the-key-of-a-stranger')];
            expect(mine.verify_with).to.equal(false);
            expect(codeOf(await lend(stranger, theirs.connection_id))).to.equal('NOT_MAINTAINER');
            await v.ended(SITE, 1);
            expect(v.pagesCalled()).to.deep.equal(['fruit']);
            await world.app.db('domains').update({ verification_began_at: null });
            expect(dataOf(await lend(ada, mine.connection_id))).to.include({ verify_with: true });
            expect((await v.ended(SITE, 2)).outcome).to.equal('passed');
            expect(v.pagesCalled()).to.deep.equal(['fruit', 'fruit', 'mine']);
            expect(site.seen.map(({ headers }) => headers['x-api-key'])).to.deep.equal([undefined, undefined, 'the-key-of-ada-4711']);
            const uses = () => ada.call('GET', '/v1/audit?action=connection.used');
            await eventually(uses, (answer) => dataOf<{ actor: string }[]>(answer).some(({ actor }) => actor === 'system'), PATIENCE_MS);
        });

        it('says nothing about the schema if the site refuses a lent credential', async () => {
            await open();
            const { ada, site } = v;
            const auth = [{ id: 'key', type: 'header' as const, name: 'X-Api-Key' }];
            await v.publish(SITE, [page(site, SITE, 'mine')], { auth });
            expect((await v.ended(SITE, 1)).outcome).to.equal('nothing');
            const made = await ada.call('POST', '/v1/connections', { body: { site: SITE, secret: { value: 'the-key-of-ada-4711' } } });
            site.closed.set('mine', 401);
            const { connection_id: id } = dataOf<{ connection_id: string }>(made);
            dataOf(await ada.call('PATCH', `/v1/connections/${id}`, { body: { verify_with: true } }));
            const { outcome, findings } = await v.ended(SITE, 2);
            expect([outcome, findings.map(({ code }) => code)]).to.deep.equal(['undecided', ['UPSTREAM_UNAUTHORIZED']]);
        });

        it('keeps the request rate that the package asks for', async () => {
            await open();
            const pages = ['apples', 'pears', 'plums'].map((name) => fruit(name));
            await v.publish(SITE, pages, { pace: { requests_per_minute: 200 } });
            expect((await v.ended(SITE, 1)).outcome).to.equal('passed');
            const times = v.site.calls.map(({ at }) => at);
            for (const [place, at] of times.slice(1).entries()) expect(at - (times[place] ?? 0)).to.be.at.least(285);
        });

        it('lets a read-only key call the verified POST, in that version, and no other one', async () => {
            await open();
            const { world, site, ada } = v;
            const reader = await scopedKey(world, ada, { effects: ['read'] });
            const post = (name: string, more: object = {}) => page(site, SITE, name, { method: 'POST', effect: 'read', ...more });
            const lack = async (endpoint: string) => lackOf(await reader.fetch(SITE, endpoint, { kind: 'x' }, { dry_run: true }));
            const endpoints = [fruit(), post('found', { kind: 'search' }), post('asked'), post('bare', { kind: 'search', examples: [] })];
            const version = await v.publish(SITE, endpoints);
            expect(await lack('found'), 'before anything was called').to.equal('effects: write');
            await v.ended(SITE, 1);
            expect((await v.card(SITE)).verified).to.equal(true);
            expect(await lack('found')).to.equal(undefined);
            expect(await lack('asked')).to.equal(undefined);
            expect(await lack('bare'), 'never called').to.equal('effects: write');
            await v.publish(SITE, [...endpoints, fruit('bread')]);
            expect(await lack('found'), 'in a newer version').to.equal('effects: write');
            const named = await reader.fetch(SITE, 'found', { kind: 'x' }, { version, dry_run: true });
            expect(lackOf(named), 'in that version').to.equal(undefined);
        });

        it('sends no POST to a site whose owner forbids writes', async () => {
            await open();
            const { app } = v.world;
            await app.db.raw('insert into domains (registrable) values (?)', [SITE]);
            await setPolicy(app.db, SITE, { ...NO_POLICY, writes: false });
            await v.publish(SITE, [page(v.site, SITE, 'found', { method: 'POST', kind: 'search' }), fruit()]);
            await v.ended(SITE, 1);
            expect(v.pagesCalled()).to.not.include('found');
            expect((await v.card(SITE)).verified).to.equal(false);
        });

        it('reaches every endpoint of a large package in turn, and returns to what failed', async () => {
            await open();
            const names = Array.from({ length: 35 }, (_, number) => `page_${number}`);
            await v.publish(
                SITE,
                names.map((name) => fruit(name)),
            );
            const runsTo = async (run: number) => {
                const before = v.pagesCalled().length;
                if (run > 1) await v.world.clock.advance({ days: 1 });
                const { outcome } = await v.ended(SITE, run);
                const { verified } = await v.card(SITE);
                return { outcome, verified, called: v.pagesCalled().slice(before) };
            };
            expect(await runsTo(1)).to.deep.equal({ outcome: 'passed', verified: true, called: names.slice(0, 20) });
            expect(await runsTo(2)).to.deep.equal({ outcome: 'passed', verified: true, called: names.slice(10, 30) });
            v.site.changed.add('page_34');
            expect(await runsTo(3)).to.deep.include({ outcome: 'failed', verified: true });
            expect(new Set(v.pagesCalled())).to.have.keys(names);
            for (const [run, verified] of [
                [4, true],
                [5, false],
            ] as const) {
                const { called, ...how } = await runsTo(run);
                expect(how).to.deep.equal({ outcome: 'failed', verified });
                expect(called[0]).to.equal('page_34');
                expect(called).to.have.length(20);
            }
        });

        it('calls nothing without an example, and never marks that as verified', async () => {
            await open();
            await v.publish(SITE, [page(v.site, SITE, 'fruit', { examples: [] })]);
            expect(await v.ended(SITE, 1)).to.include({ outcome: 'nothing', domainWaitS: 0 });
            expect(await v.card(SITE)).to.include({ verified: false, verified_at: null });
            expect((await v.admin('schema', 'verify', SITE)).json).to.deep.include({
                outcome: 'nothing',
                verified: false,
                endpoints: [],
            });
            expect(v.site.calls).to.have.length(0);
        });

        it('is repeated each day, and lost with the third consecutive failure, until it passes again', async () => {
            await open();
            await v.publish(SITE, [fruit(), fruit('bread')]);
            await v.ended(SITE, 1);
            const first = (await v.card(SITE)).verified_at ?? '';
            await v.world.clock.advance({ days: 1 });
            await v.ended(SITE, 2);
            const second = (await v.card(SITE)).verified_at ?? '';
            expect(Date.parse(second) - Date.parse(first)).to.be.within(86_400_000, 86_400_000 + PATIENCE_MS);

            v.site.changed.add('bread');
            for (const [run, verified] of [
                [3, true],
                [4, true],
                [5, false],
                [6, false],
            ] as const) {
                await v.world.clock.advance({ days: 1 });
                const { outcome, findings } = await v.ended(SITE, run);
                expect(outcome).to.equal('failed');
                expect(findings.map(({ name, code }) => [name, code])).to.deep.equal([
                    ['fruit', null],
                    ['bread', 'UPSTREAM_INVALID_RESPONSE'],
                ]);
                expect(await v.card(SITE), `run ${run}`).to.include({ verified, verified_at: verified ? second : null });
            }
            expect((await v.admin('site', 'show', SITE)).json['sites']).to.deep.equal([
                { site: SITE, latest: 1, versions: 1, verified: false, drift: true },
            ]);
            expect((await v.admin('schema', 'verify', SITE)).json).to.include({ drift: true, failures_in_a_row: 4 });
            const warnings = v.world.logged.filter(({ message }) => String(message).startsWith('a schema drifted'));
            expect(warnings).to.have.length(1);
            expect(warnings[0]).to.deep.include({ site: SITE, version: 1, missed: ['bread UPSTREAM_INVALID_RESPONSE'] });
            const metrics = await (await fetch(`${v.world.base}/metrics`)).text();
            expect(metrics).to.include('routebook_schemas_drifted 1').and.include('routebook_verification_runs_total{outcome="failed"} 4');

            v.site.changed.clear();
            await v.world.clock.advance({ days: 1 });
            await v.ended(SITE, 7);
            expect((await v.card(SITE)).verified).to.equal(true);
            expect((await v.admin('site', 'show', SITE)).json['sites']).to.deep.equal([
                { site: SITE, latest: 1, versions: 1, verified: true, drift: false },
            ]);
        });

        it('counts only consecutive failures', async () => {
            await open();
            await v.publish(SITE, [fruit()]);
            await v.ended(SITE, 1);
            for (const [index, status] of [404, 500, 200, 404, 404].entries()) {
                v.site.closed.set('fruit', status);
                await v.world.clock.advance({ days: 1 });
                await v.ended(SITE, 2 + index);
                expect((await v.card(SITE)).verified).to.equal(true);
            }
        });

        it('is needed again for each version, at least ten minutes after the last run of the domain', async () => {
            await open();
            await v.publish(SITE, [fruit()]);
            await v.ended(SITE, 1);
            expect(await v.publish(SITE, [fruit('bread')])).to.equal(2);
            expect((await v.card(SITE)).verified).to.equal(false);
            await v.publish(SIBLING, [page(v.site, SIBLING, 'rides')]);
            await v.nothingIsDue();
            expect((await v.state(SITE)).run).to.equal(1);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(SITE, 2);
            expect((await v.card(SITE)).verified).to.equal(true);
            await v.nothingIsDue();
            expect((await v.state(SIBLING)).run).to.equal(0);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(SIBLING, 1);
            expect((await v.card(SIBLING)).verified).to.equal(true);
            expect(v.pagesCalled()).to.deep.equal(['fruit', 'bread', 'rides']);
        });

        it('returns to the previous version if the latest one was yanked', async () => {
            await open();
            await v.publish(SITE, [fruit()]);
            await v.ended(SITE, 1);
            await v.publish(SITE, [fruit('bread')]);
            await v.admin('schema', 'yank', SITE, '2', '--reason', 'broken');
            expect((await v.card(SITE)).verified).to.equal(true);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(SITE, 2);
            expect(v.pagesCalled()).to.deep.equal(['fruit', 'fruit']);
        });

        it('says nothing if the site limits us, and retries after 10 minutes, then after 20', async () => {
            await open();
            v.site.closed.set('fruit', 429);
            await v.publish(SITE, [fruit(), fruit('bread')]);
            expect((await v.ended(SITE, 1)).outcome).to.equal('undecided');
            expect(v.pagesCalled()).not.to.include('bread');
            await v.world.clock.advance({ minutes: 10 });
            expect((await v.ended(SITE, 2)).outcome).to.equal('undecided');
            await v.world.clock.advance({ minutes: 19 });
            await v.nothingIsDue();
            expect((await v.state(SITE)).run).to.equal(2);
            v.site.closed.clear();
            await v.world.clock.advance({ minutes: 1 });
            expect((await v.ended(SITE, 3)).outcome).to.equal('passed');
            expect((await v.card(SITE)).verified).to.equal(true);
        });

        it('is run by one of several workers', async () => {
            await open({ workers: 3 });
            const names = ['fruit', 'bread', 'cheese', 'fish'];
            await v.publish(
                SITE,
                names.map((name) => fruit(name)),
            );
            await v.ended(SITE, 1);
            await v.nothingIsDue();
            expect((await v.state(SITE)).run).to.equal(1);
            expect(v.pagesCalled()).to.deep.equal(names);
        });

        it('calls a site once a second', async () => {
            await open({ verifier: { pollMs: 20 } });
            await v.publish(
                SITE,
                ['fruit', 'bread', 'cheese'].map((name) => fruit(name)),
            );
            await v.ended(SITE, 1);
            const times = v.site.calls.map(({ at }) => at);
            expect(times).to.have.length(3);
            for (const [index, at] of times.slice(1).entries()) expect(at - (times[index] ?? 0)).to.be.at.least(1000);
        });

        it('waits while callers use the site’s share of slots', async () => {
            await open();
            await v.admin('site', 'set', SITE, '--concurrency', '1');
            await v.publish(SITE, [page(v.site, SITE, 'held', { examples: [] })]);
            await v.ended(SITE, 1);
            const held = v.ada.fetch(SITE, 'held', { kind: 'any' });
            await v.site.waiting(1);
            await v.publish(SITE, [fruit()]);
            await eventually(
                () => v.state(SITE),
                ({ run }) => run === 2,
                PATIENCE_MS,
            );
            v.site.letGo();
            expect((await held).status).to.equal(200);
            expect((await v.ended(SITE, 2)).outcome).to.equal('passed');
            expect(v.pagesCalled()).to.deep.equal(['held', 'fruit']);
        });

        it('belongs to the version that was called, also if a newer one is published meanwhile', async () => {
            await open();
            await v.publish(SITE, [page(v.site, SITE, 'held')]);
            await v.site.waiting(1);
            await v.publish(SITE, [fruit()]);
            v.site.letGo();
            expect((await v.ended(SITE, 1)).outcome).to.equal('passed');
            expect((await v.card(SITE)).verified).to.equal(false);
            await v.world.clock.advance({ minutes: 10 });
            await v.ended(SITE, 2);
            expect((await v.card(SITE)).verified).to.equal(true);
            expect(v.pagesCalled()).to.deep.equal(['held', 'fruit']);
        });

        it('gives way to callers', async () => {
            await open({ config: { workerConcurrency: 1 } });
            await v.publish(OTHER_DOMAIN, [
                page(v.site, OTHER_DOMAIN, 'held', { examples: [] }),
                page(v.site, OTHER_DOMAIN, 'spices', { examples: [] }),
            ]);
            await v.ended(OTHER_DOMAIN, 1);
            const first = v.ada.fetch(OTHER_DOMAIN, 'held', { kind: 'any' });
            await v.site.waiting(1);
            await v.publish(SITE, [fruit()]);
            const waiting = (jobs: number) =>
                eventually(
                    () => v.world.app.queue.counts(),
                    (counts) => counts.waiting === jobs,
                    PATIENCE_MS,
                );
            await waiting(1);
            const second = v.ada.fetch(OTHER_DOMAIN, 'spices', { kind: 'any' });
            await waiting(2);
            v.site.letGo();
            for (const { status } of await Promise.all([first, second])) expect(status).to.equal(200);
            expect((await v.ended(SITE, 1)).outcome).to.equal('passed');
            expect(v.pagesCalled()).to.deep.equal(['held', 'spices', 'fruit']);
        });
    });
}
