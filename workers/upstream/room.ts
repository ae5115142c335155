import { openCallTime } from './call.ts';
import { UpstreamFault } from './failures.ts';

/** Memory for the large answers that a worker holds at once; all slots together could ask for several times as much. */
export interface Room {
    /** @param site whose answers may fill half of it. */
    enter(site: string): Tenant;
    /** Bytes that are held, or kept free for what is on its way. */
    held(): number;
}

/** What one call holds: one page at a time, and what it keeps of those before. */
export interface Tenant {
    /** Whether a page of which so many bytes are there by now has to ask for room: with what is kept it is no longer small. */
    hasToAsk(bytes: number): boolean;
    /** A page is asked for. @param giveUp called where nothing comes of it while others wait for what this call keeps */
    requested(giveUp: () => void): void;
    /**
     * Asks for room for so many bytes, before they are there: for a page of up to as many, or for what may be made of the page that is
     * held. Nothing where there is room; otherwise the call waits until there is, and its site waits too, by TCP's own means.
     * @param cut ends the page, with a fault, where it hardly comes on while others wait; absent: nothing more comes of the site
     * @throws UpstreamFault OVERLOADED when it gives up before
     */
    ask(bytes: number, cut?: (fault: UpstreamFault) => void): Promise<void> | undefined;
    /** So many bytes more have come of the page. */
    came(bytes: number): void;
    /** Milliseconds for which its pages waited for room, all in all. */
    waitedMs(): number;
    /** The page takes so many bytes of what was asked for; with 0 it is gone. */
    settle(bytes: number): void;
    /** What was read of the page stays, and takes so many bytes; the page itself is gone. */
    keep(bytes: number): void;
    /** It waits no more, now or later. */
    giveUp(): void;
    /** Nothing is held any more. */
    leave(): void;
}

const MIB = 1024 * 1024;

/** 51 answers of 5 MiB; two threads read ten to thirty of them a second. */
const MOST = 256 * MIB;

/** Answers up to so many bytes, of all pages of a call together, ask for no room: most are smaller, and nobody's large ones are to hold them up. */
const SMALL = 256 * 1024;

/**
 * While somebody has waited from one look to the next, each page that is on its way and in the way is looked at once a second, and given
 * up when at the fifth look, or a later one, less than so many bytes a look have come. Looks are counted and not time: of a pause of the
 * machine no site is to blame.
 */
const LOOK_MS = 1000;
const LOOKS = 5;
const LEAST_A_LOOK = 32 * 1024;

const TOO_SLOW = 'The site sends this large answer so slowly that it was given up for others that wait.';
export const KEEPS_TOO_LONG = 'Others wait for what this call keeps of its pages so far, and nothing came of the next one.';
export const NO_ROOM = 'The worker holds so many large answers that there was no room for this one in time.';

interface Place {
    site: string;
    page: number;
    /** All that is kept; it counts as soon as it is more than small. */
    kept: number;
    /** Looks of the pages before in which too little came, where a large part is kept. */
    owed: number;
    /** It has asked for more than the page that it holds, and comes first until that is done. */
    wantsMore: boolean;
    waitedMs: number;
    hasGivenUp: boolean;
    /** Of a page that is on its way and was given its room, or without which what is kept stays. */
    coming: { looks: number; bytes: number; cut(fault: UpstreamFault): void } | undefined;
}

interface Waiting {
    bytes: number;
    cut: ((fault: UpstreamFault) => void) | undefined;
    looks: number;
    go(): void;
    fail(error: Error): void;
}

/**
 * Room is given whole or not at all: of answers that all have half of theirs none would come to an end. Those that keep a large part of
 * former pages, or hold a page and ask for more, come first, in the order in which they began to, and the first of them goes past any
 * bound: all of them come to an end so, one after the other, and what is held past `most` is the pages of one call.
 * @param most bytes; of one site half as many
 * @param small bytes for which nobody asks
 * @param lookMs between two looks at what is on its way
 * @param onFull each time that a call has to wait
 */
