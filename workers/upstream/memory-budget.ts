import { UpstreamFault } from './failures.ts';
import { type CallMemory, type Cut, createLedger } from './memory-ledger.ts';
import { createWaits } from './memory-waits.ts';

export type MemoryBudget = ReturnType<typeof createMemoryBudget>;
export type Reservation = ReturnType<MemoryBudget['createReservation']>;

const MIB = 1024 * 1024;

/** 51 answers of 5 MiB. Two processes read ten to thirty of them a second. */
const MAX = 256 * MIB;

/** Calls whose pages together stay below this size need no reservation. Most calls do, and large answers must not delay them. */
const SMALL = 256 * 1024;

/** How often pages that arrive while others wait are checked. */
const CHECK_MS = 1000;

export const KEEPS_TOO_LONG = 'Others wait for what this call keeps of its pages so far, and nothing came of the next one.';
export const NO_MEMORY = 'The worker holds so many large answers that there was no memory for this one in time.';

/**
 * Creates the budget of the memory that large answers of a worker may use, since all slots together could need several times as much. It
 * is a semaphore with weights. A reservation is granted completely or not at all: if every answer had
 * half of its memory, none could finish. Walks that keep a large result, or hold a page and need more, come first, in the order in which
 * this began. The first walk may exceed the limit, so all of them finish one after the other.
 * @param maxBytes one site may use half
 * @param small bytes that need no reservation
 * @param checkMs time between two checks of arriving pages
 * @param onFull called each time a call has to wait
 */
export function createMemoryBudget({ maxBytes = MAX, small = SMALL, checkMs = CHECK_MS, onFull = () => {} } = {}) {
    const ledger = createLedger(maxBytes, small);
    const waits = createWaits(ledger, checkMs);

    function change(call: CallMemory, to: Partial<Pick<CallMemory, 'page' | 'kept' | 'wantsMore'>>): void {
        if (ledger.change(call, to)) waits.grant();
    }

    /** Ends the page of a call. Only a walk that keeps a large result keeps the number of checks that it is behind. */
    function endPage(call: CallMemory): void {
        call.cut = undefined;
        call.arrived = 0;
        if (!ledger.keepsLarge(call)) call.behind = 0;
    }

    return {
        held: () => ledger.held(),
        /** Creates the reservation of one call: one page at a time, and the results that it keeps of earlier pages. */
        createReservation(site: string) {
            const call: CallMemory = {
                ...{ site, page: 0, kept: 0, wantsMore: false },
                ...{ cut: undefined, arrived: 0, behind: 0, waitedMs: 0, hasGivenUp: false },
            };
            return {
                /** Whether a page of this size needs a reservation: with the kept results it is no longer small. */
                mustReserve: (bytes: number) => call.kept + bytes > small,
                /** Records that a page was requested. @param giveUp called when no bytes arrive while others wait for this call's memory */
                requested(giveUp: () => void) {
                    if (ledger.keepsLarge(call)) call.cut ??= giveUp;
                },
                /**
                 * Reserves memory before it is used: for a page of at most this size, or for the result of the page that is held. Returns
                 * undefined when the memory is free. Otherwise the call waits, and TCP flow control makes its site wait too.
                 * @param cut ends the page with a fault when it arrives too slowly while others wait; absent: no more bytes arrive
                 * @throws UpstreamFault OVERLOADED when the call gives up first
                 */
                reserve(bytes: number, cut?: Cut): Promise<void> | undefined {
                    if (call.hasGivenUp) return Promise.reject(noMemory());
                    // From here on the worker delays the page, not the site.
                    endPage(call);
                    if (call.page > 0) change(call, { wantsMore: true });
                    const granted = waits.wait(call, bytes, cut);
                    if (granted !== undefined) onFull();
                    return granted;
                },
                /** Total time that the pages waited for memory. */
                waitedMs: () => call.waitedMs,
                /** Counts bytes of the page that arrived. */
                received(bytes: number) {
                    call.arrived += bytes;
                },
                /** Sets the page's reservation to its actual size; 0 frees it. */
                settle(page: number) {
                    endPage(call);
                    change(call, { page });
                },
                /** Frees the page, and keeps this many bytes for its results. */
                keep: (bytes: number) => change(call, { page: 0, kept: call.kept + bytes }),
                /** Ends the current wait for memory and all later ones. */
                giveUp() {
                    call.hasGivenUp = true;
                    waits.fail(call, noMemory());
                },
                release() {
                    change(call, { page: 0, kept: 0 });
                    endPage(call);
                },
            };
        },
    };
}

/** The fault of a call that got no memory in time, or whose site did not wait until it did. */
export function noMemory(isTransient = false): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_MEMORY, { retryAfter: 1, isTransient });
}
