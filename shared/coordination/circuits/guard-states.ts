import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import { FORGET_MS, type GuardRow, PROBE_PATIENCE_MS } from './guard-store.ts';

/** Maximum age of the known state. */
const FRESH_MS = 250;
/** Longest wait for a newer value, so that calls do not wait for a slow database (goal R9). */
const PATIENCE_MS = 50;

/** The circuits, pauses and quarantines that apply to a call. */
export interface GuardState {
    /** Milliseconds until the open circuits of all its hosts may be probed; 0: no circuit is open. */
    openMs: number;
    /** Hosts whose open circuit needs a probe. */
    halfOpen: readonly string[];
    /** Milliseconds until the next request may be sent to one of its hosts; 0: no wait. */
    backlogMs: number;
    /** Milliseconds until the quarantine of the endpoint ends; 0: it is not in quarantine. */
    quarantineMs: number;
}

/** Creates a cache of the state of all hosts and endpoints. @param read resolves with undefined when the store is unreachable */
export function createGuardStates(
    read: () => Promise<GuardRow[] | undefined>,
    clock: Pick<Clock, 'offsetMs'>,
    { freshMs = FRESH_MS, patienceMs = PATIENCE_MS }: { freshMs?: number; patienceMs?: number } = {},
) {
    let rows = new Map<string, GuardRow>();
    /** The time of the store is this value plus `performance.now()` plus the offset of the clock. */
    let originMs = 0;
    let readAt = Number.NEGATIVE_INFINITY;
    let changes = 0;
    let reading: Promise<unknown> | undefined;

    async function refresh(): Promise<void> {
        const seen = changes;
        const began = performance.now();
        const found = await read();
        readAt = changes === seen ? began : Number.NEGATIVE_INFINITY;
        if (found === undefined) return;
        rows = new Map(found.map((row) => [keyOf(row.kind, row.key), row]));
        if (found[0] !== undefined) originMs = found[0].now - began - clock.offsetMs;
    }

    return {
        /** The state for a call to these hosts. While the store is unreachable, the last known state. */
        async of(hosts: readonly string[], { versionId, endpoint }: { versionId: number; endpoint: string }): Promise<GuardState> {
            if (performance.now() - readAt > freshMs) {
                reading ??= refresh().finally(() => {
                    reading = undefined;
                });
                await Promise.race([reading, sleep(patienceMs, undefined, { ref: false })]);
            }
            const now = originMs + performance.now() + clock.offsetMs;
            const left = (kind: GuardRow['kind'], key: string) =>
                Math.max(0, Math.ceil((rows.get(keyOf(kind, key))?.until ?? Number.NEGATIVE_INFINITY) - now));
            const halfOpen: string[] = [];
            let openMs = 0;
            for (const host of hosts) {
                const circuit = rows.get(keyOf('circuit', host));
                if (circuit === undefined || circuit.until + FORGET_MS <= now) continue;
                if (circuit.until > now) openMs = Math.max(openMs, left('circuit', host));
                else if ((circuit.probeUntil ?? 0) > now) openMs = Math.max(openMs, PROBE_PATIENCE_MS);
                else halfOpen.push(host);
            }
            const backlogMs = Math.max(0, ...hosts.map((host) => left('turn', host)));
            return { openMs, halfOpen, backlogMs, quarantineMs: left('quarantine', `${versionId}:${endpoint}`) };
        },
        /** Call this after this process changed the state. The next call then sees the change. */
        expire() {
            changes++;
            readAt = Number.NEGATIVE_INFINITY;
        },
    };
}

function keyOf(kind: GuardRow['kind'], key: string): string {
    return `${kind} ${key}`;
}
