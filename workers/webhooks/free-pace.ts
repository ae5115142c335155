import { FREE_PACE } from '../../shared/domain/events/webhook-bounds.ts';
import type { DueDelivery } from '../../shared/store/events/delivery-queue.ts';

type Paced = Pick<DueDelivery, 'host' | 'freeUser'>;

/** Counts the deliveries of free accounts to each host. */
interface FreePace {
    /** Whether a delivery has to wait for its account's next minute. */
    isOver(delivery: Paced): boolean;
    count(delivery: Paced): void;
    /** Forgets the minutes that have ended. */
    forget(): void;
}

/** @param now milliseconds of a monotonic clock */
export function createFreePace(now: () => number): FreePace {
    const windows = new Map<string, { sent: number; endsAt: number }>();
    const keyOf = ({ host, freeUser }: Paced) => `${freeUser} ${host}`;
    const current = (key: string) => {
        const window = windows.get(key);
        return window !== undefined && window.endsAt > now() ? window : undefined;
    };
    return {
        isOver: (delivery) => delivery.freeUser !== null && (current(keyOf(delivery))?.sent ?? 0) >= FREE_PACE.limit,
        count(delivery) {
            if (delivery.freeUser === null) return;
            const key = keyOf(delivery);
            const window = current(key) ?? { sent: 0, endsAt: now() + FREE_PACE.seconds * 1000 };
            window.sent += 1;
            windows.set(key, window);
        },
        forget() {
            for (const key of windows.keys()) if (current(key) === undefined) windows.delete(key);
        },
    };
}
