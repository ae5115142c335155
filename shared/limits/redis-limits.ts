import type { Result } from 'ioredis';
import { CIRCUIT } from '../circuit/figures.ts';
import { circuitKeys } from '../circuit/redis-store.ts';
import type { Clock } from '../clock.ts';
import type { OutageLog } from '../outage.ts';
import { hashTag, openRedis } from '../redis.ts';
import { createSilenceGuard } from '../silence.ts';
import { END_SCRIPT, PEEK_SCRIPT, TAKE_SCRIPT } from './redis-scripts.ts';
import type { LimitStore } from './store.ts';
import type { LimitWindow, SiteStanding, StoreAnswer } from './types.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        limitsTake(...args: (string | number)[]): Result<number[], Context>;
        limitsPeek(...args: (string | number)[]): Result<number[], Context>;
        limitsEnd(...args: (string | number)[]): Result<number, Context>;
    }
}

/** The counters in Redis: a hash of windows per identity, a sorted set of leases per account and per site. */
export function openRedisLimits(options: {
    redisUrl: string;
    keyPrefix: string;
    clock: Pick<Clock, 'offsetMs'>;
    log: OutageLog;
}): LimitStore {
    const prefix = hashTag(options.keyPrefix);
    const redis = openRedis(options.redisUrl, 'producer', 'redis limits', options.log);
    const { ask } = createSilenceGuard('redis limits');
    redis.defineCommand('limitsTake', { numberOfKeys: 7, lua: TAKE_SCRIPT });
    redis.defineCommand('limitsEnd', { lua: END_SCRIPT });
    redis.defineCommand('limitsPeek', { numberOfKeys: 2, lua: PEEK_SCRIPT });
    const keys = {
        ...circuitKeys(prefix),
        windows: (identity: string) => `${prefix}:limit:${identity}`,
        account: (account: string) => `${prefix}:leases:account:${account}`,
        site: (site: string) => `${prefix}:leases:site:${site}`,
        slots: `${prefix}:fleet:slots`,
    };
    /** Leases that end in one turn of the loop end by one command: it is the most frequent one beside `take`. */
    const endTogether = perTurn(async (ends: readonly { operation: string; keys: string[] }[]) => {
        const all = ends.flatMap((end) => end.keys);
        await ask(redis.limitsEnd(all.length, ...all, ...ends.map((end) => end.operation)));
    });
    return {
        async take({ identity, windows, lease }) {
            const flat = await ask(
                redis.limitsTake(
                    keys.windows(identity),
                    keys.account(lease?.account ?? ''),
                    keys.site(lease?.site ?? ''),
                    keys.slots,
                    keys.circuit(lease?.site ?? ''),
                    keys.turns(lease?.site ?? ''),
                    keys.quarantine(lease?.target?.versionId ?? 0, lease?.target?.endpoint ?? ''),
                    options.clock.offsetMs,
                    lease?.operation ?? '',
                    lease?.concurrency ?? 0,
                    lease === undefined ? 0 : Math.max(1, Math.round(lease.expiresAt - Date.now())),
                    lease?.site === undefined ? 0 : 1,
                    lease?.share ?? '',
                    CIRCUIT.probePatienceMs,
                    CIRCUIT.forgetMs,
                    ...windows.flatMap(({ name, limit, seconds }) => [name, limit, seconds * 1000]),
                ),
            );
            return { ...fromFlat(windows, flat), standing: standingOf(flat.slice(1 + 2 * windows.length)) };
        },
        end: ({ operation, account, site }) => endTogether({ operation, keys: [keys.account(account), keys.site(site ?? '')] }),
        async peek(identity, windows, account) {
            const flat = await ask(
                redis.limitsPeek(keys.windows(identity), keys.account(account), options.clock.offsetMs, ...windows.map(({ name }) => name)),
            );
            const [inFlight = 0, ...states] = flat;
            return { answer: fromFlat(windows, [0, ...states]), inFlight };
        },
        close: async () => redis.disconnect(),
    };
}

/** Collects what is asked for in one turn of the event loop, and does it at once; all share the fate of the one try. */
function perTurn<Item>(run: (items: readonly Item[]) => Promise<void>): (item: Item) => Promise<void> {
    let waiting: Item[] = [];
    let turn: Promise<void> | undefined;
    return (item) => {
        waiting.push(item);
        turn ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
            const items = waiting;
            waiting = [];
            turn = undefined;
            return run(items);
        });
        return turn;
    };
}

/** `[verdict, used, left, used, left, …]` */
function fromFlat(windows: readonly LimitWindow[], [verdict = 0, ...states]: number[]): StoreAnswer {
    return {
        verdict,
        used: windows.map((_, index) => states[2 * index] ?? 0),
        leftMs: windows.map((_, index) => states[2 * index + 1] ?? 0),
    };
}

/** `[circuit or -1, backlog, quarantine]`; nothing where no lease was taken. */
function standingOf([circuitMs = -1, backlogMs = 0, quarantineMs = 0]: number[]): SiteStanding {
    return { ...(circuitMs < 0 ? {} : { circuitMs }), backlogMs, quarantineMs };
}
