import { UpstreamFault } from './failures.ts';

/** The memory that large answers of a worker may use. All slots together could need several times as much. */
export interface MemoryBudget {
    /** Creates the reservation of one call. @param site its answers may use half of the budget */
    createReservation(site: string): Reservation;
    /** Reserved bytes. */
    held(): number;
}

/** The reservation of one call: one page at a time, and the results that it keeps of earlier pages. */
export interface Reservation {
    /** Whether a page of this size needs a reservation: with the kept results it is no longer small. */
    mustReserve(bytes: number): boolean;
    /** Records that a page was requested. @param giveUp called when no bytes arrive while other calls wait for this call's memory */
    requested(giveUp: () => void): void;
    /**
     * Reserves memory before it is used: for a page of at most this size, or for the result of the page that is held. Returns undefined
     * when the memory is free. Otherwise the call waits, and TCP flow control makes its site wait too.
     * @param cut ends the page with a fault when it arrives too slowly while others wait; absent: no more bytes arrive
     * @throws UpstreamFault OVERLOADED when the call gives up first
     */
    reserve(bytes: number, cut?: (fault: UpstreamFault) => void): Promise<void> | undefined;
    /** Counts bytes of the page that arrived. */
    received(bytes: number): void;
    /** Total time that the pages waited for memory, in milliseconds. */
    waitedMs(): number;
    /** Sets the page's reservation to its actual size; 0 frees it. */
    settle(bytes: number): void;
    /** Frees the page, and keeps this many bytes for its results. */
    keep(bytes: number): void;
    /** Ends the current wait for memory and all later ones. */
    giveUp(): void;
    /** Frees everything. */
    release(): void;
}

const MIB = 1024 * 1024;

/** 51 answers of 5 MiB. Two processes read ten to thirty of them a second. */
const MAX = 256 * MIB;

/** Calls whose pages together stay below this size need no reservation. Most calls do, and large answers must not delay them. */
const SMALL = 256 * 1024;

/**
 * While calls wait for memory, pages that arrive and block them are checked once a second. A page is cut when it was slower than
 * MIN_BYTES a check for SLOW_CHECKS checks. Checks are counted instead of time, so a pause of the machine harms no site.
 */
const CHECK_MS = 1000;
const SLOW_CHECKS = 5;
const MIN_BYTES = 32 * 1024;

const TOO_SLOW = 'The site sends this large answer so slowly that it was given up for others that wait.';
export const KEEPS_TOO_LONG = 'Others wait for what this call keeps of its pages so far, and nothing came of the next one.';
export const NO_MEMORY = 'The worker holds so many large answers that there was no memory for this one in time.';

type Cut = (fault: UpstreamFault) => void;

interface Call {
    site: string;
    page: number;
    /** Bytes of kept results. They count against the budget once they exceed `small`. */
    kept: number;
    /** Whether it holds a page and needs more for its results. */
    wantsMore: boolean;
    /** Ends the call's page with a fault. Set while a page arrives, or while the call keeps results and waits for the next page. */
    cut: Cut | undefined;
    /** Bytes since the last check, and the number of checks that it is behind. */
    arrived: number;
    behind: number;
    waitedMs: number;
    hasGivenUp: boolean;
}

interface Waiting {
    bytes: number;
    cut: Cut | undefined;
    checks: number;
    since: number;
    go(): void;
    fail(error: Error): void;
}

/**
 * Creates the memory budget of a worker: a semaphore with weights. A reservation is granted completely or not at all: if every answer had
 * half of its memory, none could finish. Walks that keep a large result, or hold a page and need more, come first, in the order in which
 * this began. The first walk may exceed the limit, so all of them finish one after the other.
 * @param maxBytes one site may use half
 * @param small bytes that need no reservation
 * @param checkMs time between two checks of arriving pages
 * @param onFull called each time a call has to wait
 */
