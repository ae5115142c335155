import { expect } from 'chai';
import type { PackageDocument } from '../../shared/domain/types.ts';
import * as sites from '../../shared/store/registry/sites.ts';
import { eventually } from '../support/eventually.ts';
import { type FlakySite, flakyPackage, openFlakySite, says } from '../support/flaky-site.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf } from '../support/routes.ts';
import { isWhole } from '../support/sample.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const NAMES = [
    'flaky.test',
    'calm.test',
    'picky.test',
    'slow.test',
    'hung.test',
    'awaited.test',
    'hosts.test',
    'api.hosts.test',
    'paced.test',
] as const;
const HOSTS: ReadonlyMap<string, readonly string[]> = new Map(NAMES.map((name) => [name, ['127.0.0.1']]));
/** A site whose package calls two hosts: its own, and one for an endpoint and a first step. */
function twoHosts(ownPort: number, apiPort: number): PackageDocument {
    const remote = `http://api.hosts.test:${apiPort}/thing`;
    const own = `http://hosts.test:${ownPort}/thing`;
    return flakyPackage('hosts.test', ownPort, {
        endpoints: [
            { name: 'thing', method: 'GET', url: own },
            { name: 'remote', method: 'GET', url: remote },
            { name: 'staged', method: 'GET', url: own, prepare: { url: remote } },
        ],
    });
}

const errorOf = ({ body }: Answer) => body['error'] as Record<string, unknown>;

