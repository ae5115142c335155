const RATIO = 1.2;

/** The bucket of a duration: n holds what took up to 1.2 ^ n milliseconds and longer than bucket n - 1. */
export function toBucket(ms: number): number {
    return ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(RATIO));
}

/** A duration in the middle of its bucket, in whole milliseconds: at most 10 % off. */
export function fromBucket(bucket: number): number {
    return Math.max(1, Math.round(RATIO ** (bucket - 0.5)));
}
