import { expect } from 'chai';
import type { TurnOrder } from '../../shared/coordination/circuits/circuits.ts';
import { leastLeft } from '../support/eventually.ts';
import { isWhole } from '../support/sample.ts';
import { type CircuitFixture, openCircuitFixture } from './circuit-fixture.ts';

/** @param rate requests a second to the whole domain */
const at = (host: string, rate?: number, registrable = host): TurnOrder => ({ host, registrable, rate });

describe('the turns of a host', () => {
    let fixture: CircuitFixture;

    before(async () => {
        fixture = await openCircuitFixture();
    });
    after(() => fixture.remove());

    it('come at the rate that an operator set, in whichever worker', async () => {
        const host = fixture.newHost();
        const began = performance.now();
        for (let request = 0; request < 6; request++) {
            const { turns } = request % 2 === 0 ? fixture.one : fixture.two;
            const turn = await turns.take(at(host, 2), 60_000);
            expect(turn.granted).to.equal(true);
            // A later request waits less by the time that passed.
            const late = performance.now() - began + 20;
            expect(turn.waitMs).to.be.within(Math.max(0, request * 500 - late), request * 500);
        }
    });

    it('come at the rate of a domain over all its hosts, and not faster after the pause of one', async () => {
        const domain = fixture.newHost();
        const [shop, api] = [at(`shop.${domain}`, 2, domain), at(`api.${domain}`, 2, domain)];
        await fixture.one.turns.pause(shop.host, 3000, 0);
        expect((await fixture.one.turns.take(shop, 60_000)).waitMs).to.be.within(leastLeft(2000), 3000);
        expect((await fixture.two.turns.take(api, 60_000)).waitMs).to.be.within(500 + leastLeft(2000), 3500);
        expect((await fixture.two.turns.take(api, 60_000)).waitMs).to.be.within(1000 + leastLeft(2000), 4000);
    });

    it('come at the rate that packages ask for a host, and at the rate of its domain', async () => {
        const domain = fixture.newHost();
        const shop = { ...at(`shop.${domain}`, undefined, domain), perMinute: 60 };
        const api = { ...at(`api.${domain}`, undefined, domain), perMinute: 30 };
        for (const [order, step] of [
            [shop, 1000],
            [api, 2000],
        ] as const) {
            expect((await fixture.one.turns.take(order, 0)).waitMs).to.equal(0);
            expect((await fixture.two.turns.take(order, 60_000)).waitMs).to.be.within(leastLeft(step - 500), step);
        }
        const slower = { ...shop, rate: 0.2 };
        const first = (await fixture.one.turns.take(slower, 60_000)).waitMs;
        expect((await fixture.one.turns.take(slower, 60_000)).waitMs - first).to.be.within(leastLeft(4000), 5000);
    });

    it('are not delayed by the pause of another host of the domain', async () => {
        const domain = fixture.newHost();
        await fixture.one.turns.pause(`shop.${domain}`, 5000, 0);
        expect(await fixture.two.turns.take(at(`api.${domain}`, undefined, domain), 0)).to.deep.equal({ granted: true, waitMs: 0 });
        expect((await fixture.guardState(`api.${domain}`)).backlogMs).to.equal(0);
    });

    it('are not taken by a caller who has no time to wait for them', async () => {
        const host = fixture.newHost();
        await fixture.one.turns.take(at(host, 0.1), 0);
        const refused = await fixture.one.turns.take(at(host, 0.1), 5000);
        expect(refused.granted).to.equal(false);
        expect(refused.waitMs).to.be.within(5000 + leastLeft(4000), 10_000);
        await fixture.advance(6);
        expect(await fixture.two.turns.take(at(host, 0.1), 5000)).to.include({ granted: true });
    });

    it('are immediate if nobody set a rate', async () => {
        const host = fixture.newHost();
        for (let request = 0; request < 20; request++) {
            expect(await fixture.one.turns.take(at(host), 0)).to.deep.equal({ granted: true, waitMs: 0 });
        }
    });

    it('wait for the end of a pause, which a burst of 429 begins once, and are then spaced', async () => {
        const host = fixture.newHost();
        const begun = await Promise.all(
            Array.from({ length: 20 }, (_, call) => (call % 2 === 0 ? fixture.one : fixture.two).turns.pause(host, 5000, 100)),
        );
        expect(begun.filter(Boolean)).to.have.lengthOf(1);
        expect((await fixture.guardState(host)).backlogMs).to.be.within(leastLeft(4000), 5000);
        const [first, second] = [await fixture.two.turns.take(at(host), 60_000), await fixture.one.turns.take(at(host), 60_000)];
        expect(first.waitMs).to.be.within(leastLeft(4000), 5000);
        expect(second.waitMs - first.waitMs).to.be.within(isWhole ? 1 : -5000, 100);
        await fixture.advance(6);
        expect(await fixture.one.turns.pause(host, 1000, 3000)).to.equal(false, 'it was sent before the pause ended');
        expect((await fixture.guardState(host)).backlogMs).to.equal(0);
        expect(await fixture.one.turns.pause(host, 1000, 100)).to.equal(true, 'it was sent after the pause');
    });
});

