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
    /**
     * Asks for room for a page of up to so many bytes, before it comes. Nothing where there is room; otherwise the call waits until there
     * is, and its site waits too, by TCP's own means.
     * @param cut ends the page, with a fault, where it hardly comes on while others wait
     * @throws UpstreamFault OVERLOADED when it gives up before
     */
    ask(bytes: number, cut?: (fault: UpstreamFault) => void): Promise<void> | undefined;
    /** So many bytes more have come of the page. */
    came(bytes: number): void;
    /** Milliseconds for which its pages waited for room, all in all. */
    waitedMs(): number;
    /** The page takes so many bytes of what was asked for; with 0 it is gone. */
    settle(bytes: number): void;
    /** What was read of a page stays, and takes so many bytes. */
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
 * While somebody waits, each page that is on its way and in the way is looked at once a second, and given up when at the fifth look, or a
 * later one, less than so many bytes a look have come. Looks are counted and not time: of a pause of the machine no site is to blame.
 */
const LOOK_MS = 1000;
const LOOKS = 5;
const LEAST_A_LOOK = 32 * 1024;

const TOO_SLOW = 'The site sends this large answer so slowly that it was given up for others that wait.';
const NO_ROOM = 'The worker holds so many large answers that there was no room for this one in time.';

interface Place {
    site: string;
    page: number;
    /** All that is kept; it counts as soon as it is more than small. */
    kept: number;
    waitedMs: number;
    hasGivenUp: boolean;
    /** Of a page that is on its way and was given its room. */
    coming: { looks: number; bytes: number; cut(fault: UpstreamFault): void } | undefined;
}

interface Waiting {
    bytes: number;
    cut: (fault: UpstreamFault) => void;
    go(): void;
    fail(error: Error): void;
}

/**
 * Room is given whole or not at all: of answers that all have half of theirs none would come to an end. Those that keep a large part of
 * former pages come first, in the order in which they began to, and the first of them goes past any bound: all of them come to an end
 * so, one after the other, and what is held past `most` is the pages of one call.
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
        if ((bySite.get(place.site) ?? 0) + bytes > most / 2 && !isFirstOfItsSite(place)) return 'site';
        return total + bytes > most ? 'total' : 'none';
    }

    function isFirstOfItsSite(place: Place): boolean {
        for (const one of keeping) if (one.site === place.site) return one === place;
        return false;
    }

    function hold(place: Place, { page, kept }: { page: number; kept: number }): void {
        const counted = (bytes: number) => (bytes > small ? bytes : 0);
        const change = page + counted(kept) - place.page - counted(place.kept);
        place.page = page;
        place.kept = kept;
        if (counted(kept) > 0) keeping.add(place);
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
            place.coming = { looks: 0, bytes: 0, cut: asked.cut };
            coming.add(place);
            asked.go();
        }
    }

    function inOrder(): Set<Place> {
        return new Set([...keeping, ...waiting.keys()]);
    }

    /** What those who wait find full. */
    function whatIsFull(): { isTotal: boolean; sites: ReadonlySet<string> } {
        const found = Array.from(waiting, ([place, { bytes }]) => ({ site: place.site, inTheWay: obstacle(place, bytes) }));
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
            const place: Place = { site, page: 0, kept: 0, waitedMs: 0, hasGivenUp: false, coming: undefined };
            return {
                hasToAsk: (bytes) => place.kept + bytes > small,
                ask(bytes, cut = () => {}) {
                    if (place.hasGivenUp) return Promise.reject(noRoom());
                    const began = performance.now();
                    const turn = new Promise<void>((resolve, reject) => {
                        const end = (say: () => void) => {
                            place.waitedMs += performance.now() - began;
                            say();
                        };
                        waiting.set(place, { bytes, cut, go: () => end(resolve), fail: (error) => end(() => reject(error)) });
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
                    place.coming = undefined;
                    coming.delete(place);
                    hold(place, { ...place, page });
                },
                keep: (bytes) => hold(place, { ...place, kept: place.kept + bytes }),
                giveUp() {
                    place.hasGivenUp = true;
                    waiting.get(place)?.fail(noRoom());
                    if (waiting.delete(place)) letIn();
                },
                leave() {
                    place.coming = undefined;
                    coming.delete(place);
                    hold(place, { page: 0, kept: 0 });
                },
            };
        },
        held: () => total,
    };
}

/** What a call ends with that found no room in time, or whose site would not wait for as long. */
export function noRoom(isTransient = false): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_ROOM, { retryAfter: 1, isTransient });
}
