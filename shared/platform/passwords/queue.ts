import { Refusal } from '../../refusals.ts';

/** The source of a hash request. It decides the turn of the request. */
export interface Asker {
    /** The address of the client, as rate limits count it. */
    client: string;
    /** The account, identified by its user or its mail address. */
    account: string;
    /** Whether the browser has signed in to this account before. */
    isKnown: boolean;
}

/** A client or account counts as rare with at most this many requests in the current and the previous minute. */
const RARELY = 5;
const MINUTE_MS = 60_000;
/** Maximum wait. */
const PATIENCE_MS = 30_000;

interface Waiting {
    asker: Asker;
    asksRarely: boolean;
    since: number;
    start(): void;
    refuse(refusal: Refusal): void;
}

/** Three kinds of requests take turns: known browsers, rare strangers, all strangers. */
const KINDS: readonly ((one: Waiting) => boolean)[] = [
    ({ asker }) => asker.isKnown,
    ({ asker, asksRarely }) => !asker.isKnown && asksRarely,
    ({ asker }) => !asker.isKnown,
];

/**
 * Creates the queue for password hashes. A crowd of sign-ins needs more CPU than there is. In order of arrival, every client would wait for
 * up to half a minute. So the newest request of each kind goes first, and a new client waits only for a few requests of repeat clients.
 */
export function createPasswordQueue({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }) {
    const waiting: Waiting[] = [];
    const asked = createMinuteCounts();
    let running = 0;
    let turns = 0;

    function enter(one: Waiting): void {
        waiting.push(one);
        const group = waiting.filter(({ asker }) => asker.isKnown === one.asker.isKnown);
        if (group.length > maxWaiting) leave(lastOf(group)).refuse(overloaded());
    }

    function leave(one: Waiting): Waiting {
        waiting.splice(waiting.indexOf(one), 1);
        return one;
    }

    function startNext(): void {
        const late = performance.now() - PATIENCE_MS;
        for (const one of waiting.filter(({ since }) => since < late)) leave(one).refuse(overloaded());
        for (const _ of KINDS) {
            const group = waiting.filter(KINDS[turns++ % KINDS.length] ?? (() => true));
            if (group.length === 0) continue;
            running += 1;
            leave(firstOf(group)).start();
            return;
        }
    }

    return {
        /** @throws Refusal OVERLOADED, and all errors of `work` */
        async run<Result>(asker: Asker, work: () => Promise<Result>): Promise<Result> {
            const times = Math.max(asked.count(`client ${asker.client}`), asked.count(`account ${asker.account}`));
            if (running < atOnce) running += 1;
            else {
                await new Promise<void>((start, refuse) =>
                    enter({ asker, asksRarely: times <= RARELY, since: performance.now(), start, refuse }),
                );
            }
            try {
                return await work();
            } finally {
                running -= 1;
                startNext();
            }
        },
    };
}

/** The oldest request of the newest client, so that requests of one client stay in order. */
function firstOf(group: readonly Waiting[]): Waiting {
    const newest = group.at(-1) as Waiting;
    return group.find(({ asker }) => asker.client === newest.asker.client) as Waiting;
}

/** The request to drop: the newest request of the client that has waited longest, frequent clients first. */
function lastOf(group: readonly Waiting[]): Waiting {
    const often = group.filter(({ asksRarely }) => !asksRarely);
    const worst = often.length > 0 ? often : group;
    return worst.findLast(({ asker }) => asker.client === worst[0]?.asker.client) as Waiting;
}

/** Counts how often each name occurred in the current and the previous minute, including this time. */
function createMinuteCounts(): { count(name: string): number } {
    let [current, last] = [new Map<string, number>(), new Map<string, number>()];
    let endsAt = performance.now() + MINUTE_MS;
    return {
        count(name) {
            const now = performance.now();
            if (now >= endsAt) {
                last = now < endsAt + MINUTE_MS ? current : new Map();
                current = new Map();
                endsAt = now + MINUTE_MS;
            }
            const times = (current.get(name) ?? 0) + 1;
            current.set(name, times);
            return times + (last.get(name) ?? 0);
        },
    };
}

function overloaded(): Refusal {
    return new Refusal('OVERLOADED', 'Too many people are signing in at the moment.', { retryAfter: 2 });
}
