import { Refusal } from '../../shared/refusals.ts';
import { goneRefusal } from '../admission/keyed-queue.ts';
import { createJudgingTime } from './judging-time.ts';

/** A piece of work that waits in the queue. */
export interface QueueTurn {
    /** The client's network. */
    network: string;
    /** The account. */
    owner: string;
    /** On Free: one person may have many such accounts. */
    isFree: boolean;
    /** Removes it from the queue while it waits. */
    gone: AbortSignal | undefined;
}

/** A queue for work that runs one piece at a time. */
export interface FairQueue {
    /**
     * @param work resolves with the milliseconds that it took
     * @throws Refusal OVERLOADED after the longest wait, or another Refusal where the caller hung up
     */
    run<Done extends { ms: number }>(turn: QueueTurn, work: () => Promise<Done>): Promise<Done>;
}

interface Ticket extends QueueTurn {
    start(): void;
}

/** The longest wait; then the work is refused and its memory is freed. */
const PATIENCE_MS = 20_000;

/** Used time decays at this share of real time: half a second within eight minutes. */
const FORGOTTEN = 0.001;

/**
 * Paying and free accounts take turns, so many free accounts delay a paying one by one piece of work only. Among paying accounts, the one
 * that used the least time is next. Among free ones, the network that used the least is next, and in it the account.
 */
export function createFairQueue({ patienceMs = PATIENCE_MS }: { patienceMs?: number } = {}): FairQueue {
    const spent = createJudgingTime({ share: FORGOTTEN });
    // Sets keep insertion order.
    const free = new Set<Ticket>();
    const paying = new Set<Ticket>();
    let lastWasFree = false;
    let isRunning = false;

    function next(): void {
        if (isRunning) return;
        const queue = free.size === 0 || (lastWasFree && paying.size > 0) ? paying : free;
        const now = performance.now();
        const ofNetwork = (ticket: Ticket) => (ticket.isFree ? spent.takenMs(networkName(ticket), now) : 0);
        // The sort is stable: equal entries keep their order of arrival.
        const [first] = [...queue].toSorted(
            (a, b) => ofNetwork(a) - ofNetwork(b) || spent.takenMs(a.owner, now) - spent.takenMs(b.owner, now),
        );
        if (first === undefined) return;
        queue.delete(first);
        lastWasFree = first.isFree;
        isRunning = true;
        first.start();
    }

    async function waitForTurn(turn: QueueTurn): Promise<void> {
        const { gone, isFree } = turn;
        if (gone?.aborted === true) throw goneRefusal(gone);
        const queue = isFree ? free : paying;
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const ticket: Ticket = { ...turn, start: resolve };
        const leave = (refusal: Refusal) => queue.delete(ticket) && reject(refusal);
        const hungUp = () => leave(goneRefusal(gone));
        gone?.addEventListener('abort', hungUp, { once: true });
        const timer = setTimeout(() => leave(new Refusal('OVERLOADED', TOO_LONG, { retryAfter: 5 })), patienceMs);
        queue.add(ticket);
        next();
        try {
            await promise;
        } finally {
            clearTimeout(timer);
            gone?.removeEventListener('abort', hungUp);
        }
    }

    return {
        async run(turn, work) {
            await waitForTurn(turn);
            const began = performance.now();
            let ms: number | undefined;
            try {
                const done = await work();
                ({ ms } = done);
                return done;
            } finally {
                const now = performance.now();
                for (const name of [networkName(turn), turn.owner]) spent.took(name, ms ?? now - began, now);
                isRunning = false;
                next();
            }
        },
    };
}

const TOO_LONG = 'So many packages wait to be judged that this one was given up; send it again in a moment.';

function networkName({ network }: QueueTurn): string {
    return `network ${network}`;
}
