/** Holds as many tokens as come in a second. */
export interface Bucket {
    /** Takes a token, where there is one. */
    take(): boolean;
    isEmpty(): boolean;
}

/** A full bucket. @param perSecond tokens that come in a second, and that it holds */
export function openBucket(perSecond: number): Bucket {
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
