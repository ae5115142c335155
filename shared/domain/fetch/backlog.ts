/** A process always accepts this many calls. Below this number a slow call has another cause, and rejecting others makes nothing faster. */
export const ALWAYS_IN_HAND = 64;
/** The most calls that a process accepts during a burst. */
const MOST_IN_HAND = 2000;
/** A backlog that lasts longer than this is no burst. From then on, the process accepts calls only as fast as it finishes them. */
const BURST_MS = 1000;
const LASTING_WAIT_MS = 1000;
/** How often the pace is measured. */
const LOOK_EVERY_MS = 250;

/**
 * The calls that one process holds itself: on their way to the queue or back, but not with a worker. A slow process delays these calls even
 * where the queue is short. The backlog learns how many calls the process finishes per second while it is busy. Times are milliseconds of
 * one clock.
 */
export interface Backlog {
    /** Counts an answered call. Calls that timed out or whose caller hung up do not count. */
    left(): void;
    /**
     * The wait of a new call in milliseconds, where it is too long; otherwise undefined.
     * @param share the part of the longest wait that this caller may have
     */
    tooLongMs(now: number, calls: { inHand: number; withWorkers: number }, share?: number): number | undefined;
}

/** Creates a backlog without a known pace; the first busy period teaches it. */
export function createBacklog(): Backlog {
    let done = 0;
    let crowdSince: number | undefined;
    let look: { at: number; withWorkers: number } | undefined;
    /** Calls finished per second; undefined until it is known. */
    let pace: number | undefined;

    return {
        left() {
            done++;
        },
        tooLongMs(now, { inHand, withWorkers }, share = 1) {
            if (inHand < ALWAYS_IN_HAND) {
                crowdSince = undefined;
                look = undefined;
                return undefined;
            }
            crowdSince ??= now;
            learn(now, withWorkers);
            if (inHand >= MOST_IN_HAND) return pace === undefined ? LASTING_WAIT_MS : waitOf(inHand, pace);
            if (pace === undefined || now - crowdSince < BURST_MS) return undefined;
            const waitMs = waitOf(inHand, pace);
            return waitMs > share * LASTING_WAIT_MS ? waitMs : undefined;
        },
    };

    /** A call counts as done once a worker has it, and not again when it is answered: slow sites answer much later. */
    function learn(now: number, withWorkers: number): void {
        if (look !== undefined && now - look.at < LOOK_EVERY_MS) return;
        if (look !== undefined) {
            const seen = (Math.max(0, done + withWorkers - look.withWorkers) * 1000) / (now - look.at);
            pace = pace === undefined ? seen : (pace + seen) / 2;
        }
        look = { at: now, withWorkers };
        done = 0;
    }
}

/** The longest wait that is ever estimated. A stopped queue has no known end. */
export const LONGEST_MS = 30_000;

function waitOf(inHand: number, pace: number): number {
    return Math.min(LONGEST_MS, (inHand * 1000) / pace);
}
