import type { UpstreamFault } from './failures.ts';

export type Cut = (fault: UpstreamFault) => void;

export interface CallMemory {
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

/** What a call that needs more bytes must wait for: bytes of its own site, or of any. */
type Obstacle = 'none' | 'site' | 'total';

export type Ledger = ReturnType<typeof createLedger>;

/** @param maxBytes one site may use half @param small bytes of results that do not count */
export function createLedger(maxBytes: number, small: number) {
    const holders = new Set<CallMemory>();
    /** Calls that keep a large result, or hold a page and need more, in the order in which this began. */
    const walks = new Set<CallMemory>();

    const keepsLarge = ({ kept }: CallMemory) => kept > small;
    const bytesOf = (call: CallMemory) => call.page + (keepsLarge(call) ? call.kept : 0);
    const held = (site?: string) => {
        let sum = 0;
        for (const call of holders) if (site === undefined || call.site === site) sum += bytesOf(call);
        return sum;
    };

    return {
        holders: holders as ReadonlySet<CallMemory>,
        walks: walks as ReadonlySet<CallMemory>,
        keepsLarge,
        held,
        obstacle(call: CallMemory, bytes: number): Obstacle {
            const [first] = walks;
            const firstOfSite = [...walks].find(({ site }) => site === call.site);
            const more = bytes - call.page;
            if (holders.size === 0 || call === first) return 'none';
            if (held(call.site) + more > maxBytes / 2 && call !== firstOfSite) return 'site';
            return held() + more > maxBytes ? 'total' : 'none';
        },
        /** @returns whether bytes became free */
        change(call: CallMemory, to: Partial<Pick<CallMemory, 'page' | 'kept' | 'wantsMore'>>): boolean {
            const before = bytesOf(call);
            Object.assign(call, to);
            call.wantsMore &&= call.page > 0;
            include(walks, call, call.wantsMore || keepsLarge(call));
            include(holders, call, bytesOf(call) > 0);
            return bytesOf(call) < before;
        },
    };
}

function include<T>(set: Set<T>, one: T, isIn: boolean): void {
    if (isIn) set.add(one);
    else set.delete(one);
}
