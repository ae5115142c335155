import { Refusal } from '../../shared/refusals.ts';

export interface QueueTurn {
    keys: readonly string[];
    /** Removes the work from the queue while it waits. If its reason is a Refusal, the caller gets it. */
    gone?: AbortSignal | undefined;
    /** The error for the caller if too much work waits under one key or in total, or if this work waited too long; OVERLOADED by default. */
    full?(where: 'key' | 'room' | 'time'): Refusal;
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

/** A queue in memory. It runs one piece of work at a time per key, in order of arrival unless `inOrder` is set. */
export class KeyedQueue<Turn extends QueueTurn = QueueTurn> {
    readonly #options: KeyedQueueOptions<Turn>;
    readonly #room: NonNullable<KeyedQueueOptions<Turn>['room']>;
    /** The keys of running work. */
    readonly #keys = new Set<string>();
    #running = 0;
    /** A map keeps insertion order. */
    readonly #waiting = new Map<Turn, () => void>();

    constructor(options: KeyedQueueOptions<Turn> = {}) {
        this.#options = options;
        this.#room = options.room ?? { places: Number.POSITIVE_INFINITY, taken: 0 };
    }

    /** Whether the queue refuses further work with this key. */
    isFull(key: string): boolean {
        return this.#countWaiting(key) >= this.#waitingPerKey;
    }

    /**
     * Runs `work` when it is its turn under each of its keys.
     * @throws Refusal if too much work waits, this work waited too long, or the caller hung up
     */
    async run<Result>(turn: Turn, work: () => Promise<Result>): Promise<Result> {
        if (turn.gone?.aborted === true) throw goneRefusal(turn.gone);
        await this.#wait({ ...turn });
        try {
            return await work();
        } finally {
            this.#running -= 1;
            for (const key of turn.keys) this.#keys.delete(key);
            this.#startNext();
        }
    }

    async #wait(turn: Turn): Promise<void> {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const { patienceMs } = this.#options;
        const leave = (refusal: Refusal) => {
            if (!this.#waiting.delete(turn)) return;
            this.#room.taken -= 1;
            reject(refusal);
            this.#startNext();
        };
        this.#waiting.set(turn, resolve);
        this.#room.taken += 1;
        this.#startNext();
        if (!this.#waiting.has(turn)) return;
        if (turn.keys.some((key) => this.#countWaiting(key) > this.#waitingPerKey)) leave(fullRefusal(turn, 'key'));
        else if (this.#room.taken > this.#room.places) leave(fullRefusal(turn, 'room'));
        const timer = patienceMs === undefined ? undefined : setTimeout(() => leave(fullRefusal(turn, 'time')), patienceMs);
        const hungUp = () => leave(goneRefusal(turn.gone));
        turn.gone?.addEventListener('abort', hungUp, { once: true });
        try {
            await promise;
        } finally {
            clearTimeout(timer);
            turn.gone?.removeEventListener('abort', hungUp);
        }
    }

    /** Work that waits for one of its keys also blocks its other keys. Otherwise later work could overtake it forever. */
    #startNext(): void {
        const { atOnce = Number.POSITIVE_INFINITY, inOrder = (turns) => turns } = this.#options;
        if (this.#running >= atOnce) return;
        const claimed = new Set(this.#keys);
        for (const turn of inOrder(this.#waiting.keys())) {
            const isFree = turn.keys.every((key) => !claimed.has(key));
            for (const key of turn.keys) claimed.add(key);
            if (isFree) this.#start(turn);
            if (this.#running >= atOnce) return;
        }
    }

    #start(turn: Turn): void {
        const start = this.#waiting.get(turn);
        this.#waiting.delete(turn);
        this.#room.taken -= 1;
        this.#running += 1;
        for (const key of turn.keys) this.#keys.add(key);
        start?.();
    }

    #countWaiting(key: string): number {
        let count = 0;
        for (const { keys } of this.#waiting.keys()) if (keys.includes(key)) count += 1;
        return count;
    }

    get #waitingPerKey(): number {
        return this.#options.waitingPerKey ?? Number.POSITIVE_INFINITY;
    }
}

function fullRefusal({ full }: QueueTurn, where: 'key' | 'room' | 'time'): Refusal {
    return full?.(where) ?? new Refusal('OVERLOADED', undefined, { retryAfter: 1 });
}

/** The refusal of work that stopped waiting. If the caller hung up, nobody receives it. */
function goneRefusal(gone: AbortSignal | undefined): Refusal {
    const reason: unknown = gone?.reason;
    return reason instanceof Refusal ? reason : new Refusal('REQUEST_TIMEOUT', 'The caller hung up before its turn.');
}
