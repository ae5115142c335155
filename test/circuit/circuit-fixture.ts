import { openSiteGuards, type SiteGuards } from '../../shared/coordination/circuits/circuits.ts';
import type { GuardState } from '../../shared/coordination/circuits/guard-states.ts';
import { openDb } from '../../shared/platform/db.ts';
import { eventually, silent } from '../queue/jobs.ts';
import { advanceClock } from '../support/clock.ts';
import { createTestDatabase } from '../support/postgres.ts';

/** A store with two processes that share the circuits, and a clock that tests move. */
export interface CircuitFixture {
    one: SiteGuards;
    two: SiteGuards;
    /** Another process, whose view of the state may be 250 ms old. */
    openThird(): SiteGuards;
    /** A name that was not used before. */
    newHost(): string;
    /** The state of a host for a call that is admitted now. */
    guardState(host: string, target?: { versionId: number; endpoint: string }): Promise<GuardState>;
    advance(seconds: number): Promise<void>;
    remove(): Promise<void>;
}

export async function openCircuitFixture(): Promise<CircuitFixture> {
    const database = await createTestDatabase();
    const db = openDb({ url: database.url, acquireTimeoutMs: 10_000 });
    const clock = { offsetMs: 0 };
    // A busy machine may take seconds for a statement.
    const options = { db, clock, log: silent, timeoutMs: 20_000, patienceMs: 20_000 };
    const [one, two] = [1, 2].map(() => openSiteGuards({ ...options, freshMs: 0 })) as [SiteGuards, SiteGuards];
    for (const { circuits } of [one, two]) await eventually('the store answers', () => circuits.open().then(Boolean, () => false));
    let serial = 0;
    return {
        one,
        two,
        openThird: () => openSiteGuards(options),
        newHost: () => `host-${++serial}.example`,
        guardState: (host, target = { versionId: 0, endpoint: 'any' }) => one.circuits.look([host], target),
        async advance(seconds) {
            clock.offsetMs += seconds * 1000;
            await advanceClock(db, seconds * 1000);
        },
        async remove() {
            await one.close();
            await two.close();
            await db.destroy();
            await database.drop();
        },
    };
}