export function createMemoryBudget({ maxBytes = MAX, small = SMALL, checkMs = CHECK_MS, onFull = () => {} } = {}): MemoryBudget {
    const holders = new Set<Call>();
    const walks = new Set<Call>();
    const waiting = new Map<Call, Waiting>();
    let checkTimer: NodeJS.Timeout | undefined;

    const keepsLarge = ({ kept }: Call) => kept > small;
    const bytesOf = (call: Call) => call.page + (keepsLarge(call) ? call.kept : 0);
    const held = (site?: string) => {
        let sum = 0;
        for (const call of holders) if (site === undefined || call.site === site) sum += bytesOf(call);
        return sum;
    };

    function obstacle(call: Call, bytes: number): 'none' | 'site' | 'total' {
        const [first] = walks;
        const firstOfSite = [...walks].find(({ site }) => site === call.site);
        const more = bytes - call.page;
        if (holders.size === 0 || call === first) return 'none';
        if (held(call.site) + more > maxBytes / 2 && call !== firstOfSite) return 'site';
        return held() + more > maxBytes ? 'total' : 'none';
    }

    function change(call: Call, to: Partial<Pick<Call, 'page' | 'kept' | 'wantsMore'>>): void {
        const before = bytesOf(call);
        Object.assign(call, to);
        call.wantsMore &&= call.page > 0;
        include(walks, call, call.wantsMore || keepsLarge(call));
        include(holders, call, bytesOf(call) > 0);
        if (bytesOf(call) < before) grantWaiting();
    }

    /** Grants waiting reservations in order. A smaller one does not overtake the first, unless the first waits for its own site. */
    function grantWaiting(): void {
        const full = new Set<string>();
        for (const call of new Set([...walks, ...waiting.keys()])) {
            const asked = waiting.get(call);
            if (asked === undefined || full.has(call.site)) continue;
            const inTheWay = obstacle(call, asked.bytes);
            if (inTheWay === 'total') return;
            if (inTheWay === 'site') full.add(call.site);
            else {
                endWait(call, asked);
                change(call, { page: asked.bytes });
                call.cut = asked.cut;
                asked.go();
            }
        }
    }

    function endWait(call: Call, { since }: Waiting): void {
        waiting.delete(call);
        call.waitedMs += performance.now() - since;
    }

    /** Ends the page of a call. Only a walk that keeps a large result keeps the number of checks that it is behind. */
    function endPage(call: Call): void {
        call.cut = undefined;
        call.arrived = 0;
        if (!keepsLarge(call)) call.behind = 0;
    }

    function cutSlowPages(): void {
        if (waiting.size === 0) {
            clearInterval(checkTimer);
            checkTimer = undefined;
            return;
        }
        // Waits shorter than the time between two checks are normal and are ignored.
        const patient = [...waiting].filter(([, asked]) => asked.checks++ > 0);
        const obstacles = patient.map(([call, { bytes }]) => ({ site: call.site, inTheWay: obstacle(call, bytes) }));
        for (const call of holders) {
            const isInTheWay = obstacles.some(({ site, inTheWay }) => inTheWay === 'total' || (inTheWay === 'site' && site === call.site));
            if (call.cut === undefined || !isInTheWay) continue;
            call.behind = Math.max(0, call.behind + 1 - call.arrived / MIN_BYTES);
            call.arrived = 0;
            if (call.behind >= SLOW_CHECKS) call.cut(new UpstreamFault('UPSTREAM_TIMEOUT', TOO_SLOW));
        }
    }

    return {
        held,
        createReservation(site) {
            const call: Call = {
                ...{ site, page: 0, kept: 0, wantsMore: false },
                ...{ cut: undefined, arrived: 0, behind: 0, waitedMs: 0, hasGivenUp: false },
            };
            return {
                mustReserve: (bytes) => call.kept + bytes > small,
                requested(giveUp) {
                    if (keepsLarge(call)) call.cut ??= giveUp;
                },
                reserve(bytes, cut) {
                    if (call.hasGivenUp) return Promise.reject(noMemory());
                    // From here on the worker delays the page, not the site.
                    endPage(call);
                    if (call.page > 0) change(call, { wantsMore: true });
                    const { promise, resolve, reject } = Promise.withResolvers<void>();
                    waiting.set(call, { bytes, cut, checks: 0, since: performance.now(), go: resolve, fail: reject });
                    grantWaiting();
                    if (!waiting.has(call)) return undefined;
                    onFull();
                    checkTimer ??= setInterval(cutSlowPages, checkMs).unref();
                    return promise;
                },
                waitedMs: () => call.waitedMs,
                received(bytes) {
                    call.arrived += bytes;
                },
                settle(page) {
                    endPage(call);
                    change(call, { page });
                },
                keep: (bytes) => change(call, { page: 0, kept: call.kept + bytes }),
                giveUp() {
                    call.hasGivenUp = true;
                    const asked = waiting.get(call);
                    if (asked === undefined) return;
                    endWait(call, asked);
                    asked.fail(noMemory());
                    grantWaiting();
                },
                release() {
                    change(call, { page: 0, kept: 0 });
                    endPage(call);
                },
            };
        },
    };
}

function include<T>(set: Set<T>, one: T, isIn: boolean): void {
    if (isIn) set.add(one);
    else set.delete(one);
}

/** The fault of a call that got no memory in time, or whose site did not wait until it did. */
export function noMemory(isTransient = false): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_MEMORY, { retryAfter: 1, isTransient });
}
