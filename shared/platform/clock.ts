/**
 * Wall time as the product sees it. In production the offset is 0; tests move it together with the database's
 * `app_now()` and the offset that the limits' scripts get, so that "31 days later" is one call.
 */
export interface Clock {
    /** Milliseconds since the epoch, offset included. */
    now(): number;
    /** Milliseconds added to real time. */
    offsetMs: number;
}

/** The real clock. */
export function createClock(): Clock {
    return {
        offsetMs: 0,
        now() {
            return Date.now() + this.offsetMs;
        },
    };
}