export function openRoom({ most = MOST, small = SMALL, lookMs = LOOK_MS, onFull = () => {} } = {}): Room {
    let total = 0;
    const bySite = new Map<string, number>();
    const keeping = new Set<Place>();
    const waiting = new Map<Place, Waiting>();
    const coming = new Set<Place>();
    let looking: NodeJS.Timeout | undefined;

    function obstacle(place: Place, bytes: number): 'none' | 'site' | 'total' {
        const [first] = keeping;
        if (total === 0 || place === first) return 'none';
        const more = bytes - place.page;
        if ((bySite.get(place.site) ?? 0) + more > most / 2 && !isFirstOfItsSite(place)) return 'site';
        return total + more > most ? 'total' : 'none';
    }

    function isFirstOfItsSite(place: Place): boolean {
        for (const one of keeping) if (one.site === place.site) return one === place;
        return false;
    }

    function counted(bytes: number): number {
        return bytes > small ? bytes : 0;
    }

    function hold(place: Place, { page, kept }: { page: number; kept: number }): void {
        const change = page + counted(kept) - place.page - counted(place.kept);
        place.page = page;
        place.kept = kept;
        place.wantsMore &&= page > 0;
        if (counted(kept) > 0 || place.wantsMore) keeping.add(place);
        else keeping.delete(place);
        if (change === 0) return;
        total += change;
        const ofSite = (bySite.get(place.site) ?? 0) + change;
        if (ofSite === 0) bySite.delete(place.site);
        else bySite.set(place.site, ofSite);
        if (change < 0) letIn();
    }

    /** What would fit beside the first does not overtake it, unless that waits for its own site. */
    function letIn(): void {
        const full = new Set<string>();
        for (const place of inOrder()) {
            const asked = waiting.get(place);
            if (asked === undefined || full.has(place.site)) continue;
            const inTheWay = obstacle(place, asked.bytes);
            if (inTheWay === 'total') return;
            if (inTheWay === 'site') {
                full.add(place.site);
                continue;
            }
            waiting.delete(place);
            hold(place, { ...place, page: asked.bytes });
            if (asked.cut !== undefined) lookAt(place, asked.cut);
            asked.go();
        }
    }

    function lookAt(place: Place, cut: (fault: UpstreamFault) => void): void {
        place.coming = { looks: place.owed, bytes: 0, cut };
        coming.add(place);
    }

    /** Who keeps a large part has no new patience with each page. */
    function lookAway(place: Place): void {
        const { looks, bytes } = place.coming ?? { looks: place.owed, bytes: 0 };
        place.owed = counted(place.kept) > 0 ? Math.max(0, looks - bytes / LEAST_A_LOOK) : 0;
        place.coming = undefined;
        coming.delete(place);
    }

    function inOrder(): Set<Place> {
        return new Set([...keeping, ...waiting.keys()]);
    }

    /** What those find full who wait since the last look; many wait for the milliseconds of a reading. */
    function whatIsFull(): { isTotal: boolean; sites: ReadonlySet<string> } {
        const patient = Array.from(waiting).filter(([, asked]) => asked.looks++ > 0);
        const found = patient.map(([place, { bytes }]) => ({ site: place.site, inTheWay: obstacle(place, bytes) }));
        return {
            isTotal: found.some(({ inTheWay }) => inTheWay === 'total'),
            sites: new Set(found.filter(({ inTheWay }) => inTheWay === 'site').map(({ site }) => site)),
        };
    }

    function lookForSlowOnes(): void {
        if (waiting.size === 0) {
            clearInterval(looking);
            looking = undefined;
            return;
        }
        const { isTotal, sites } = whatIsFull();
        for (const { site, coming: page } of coming) {
            // To end a page of a site beside one that is full of itself would make room for nobody.
            if (page === undefined || !(isTotal || sites.has(site))) continue;
            if (++page.looks < LOOKS || page.bytes >= page.looks * LEAST_A_LOOK) continue;
            page.cut(new UpstreamFault('UPSTREAM_TIMEOUT', TOO_SLOW));
        }
    }

    return {
        enter(site) {
            const place: Place = { site, page: 0, kept: 0, owed: 0, wantsMore: false, waitedMs: 0, hasGivenUp: false, coming: undefined };
            return {
                hasToAsk: (bytes) => place.kept + bytes > small,
                requested(giveUp) {
                    if (counted(place.kept) > 0 && place.coming === undefined) lookAt(place, giveUp);
                },
                ask(bytes, cut) {
                    if (place.hasGivenUp) return Promise.reject(noRoom());
                    // From here on it is we who let it wait.
                    lookAway(place);
                    if (place.page > 0) {
                        place.wantsMore = true;
                        keeping.add(place);
                    }
                    const began = performance.now();
                    const turn = new Promise<void>((resolve, reject) => {
                        const end = (say: () => void) => {
                            place.waitedMs += performance.now() - began;
                            say();
                        };
                        waiting.set(place, { bytes, cut, looks: 0, go: () => end(resolve), fail: (error) => end(() => reject(error)) });
                    });
                    letIn();
                    if (!waiting.has(place)) return undefined;
                    onFull();
                    looking ??= setInterval(lookForSlowOnes, lookMs).unref();
                    return turn;
                },
                waitedMs: () => place.waitedMs,
                came(bytes) {
                    if (place.coming !== undefined) place.coming.bytes += bytes;
                },
                settle(page) {
                    lookAway(place);
                    hold(place, { ...place, page });
                },
                keep: (bytes) => hold(place, { page: 0, kept: place.kept + bytes }),
                giveUp() {
                    place.hasGivenUp = true;
                    waiting.get(place)?.fail(noRoom());
                    if (waiting.delete(place)) letIn();
                },
                leave() {
                    lookAway(place);
                    hold(place, { page: 0, kept: 0 });
                },
            };
        },
        held: () => total,
    };
}

/**
 * Asks for room outside of a request.
 * @param deadlineAt milliseconds since the epoch
 * @returns whether there was room in time
 */
export async function waitForRoom(
    tenant: Tenant,
    bytes: number,
    { deadlineAt, signal }: { deadlineAt: number; signal: AbortSignal },
): Promise<boolean> {
    const asked = tenant.ask(bytes);
    if (asked === undefined) return true;
    const time = openCallTime(deadlineAt, signal);
    time.whenOver(() => tenant.giveUp());
    try {
        await asked;
        return true;
    } catch {
        return false;
    } finally {
        time.close();
    }
}

/** What a call ends with that found no room in time, or whose site would not wait for as long. */
export function noRoom(isTransient = false): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_ROOM, { retryAfter: 1, isTransient });
}
