import { FREE_AT_ONCE, FREE_PACE } from '../../shared/domain/events/webhook-bounds.ts';
import { createCounts } from '../../shared/platform/counts.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';

/**
 * Maximum number of concurrent requests of all accounts on Free. It is less than the hosts that a worker leases, so that some hosts are
 * always without requests and can be given up for others.
 */
const MAX_FREE = 384;
/** From this many on, each account may have one. */
const SCARCE_FREE = 256;

type Bounded = Pick<DueDelivery, 'domain' | 'freeUser'>;

/** Bounds the deliveries of free accounts: to each domain in a minute, and at once. @param now milliseconds of a monotonic clock */
export function createFreeBounds(now: () => number) {
    const windows = new Map<string, { sent: number; endsAt: number }>();
    const running = createCounts();
    let allRunning = 0;
    const keyOf = ({ domain, freeUser }: Bounded) => `${freeUser} ${domain}`;
    const current = (key: string) => {
        const window = windows.get(key);
        return window !== undefined && window.endsAt > now() ? window : undefined;
    };
    const add = (freeUser: string, count: number) => {
        allRunning += count;
        running.add(freeUser, count);
    };
    return {
        /** Whether a delivery has to wait for its account's next minute, or for another request of free accounts to end. */
        mustWait(delivery: Bounded) {
            const { freeUser } = delivery;
            if (freeUser === null) return false;
            const most = allRunning < SCARCE_FREE ? FREE_AT_ONCE : 1;
            if (allRunning >= MAX_FREE || running.of(freeUser) >= most) return true;
            return (current(keyOf(delivery))?.sent ?? 0) >= FREE_PACE.limit;
        },
        begin(delivery: Bounded) {
            if (delivery.freeUser === null) return;
            const key = keyOf(delivery);
            const window = current(key) ?? { sent: 0, endsAt: now() + FREE_PACE.seconds * 1000 };
            window.sent += 1;
            windows.set(key, window);
            add(delivery.freeUser, 1);
        },
        end({ freeUser }: Bounded) {
            if (freeUser !== null) add(freeUser, -1);
        },
        /** Forgets the minutes that have ended. */
        forget() {
            for (const key of windows.keys()) if (current(key) === undefined) windows.delete(key);
        },
    };
}
