import type { RateWindow } from '../../domain/accounts/plans.ts';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../refusals.ts';
import type { StoreOptions } from '../store-options.ts';
import { openPostgresLimits } from './postgres-limits.ts';
import { openRedisLimits } from './redis-limits.ts';
import type { LimitStore, Limits, StoreAnswer, TakeVerdict, WindowState } from './types.ts';

export type { Lease, Limits, TakeOrder } from './types.ts';

interface LimitsOptions extends StoreOptions {
    /** The offset is added to the time of Redis. PostgreSQL uses `app_now()`. */
    clock: Pick<Clock, 'offsetMs'>;
    /** Timeout of a step in PostgreSQL; 1000 by default. */
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

/** The reasons of a store's verdicts from 2 on. */
const REASONS = ['concurrency', 'share', 'free'] as const;

/** Retry-After for leases. Nobody knows when a running fetch ends (docs/api.md, "Limits"). */
const LEASE_RETRY_S = 1;

/** Converts the answer of a store into a verdict. Both stores use this function, so that they round in the same way. */
function toVerdict(windows: readonly RateWindow[], answer: StoreAnswer): TakeVerdict {
    const states = toStates(windows, answer);
    if (answer.verdict === 0) return { ok: true, windows: states };
    if (answer.verdict === 1) {
        const [last] = states.filter(({ remaining }) => remaining === 0).sort((a, b) => b.resetsIn - a.resetsIn);
        if (last === undefined) throw new Error('the verdict is "window", but no window is exhausted');
        return { ok: false, reason: 'window', window: last.name, retryAfter: Math.max(1, last.resetsIn), windows: states };
    }
    const reason = REASONS[answer.verdict - 2];
    if (reason === undefined) throw new Error(`the store of limits gave the unknown verdict ${answer.verdict}`);
    return { ok: false, reason, retryAfter: LEASE_RETRY_S, windows: states };
}

/**
 * After a downgrade, an account may have used more than its limit. Then 0 calls remain. With a limit of 0 a window never begins; the wait
 * is then a whole window, so that callers do not retry each second.
 */
function toStates(windows: readonly RateWindow[], { used, leftMs }: StoreAnswer): WindowState[] {
    return windows.map(({ name, limit, seconds }, index) => ({
        name,
        limit,
        seconds,
        remaining: Math.max(0, limit - (used[index] ?? 0)),
        resetsIn: limit === 0 ? seconds : Math.min(seconds, Math.ceil((leftMs[index] ?? 0) / 1000)),
    }));
}
