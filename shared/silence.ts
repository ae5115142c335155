/** On a machine whose cores are all busy an answer may take this long, and nothing is wrong. */
const PATIENCE_MS = 1000;
/** Once it fell silent, and until it is heard again, nobody waits longer than this. */
const WARY_MS = 200;
const LOOK_MS = 50;

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
    let heardAt = 0;
    let limitMs = PATIENCE_MS;
    let looking: NodeJS.Timeout | undefined;
    return {
        ask(answer) {
            return new Promise((resolve, reject) => {
                const question = { since: performance.now(), reject };
                pending.add(question);
                looking ??= setInterval(look, LOOK_MS);
                const heard = () => {
                    pending.delete(question);
                    heardAt = performance.now();
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

    function look(): void {
        // After a long turn of our own, timers run before what has arrived meanwhile is read: let it be read first.
        if (pending.size > 0) setImmediate(judge);
        else {
            clearInterval(looking);
            looking = undefined;
        }
    }

    function judge(): void {
        const [oldest] = pending;
        if (oldest === undefined || performance.now() - Math.max(heardAt, oldest.since) < limitMs) return;
        const error = new Error(`${part}: nothing was answered for ${limitMs} ms`);
        limitMs = WARY_MS;
        for (const { reject } of pending) reject(error);
        pending.clear();
    }
}
