import { expect } from 'chai';
import { openSiteGuards, type SiteGuards } from '../../shared/coordination/circuits/circuits.ts';
import { openDb } from '../../shared/platform/db.ts';
import { silent } from '../queue/jobs.ts';
import { leastLeft } from '../support/eventually.ts';
import { type CircuitFixture, openCircuitFixture } from './circuit-fixture.ts';

describe('the circuits of hosts', () => {
    let fixture: CircuitFixture;
    let serial = 0;

    before(async () => {
        fixture = await openCircuitFixture();
    });
    after(() => fixture.remove());

    async function end(host: string, { passed = 0, failed = 0 }, { circuits }: SiteGuards = fixture.one): Promise<void> {
        for (let call = 0; call < passed; call++) circuits.ended(host, 'passed');
        for (let call = 0; call < failed; call++) circuits.ended(host, 'failed');
        await circuits.flush();
    }

    async function openedHost(): Promise<string> {
        const host = fixture.newHost();
        await end(host, { failed: 20 });
        return host;
    }

    /** Becomes the probe of a host whose waiting time is over; fails the test if another caller is the probe. */
    async function probe(host: string, lifeMs = 30_000): Promise<string> {
        const operation = `op_${++serial}`;
        expect(await fixture.one.circuits.takeProbe(host, operation, lifeMs)).to.deep.equal({ ok: true, isProbe: true });
        return operation;
    }

    async function endProbe(host: string, operation: string, verdict: 'passed' | 'failed' | 'none'): Promise<void> {
        fixture.one.circuits.ended(host, verdict, operation);
        await fixture.one.circuits.flush();
    }

    /** Milliseconds to wait; 0: a probe is needed; undefined: the circuit is closed. */
    const waitOf = async (host: string) => {
        const { openMs, halfOpen } = await fixture.guardState(host);
        return openMs > 0 ? openMs : halfOpen.includes(host) ? 0 : undefined;
    };

    it('stay closed below 20 fetches, however many of them fail', async () => {
        const host = fixture.newHost();
        await end(host, { failed: 19 });
        expect(await waitOf(host)).to.equal(undefined);
        await end(host, { failed: 1 });
        expect(await waitOf(host)).to.be.within(leastLeft(4000), 5000);
    });

    it('stay closed while at most half fail, and open with one more', async () => {
        const host = fixture.newHost();
        await end(host, { passed: 15, failed: 15 });
        expect(await waitOf(host)).to.equal(undefined);
        await end(host, { failed: 1 });
        expect(await waitOf(host)).to.be.within(leastLeft(4000), 5000);
    });

    it('count the fetches of several processes together', async () => {
        const host = fixture.newHost();
        await end(host, { passed: 9, failed: 5 }, fixture.one);
        await end(host, { failed: 5 }, fixture.two);
        expect(await waitOf(host)).to.equal(undefined);
        await end(host, { failed: 1 }, fixture.two);
        expect(await waitOf(host)).to.be.within(leastLeft(4000), 5000);
    });

    it('forget what ended more than 30 seconds ago', async () => {
        const host = fixture.newHost();
        await end(host, { failed: 15 });
        await fixture.advance(31);
        await end(host, { failed: 15 });
        expect(await waitOf(host)).to.equal(undefined);
    });

    it('close with one success of the probe, and then count from zero', async () => {
        const host = await openedHost();
        await fixture.advance(5);
        await endProbe(host, await probe(host), 'passed');
        expect(await waitOf(host)).to.equal(undefined);
        expect(await fixture.one.circuits.open()).to.not.include(host);
        await end(host, { failed: 19 });
        expect(await waitOf(host)).to.equal(undefined);
        await end(host, { failed: 1 });
        expect(await waitOf(host)).to.be.within(leastLeft(4000), 5000);
    });

    it('stay open twice as long after each failed probe, up to a minute', async () => {
        const host = await openedHost();
        const periods: number[] = [];
        for (let wait = 5; periods.length < 5; wait = periods.at(-1) ?? 0) {
            await fixture.advance(wait);
            await endProbe(host, await probe(host), 'failed');
            periods.push(Math.ceil(((await waitOf(host)) ?? 0) / 1000));
        }
        expect(periods).to.deep.equal([10, 20, 40, 60, 60]);
    });

    it('let another probe through when one has no verdict, and when one never reports', async () => {
        const host = await openedHost();
        await fixture.advance(5);
        await endProbe(host, await probe(host), 'none');
        expect(await waitOf(host)).to.equal(0);
        const lost = await probe(host, 2000);
        await fixture.advance(1);
        expect((await fixture.two.circuits.takeProbe(host, 'op_waiting', 1000)).ok).to.equal(false);
        await fixture.advance(1.1);
        const next = await probe(host);
        await endProbe(host, lost, 'passed');
        expect(await waitOf(host)).to.equal(1000, 'anyone who lost the slot says nothing any more');
        await endProbe(host, next, 'passed');
        expect(await waitOf(host)).to.equal(undefined);
    });

    it('ignore fetches that began before they opened', async () => {
        const host = await openedHost();
        await end(host, { passed: 50 });
        expect(await waitOf(host)).to.be.within(leastLeft(4000), 5000);
        await fixture.advance(5);
        await end(host, { failed: 50 });
        expect(await waitOf(host)).to.equal(0);
    });

    it('close by themselves after ten minutes without a probe', async () => {
        const host = await openedHost();
        await fixture.advance(606);
        expect(await waitOf(host)).to.equal(undefined);
        expect(await fixture.one.circuits.open()).to.not.include(host);
        expect(await fixture.one.circuits.takeProbe(host, 'op_late', 1000)).to.deep.equal({ ok: true, isProbe: false });
        await end(host, { failed: 20 });
        expect(await waitOf(host)).to.be.within(leastLeft(4000), 5000);
    });

    it('stop a call that needs several hosts if one of them is open', async () => {
        const [host, other] = [await openedHost(), await openedHost()];
        const state = () => fixture.one.circuits.look([fixture.newHost(), host, other], { versionId: 0, endpoint: 'any' });
        expect((await state()).openMs).to.be.within(leastLeft(4000), 5000);
        await fixture.advance(5);
        expect(await state()).to.deep.include({ openMs: 0, halfOpen: [host, other] });
    });
});

describe('the circuits of hosts when their store is down', () => {
    it('count as closed', async () => {
        const db = openDb({ url: 'postgres://nobody@127.0.0.1:1/none' });
        const guards = openSiteGuards({ db, clock: { offsetMs: 0 }, log: silent });
        for (let call = 0; call < 30; call++) guards.circuits.ended('host.example', 'failed');
        guards.circuits.ended('host.example', 'failed', 'op_probe');
        await guards.circuits.flush();
        const state = await guards.circuits.look(['host.example'], { versionId: 1, endpoint: 'product' });
        expect(state).to.deep.equal({ openMs: 0, halfOpen: [], backlogMs: 0, quarantineMs: 0 });
        expect(await guards.circuits.takeProbe('host.example', 'op_1', 1000)).to.deep.equal({ ok: true, isProbe: false });
        await guards.close();
        await db.destroy();
    });
});
