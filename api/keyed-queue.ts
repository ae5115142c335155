import { Refusal } from '../shared/refusals.ts';

/** A queue in memory. Of one key one work runs at a time, in the order in which they came. */
export interface KeyedQueue {
    /**
     * Runs `work` when it is its turn under each of its keys.
     * @throws what `full` makes where too many wait already, and Refusal REQUEST_TIMEOUT where the caller hung up
     */
    run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result>;
    /** Whether one more of this key would be too many. */
    isFull(key: string): boolean;
}

export interface Turn {
    keys: readonly string[];
    /** Takes it out of the queue while it waits. */
    gone?: AbortSignal;
    /** What the caller is told where too many wait under one key, or in all. */
    full(where: 'key' | 'room'): Refusal;
}

export interface KeyedQueueOptions {
    /** Works that run at the same time. */
    atOnce?: number;
    /** Works that wait under one key. */
    waitingPerKey?: number;
    /** Works that wait in all; queues may share it. */
    room: WaitingRoom;
}

/** How many works may wait, and how many do. */
export interface WaitingRoom {
    readonly places: number;
    taken: number;
}

interface Ticket extends Turn {
    start(): void;
    refuse(refusal: Refusal): void;
}

/** An empty queue. */
export function createKeyedQueue(options: KeyedQueueOptions): KeyedQueue {
    const { atOnce = Number.POSITIVE_INFINITY, waitingPerKey = Number.POSITIVE_INFINITY, room } = options;
    const running = new Set<string>();
    // A set keeps the order in which its members came.
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
        ticket.gone?.addEventListener('abort', () => leave(hungUp()), { once: true });
    }

    function countWaiting(key: string): number {
        let count = 0;
        for (const { keys } of waiting) if (keys.includes(key)) count += 1;
        return count;
    }

    /** Who waits for one of several keys keeps the others for itself: otherwise those behind could pass for ever. */
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
            if (turn.gone?.aborted === true) throw hungUp();
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

/** Nobody reads it. */
function hungUp(): Refusal {
    return new Refusal('REQUEST_TIMEOUT', 'The caller hung up before its turn.');
}
