/** On a busy machine an answer may take this long, without a fault. */
const PATIENCE_MS = 1000;
/** The limit after a stall, until the next answer. */
const STALLED_MS = 200;
const LOOK_MS = 50;
/** Maximum time that counts between two checks. A longer gap means that this process had a long turn or the machine paused. */
const MAX_LOOK_MS = 4 * LOOK_MS;

/**
 * Rejects all pending requests when no answer has arrived for a second. After a stall the limit is 200 ms, until the next answer (goals R4,
 * R5). A timeout for each request would reject the last of a thousand concurrent requests although the server works at full speed, and
 * would need a timer for each.
 */
export function createStallDetector(part: string) {
    const pending = new Set<{ since: number; reject: (error: Error) => void }>();
    /** The time that has counted until the last check. `since` and `heardAt` use this clock. */
    let listenedMs = 0;
    let lookedAt = 0;
    let heardAt = 0;
    let limitMs = PATIENCE_MS;
    let looking: NodeJS.Timeout | undefined;
    return {
        /** Settles like `answer`, or rejects when the connection stalls. */
        guard<Answer>(answer: Promise<Answer>): Promise<Answer> {
            return new Promise((resolve, reject) => {
                if (looking === undefined) {
                    lookedAt = performance.now();
                    looking = setInterval(look, LOOK_MS);
                }
                const question = { since: listened(), reject };
                pending.add(question);
                const heard = () => {
                    pending.delete(question);
                    heardAt = listened();
                    limitMs = PATIENCE_MS;
                };
                answer.then(
                    (value) => {
                        heard();
                        resolve(value);
                    },
                    (error: unknown) => {
                        heard();
                        reject(error);
                    },
                );
            });
        },
    };

    function listened(): number {
        if (looking === undefined) return listenedMs;
        return listenedMs + Math.min(performance.now() - lookedAt, MAX_LOOK_MS);
    }

    function look(): void {
        listenedMs = listened();
        lookedAt = performance.now();
        // After a long turn of the event loop, timers run before I/O. The decision waits for the I/O.
        if (pending.size > 0) setImmediate(decide);
        else {
            clearInterval(looking);
            looking = undefined;
        }
    }

    function decide(): void {
        const [oldest] = pending;
        if (oldest === undefined || listened() - Math.max(heardAt, oldest.since) < limitMs) return;
        const error = new Error(`${part}: nothing was answered for ${limitMs} ms`);
        limitMs = STALLED_MS;
        for (const { reject } of pending) reject(error);
        pending.clear();
    }
}
