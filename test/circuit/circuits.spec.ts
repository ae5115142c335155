import { expect } from 'chai';
import { openSiteGuards, type SiteGuards } from '../../shared/coordination/circuits/circuits.ts';
import { silent, topologies } from '../queue/queue-fixture.ts';
import { type CircuitFixture, openCircuitFixture } from './circuit-fixture.ts';

for (const topology of topologies) {
    describe(`the circuits of sites over ${topology}`, () => {
        let fixture: CircuitFixture;
        let serial = 0;

        before(async function () {
            this.timeout(30_000);
            fixture = await openCircuitFixture(topology);
        });
        after(() => fixture.remove());

        async function end(site: string, { passed = 0, failed = 0 }, { circuits }: SiteGuards = fixture.one): Promise<void> {
            for (let call = 0; call < passed; call++) circuits.ended(site, 'passed');
            for (let call = 0; call < failed; call++) circuits.ended(site, 'failed');
            await circuits.flush();
        }

        async function openedSite(): Promise<string> {
            const site = fixture.newSite();
            await end(site, { failed: 20 });
            return site;
        }

        /** Becomes the probe of a site whose time is up; fails the test where somebody else is it. */
        async function probe(site: string, lifeMs = 30_000): Promise<string> {
            const operation = `op_${++serial}`;
            expect(await fixture.one.circuits.takeProbe(site, operation, lifeMs)).to.deep.equal({ ok: true, isProbe: true });
            return operation;
        }

        async function endProbe(site: string, operation: string, verdict: 'passed' | 'failed' | 'none'): Promise<void> {
            fixture.one.circuits.ended(site, verdict, operation);
            await fixture.one.circuits.flush();
        }

        const waitOf = async (site: string) => (await fixture.guardState(site)).circuitMs;

        it('stay closed below 20 fetches, however many of them fail', async () => {
            const site = fixture.newSite();
            await end(site, { failed: 19 });
            expect(await waitOf(site)).to.equal(undefined);
            await end(site, { failed: 1 });
            expect(await waitOf(site)).to.be.within(4000, 5000);
        });

        it('stay closed while no more than half fail, and open with one more', async () => {
            const site = fixture.newSite();
            await end(site, { passed: 15, failed: 15 });
            expect(await waitOf(site)).to.equal(undefined);
            await end(site, { failed: 1 });
            expect(await waitOf(site)).to.be.within(4000, 5000);
        });

        it('count what several processes saw together', async () => {
            const site = fixture.newSite();
            await end(site, { passed: 9, failed: 5 }, fixture.one);
            await end(site, { failed: 5 }, fixture.two);
            expect(await waitOf(site)).to.equal(undefined);
            await end(site, { failed: 1 }, fixture.two);
            expect(await waitOf(site)).to.be.within(4000, 5000);
        });

        it('forget what ended more than 30 seconds ago', async () => {
            const site = fixture.newSite();
            await end(site, { failed: 15 });
            await fixture.advance(31);
            await end(site, { failed: 15 });
            expect(await waitOf(site)).to.equal(undefined);
        });

        it('open for their own site alone', async () => {
            const neighbour = fixture.newSite();
            await end(neighbour, { passed: 1, failed: 1 });
            const site = await openedSite();
            expect(await waitOf(neighbour)).to.equal(undefined);
            expect(await fixture.two.circuits.open())
                .to.include(site)
                .and.not.include(neighbour);
        });

        it('tell the time that is left, and then let exactly one of 50 through, over all processes', async () => {
            const site = await openedSite();
            await fixture.advance(3);
            expect(await waitOf(site)).to.be.within(1000, 2000);
            const early = await fixture.two.circuits.takeProbe(site, 'op_early', 1000);
            expect(early.ok ? 0 : early.waitMs).to.be.within(1000, 2000);
            await fixture.advance(2);
            expect(await waitOf(site)).to.equal(0);
            const admissions = await Promise.all(
                Array.from({ length: 50 }, (_, call) =>
                    (call % 2 === 0 ? fixture.one : fixture.two).circuits.takeProbe(site, `op_crowd_${call}`, 30_000),
                ),
            );
            expect(admissions.filter((admission) => admission.ok)).to.have.lengthOf(1);
            expect(admissions.find((admission) => !admission.ok)).to.deep.equal({ ok: false, waitMs: 1000 });
            expect(await waitOf(site)).to.equal(1000);
        });

        it('close with one success of the probe, and count from nothing then', async () => {
            const site = await openedSite();
            await fixture.advance(5);
            await endProbe(site, await probe(site), 'passed');
            expect(await waitOf(site)).to.equal(undefined);
            expect(await fixture.one.circuits.open()).to.not.include(site);
            await end(site, { failed: 19 });
            expect(await waitOf(site)).to.equal(undefined);
            await end(site, { failed: 1 });
            expect(await waitOf(site)).to.be.within(4000, 5000);
        });

        it('stay open twice as long with each probe that fails, up to a minute', async () => {
            const site = await openedSite();
            const periods: number[] = [];
            for (let wait = 5; periods.length < 5; wait = periods.at(-1) ?? 0) {
                await fixture.advance(wait);
                await endProbe(site, await probe(site), 'failed');
                periods.push(Math.ceil(((await waitOf(site)) ?? 0) / 1000));
            }
            expect(periods).to.deep.equal([10, 20, 40, 60, 60]);
        });

        it('let another probe through when one says nothing, and when one never reports', async () => {
            const site = await openedSite();
            await fixture.advance(5);
            await endProbe(site, await probe(site), 'none');
            expect(await waitOf(site)).to.equal(0);
            const lost = await probe(site, 2000);
            await fixture.advance(1);
            expect((await fixture.two.circuits.takeProbe(site, 'op_waiting', 1000)).ok).to.equal(false);
            await fixture.advance(1.1);
            const next = await probe(site);
            await endProbe(site, lost, 'passed');
            expect(await waitOf(site)).to.equal(1000, 'whoever lost the slot says nothing any more');
            await endProbe(site, next, 'passed');
            expect(await waitOf(site)).to.equal(undefined);
        });

        it('do not listen to fetches that began before they opened', async () => {
            const site = await openedSite();
            await end(site, { passed: 50 });
            expect(await waitOf(site)).to.be.within(4000, 5000);
            await fixture.advance(5);
            await end(site, { failed: 50 });
            expect(await waitOf(site)).to.equal(0);
        });

        it('close by themselves where nobody came for ten minutes', async () => {
            const site = await openedSite();
            await fixture.advance(606);
            expect(await waitOf(site)).to.equal(undefined);
            expect(await fixture.one.circuits.open()).to.not.include(site);
            expect(await fixture.one.circuits.takeProbe(site, 'op_late', 1000)).to.deep.equal({ ok: true, isProbe: false });
            await end(site, { failed: 20 });
            expect(await waitOf(site)).to.be.within(4000, 5000);
        });
    });
}

describe('the circuits of sites when their store is down', () => {
    for (const [where, redisUrl] of [
        ['redis', 'redis://127.0.0.1:1'],
        ['postgres', undefined],
    ] as const) {
        it(`count as closed (${where})`, async () => {
            const place = { databaseUrl: 'postgres://nobody@127.0.0.1:1/none', redisUrl, keyPrefix: 'circuits' };
            const guards = openSiteGuards({ ...place, clock: { offsetMs: 0 }, log: silent });
            for (let call = 0; call < 30; call++) guards.circuits.ended('site.example', 'failed');
            guards.circuits.ended('site.example', 'failed', 'op_probe');
            await guards.circuits.flush();
            expect(await guards.circuits.takeProbe('site.example', 'op_1', 1000)).to.deep.equal({ ok: true, isProbe: false });
            await guards.close();
        });
    }
});
