import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { registrableDomain } from '../../shared/domain/site/site-name.ts';
import { growingCache } from '../../shared/platform/growing-cache.ts';

/** All current addresses of a name, by the system's resolver. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/**
 * Threads for owners without an earlier lookup, and for slow owners, of 16. The other four serve owners that are known to answer. libuv
 * allows lookups half of UV_THREADPOOL_SIZE, which is 32.
 */
const NEW_OWNERS = 8;
const SLOW_OWNERS = 4;

/** A lookup that takes longer makes its owner slow for SLOW_FOR_MS. */
const SLOW_MS = 1000;
const SLOW_FOR_MS = 600_000;
/**
 * An owner that answered keeps out of the line of new ones for a day, and a name out of that of its owner's new names: strangers can keep
 * both lines full, of dead name servers and of names that they make up.
 */
const KNOWN_MS = 86_400_000;
const MAX_REMEMBERED = 10_000;

/** No connection waits longer than this, so a name that has waited this long is not looked up. */
const LATE_MS = 10_000;

/**
 * Creates a resolver with limits by owner, which is the registrable domain. A lookup of the system's resolver occupies a thread until
 * the name server answers, and cannot be cancelled. Equal names share one lookup. An owner has one lookup at a time of a name that answered
 * before, and one of a new name, so a slow name server occupies two threads. Owners that were never looked up share some of the threads,
 * and slow owners share others. If a lookup is slow, the addresses of the last one are used: owners that were quick may hang together and
 * occupy every thread.
 * @param now milliseconds; only tests pass another clock, and another resolver
 */
export function createLookup(lookUp: Lookup = systemLookup, { now = () => performance.now() }: { now?: () => number } = {}): Lookup {
    const running = new Map<string, Promise<readonly string[]>>();
    const lastOf = new Map<string, Promise<unknown>>();
    const slow = growingCache<string, true>(MAX_REMEMBERED, SLOW_FOR_MS, now);
    const quick = growingCache<string, true>(MAX_REMEMBERED, KNOWN_MS, now);
    const last = growingCache<string, readonly string[]>(MAX_REMEMBERED, KNOWN_MS, now);
    const newOwners = createSemaphore(NEW_OWNERS);
    const slowOwners = createSemaphore(SLOW_OWNERS);

    async function ask(owner: string, host: string, askedAt: number): Promise<readonly string[]> {
        const threads = slow.has(owner) ? slowOwners : quick.has(owner) ? undefined : newOwners;
        await threads?.acquire();
        const began = now();
        try {
            if (began - askedAt > LATE_MS) throw Object.assign(new Error('the name waited too long for its lookup'), { code: 'ETIMEDOUT' });
            const asked = lookUp(host);
            await asked.catch(() => undefined);
            const isSlow = now() - began > SLOW_MS;
            if (isSlow) quick.delete(owner);
            (isSlow ? slow : quick).set(owner, true);
            return await asked;
        } finally {
            threads?.release();
        }
    }

    async function askAfterOthers(host: string): Promise<readonly string[]> {
        const owner = registrableDomain(host) ?? host;
        const askedAt = now();
        const line = last.has(host) ? `known ${owner}` : `new ${owner}`;
        const mine = (lastOf.get(line) ?? Promise.resolve()).then(() => ask(owner, host, askedAt));
        const ended = mine.catch(() => undefined);
        lastOf.set(line, ended);
        await ended;
        if (lastOf.get(line) === ended) lastOf.delete(line);
        return mine;
    }

    return (host) => {
        const known = running.get(host);
        if (known !== undefined) return known;
        const mine = askAfterOthers(host).finally(() => running.delete(host));
        mine.then(
            (addresses) => last.set(host, addresses),
            () => undefined,
        );
        const before = last.get(host);
        const answer = before === undefined ? mine : Promise.race([mine, sleep(SLOW_MS, before, { ref: false })]);
        running.set(host, answer);
        return answer;
    };
}

/** Bounds how many do something at once. The others wait in order. */
function createSemaphore(free: number) {
    const waiting: (() => void)[] = [];
    return {
        async acquire(): Promise<void> {
            if (free > 0) free--;
            else await new Promise<void>((resolve) => waiting.push(resolve));
        },
        release(): void {
            const next = waiting.shift();
            if (next === undefined) free++;
            else next();
        },
    };
}

async function systemLookup(host: string): Promise<readonly string[]> {
    return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}
