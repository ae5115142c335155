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
    /**
     * Asks for room for a page of up to so many bytes, before it comes. Nothing where there is room; otherwise the call waits until there
     * is, and its site waits too, by TCP's own means. Whoever keeps something already goes on, since only so it comes to its end.
     * @throws UpstreamFault OVERLOADED when it gives up before
     */
    ask(bytes: number): Promise<void> | undefined;
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

/** Answers up to so many bytes ask for no room: most are smaller, and nobody's large ones are to hold them up. */
export const SMALL = 256 * 1024;

const NO_ROOM = 'The worker holds so many large answers that there was no room for this one in time.';

interface Place {
    site: string;
    page: number;
    kept: number;
    hasGivenUp: boolean;
}

interface Waiting {
    bytes: number;
    go(): void;
    fail(error: Error): void;
}

/**
 * Room is given whole or not at all: of answers that all have half of theirs none would come to an end. What calls keep of former
 * pages may go past `most`.
 * @param most bytes; of one site half as many
 * @param onFull each time that a call has to wait
 */
export function openRoom({ most = MOST, onFull = () => {} } = {}): Room {
    let total = 0;
    const bySite = new Map<string, number>();
    const waiting = new Map<Place, Waiting>();

    function obstacle(site: string, bytes: number): 'none' | 'site' | 'total' {
        if (total === 0) return 'none';
        if ((bySite.get(site) ?? 0) + bytes > most / 2) return 'site';
        return total + bytes > most ? 'total' : 'none';
    }

    function hold(place: Place, { page, kept }: { page: number; kept: number }): void {
        const change = page + kept - place.page - place.kept;
        place.page = page;
        place.kept = kept;
        if (change === 0) return;
        total += change;
        const ofSite = (bySite.get(place.site) ?? 0) + change;
        if (ofSite === 0) bySite.delete(place.site);
        else bySite.set(place.site, ofSite);
        if (change < 0) letIn();
    }

    /** In the order in which they came: what would fit beside the first does not overtake it, unless that waits for its own site. */
    function letIn(): void {
        const full = new Set<string>();
        for (const [place, { bytes, go }] of waiting) {
            if (full.has(place.site)) continue;
            const inTheWay = obstacle(place.site, bytes);
            if (inTheWay === 'total') return;
            if (inTheWay === 'site') {
                full.add(place.site);
                continue;
            }
            waiting.delete(place);
            hold(place, { ...place, page: bytes });
            go();
        }
    }

    return {
        enter(site) {
            const place: Place = { site, page: 0, kept: 0, hasGivenUp: false };
            return {
                ask(bytes) {
                    if (place.kept > 0) {
                        hold(place, { ...place, page: bytes });
                        return undefined;
                    }
                    if (place.hasGivenUp) return Promise.reject(noRoom());
                    const turn = new Promise<void>((go, fail) => waiting.set(place, { bytes, go, fail }));
                    letIn();
                    if (!waiting.has(place)) return undefined;
                    onFull();
                    return turn;
                },
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

function noRoom(): UpstreamFault {
    return new UpstreamFault('OVERLOADED', NO_ROOM, { retryAfter: 1 });
}
