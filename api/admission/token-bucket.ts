/** A token bucket with a capacity of one second. */
export interface Bucket {
    /** Takes a token, where there is one. */
    take(): boolean;
    isEmpty(): boolean;
}

/** Creates a full bucket. @param perSecond the refill rate, and the capacity */
export function createBucket(perSecond: number): Bucket {
    let tokens = perSecond;
    let filledAt = performance.now();
    const isEmpty = () => {
        const now = performance.now();
        tokens = Math.min(perSecond, tokens + ((now - filledAt) * perSecond) / 1000);
        filledAt = now;
        return tokens < 1;
    };
    return {
        take() {
            if (isEmpty()) return false;
            tokens--;
            return true;
        },
        isEmpty,
    };
}