for (const topology of ANY_TOPOLOGY) {
    describe(`fetches of failing sites, with circuits in ${topology}`, () => {
        let world: World;
        let elsewhere: string;
        let flaky: FlakySite;
        let calm: FlakySite;
        let ada: Person;
        let bob: Person;

        before(async () => {
            [flaky, calm] = [await openFlakySite(), await openFlakySite()];
            world = await openWorld({ topology, config: { egressHosts: HOSTS, workerConcurrency: 100 } });
            elsewhere = (await world.openAnotherApi()).base;
            const plenty = { perMinute: 100_000, perHour: 100_000, perDay: 100_000, concurrency: 200 };
            ada = await join(world, { plan: 'enterprise', overrides: plenty });
            bob = await join(world, { plan: 'enterprise', overrides: plenty });
            for (const name of NAMES.filter((name) => name !== 'api.hosts.test')) {
                const published = await ada.publish(
                    name === 'hosts.test'
                        ? twoHosts(calm.port, flaky.port)
                        : flakyPackage(name, name === 'calm.test' ? calm.port : flaky.port),
                );
                expect(published.status, JSON.stringify(published.body)).to.equal(201);
            }
        });
        beforeEach(() => {
            flaky.behaviour = 'well';
            flaky.arrivals.length = 0;
        });
        after(async () => {
            flaky.letGo();
            await world.close();
            await flaky.close();
            await calm.close();
        });

        const things = (site: string, count: number, who = ada) =>
            Promise.all(Array.from({ length: count }, () => who.fetch(site, 'thing')));
        const codes = (answers: Answer[]) => [...new Set(answers.map((answer) => codeOf(answer) ?? 'success'))].sort();
        const at = (base: string, site: string) => bob.call('POST', '/v1/fetch', { body: { site, endpoint: 'thing', params: {} }, base });
        const circuitIn = async (base: string) => {
            const text = await (await fetch(`${base}/metrics`)).text();
            return /routebook_site_circuit_open\{site="flaky.test"\} (\d)/.exec(text)?.[1];
        };

        it('are refused with the remaining time after a site failed, are free, never reach it, and do not affect other sites', async () => {
            flaky.behaviour = says(500);
            expect(codes(await things('flaky.test', 20))).to.deep.equal(['UPSTREAM_STATUS']);
            await world.app.circuits.flush();
            flaky.arrivals.length = 0;
            const before = (await bob.fetch('calm.test', 'thing')).body['meta'] as { credits_remaining: number };
            const refused = await bob.fetch('flaky.test', 'thing');
            expect(refused.status).to.equal(503);
            expect(errorOf(refused)).to.include({ code: 'SITE_UNAVAILABLE', fault: 'upstream', retryable: true });
            expect(errorOf(refused)['retry_after']).to.be.within(4, 5);
            expect(refused.headers.get('retry-after')).to.equal(String(errorOf(refused)['retry_after']));
            expect(refused.headers.get('ratelimit')).to.be.a('string', 'it was counted');
            expect(refused.body['meta']).to.include({ credits_used: 0 });
            expect(codes([await at(elsewhere, 'flaky.test')])).to.deep.equal(['SITE_UNAVAILABLE']);
            expect(codes([await bob.fetch('flaky.test', 'order')])).to.deep.equal(['SITE_UNAVAILABLE']);
            expect(codes(await things('calm.test', 20, bob))).to.deep.equal(['success']);
            expect(flaky.arrivals).to.have.lengthOf(0);
            const after = (await bob.fetch('calm.test', 'thing')).body['meta'] as { credits_remaining: number };
            expect(after.credits_remaining).to.equal(before.credits_remaining - 21);
            expect([await circuitIn(world.base), await circuitIn(elsewhere)]).to.deep.equal(['1', '1']);
        });

        it('are refused for their own mistakes first while the circuit is open', async () => {
            expect(codes([await bob.fetch('flaky.test', 'nothing')])).to.deep.equal(['ENDPOINT_NOT_FOUND']);
            expect(codes([await bob.fetch('flaky.test', 'thing', { odd: 1 })])).to.deep.equal(['INVALID_PARAMS']);
            expect((await bob.fetch('flaky.test', 'thing', {}, { dry_run: true })).status).to.equal(200);
        });

        it('let one of 50 through after that time, over two processes, and all of them once that one succeeded', async () => {
            await world.clock.advance({ seconds: 5 });
            flaky.behaviour = 'hangs';
            const answers: Answer[] = [];
            const crowd = Array.from({ length: 50 }, (_, call) =>
                at(call % 2 === 0 ? world.base : elsewhere, 'flaky.test').then((answer) => answers.push(answer)),
            );
            await flaky.hanging(1);
            await eventually(
                async () => answers.length,
                (length) => length === 49,
                8000,
            );
            expect(codes(answers)).to.deep.equal(['SITE_UNAVAILABLE']);
            expect(errorOf(answers[0] as Answer)['retry_after']).to.equal(1);
            expect(flaky.arrivals).to.have.lengthOf(1);
            flaky.behaviour = 'well';
            flaky.letGo();
            await Promise.all(crowd);
            await eventually(
                () => circuitIn(elsewhere),
                (value) => value === '0',
            );
            expect(codes(await things('flaky.test', 10))).to.deep.equal(['success']);
        });

        it('open the circuit again after each failed probe, for twice as long, and close it with the first success', async () => {
            flaky.behaviour = says(500);
            await things('flaky.test', 20);
            await world.app.circuits.flush();
            await world.clock.advance({ seconds: 5 });
            expect(codes([await ada.fetch('flaky.test', 'thing')])).to.deep.equal(['UPSTREAM_STATUS']);
            await world.app.circuits.flush();
            const refused = await ada.fetch('flaky.test', 'thing');
            expect(errorOf(refused)).to.include({ code: 'SITE_UNAVAILABLE' });
            expect(errorOf(refused)['retry_after']).to.be.within(9, 10);
            await world.clock.advance({ seconds: 10 });
            flaky.behaviour = 'well';
            expect(codes([await ada.fetch('flaky.test', 'thing')])).to.deep.equal(['success']);
            await world.app.circuits.flush();
            expect(codes(await things('flaky.test', 10))).to.deep.equal(['success']);
            await eventually(
                () => circuitIn(elsewhere),
                (value) => value === '0',
            );
            const said = world.logged.filter(({ part }) => part === 'circuit').map(({ message }) => message);
            expect(said).to.include('the circuit of a host opened').and.include('the circuit of a host closed');
        });

        it('are stopped if they start at a failing host, also with their first step; other calls of the site are not', async () => {
            const callEach = async () =>
                Promise.all(
                    ['thing', 'remote', 'staged'].map(async (endpoint) => codeOf(await bob.fetch('hosts.test', endpoint)) ?? 'success'),
                );
            flaky.behaviour = says(500);
            await Promise.all(Array.from({ length: 20 }, () => ada.fetch('hosts.test', 'remote')));
            await world.app.circuits.flush();
            expect(await callEach()).to.deep.equal(['success', 'SITE_UNAVAILABLE', 'SITE_UNAVAILABLE']);
            await eventually(
                async () => (await fetch(`${world.base}/metrics`)).text(),
                (text) => text.includes('routebook_site_circuit_open{site="hosts.test"} 1'),
            );
            await world.clock.advance({ seconds: 5 });
            flaky.behaviour = 'well';
            expect(codeOf(await bob.fetch('hosts.test', 'staged'))).to.equal(undefined);
            await world.app.circuits.flush();
            expect(await callEach()).to.deep.equal(['success', 'success', 'success']);
        });

        it('leave the probe to the next caller if their own account cannot pay', async () => {
            flaky.behaviour = says(500);
            await things('flaky.test', 20);
            await world.app.circuits.flush();
            await world.clock.advance({ seconds: 5 });
            flaky.behaviour = 'well';
            const poor = await join(world, { overrides: { allowance: 0 } });
            expect(codes([await poor.fetch('flaky.test', 'thing')])).to.deep.equal(['INSUFFICIENT_CREDITS']);
            await world.app.circuits.flush();
            expect(codes([await ada.fetch('flaky.test', 'thing')])).to.deep.equal(['success']);
        });

        it('never open a circuit with 4xx responses or with timeouts of short deadlines', async () => {
            flaky.behaviour = says(404);
            expect(codes(await things('picky.test', 30))).to.deep.equal(['UPSTREAM_STATUS']);
            flaky.behaviour = 'hangs';
            const received = new Set<string>();
            // So few at once that even a busy machine keeps up.
            for (let round = 0; round < 3; round++) {
                const hurried = Array.from({ length: 10 }, () => ada.fetch('picky.test', 'thing', {}, { timeout_ms: 2000 }));
                for (const code of codes(await Promise.all(hurried))) received.add(code);
            }
            expect([...received]).not.to.include('SITE_UNAVAILABLE');
            // With PostgreSQL as the queue, the deadline of callers on a busy machine may pass first.
            if (topology === 'redis') expect([...received]).to.include('UPSTREAM_TIMEOUT');
            await world.app.circuits.flush();
            flaky.behaviour = 'well';
            expect(codes(await things('picky.test', 3))).to.deep.equal(['success']);
        });

        // With PostgreSQL as the queue, the deadline on a busy machine may pass before the worker reports the timeout.
        if (topology === 'redis') {
            it('open a circuit with timeouts of calls that had ten seconds', async () => {
                flaky.behaviour = 'hangs';
                const callAndLook = async () => {
                    const patient = Array.from({ length: 20 }, () => ada.fetch('awaited.test', 'thing', {}, { timeout_ms: 10_000 }));
                    expect(codes(await Promise.all(patient)))
                        .to.include.members(isWhole ? ['UPSTREAM_TIMEOUT'] : [])
                        .and.not.include('success');
                    await world.app.circuits.flush();
                    return codeOf(await bob.fetch('awaited.test', 'thing', {}, { timeout_ms: 1000 }));
                };
                // On a busy machine, some deadlines pass first. Those count for no site.
                await eventually(callAndLook, (code) => code === 'SITE_UNAVAILABLE', 120_000);
            });
        }

        it('of a hanging site leave the other sites working', async () => {
            flaky.behaviour = 'hangs';
            const stuck: Promise<Answer>[] = [];
            const send = (count: number) => {
                for (let one = 0; one < count; one++) stuck.push(ada.fetch('hung.test', 'thing', {}, { timeout_ms: 60_000 }));
            };
            // Ten at a time, so that even a busy machine keeps up.
            for (let hanging = 10; hanging <= 50; hanging += 10) {
                send(10);
                await flaky.hanging(hanging);
            }
            send(30);
            expect(codes(await things('calm.test', 40, bob))).to.deep.equal(['success']);
            flaky.letGo();
            // A busy machine may refuse some of them itself.
            expect(codes(await Promise.all(stuck)).filter((code) => code !== 'OVERLOADED')).to.deep.equal(['SITE_BUSY', 'success']);
        });

        it('wait for their turn if an operator set a rate, and are refused if none comes in time', async () => {
            await sites.setDomain(world.app.db, 'slow.test', { rate: 10 });
            expect(codes(await things('slow.test', 6))).to.deep.equal(['success']);
            const { arrivals } = flaky;
            expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).to.be.above(5 * 100 - (isWhole ? 60 : 250));
            await sites.setDomain(world.app.db, 'slow.test', { rate: 0.1 });
            await ada.fetch('slow.test', 'thing');
            const refused = await ada.fetch('slow.test', 'thing', {}, { timeout_ms: 2000 });
            expect(errorOf(refused)).to.include({ code: 'SITE_UNAVAILABLE', retryable: true });
            expect(errorOf(refused)['retry_after']).to.be.within(8, 10);
            expect(arrivals).to.have.lengthOf(7);
            await sites.setDomain(world.app.db, 'slow.test', { rate: null });
        });

        it('reach a host no faster than its package asks', async () => {
            const paced = flakyPackage('paced.test', flaky.port, { pace: { requests_per_minute: 300 } });
            expect((await ada.publish(paced)).status).to.equal(201);
            expect(codes(await things('paced.test', 4))).to.deep.equal(['success']);
            const { arrivals } = flaky;
            expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).to.be.above(3 * 200 - (isWhole ? 60 : 300));
        });

        it('slow down for a site that answered 429, whoever calls, and continue afterwards', async () => {
            flaky.behaviour = says(429, { 'retry-after': '1' });
            expect(codes([await ada.fetch('picky.test', 'order')])).to.deep.equal(['UPSTREAM_RATE_LIMITED']);
            const limited = flaky.arrivals[0] ?? 0;
            flaky.behaviour = 'well';
            await eventually(async () => world.logged.some(({ part, host }) => part === 'pace' && host === 'picky.test'), Boolean);
            const answers = await Promise.all([at(elsewhere, 'picky.test'), ada.fetch('picky.test', 'thing')]);
            expect(codes(answers)).to.deep.equal(['success']);
            const [, first = 0, second = 0] = flaky.arrivals;
            expect(first - limited).to.be.above(900);
            expect(second - (isWhole ? first : limited)).to.be.above(isWhole ? 40 : 1000);
            expect(codes([await bob.fetch('calm.test', 'thing')])).to.deep.equal(['success']);
        });

        it('report a bot challenge as such, whatever status it has', async () => {
            const html = { 'content-type': 'text/html' };
            const wall = '<html><head><title>Just a moment...</title></head><body><form id="challenge-form"></form></body></html>';
            for (const status of [403, 503, 200]) {
                flaky.behaviour = says(status, html, wall);
                const answer = await ada.fetch('picky.test', 'thing');
                expect(errorOf(answer), String(status)).to.include({ code: 'UPSTREAM_BLOCKED', fault: 'upstream', retryable: false });
                expect(errorOf(answer)['message']).to.include('Cloudflare');
            }
            flaky.behaviour = says(403, html, '<html><head><title>Forbidden</title></head><body>Forbidden</body></html>');
            expect(codes([await ada.fetch('picky.test', 'thing')])).to.deep.equal(['UPSTREAM_STATUS']);
        });
    });
}
