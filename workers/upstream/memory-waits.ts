import { UpstreamFault } from './failures.ts';
import type { CallMemory, Cut, Ledger } from './memory-ledger.ts';

/**
 * While calls wait, the arriving pages that block them are checked regularly. A page is cut off when it is SLOW_CHECKS checks behind a pace of
 * MIN_BYTES a check. Checks are counted instead of time, so a pause of the machine harms no site.
 */
const SLOW_CHECKS = 5;
const MIN_BYTES = 32 * 1024;

const TOO_SLOW = 'The site sent this large answer too slowly while other calls waited for memory.';

interface Wait {
    bytes: number;
    cut: Cut | undefined;
    checks: number;
    since: number;
    go(): void;
    fail(error: Error): void;
}

export function createWaits(ledger: Ledger, checkMs: number) {
    const waiting = new Map<CallMemory, Wait>();
    let checkTimer: NodeJS.Timeout | undefined;

    /** Grants waiting reservations in order. A smaller one does not overtake the first, unless the first waits for its own site. */
    function grant(): void {
        const full = new Set<string>();
        for (const call of new Set([...ledger.walks, ...waiting.keys()])) {
            const asked = waiting.get(call);
            if (asked === undefined || full.has(call.site)) continue;
            const inTheWay = ledger.obstacle(call, asked.bytes);
            if (inTheWay === 'total') return;
            if (inTheWay === 'site') full.add(call.site);
            else {
                end(call, asked);
                if (ledger.change(call, { page: asked.bytes })) grant();
                call.cut = asked.cut;
                asked.go();
            }
        }
    }

    function end(call: CallMemory, { since }: Wait): void {
        waiting.delete(call);
        call.waitedMs += performance.now() - since;
    }

    function check(): void {
        if (waiting.size > 0) cutSlowPages(ledger, waiting);
        else {
            clearInterval(checkTimer);
            checkTimer = undefined;
        }
    }

    return {
        grant,
        /** @returns undefined if the memory was free and is reserved now */
        wait(call: CallMemory, bytes: number, cut: Cut | undefined): Promise<void> | undefined {
            const { promise, resolve, reject } = Promise.withResolvers<void>();
            waiting.set(call, { bytes, cut, checks: 0, since: performance.now(), go: resolve, fail: reject });
            grant();
            if (!waiting.has(call)) return undefined;
            checkTimer ??= setInterval(check, checkMs).unref();
            return promise;
        },
        /** Ends the wait of a call, if it waits, with an error. */
        fail(call: CallMemory, error: Error): void {
            const asked = waiting.get(call);
            if (asked === undefined) return;
            end(call, asked);
            asked.fail(error);
            grant();
        },
    };
}

function cutSlowPages(ledger: Ledger, waiting: ReadonlyMap<CallMemory, Wait>): void {
    // Waits shorter than the time between two checks are normal and are ignored.
    const patient = [...waiting].filter(([, asked]) => asked.checks++ > 0);
    const obstacles = patient.map(([call, { bytes }]) => ({ site: call.site, inTheWay: ledger.obstacle(call, bytes) }));
    for (const call of ledger.holders) {
        const isInTheWay = obstacles.some(({ site, inTheWay }) => inTheWay === 'total' || (inTheWay === 'site' && site === call.site));
        if (call.cut === undefined || !isInTheWay) continue;
        call.behind = Math.max(0, call.behind + 1 - call.arrived / MIN_BYTES);
        call.arrived = 0;
        if (call.behind >= SLOW_CHECKS) call.cut(new UpstreamFault('UPSTREAM_TIMEOUT', TOO_SLOW));
    }
}
