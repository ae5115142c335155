import { growingCache } from '../../shared/platform/growing-cache.ts';

const REMEMBERED = 10_000;

/** Creates a full bucket for each name. A token may be a request, or a millisecond of work. @param now returns the time in milliseconds */
export function createTokenBuckets({
    capacity,
    perSecond,
    now = () => performance.now(),
}: {
    capacity: number;
    perSecond: number;
    now?: () => number;
}) {
    const buckets = growingCache<string, { spent: number; at: number }>(REMEMBERED);
    const refill = (name: string) => {
        const at = now();
        const bucket = buckets.get(name) ?? { spent: 0, at };
        if (bucket.spent === 0) buckets.set(name, bucket);
        bucket.spent = Math.max(0, bucket.spent - ((at - bucket.at) * perSecond) / 1000);
        bucket.at = at;
        return bucket;
    };
    return {
        /** Takes one token. @returns false if there is none */
        take(name: string): boolean {
            const bucket = refill(name);
            if (bucket.spent + 1 > capacity) return false;
            bucket.spent += 1;
            return true;
        },
        /** Always takes the tokens; the bucket may go into debt. */
        spend(name: string, tokens: number): void {
            refill(name).spent += tokens;
        },
        /** Tokens that are spent and not refilled yet. */
        spent: (name: string) => refill(name).spent,
        /** Milliseconds until the bucket has no debt; 0 if it has none. */
        waitMs: (name: string) => (Math.max(0, refill(name).spent - capacity) * 1000) / perSecond,
    };
}
