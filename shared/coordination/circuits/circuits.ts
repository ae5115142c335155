import type { CircuitVerdict } from '../../domain/fetch/circuit-verdict.ts';
import { getOrMake } from '../../domain/get-or-make.ts';
import { openBatchWriter } from '../../platform/batch-writer.ts';
import type { Clock } from '../../platform/clock.ts';
import { type ConnectionLog, watchConnection } from '../../platform/connection-log.ts';
import type { Db } from '../../platform/db.ts';
import { createGuardStates, type GuardState } from './guard-states.ts';
import { createGuardStore, type GuardStore, type Tally } from './guard-store.ts';

/** Maximum delay of a success report. A failure is reported at once, together with all pending successes. */
const REPORT_MS = 250;
const MAX_REPORTS = 10_000;
const SWEEP_MS = 60_000;

/** The circuits of all hosts (docs/api.md, "Circuits"). While the store is unreachable, the last known state applies. */
export interface Circuits {
    /** State of the circuits, pace and quarantine for these hosts and this endpoint. Other processes see a change within 250 ms. */
    look(hosts: readonly string[], target: { versionId: number; endpoint: string }): Promise<GuardState>;
    /** Requests the probe of an open circuit. Only one fetch gets it. @param lifeMs after it, a probe without a report is free again */
    takeProbe(host: string, operation: string, lifeMs: number): Promise<Admission>;
    /** Records the end of a fetch. Never waits and never fails. @param probe the operation, if it was the probe */
    ended(host: string, verdict: CircuitVerdict, probe?: string): void;
    /** Hosts whose circuit is not closed. @throws when the store is unreachable */
    open(): Promise<string[]>;
    /** Resolves when all outcomes so far are in the store. */
    flush(): Promise<void>;
}

type Admission = { ok: true; isProbe: boolean } | { ok: false; waitMs: number };

export interface TurnOrder {
    host: string;
    registrable: string;
    /** Requests a second to the whole domain; absent: unlimited. */
    rate?: number | undefined;
    /** Requests a minute to the host; absent: unlimited. */
    perMinute?: number | undefined;
    /** The key of a connection at a host (`turnOfConnection`). A 429 that concerns only this connection pauses it. */
    own?: string | undefined;
}

/** The key for the pauses of one connection at a host. It cannot collide with a host name. */
export function turnOfConnection(connectionId: string, host: string): string {
    return `${connectionId}@${host}`;
}

export type SiteGuards = ReturnType<typeof openSiteGuards>;
export type Turns = SiteGuards['turns'];
export type Quarantine = SiteGuards['quarantine'];

interface CircuitOptions {
    db: Db;
    clock: Pick<Clock, 'offsetMs'>;
    log: ConnectionLog;
    /** Maximum age of the state that `look` returns; 250 by default. */
    freshMs?: number;
    /** How long `look` waits for a newer state; 50 by default. */
    patienceMs?: number;
    /** Timeout of a statement; 1000 by default. */
    timeoutMs?: number | undefined;
}

const TIMEOUT_MS = 1000;

/** Opens the shared state of circuits, turns and quarantines. While the database is unreachable, turns and quarantine throw. */
export function openSiteGuards(options: CircuitOptions) {
    const store = createGuardStore(options.db, options.timeoutMs ?? TIMEOUT_MS);
    const sweep = setInterval(() => void store.sweep().catch(() => undefined), SWEEP_MS).unref();
    const circuits = openCircuits(store, options);
    return {
        circuits,
        /** Spaces out requests: by the rate limits of a registrable domain and of a host, and by the pause of a host after a 429. */
        turns: {
            /** Takes the next free turn, if it comes within `patienceMs`. */
            take({ host, registrable, rate, perMinute, own }: TurnOrder, patienceMs: number) {
                const keys = new Map<string, number | null>([[host, perMinute === undefined ? null : 60_000 / perMinute]]);
                if (rate !== undefined) keys.set(`*.${registrable}`, 1000 / rate);
                if (own !== undefined) keys.set(own, null);
                return store.takeTurn(keys, patienceMs);
            },
            pause: store.pause,
        },
        /** Blocks an endpoint for an hour after it killed two workers. A new version starts with a count of zero. */
        quarantine: { recordDeath: store.recordDeath, list: store.quarantined },
        /** Stops the sweep and stores the pending reports. */
        async close() {
            clearInterval(sweep);
            await circuits.flush();
        },
    };
}

function openCircuits(store: GuardStore, { clock, log, ...times }: CircuitOptions): Circuits {
    const status = watchConnection(log, 'circuits');
    /** Resolves with undefined when the store is unreachable. */
    const known = async <Answer>(answer: Promise<Answer>): Promise<Answer | undefined> => {
        try {
            const value = await answer;
            status.up();
            return value;
        } catch (error) {
            status.down(error);
            return undefined;
        }
    };
    const states = createGuardStates(() => known(store.read()), clock, times);
    const reports = openBatchWriter<{ host: string; verdict: 'passed' | 'failed' }>({
        // Drops reports that cannot be stored. A late report would no longer describe the last 30 s of the host.
        async write(rows) {
            const opened = (await known(store.report(tally(rows)))) ?? [];
            if (opened.length > 0) states.expire();
            for (const host of opened) log.warn({ part: 'circuit', host }, 'the circuit of a host opened');
        },
        everyMs: REPORT_MS,
        maxRows: MAX_REPORTS,
    });
    /** Probe outcomes that are being stored. */
    const ending = new Set<Promise<void>>();
    const endProbe = async (host: string, operation: string, verdict: CircuitVerdict) => {
        const ended = await known(store.endProbe(host, operation, verdict));
        states.expire();
        if (ended?.change === 'closed') log.info({ part: 'circuit', host }, 'the circuit of a host closed');
        if (ended?.change === 'reopened') {
            log.warn({ part: 'circuit', host, period_ms: ended.period_ms }, 'a probe failed; the circuit of the host stays open');
        }
    };
    return {
        look: (hosts, target) => states.of(hosts, target),
        async takeProbe(host, operation, lifeMs) {
            const wait = (await known(store.takeProbe(host, operation, lifeMs))) ?? -1;
            states.expire();
            return wait > 0 ? { ok: false, waitMs: wait } : { ok: true, isProbe: wait === 0 };
        },
        ended(host, verdict, probe) {
            if (probe === undefined) {
                if (verdict === 'none') return;
                reports.record({ host, verdict });
                if (verdict === 'failed') void reports.flush();
                return;
            }
            const end = endProbe(host, probe, verdict).finally(() => ending.delete(end));
            ending.add(end);
        },
        async open() {
            return (await store.read()).filter(({ kind }) => kind === 'circuit').map(({ key }) => key);
        },
        async flush() {
            await Promise.all([reports.flush(), ...ending]);
        },
    };
}

function tally(rows: readonly { host: string; verdict: 'passed' | 'failed' }[]): Tally[] {
    const tallies = new Map<string, Tally>();
    for (const { host, verdict } of rows) getOrMake(tallies, host, () => ({ host, passed: 0, failed: 0 }))[verdict]++;
    return [...tallies.values()];
}
