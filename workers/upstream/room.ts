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
     * @throws UpstreamFault OVERLOADED when it gives up before
     */
    ask(bytes: number): Promise<void> | undefined;
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

const NO_ROOM = 'The worker holds so many large answers that there was no room for this one in time.';

interface Place {
    site: string;
    page: number;
    /** All that is kept; it counts as soon as it is more than small. */
    kept: number;
    waitedMs: number;
    hasGivenUp: boolean;
}

interface Waiting {
    bytes: number;
    go(): void;
    fail(error: Error): void;
}

/**
 * Room is given whole or not at all: of answers that all have half of theirs none would come to an end. Those that keep a large part of
 * former pages come first, in the order in which they began to, and the first of them goes past any bound: all of them come to an end
 * so, one after the other, and what is held past `most` is the pages of one call.
 * @param most bytes; of one site half as many
 * @param small bytes for which nobody asks
 * @param onFull each time that a call has to wait
 */
export function openRoom({ most = MOST, small = SMALL, onFull = () => {} } = {}): Room {
    let total = 0;
    const bySite = new Map<string, number>();
    const keeping = new Set<Place>();
    const waiting = new Map<Place, Waiting>();

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
            asked.go();
        }
    }

    function inOrder(): Set<Place> {
        return new Set([...keeping, ...waiting.keys()]);
    }

    return {
        enter(site) {
            const place: Place = { site, page: 0, kept: 0, waitedMs: 0, hasGivenUp: false };
            return {
                hasToAsk: (bytes) => place.kept + bytes > small,
                ask(bytes) {
                    if (place.hasGivenUp) return Promise.reject(noRoom());
                    const began = performance.now();
                    const turn = new Promise<void>((resolve, reject) => {
                        const end = (say: () => void) => {
                            place.waitedMs += performance.now() - began;
                            say();
                        };
                        waiting.set(place, { bytes, go: () => end(resolve), fail: (error) => end(() => reject(error)) });
                    });
                    letIn();
                    if (!waiting.has(place)) return undefined;
                    onFull();
                    return turn;
                },
                waitedMs: () => place.waitedMs,
                settle: (page) => hold(place, { ...place, page }),
                keep: (bytes) => hold(place, { ...place, kept: place.kept + bytes }),
                giveUp() {
                    place.hasGivenUp = true;
                    waiting.get(place)?.fail(noRoom());
                    if (waiting.delete(place)) letIn();
                },
                leave: () => hold(place, { page: 0, kept: 0 }),
            };
        },
        held: () => total,
    };
}

/** What a call ends with that found no room in time, or whose site would not wait for as long. */
export function noRoom(isTransient = false): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_ROOM, { retryAfter: 1, isTransient });
}
