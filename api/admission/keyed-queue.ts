import { Refusal } from '../../shared/refusals.ts';

export interface QueueTurn {
    keys: readonly string[];
    /** Removes the work from the queue while it waits. If its reason is a Refusal, the caller gets it. */
    gone?: AbortSignal | undefined;
    /** The error for the caller if too much work waits under one key or in total, or if this work waited too long. */
    full(where: 'key' | 'room' | 'time'): Refusal;
}

interface KeyedQueueOptions<Turn extends QueueTurn> {
    /** Maximum number of pieces of work that run at the same time, and that wait under one key. */
    atOnce?: number;
    waitingPerKey?: number;
    /** The places for waiting work, and how many are taken. Queues may share it. */
    room?: { readonly places: number; taken: number };
    /** The longest wait. */
    patienceMs?: number;
    /** The order in which waiting turns start. @param turns in order of arrival */
    inOrder?(turns: Iterable<Turn>): Iterable<Turn>;
}

/** Creates a queue in memory. It runs one piece of work at a time per key, in order of arrival unless `inOrder` is set. */
export function createKeyedQueue<Turn extends QueueTurn = QueueTurn>(options: KeyedQueueOptions<Turn> = {}) {
    const { atOnce = Number.POSITIVE_INFINITY, waitingPerKey = Number.POSITIVE_INFINITY, patienceMs, inOrder = (turns) => turns } = options;
    const room = options.room ?? { places: Number.POSITIVE_INFINITY, taken: 0 };
    const running = new Set<string>();
    // A map keeps insertion order.
    const waiting = new Map<Turn, () => void>();
    let runningCount = 0;

    async function wait(turn: Turn): Promise<void> {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const leave = (refusal: Refusal) => {
            if (!waiting.delete(turn)) return;
            room.taken -= 1;
            reject(refusal);
            startNext();
        };
        waiting.set(turn, resolve);
        room.taken += 1;
        startNext();
        if (!waiting.has(turn)) return;
        if (turn.keys.some((key) => countWaiting(key) > waitingPerKey)) leave(turn.full('key'));
        else if (room.taken > room.places) leave(turn.full('room'));
        const timer = patienceMs === undefined ? undefined : setTimeout(() => leave(turn.full('time')), patienceMs);
        const hungUp = () => leave(goneRefusal(turn.gone));
        turn.gone?.addEventListener('abort', hungUp, { once: true });
        try {
            await promise;
        } finally {
            clearTimeout(timer);
            turn.gone?.removeEventListener('abort', hungUp);
        }
    }

    function countWaiting(key: string): number {
        let count = 0;
        for (const { keys } of waiting.keys()) if (keys.includes(key)) count += 1;
        return count;
    }

    /** Work that waits for one of its keys also blocks its other keys. Otherwise later work could overtake it forever. */
    function startNext(): void {
        if (runningCount >= atOnce) return;
        const claimed = new Set(running);
        for (const turn of inOrder(waiting.keys())) {
            const isFree = turn.keys.every((key) => !claimed.has(key));
            for (const key of turn.keys) claimed.add(key);
            if (!isFree) continue;
            const start = waiting.get(turn);
            waiting.delete(turn);
            room.taken -= 1;
            runningCount += 1;
            for (const key of turn.keys) running.add(key);
            start?.();
            if (runningCount >= atOnce) return;
        }
    }

    return {
        /** Whether the queue refuses further work with this key. */
        isFull: (key: string) => countWaiting(key) >= waitingPerKey,
        /**
         * Runs `work` when it is its turn under each of its keys.
         * @throws the result of `full` if too much work waits or this work waited too long, or a Refusal if the caller hung up
         */
        async run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
            if (turn.gone?.aborted === true) throw goneRefusal(turn.gone);
            await wait({ ...turn });
            try {
                return await work();
            } finally {
                runningCount -= 1;
                for (const key of turn.keys) running.delete(key);
                startNext();
            }
        },
    };
}

/** The refusal of work that stopped waiting. If the caller hung up, nobody receives it. */
function goneRefusal(gone: AbortSignal | undefined): Refusal {
    const reason: unknown = gone?.reason;
    return reason instanceof Refusal ? reason : new Refusal('REQUEST_TIMEOUT', 'The caller hung up before its turn.');
}
