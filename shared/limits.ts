import type { Clock } from './clock.ts';
import { openPostgresLimits } from './limits/postgres-limits.ts';
import { openRedisLimits } from './limits/redis-limits.ts';
import type { LimitStore } from './limits/store.ts';
import type { Limits } from './limits/types.ts';
import { toStates, toVerdict } from './limits/verdict.ts';
import type { OutageLog } from './outage.ts';
import { Refusal } from './refusals.ts';

export type { Lease, Limits, LimitWindow, SiteStanding, TakeOrder, TakeVerdict, WindowName, WindowState } from './limits/types.ts';

export interface LimitsOptions {
    databaseUrl: string;
    /** Absent: the counters live in PostgreSQL. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    /** Its offset is added to the time of Redis; PostgreSQL has `app_now()`. */
    clock: Pick<Clock, 'offsetMs'>;
    log: OutageLog;
    /** How long a step may wait where the counters live in PostgreSQL, in milliseconds; a second where nothing is said. */
    patienceMs?: number;
}

/** Opens the counters that all processes share: rate windows, fetches in flight per account and per site. */
export function openLimits(options: LimitsOptions): Limits {
    const store = openStore(options);
    return {
        async take(order) {
            return toVerdict(order.windows, await reached(store.take(order)));
        },
        async end(lease) {
            await store.end(lease).catch(() => undefined);
        },
        async peek(identity, windows, account) {
            const { answer, inFlight } = await reached(store.peek(identity, windows, account));
            return { windows: toStates(windows, answer), inFlight };
        },
        close: () => store.close(),
    };
}

/** Where the counters cannot be reached, counted routes are refused (CONTRACT section 2). */
async function reached<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
        return await answer;
    } catch (cause) {
        throw new Refusal('SERVICE_UNAVAILABLE', 'The rate limits cannot be counted at the moment.', { retryAfter: 1 }, { cause });
    }
}

function openStore(options: LimitsOptions): LimitStore {
    const { redisUrl } = options;
    return redisUrl === undefined ? openPostgresLimits(options) : openRedisLimits({ ...options, redisUrl });
}
