import { lookup } from 'node:dns/promises';
import { registrableDomain } from '../../shared/domain/site/site-name.ts';
import { growingCache } from '../../shared/platform/growing-cache.ts';
import { openLane } from './lane.ts';

/** Every address that a name has at the moment, by the system's resolver. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Of the 16 threads of a worker: the other four are kept for owners that are known to answer, and for what else needs a thread. */
const NEW_OWNERS = 8;
const SLOW_OWNERS = 4;

/** A lookup that takes longer is slow, and its owner for so long after it, whatever it answers meanwhile. */
const SLOW_MS = 1000;
const REMEMBERED_MS = 600_000;
const MOST_REMEMBERED = 10_000;

/** No connection waits for longer, and what nobody waits for any more is not looked up. */
const LATE_MS = 10_000;

/**
 * Creates a resolver with a limit for each registrable domain. A lookup of the system resolver occupies one of a few threads until the
 * name server answers, and cannot be cancelled. Equal names share one lookup, and names of one registrable domain are looked up one
 * after the other, so a slow name server occupies one thread only. Many such sites take
 * the threads of their lane and not all: owners that were never looked up have one, owners that were slow another.
 * @param now milliseconds; only tests pass another clock, and another resolver
 */
export function createLookup(lookUp: Lookup = systemLookup, { now = () => performance.now() }: { now?: () => number } = {}): Lookup {
    const running = new Map<string, Promise<readonly string[]>>();
    const lines = new Map<string, Promise<unknown>>();
    const slow = growingCache<string, true>(MOST_REMEMBERED, REMEMBERED_MS);
    const quick = growingCache<string, true>(MOST_REMEMBERED, REMEMBERED_MS);
    const lanes = { new: openLane(NEW_OWNERS), slow: openLane(SLOW_OWNERS) };
    const laneOf = (owner: string) => (slow.has(owner) ? lanes.slow : quick.has(owner) ? undefined : lanes.new);

    async function ask(owner: string, host: string, askedAt: number): Promise<readonly string[]> {
        const lane = laneOf(owner);
        await lane?.enter();
        try {
            const began = now();
            if (began - askedAt > LATE_MS) throw Object.assign(new Error('the name waited too long for its lookup'), { code: 'ETIMEDOUT' });
            try {
                return await lookUp(host);
            } finally {
                (now() - began > SLOW_MS ? slow : quick).set(owner, true);
            }
        } finally {
            lane?.leave();
        }
    }

    const inLine = (owner: string, host: string): Promise<readonly string[]> => {
        const askedAt = now();
        const mine = (lines.get(owner) ?? Promise.resolve()).then(() => ask(owner, host, askedAt));
        const settled = mine.then(
            () => undefined,
            () => undefined,
        );
        lines.set(owner, settled);
        void settled.then(() => {
            if (lines.get(owner) === settled) lines.delete(owner);
        });
        return mine;
    };
    return (host) => {
        const known = running.get(host);
        if (known !== undefined) return known;
        const mine = inLine(registrableDomain(host) ?? host, host).finally(() => running.delete(host));
        running.set(host, mine);
        return mine;
    };
}

async function systemLookup(host: string): Promise<readonly string[]> {
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}
