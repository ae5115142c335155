import knex, { type Knex } from 'knex';
import { openSiteGuards, type SiteGuards } from '../../shared/coordination/circuits/circuits.ts';
import type { Limits, SiteGuardState } from '../../shared/coordination/limits/limits.ts';
import { eventually, openQueueFixture, type QueueFixture, silent } from '../queue/queue-fixture.ts';
import { advanceClock } from '../support/clock.ts';

/** A store with two processes on it that watch the sites together, and a clock that tests move. */
export interface CircuitFixture {
    one: SiteGuards;
    two: SiteGuards;
    /** A name that nobody has used yet. */
    newSite(): string;
    /** How a site stands for a call that is admitted now. */
    guardState(site: string, target?: { versionId: number; endpoint: string }): Promise<SiteGuardState>;
    advance(seconds: number): Promise<void>;
    remove(): Promise<void>;
}

export async function openCircuitFixture(topology: 'redis' | 'postgres'): Promise<CircuitFixture> {
    const fixture: QueueFixture = await openQueueFixture(topology);
    const db: Knex = knex({ client: 'pg', connection: fixture.place.databaseUrl, pool: { min: 0, max: 1 } });
    const clock = { offsetMs: 0 };
    const limits: Limits = fixture.openLimits(clock);
    const [one, two] = [1, 2].map(() => openSiteGuards({ ...fixture.place, clock, log: silent })) as [SiteGuards, SiteGuards];
    for (const answer of [() => one.circuits.open(), () => two.circuits.open(), () => limits.peek('account:nobody', [], 'nobody')]) {
        await eventually('the store answers', () => answer().then(Boolean, () => false));
    }
    let serial = 0;
    return {
        one,
        two,
        newSite: () => `site-${++serial}.example`,
        async guardState(site, target) {
            const operation = `op_${++serial}`;
            const lease = { operation, account: operation, concurrency: 1, site, share: 1000, target, expiresAt: Date.now() + 1000 };
            const verdict = await limits.take({ identity: `account:${operation}`, windows: [], lease });
            if (!verdict.ok) throw new Error(`refused by ${verdict.reason}`);
            await limits.end(lease);
            return verdict.guardState;
        },
        async advance(seconds) {
            clock.offsetMs += seconds * 1000;
            await advanceClock(db, seconds * 1000);
        },
        async remove() {
            await one.close();
            await two.close();
            await db.destroy();
            await fixture.remove();
        },
    };
}