describe('the quarantine of endpoints', () => {
    let fixture: CircuitFixture;
    let serial = 0;

    before(async () => {
        fixture = await openCircuitFixture();
    });
    after(() => fixture.remove());

    const newTarget = () => ({ versionId: ++serial, endpoint: 'product' });
    const leftOf = async (target: { versionId: number; endpoint: string }) =>
        (await fixture.guardState('host.example', target)).quarantineMs;
    const dies = (
        target: { versionId: number; endpoint: string },
        { ageMs = 100, lastSuccessAt }: { ageMs?: number; lastSuccessAt?: Date } = {},
    ) => fixture.two.quarantine.recordDeath({ ...target, ageMs, lastSuccessAt });

    it('begins with the second worker that a read killed, lasts an hour, and applies to that version only', async () => {
        const target = newTarget();
        expect(await dies(target)).to.equal(false);
        expect(await leftOf(target)).to.equal(0);
        await fixture.advance(6);
        expect(await dies(target, { ageMs: 4500 })).to.equal(true);
        expect(await leftOf(target)).to.be.within(3_590_000, 3_600_000);
        expect(await leftOf({ ...target, endpoint: 'other' })).to.equal(0);
        expect(await leftOf(newTarget())).to.equal(0);
        await fixture.advance(3590);
        expect(await leftOf(target)).to.be.within(1, 10_000);
        await fixture.advance(10);
        expect(await leftOf(target)).to.equal(0);
    });

    it('begins with two writes that killed a worker each', async () => {
        const target = newTarget();
        await dies(target);
        await fixture.advance(10);
        expect(await dies(target, { ageMs: 5000 })).to.equal(true);
    });

    it('counts the many jobs of one dead worker as one death', async () => {
        const target = newTarget();
        for (let job = 0; job < 30; job++) expect(await dies(target, { ageMs: 3000 })).to.equal(false);
        expect(await leftOf(target)).to.equal(0);
    });

    it('does not count a second run that died beside other jobs as a second death', async () => {
        const target = newTarget();
        await dies(target);
        await fixture.advance(10);
        // A success in between makes this a first death again. The log of successes is a second late.
        const lastSuccessAt = new Date(Date.now() + 86_400_000);
        expect(await dies(target, { ageMs: 3000, lastSuccessAt })).to.equal(false);
        expect(await dies(target, { ageMs: 4500 })).to.equal(false);
        expect(await leftOf(target)).to.equal(0);
    });

    it('does not begin for a busy endpoint that only happened to run when workers died', async () => {
        const target = newTarget();
        await dies(target);
        await fixture.advance(10);
        const lastSuccessAt = new Date(Date.now() + 86_400_000);
        expect(await dies(target, { ageMs: 5000, lastSuccessAt })).to.equal(false);
    });

    it('does not begin if the deaths are far apart', async () => {
        const target = newTarget();
        await dies(target);
        await fixture.advance(601);
        expect(await dies(target)).to.equal(false);
    });
});
