import { Refusal } from '../../shared/refusals.ts';

/** A queue in memory. It runs one piece of work at a time per key, in order of arrival. */
export interface KeyedQueue {
    /**
     * Runs `work` when it is its turn under each of its keys.
     * @throws the error that `full` makes where too much work waits, or a Refusal where the caller hung up
     */
    run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
    /** Whether one more of this key would be too many. */
    isFull(key: string): boolean;
}

export interface Turn {
    keys: readonly string[];
    /** Removes the work from the queue while it waits. A Refusal as its reason goes to the caller. */
    gone?: AbortSignal;
    /** The message for the caller where too many wait under one key, or in all. */
    full(where: 'key' | 'room'): Refusal;
}

export interface KeyedQueueOptions {
    /** The most pieces of work that run at the same time. */
    atOnce?: number;
    /** The most pieces of work that wait under one key. */
    waitingPerKey?: number;
    /** The most pieces of work that wait in total; queues may share it. */
    room: WaitingRoom;
}

/** The limit of waiting work, and its current number. */
export interface WaitingRoom {
    readonly places: number;
    taken: number;
}

interface Ticket extends Turn {
    start(): void;
    refuse(refusal: Refusal): void;
}

/** Creates an empty queue. */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
    const { atOnce = Number.POSITIVE_INFINITY, waitingPerKey = Number.POSITIVE_INFINITY, room } = options;
    const running = new Set<string>();
    // A set keeps insertion order.
    const waiting = new Set<Ticket>();
    let works = 0;

    function enter(ticket: Ticket): void {
        waiting.add(ticket);
        room.taken += 1;
        startNext();
        const leave = (refusal: Refusal) => {
            if (!waiting.delete(ticket)) return;
            room.taken -= 1;
            ticket.refuse(refusal);
            startNext();
        };
        if (!waiting.has(ticket)) return;
        if (ticket.keys.some((key) => countWaiting(key) > waitingPerKey)) leave(ticket.full('key'));
        else if (room.taken > room.places) leave(ticket.full('room'));
        ticket.gone?.addEventListener('abort', () => leave(goneRefusal(ticket.gone)), { once: true });
    }

    function countWaiting(key: string): number {
        let count = 0;
        for (const { keys } of waiting) if (keys.includes(key)) count += 1;
        return count;
    }

    /** Work that waits for one key also blocks its other keys. Otherwise later work could overtake it forever. */
    function startNext(): void {
        const claimed = new Set(running);
        for (const ticket of waiting) {
            if (works >= atOnce) return;
            const isFree = ticket.keys.every((key) => !claimed.has(key));
            for (const key of ticket.keys) claimed.add(key);
            if (!isFree) continue;
            waiting.delete(ticket);
            room.taken -= 1;
            works += 1;
            for (const key of ticket.keys) running.add(key);
            ticket.start();
        }
    }

    return {
        isFull: (key) => countWaiting(key) >= waitingPerKey,
        async run(turn, work) {
            if (turn.gone?.aborted === true) throw goneRefusal(turn.gone);
            await new Promise<void>((start, refuse) => enter({ ...turn, start, refuse }));
            try {
                return await work();
            } finally {
                works -= 1;
                for (const key of turn.keys) running.delete(key);
                startNext();
            }
        },
    };
}

/** Why the work stopped waiting. Nobody reads it where the caller hung up. */
export function goneRefusal(gone: AbortSignal | undefined): Refusal {
    const reason: unknown = gone?.reason;
    return reason instanceof Refusal ? reason : new Refusal('REQUEST_TIMEOUT', 'The caller hung up before its turn.');
}
