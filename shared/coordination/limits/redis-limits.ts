import type { Result } from 'ioredis';
import type { RateWindow } from '../../domain/accounts/plans.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { openBatch } from '../../platform/batch.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import { hashTag, openRedis } from '../../platform/redis.ts';
import { createStallDetector } from '../../platform/stall-detector.ts';
import { PEEK_SCRIPT, STEP_SCRIPT } from './redis-scripts.ts';
import { rememberSlots } from './slots.ts';
import type { LeaseKey, LimitStore, StoreAnswer, TakeOrder } from './types.ts';

declare module 'ioredis' {
    interface RedisCommander<Context> {
        limitsStep(...args: (string | number)[]): Result<number[][], Context>;
        limitsPeek(...args: (string | number)[]): Result<number[], Context>;
    }
}

/** Opens the counters in Redis: a hash of windows per identity, a sorted set of leases per account and per site. */
export function openRedisLimits(options: {
    redisUrl: string;
    keyPrefix: string;
    clock: Pick<Clock, 'offsetMs'>;
    log: ConnectionLog;
}): LimitStore {
    const prefix = hashTag(options.keyPrefix);
    const redis = openRedis(options.redisUrl, 'producer', 'redis limits', options.log);
    const { guard } = createStallDetector('redis limits');
    redis.defineCommand('limitsStep', { lua: STEP_SCRIPT });
    redis.defineCommand('limitsPeek', { numberOfKeys: 2, lua: PEEK_SCRIPT });
    const keys = {
        windows: (identity: string) => `${prefix}:limit:${identity}`,
        account: (account: string) => `${prefix}:leases:account:${account}`,
        site: (site: string) => `${prefix}:leases:site:${site}`,
        free: `${prefix}:leases:free`,
        slots: `${prefix}:fleet:slots`,
    };
    const slots = rememberSlots();
    const { add: step } = openBatch<Order, number[]>({
        async run(orders) {
            const batch = batchOf(orders, keys);
            const answer = redis.limitsStep(
                batch.keys.length,
                ...batch.keys,
                JSON.stringify({
                    offset: options.clock.offsetMs,
                    slots: slots.latest(),
                    ends: batch.ends,
                    takes: batch.takes,
                }),
            );
            const [[seen] = [], ...replies] = await guard(answer).catch((error: unknown) => {
                slots.unreachable();
                throw error;
            });
            slots.observe(seen);
            const taken = replies.values();
            return orders.map((order) => ('take' in order ? (taken.next().value ?? []) : []));
        },
        maxInFlight: Number.POSITIVE_INFINITY,
        maxSize: STEP_ORDERS,
    });
    return {
        async take(order) {
            const { windows } = order;
            return fromFlat(windows, await step({ take: order }));
        },
        async end(lease) {
            await step({ end: lease });
        },
        async peek(identity, windows, account) {
            const flat = await guard(
                redis.limitsPeek(keys.windows(identity), keys.account(account), options.clock.offsetMs, ...windows.map(({ name }) => name)),
            );
            const [inFlight = 0, ...states] = flat;
            return { answer: fromFlat(windows, [0, ...states]), inFlight };
        },
        close: async () => redis.disconnect(),
    };
}

/** Maximum number of orders in one step. Redis serves no other client during a step. */
const STEP_ORDERS = 200;

type Order = { take: TakeOrder } | { end: LeaseKey };

interface Keys {
    windows(identity: string): string;
    account(account: string): string;
    site(site: string): string;
    free: string;
    slots: string;
}

/** The arguments of STEP_SCRIPT. Each key appears once; orders refer to keys by index. */
function batchOf(orders: readonly Order[], keys: Keys) {
    const places = new Map([[keys.slots, 1]]);
    const placeOf = (key: string) => getOrMake(places, key, () => places.size + 1);
    const ends = new Map<number, (number | string)[]>();
    const end = (key: string, operation: string) => {
        const place = placeOf(key);
        getOrMake(ends, place, () => [place]).push(operation);
    };
    const takes: unknown[][] = [];
    for (const order of orders) {
        if ('end' in order) {
            const { operation, account, site, isFree } = order.end;
            end(keys.account(account), operation);
            if (site !== undefined) end(keys.site(site), operation);
            if (isFree) end(keys.free, operation);
            continue;
        }
        const { identity, windows, lease } = order.take;
        const take: unknown[] = [placeOf(keys.windows(identity)), windows.map(({ name, limit, seconds }) => [name, limit, seconds * 1000])];
        takes.push(take);
        if (lease === undefined) continue;
        const lifeMs = Math.max(1, Math.round(lease.expiresAt - Date.now()));
        take.push(lease.operation, placeOf(keys.account(lease.account)), lease.concurrency, lifeMs, lease.isFree ? placeOf(keys.free) : 0);
        if (lease.site === undefined) continue;
        take.push(placeOf(keys.site(lease.site)), lease.share ?? -1);
    }
    return { keys: [...places.keys()], ends: [...ends.values()], takes };
}

/** Parses `[verdict, used, left, used, left, …]`. */
function fromFlat(windows: readonly RateWindow[], [verdict = 0, ...states]: number[]): StoreAnswer {
    return {
        verdict,
        used: windows.map((_, index) => states[2 * index] ?? 0),
        leftMs: windows.map((_, index) => states[2 * index + 1] ?? 0),
    };
}
