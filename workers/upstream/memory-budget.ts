import { openCallTime } from './call.ts';
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
    /** Ends the wait for memory, and every later one. */
    giveUp(): void;
    /** Frees everything. */
    release(): void;
}

const MIB = 1024 * 1024;

/** 51 answers of 5 MiB. Two processes read ten to thirty of them a second. */
const MOST = 256 * MIB;

/** Calls whose pages together stay below this size need no reservation. Most calls do, and large answers must not delay them. */
const SMALL = 256 * 1024;

/**
 * While calls wait for memory, every arriving page that blocks them is checked once a second. From the fifth check on, a page is cut if
 * fewer than MIN_BYTES_PER_CHECK bytes arrived per check. Checks are counted instead of time, so a pause of the machine harms no site.
 */
const CHECK_MS = 1000;
const SLOW_CHECKS = 5;
const MIN_BYTES_PER_CHECK = 32 * 1024;

const TOO_SLOW = 'The site sends this large answer so slowly that it was given up for others that wait.';
export const KEEPS_TOO_LONG = 'Others wait for what this call keeps of its pages so far, and nothing came of the next one.';
export const NO_MEMORY = 'The worker holds so many large answers that there was no room for this one in time.';

interface Holding {
    site: string;
    page: number;
    /** Bytes of kept results. They count against the budget once they exceed `small`. */
    kept: number;
    /** Slow checks of earlier pages, if the call keeps a large result. */
    slowChecks: number;
    /** The call holds a page and waits for more; it has priority until it gets it. */
    wantsMore: boolean;
    waitedMs: number;
    hasGivenUp: boolean;
    /** The page that arrives now: it has its reservation, or the call keeps results until it is there. */
    arriving: { checks: number; bytes: number; cut(fault: UpstreamFault): void } | undefined;
}

interface Waiting {
    bytes: number;
    cut: ((fault: UpstreamFault) => void) | undefined;
    checks: number;
    go(): void;
    fail(error: Error): void;
}

/**
 * Creates the memory budget of a worker. A reservation is granted whole or not at all: if every answer had half of its memory, none
 * could finish. Calls that keep a large result, or hold a page and need more, have priority, in the order in which they began to.
 * The first of them may exceed the limit, so all of them finish one after the other. Only one call's pages exceed `most`.
 * @param most bytes; one site may use half
 * @param small bytes that need no reservation
 * @param checkMs time between two checks of arriving pages
 * @param onFull called each time a call has to wait
 */
