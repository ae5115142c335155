import { getOrMake } from '../../shared/domain/get-or-make.ts';
import { Refusal } from '../../shared/refusals.ts';
import { KeyedQueue, type QueueTurn } from '../admission/keyed-queue.ts';
import { createTokenBuckets } from '../admission/token-buckets.ts';

interface FairTurn {
    network: string;
    owner: string;
    /** Whether the account is on Free. One person may have many free accounts. */
    isFree: boolean;
    /** Removes it from the queue while it waits. */
    gone: AbortSignal | undefined;
}

/** The longest wait. After it the work is refused, which frees its memory. */
const PATIENCE_MS = 20_000;

/** Milliseconds of used time that are forgotten per second. Half a second is forgotten after about eight minutes. */
const FORGOTTEN_PER_SECOND = 1;

/**
 * Creates a queue that runs one piece of work at a time. Paying and free accounts take turns, so many free accounts delay a paying one by
 * one piece of work only. Among paying accounts, the one that used the least time is next. Among free ones, the network that used the least
 * is next, and in it the account.
 */
export function createFairQueue({ patienceMs = PATIENCE_MS }: { patienceMs?: number } = {}) {
    const used = createTokenBuckets({ capacity: Number.POSITIVE_INFINITY, perSecond: FORGOTTEN_PER_SECOND });
    let lastWasFree = false;
    const queue = new KeyedQueue<FairTurn & QueueTurn>({ atOnce: 1, patienceMs, inOrder });

    function inOrder(turns: Iterable<FairTurn & QueueTurn>): (FairTurn & QueueTurn)[] {
        // Read each value once for all comparisons, since it decays.
        const read = new Map<string, number>();
        const usedBy = (name: string) => getOrMake(read, name, () => used.spent(name));
        const ofNetwork = (turn: FairTurn) => (turn.isFree ? usedBy(networkName(turn)) : 0);
        const isNext = ({ isFree }: FairTurn) => Number(isFree !== lastWasFree);
        // The sort is stable: equal entries keep their order of arrival.
        return [...turns].sort((a, b) => isNext(b) - isNext(a) || ofNetwork(a) - ofNetwork(b) || usedBy(a.owner) - usedBy(b.owner));
    }

    return {
        /**
         * @param work resolves with the milliseconds that it took
         * @throws Refusal OVERLOADED after the longest wait, or another Refusal if the caller hung up
         */
        run: <Done extends { ms: number }>(turn: FairTurn, work: () => Promise<Done>): Promise<Done> =>
            queue.run({ ...turn, keys: [], full: () => new Refusal('OVERLOADED', TOO_LONG, { retryAfter: 5 }) }, async () => {
                lastWasFree = turn.isFree;
                const began = performance.now();
                let ms: number | undefined;
                try {
                    const done = await work();
                    ({ ms } = done);
                    return done;
                } finally {
                    for (const name of [networkName(turn), turn.owner]) used.spend(name, ms ?? performance.now() - began);
                }
            }),
    };
}

const TOO_LONG = 'Too many packages are waiting to be checked. Send this one again in a moment.';

function networkName({ network }: FairTurn): string {
    return `network ${network}`;
}
