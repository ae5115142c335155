/** On a machine whose cores are all busy an answer may take this long, and nothing is wrong. */
const PATIENCE_MS = 1000;
/** Once it fell silent, and until it is heard again, nobody waits longer than this. */
const WARY_MS = 200;
const LOOK_MS = 50;
/** What counts of the time between two looks. One that took longer was a turn of our own, or a pause of the machine and of the other side with it. */
const LONGEST_LOOK_MS = 4 * LOOK_MS;

/** Watches the answers of one connection: see `createSilenceGuard`. */
export interface SilenceGuard {
    /** Resolves and rejects as `answer` does, or rejects when the other side has gone silent. */
    ask<Answer>(answer: Promise<Answer>): Promise<Answer>;
}

/**
 * Gives up on everything that is asked as soon as nothing at all was answered for a second, and from then on, until something is heard
 * again, after 200 ms (GOALS R4, R5). A limit for each question would refuse the
 * last of a thousand that are asked at once, although the other side answers as fast as it can; and it takes no timer per question.
 */
export function createSilenceGuard(part: string): SilenceGuard {
    const pending = new Set<{ since: number; reject: (error: Error) => void }>();
    /** Milliseconds for which we listened before the last look; `since` and `heardAt` are of this time. */
    let listenedMs = 0;
    let lookedAt = 0;
    let heardAt = 0;
    let limitMs = PATIENCE_MS;
    let looking: NodeJS.Timeout | undefined;
    return {
        ask(answer) {
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
        return listenedMs + Math.min(performance.now() - lookedAt, LONGEST_LOOK_MS);
    }

    function look(): void {
        listenedMs = listened();
        lookedAt = performance.now();
        // After a long turn of our own, timers run before what has arrived meanwhile is read: let it be read first.
        if (pending.size > 0) setImmediate(judge);
        else {
            clearInterval(looking);
            looking = undefined;
        }
    }

    function judge(): void {
        const [oldest] = pending;
        if (oldest === undefined || listened() - Math.max(heardAt, oldest.since) < limitMs) return;
        const error = new Error(`${part}: nothing was answered for ${limitMs} ms`);
        limitMs = WARY_MS;
        for (const { reject } of pending) reject(error);
        pending.clear();
    }
}
