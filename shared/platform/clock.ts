/**
 * The wall time of the product. In production the offset is 0. Tests change it together with the database's `app_now()` and the offset of
 * the limits' scripts, so that a single call moves all clocks by, for example, 31 days.
 */
export interface Clock {
    /** Milliseconds since the epoch, including the offset. */
    now(): number;
    /** Milliseconds added to real time. */
    offsetMs: number;
}

export function createClock(): Clock {
    return {
        offsetMs: 0,
        now() {
            return Date.now() + this.offsetMs;
        },
    };
}
