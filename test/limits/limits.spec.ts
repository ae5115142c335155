import { expect } from 'chai';
import knex, { type Knex } from 'knex';
import type { Limits } from '../../shared/coordination/limits/limits.ts';
import type { RateWindow } from '../../shared/domain/accounts/plans.ts';
import { eventually, openQueueFixture, type QueueFixture, topologies } from '../queue/queue-fixture.ts';
import { replaceClock } from '../support/clock.ts';

const MINUTE: RateWindow = { name: 'minute', limit: 3, seconds: 60 };
/** These tests check counts, not durations. Timeouts are tested in test/faults/outages.spec.ts. */
const UNHURRIED_MS = 20_000;
const HOUR: RateWindow = { name: 'hour', limit: 100, seconds: 3600 };

for (const topology of topologies) {
    describe(`the limits over ${topology}`, () => {
        let fixture: QueueFixture;
        let limits: Limits;
        let db: Knex;
        let serial = 0;
        /** A name without any counts. */
        const somebody = () => `account:${topology}-${++serial}`;
        const clock = { offsetMs: 0 };

        before(async () => {
            fixture = await openQueueFixture(topology);
            db = knex({ client: 'pg', connection: fixture.place.databaseUrl, pool: { min: 0, max: 1 } });
            limits = fixture.openLimits(clock, UNHURRIED_MS);
            await eventually('the counters answer', () => answers(limits));
        });
        beforeEach(() => moveTo(0));
        after(async () => {
            await db.destroy();
            await fixture.remove();
        });

        /** Sets the clock of the shared store. */
        async function moveTo(seconds: number): Promise<void> {
            clock.offsetMs = seconds * 1000;
            await replaceClock(db, seconds * 1000);
        }

        function aLease(
            account: string,
            changes: { operation?: string; site?: string; share?: number; isFree?: boolean; lifeMs?: number } = {},
        ) {
            const { lifeMs = 30_000, ...rest } = changes;
            return { operation: `op_${++serial}`, account, concurrency: 2, expiresAt: Date.now() + lifeMs, ...rest };
        }

        it('admits a call as often as the window says, and then names window and wait', async () => {
            const identity = somebody();
            const remaining: number[] = [];
            for (let call = 0; call < 3; call++) {
                const verdict = await limits.take({ identity, windows: [MINUTE, HOUR] });
                expect(verdict.ok).to.equal(true);
                remaining.push(verdict.windows[0]?.remaining ?? -1);
            }
            expect(remaining).to.deep.equal([2, 1, 0]);
            const refused = await limits.take({ identity, windows: [MINUTE, HOUR] });
            expect(refused).to.deep.include({ ok: false, reason: 'window', window: 'minute' });
            expect(refused.ok ? 0 : refused.retryAfter).to.be.within(55, 60);
            expect(refused.windows.map(({ remaining }) => remaining)).to.deep.equal([0, 97]);
        });

        it('admits a caller who waited exactly as long as Retry-After said', async () => {
            const identity = somebody();
            for (let call = 0; call < 3; call++) await limits.take({ identity, windows: [MINUTE] });
            const refused = await limits.take({ identity, windows: [MINUTE] });
            if (refused.ok) throw new Error('it should have been refused');
            await moveTo(refused.retryAfter);
            expect((await limits.take({ identity, windows: [MINUTE] })).ok).to.equal(true);
        });

        it('lets nobody come back before a whole window, if a limit is 0', async () => {
            const refused = await limits.take({ identity: somebody(), windows: [HOUR, { ...MINUTE, limit: 0 }] });
            expect(refused).to.deep.include({ ok: false, reason: 'window', window: 'minute', retryAfter: 60 });
            expect(refused.windows.map(({ remaining, resetsIn }) => [remaining, resetsIn])).to.deep.equal([
                [100, 0],
                [0, 60],
            ]);
        });

        it('begins a window with the first call after the last one ended', async () => {
            const identity = somebody();
            await limits.take({ identity, windows: [MINUTE] });
            await moveTo(100);
            const [idle] = (await limits.peek(identity, [MINUTE], identity)).windows;
            expect(idle).to.deep.equal({ name: 'minute', limit: 3, seconds: 60, remaining: 3, resetsIn: 0 });
            await limits.take({ identity, windows: [MINUTE] });
            await moveTo(159);
            const verdict = await limits.take({ identity, windows: [MINUTE] });
            expect(verdict.windows[0]?.remaining).to.equal(1);
            await moveTo(161);
            expect((await limits.take({ identity, windows: [MINUTE] })).windows[0]?.remaining).to.equal(2);
        });

        it('names the longest wait when several windows are full', async () => {
            const identity = somebody();
            const windows: RateWindow[] = [
                { name: 'minute', limit: 1, seconds: 60 },
                { name: 'day', limit: 1, seconds: 86_400 },
                { name: 'hour', limit: 1, seconds: 3600 },
            ];
            await limits.take({ identity, windows });
            const refused = await limits.take({ identity, windows });
            expect(refused).to.deep.include({ ok: false, window: 'day' });
            expect(refused.ok ? 0 : refused.retryAfter).to.be.within(86_390, 86_400);
        });

        it('takes nothing at all if any part refuses', async () => {
            const identity = somebody();
            const full: RateWindow = { name: 'minute', limit: 0, seconds: 60 };
            const site = `site-${++serial}.example`;
            expect((await limits.take({ identity, windows: [HOUR, full], lease: aLease(identity, { site, share: 1 }) })).ok).to.equal(
                false,
            );
            const refusedShare = await limits.take({ identity, windows: [HOUR], lease: aLease(identity, { site, share: 0 }) });
            expect(refusedShare).to.deep.include({ ok: false, reason: 'share', retryAfter: 1 });
            const none = { ...aLease(identity, { site }), concurrency: 0 };
            expect(await limits.take({ identity, windows: [HOUR], lease: none })).to.deep.include({ ok: false, reason: 'concurrency' });
            const { windows, inFlight } = await limits.peek(identity, [HOUR], identity);
            expect(windows[0]?.remaining).to.equal(100);
            expect(inFlight).to.equal(0);
            expect((await limits.take({ identity, windows: [HOUR], lease: aLease(identity, { site, share: 1 }) })).ok).to.equal(true);
        });

        it('counts fetches in flight of an account until they end', async () => {
            const identity = somebody();
            const [first, second, third] = [aLease(identity), aLease(identity), aLease(identity)];
            expect((await limits.take({ identity, windows: [HOUR], lease: first })).ok).to.equal(true);
            expect((await limits.take({ identity, windows: [HOUR], lease: second })).ok).to.equal(true);
            expect(await limits.take({ identity, windows: [HOUR], lease: third })).to.deep.include({
                reason: 'concurrency',
                retryAfter: 1,
            });
            await limits.end(first);
            await limits.end(first);
            expect((await limits.take({ identity, windows: [HOUR], lease: third })).ok).to.equal(true);
            expect((await limits.peek(identity, [HOUR], identity)).inFlight).to.equal(2);
        });

        it('releases a slot that was not ended, when its lease expires', async () => {
            const identity = somebody();
            const site = `site-${++serial}.example`;
            for (const _ of [1, 2]) {
                const lease = aLease(identity, { site, share: 2, lifeMs: 10_000 });
                expect((await limits.take({ identity, windows: [HOUR], lease })).ok).to.equal(true);
            }
            await moveTo(9);
            expect((await limits.take({ identity, windows: [HOUR], lease: aLease(identity, { site, share: 2 }) })).ok).to.equal(false);
            await moveTo(11);
            expect((await limits.take({ identity, windows: [HOUR], lease: aLease(identity, { site, share: 2 }) })).ok).to.equal(true);
        });

        it('limits a site to half of the slots of the live workers, and to at least 2', async () => {
            const fleet = fixture.openFleet();
            const site = `site-${++serial}.example`;
            const fill = async () => {
                for (let taken = 0; ; taken++) {
                    const identity = somebody();
                    const verdict = await limits.take({ identity, windows: [HOUR], lease: aLease(identity, { site }) });
                    if (!verdict.ok) return { taken, verdict };
                }
            };
            const { taken, verdict } = await fill();
            expect(taken).to.equal(2);
            expect(verdict).to.deep.include({ ok: false, reason: 'share', retryAfter: 1 });
            await eventually('the register answers', () =>
                fleet.report({ id: 'one', slots: 8, busy: 0, progressAt: Date.now() }).then(
                    () => true,
                    () => false,
                ),
            );
            await fleet.report({ id: 'two', slots: 4, busy: 3, progressAt: Date.now() });
            expect(await fleet.slots()).to.equal(12);
            expect((await fill()).taken).to.equal(4);
        });

        it('gives accounts on Free three quarters of the slots, and one each from half or 64 on', async () => {
            const fleet = fixture.openFleet();
            // The workers of the test before are forgotten first.
            const report = () => fleet.report({ id: 'alone', slots: 100, busy: 0, progressAt: Date.now() });
            const isAlone = async () => {
                await report();
                return (await fleet.slots()) === 100;
            };
            await eventually('one worker is left', () => isAlone().catch(() => false), UNHURRIED_MS);
            const take = async (account: string, isFree = true) => {
                // A worker counts for five seconds after its last report.
                await report();
                const lease = aLease(account, { isFree });
                const verdict = await limits.take({ identity: account, windows: [HOUR], lease });
                return { lease, result: verdict.ok ? 'taken' : verdict.reason };
            };
            const twoOf = async (account: string) => [(await take(account)).result, (await take(account)).result];
            for (let pair = 0; pair < 32; pair++) expect(await twoOf(somebody())).to.deep.equal(['taken', 'taken']);
            expect(await twoOf(somebody())).to.deep.equal(['taken', 'free']);
            for (let one = 66; one < 75; one++) expect((await take(somebody())).result).to.equal('taken');
            const last = await take(somebody());
            expect(last.result).to.equal('taken');
            expect((await take(somebody())).result).to.equal('free');
            expect((await take(somebody(), false)).result, 'another plan').to.equal('taken');
            await limits.end(last.lease);
            expect((await take(somebody())).result, 'after one ended').to.equal('taken');
        });

        it('reports the workers, how busy they are and when they last made progress', async () => {
            const fleet = fixture.openFleet();
            const progressAt = Date.now() - 4000;
            await eventually('the register answers', () =>
                fleet.report({ id: 'slow', slots: 8, busy: 7, progressAt }).then(
                    () => true,
                    () => false,
                ),
            );
            const slow = (await fleet.live()).find(({ id }) => id === 'slow');
            expect(slow).to.deep.include({ slots: 8, busy: 7 });
            expect(slow?.progressAt).to.be.closeTo(progressAt, 500);
            await moveTo(86_400);
            expect((await fleet.live()).some(({ id }) => id === 'slow')).to.equal(true, 'a moved clock kills nobody');
        });

        it('forgets a worker that stopped reporting', async () => {
            const fleet = fixture.openFleet();
            await eventually('the register answers', () =>
                fleet.report({ id: 'gone', slots: 1, busy: 0, progressAt: Date.now() }).then(
                    () => true,
                    () => false,
                ),
            );
            await eventually('it is forgotten', async () => !(await fleet.live()).some(({ id }) => id === 'gone'), 8000);
        });

        it('admits exactly the limit when 10,000 calls come at once over several connections', async () => {
            const identity = somebody();
            const many: RateWindow = { name: 'hour', limit: 777, seconds: 3600 };
            const processes = [limits, ...Array.from({ length: 3 }, () => fixture.openLimits(clock, UNHURRIED_MS))];
            for (const own of processes) await eventually('the counters answer', () => answers(own));
            let left = 10_000;
            let admitted = 0;
            const callers = Array.from({ length: 64 }, async (_, caller) => {
                const own = processes[caller % processes.length] ?? limits;
                while (left-- > 0) if ((await own.take({ identity, windows: [many] })).ok) admitted += 1;
            });
            await Promise.all(callers);
            expect(admitted).to.equal(777);
            expect((await limits.peek(identity, [many], identity)).windows[0]?.remaining).to.equal(0);
        });

        it('never admits more fetches than allowed, and never deadlocks, when accounts and sites cross', async () => {
            const accounts = [somebody(), somebody(), somebody()];
            const sites = [1, 2, 3].map((number) => `cross-${serial}-${number}.example`);
            const flying = new Map<string, number>();
            const add = (name: string, by: number) => flying.set(name, (flying.get(name) ?? 0) + by);
            let peak = 0;
            let refused = 0;
            const callers = Array.from({ length: 48 }, async (_, caller) => {
                for (let call = 0; call < 25; call++) {
                    const account = accounts[(caller + call) % 3] ?? '';
                    const site = sites[(caller * call) % 3] ?? '';
                    const lease = { ...aLease(account, { site, share: 5 }), concurrency: 4 };
                    const verdict = await limits.take({ identity: account, windows: [{ ...HOUR, limit: 100_000 }], lease });
                    if (!verdict.ok) {
                        refused += 1;
                        continue;
                    }
                    add(account, 1);
                    add(site, 1);
                    peak = Math.max(
                        peak,
                        ...accounts.map((name) => (flying.get(name) ?? 0) / 4),
                        ...sites.map((name) => (flying.get(name) ?? 0) / 5),
                    );
                    await new Promise((resolve) => setImmediate(resolve));
                    add(account, -1);
                    add(site, -1);
                    await limits.end(lease);
                }
            });
            await Promise.all(callers);
            expect(peak).to.be.within(0.1, 1);
            expect(refused).to.be.above(0);
            for (const account of accounts) expect((await limits.peek(account, [HOUR], account)).inFlight).to.equal(0);
        });
    });
}

async function answers(limits: Limits): Promise<boolean> {
    return limits.peek('account:nobody', [HOUR], 'account:nobody').then(
        () => true,
        () => false,
    );
}