export function createMemoryBudget({ most = MOST, small = SMALL, checkMs = CHECK_MS, onFull = () => {} } = {}): MemoryBudget {
    let total = 0;
    const bySite = new Map<string, number>();
    const keeping = new Set<Holding>();
    const waiting = new Map<Holding, Waiting>();
    const arriving = new Set<Holding>();
    let checkTimer: NodeJS.Timeout | undefined;

    function obstacle(holding: Holding, bytes: number): 'none' | 'site' | 'total' {
        const [first] = keeping;
        if (total === 0 || holding === first) return 'none';
        const more = bytes - holding.page;
        if ((bySite.get(holding.site) ?? 0) + more > most / 2 && !isFirstOfItsSite(holding)) return 'site';
        return total + more > most ? 'total' : 'none';
    }

    function isFirstOfItsSite(holding: Holding): boolean {
        for (const one of keeping) if (one.site === holding.site) return one === holding;
        return false;
    }

    function counted(bytes: number): number {
        return bytes > small ? bytes : 0;
    }

    function hold(holding: Holding, { page, kept }: { page: number; kept: number }): void {
        const change = page + counted(kept) - holding.page - counted(holding.kept);
        holding.page = page;
        holding.kept = kept;
        holding.wantsMore &&= page > 0;
        if (counted(kept) > 0 || holding.wantsMore) keeping.add(holding);
        else keeping.delete(holding);
        if (change === 0) return;
        total += change;
        const ofSite = (bySite.get(holding.site) ?? 0) + change;
        if (ofSite === 0) bySite.delete(holding.site);
        else bySite.set(holding.site, ofSite);
        if (change < 0) grantWaiting();
    }

    /** Grants waiting reservations in order. A smaller one does not overtake the first, unless the first waits for its own site. */
    function grantWaiting(): void {
        const full = new Set<string>();
        for (const holding of inOrder()) {
            const request = waiting.get(holding);
            if (request === undefined || full.has(holding.site)) continue;
            const inTheWay = obstacle(holding, request.bytes);
            if (inTheWay === 'total') return;
            if (inTheWay === 'site') {
                full.add(holding.site);
                continue;
            }
            waiting.delete(holding);
            hold(holding, { ...holding, page: request.bytes });
            if (request.cut !== undefined) watchPage(holding, request.cut);
            request.go();
        }
    }

    function watchPage(holding: Holding, cut: (fault: UpstreamFault) => void): void {
        holding.arriving = { checks: holding.slowChecks, bytes: 0, cut };
        arriving.add(holding);
    }

    /** Ends the checks of a page. A call that keeps a large result carries its slow checks over to the next page. */
    function unwatchPage(holding: Holding): void {
        const { checks, bytes } = holding.arriving ?? { checks: holding.slowChecks, bytes: 0 };
        holding.slowChecks = counted(holding.kept) > 0 ? Math.max(0, checks - bytes / MIN_BYTES_PER_CHECK) : 0;
        holding.arriving = undefined;
        arriving.delete(holding);
    }

    function inOrder(): Set<Holding> {
        return new Set([...keeping, ...waiting.keys()]);
    }

    /** What blocks the calls that have waited since the last check. Shorter waits are normal. */
    function findFull(): { isTotal: boolean; sites: ReadonlySet<string> } {
        const patient = Array.from(waiting).filter(([, request]) => request.checks++ > 0);
        const found = patient.map(([holding, { bytes }]) => ({ site: holding.site, inTheWay: obstacle(holding, bytes) }));
        return {
            isTotal: found.some(({ inTheWay }) => inTheWay === 'total'),
            sites: new Set(found.filter(({ inTheWay }) => inTheWay === 'site').map(({ site }) => site)),
        };
    }

    function cutSlowPages(): void {
        if (waiting.size === 0) {
            clearInterval(checkTimer);
            checkTimer = undefined;
            return;
        }
        const { isTotal, sites } = findFull();
        for (const { site, arriving: page } of arriving) {
            // If only one site's share is full, cutting a page of another site frees no memory for it.
            if (page === undefined || !(isTotal || sites.has(site))) continue;
            if (++page.checks < SLOW_CHECKS || page.bytes >= page.checks * MIN_BYTES_PER_CHECK) continue;
            page.cut(new UpstreamFault('UPSTREAM_TIMEOUT', TOO_SLOW));
        }
    }

    return {
        createReservation(site) {
            const holding: Holding = {
                site,
                page: 0,
                kept: 0,
                slowChecks: 0,
                wantsMore: false,
                waitedMs: 0,
                hasGivenUp: false,
                arriving: undefined,
            };
            return {
                mustReserve: (bytes) => holding.kept + bytes > small,
                requested(giveUp) {
                    if (counted(holding.kept) > 0 && holding.arriving === undefined) watchPage(holding, giveUp);
                },
                reserve(bytes, cut) {
                    if (holding.hasGivenUp) return Promise.reject(noMemory());
                    // From here on the worker delays the page, not the site.
                    unwatchPage(holding);
                    if (holding.page > 0) {
                        holding.wantsMore = true;
                        keeping.add(holding);
                    }
                    const began = performance.now();
                    const turn = new Promise<void>((resolve, reject) => {
                        const end = (say: () => void) => {
                            holding.waitedMs += performance.now() - began;
                            say();
                        };
                        waiting.set(holding, { bytes, cut, checks: 0, go: () => end(resolve), fail: (error) => end(() => reject(error)) });
                    });
                    grantWaiting();
                    if (!waiting.has(holding)) return undefined;
                    onFull();
                    checkTimer ??= setInterval(cutSlowPages, checkMs).unref();
                    return turn;
                },
                waitedMs: () => holding.waitedMs,
                received(bytes) {
                    if (holding.arriving !== undefined) holding.arriving.bytes += bytes;
                },
                settle(page) {
                    unwatchPage(holding);
                    hold(holding, { ...holding, page });
                },
                keep: (bytes) => hold(holding, { page: 0, kept: holding.kept + bytes }),
                giveUp() {
                    holding.hasGivenUp = true;
                    waiting.get(holding)?.fail(noMemory());
                    if (waiting.delete(holding)) grantWaiting();
                },
                release() {
                    unwatchPage(holding);
                    hold(holding, { page: 0, kept: 0 });
                },
            };
        },
        held: () => total,
    };
}

/**
 * Reserves memory outside of a request.
 * @param deadlineAt milliseconds since the epoch
 * @returns whether the memory was granted in time
 */
export async function waitForMemory(
    reservation: Reservation,
    bytes: number,
    { deadlineAt, signal }: { deadlineAt: number; signal: AbortSignal },
): Promise<boolean> {
    const request = reservation.reserve(bytes);
    if (request === undefined) return true;
    const time = openCallTime(deadlineAt, signal);
    time.whenOver(() => reservation.giveUp());
    try {
        await request;
        return true;
    } catch {
        return false;
    } finally {
        time.close();
    }
}

/** The fault of a call that got no memory in time, or whose site did not wait for it. */
export function noMemory(isTransient = false): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_MEMORY, { retryAfter: 1, isTransient });
}
