import type { Clock } from '../../platform/clock.ts';
import type { ConnectionLog } from '../../platform/connection-log.ts';
import { Refusal } from '../../refusals.ts';
import { openPostgresLimits } from './postgres-limits.ts';
import { openRedisLimits } from './redis-limits.ts';
import type { LimitStore, Limits } from './types.ts';
import { toStates, toVerdict } from './verdict.ts';

export type { Lease, Limits, LimitWindow } from './types.ts';

interface LimitsOptions {
    databaseUrl: string;
    /** Absent: PostgreSQL holds the counters. */
    redisUrl?: string | undefined;
    keyPrefix: string;
    /** The offset is added to the time of Redis. PostgreSQL uses `app_now()`. */
    clock: Pick<Clock, 'offsetMs'>;
    log: ConnectionLog;
    /** Timeout of a step in PostgreSQL, in milliseconds; 1000 by default. */
    patienceMs?: number;
}

/** Opens the counters that all processes share: rate windows, and concurrent fetches per account and per site. */
export function openLimits(options: LimitsOptions): Limits {
    const store = openStore(options);
    return {
        async take(order) {
            return toVerdict(order.windows, await orUnavailable(store.take(order)));
        },
        async end(lease) {
            await store.end(lease).catch(() => undefined);
        },
        async peek(identity, windows, account) {
            const { answer, inFlight } = await orUnavailable(store.peek(identity, windows, account));
            return { windows: toStates(windows, answer), inFlight };
        },
        close: () => store.close(),
    };
}

/** Calls that count against a limit are refused while the counters are unreachable (docs/api.md, "Limits"). */
async function orUnavailable<Answer>(answer: Promise<Answer>): Promise<Answer> {
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
