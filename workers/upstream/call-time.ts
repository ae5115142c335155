export type CallTime = ReturnType<typeof openCallTime>;

/**
 * Starts the time of one call. It ends at the deadline, or earlier when the caller hangs up.
 * @param deadlineAt milliseconds since the epoch; from here on the monotonic clock is used
 */
export function openCallTime(deadlineAt: number, signal?: AbortSignal) {
    const endsAt = performance.now() + (deadlineAt - Date.now());
    const waiting = new Set<() => void>();
    let over = signal?.aborted === true || deadlineAt <= Date.now();
    const end = () => {
        over = true;
        for (const act of [...waiting]) act();
    };
    const timer = setTimeout(end, Math.max(0, deadlineAt - Date.now()));
    signal?.addEventListener('abort', end);

    /** Runs `act` when the call is over, or now if it already is. @returns a function that removes `act` */
    const whenOver = (act: () => void): (() => void) => {
        if (over) act();
        else waiting.add(act);
        return () => waiting.delete(act);
    };
    return {
        /** Whether the call is over. Then no more requests are sent. */
        isOver: () => over,
        /** Milliseconds to the deadline, never below 0. */
        left: () => Math.max(0, endsAt - performance.now()),
        whenOver,
        end,
        /** Resolves after `ms`, or when the call is over. */
        wait(ms: number): Promise<void> {
            return new Promise((done) => {
                const finish = () => {
                    clearTimeout(pause);
                    forget();
                    done();
                };
                const pause = setTimeout(finish, ms);
                const forget = over ? () => {} : whenOver(finish);
                if (over) finish();
            });
        },
        /** Clears the timer and the signal's listener. */
        close() {
            clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            waiting.clear();
        },
    };
}
