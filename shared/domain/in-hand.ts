/** So many calls of a process are always taken in: what is slow for another reason than a crowd would get no faster by refusing. */
export const ALWAYS_IN_HAND = 64;
/** A burst may bring so many. */
const MOST_IN_HAND = 2000;
/** A crowd that stays for so long is no burst: then no more are taken in than are done in as long. */
const BURST_MS = 1000;
const LASTING_WAIT_MS = 1000;
/** How often it is looked how much is done. */
const LOOK_EVERY_MS = 250;

/**
 * The calls of one process that are in its own hands: on their way to the queue or back, and not with a worker. Where the process is
 * what is slow, they would wait here until nobody waits for them any more, whatever the line to the workers looks like. How many are
 * done a second is learned while there is a crowd. Times are milliseconds of one clock.
 */
export interface InHand {
    /** A call was answered; one that ran out of time, or whose caller went, was not done. */
    left(): void;
    /**
     * How long a newcomer would wait, where that is too long; otherwise undefined.
     * @param share of the longest wait that it is let in for
     */
    tooLongMs(now: number, calls: { inHand: number; withWorkers: number }, share?: number): number | undefined;
}

/** Knows no pace yet; it is learned from the first crowd. */
export function openInHand(): InHand {
    let done = 0;
    let crowdSince: number | undefined;
    let look: { at: number; withWorkers: number } | undefined;
    /** Calls done a second, once it is known. */
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

    /** What was handed on to workers counts as done, and not once more when it is answered: slow sites answer much later. */
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

/** Of what stands still it is not known when it goes on. */
export const LONGEST_MS = 30_000;

function waitOf(inHand: number, pace: number): number {
    return Math.min(LONGEST_MS, (inHand * 1000) / pace);
}
