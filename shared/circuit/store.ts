/** What ended fetches say of a site. */
export interface Tally {
    site: string;
    passed: number;
    failed: number;
}

/** What a fetch says of its site: `none` where it says nothing. */
export type CircuitVerdict = 'passed' | 'failed' | 'none';

/** A worker went silent in the middle of a job. */
export interface Death {
    versionId: number;
    endpoint: string;
    /** Milliseconds for which this run of the job was under way, at least: what died meanwhile died beside it. */
    ageMs: number;
    /** When the endpoint last succeeded, by the clock of stored times. */
    lastSuccessAt: Date | undefined;
}

/** An endpoint that is not called for a while. */
export interface Quarantined {
    versionId: number;
    endpoint: string;
    /** By the clock of stored times. */
    until: Date;
}

/** How sites are doing, in the store that all processes share; every method throws whatever its client throws. */
export interface CircuitStore {
    /** Adds what ended, and answers with the sites whose circuit this opened. */
    report(tallies: readonly Tally[]): Promise<string[]>;
    /** -1: the circuit is closed; 0: this operation is the probe; otherwise milliseconds to wait. */
    takeProbe(site: string, operation: string, lifeMs: number): Promise<number>;
    /** `periodMs`: for how long it stays open now. */
    endProbe(site: string, operation: string, verdict: CircuitVerdict): Promise<{ change: ProbeChange; periodMs: number }>;
    /** Sites whose circuit is not closed. */
    open(): Promise<string[]>;
    /** @param intervalMs distance between turns; null: as the pauses have it */
    takeTurn(site: string, intervalMs: number | null, patienceMs: number): Promise<{ granted: boolean; waitMs: number }>;
    /** @param ageMs since the request that was answered with 429 was sent; false where that belongs to a burst that was counted */
    pause(site: string, pauseMs: number, ageMs: number): Promise<boolean>;
    /** Whether this death quarantined the endpoint. */
    recordDeath(death: Death): Promise<boolean>;
    /** Endpoints in quarantine, at most so many. */
    quarantined(most: number): Promise<Quarantined[]>;
    close(): Promise<void>;
}

export type ProbeChange = 'closed' | 'reopened' | 'unchanged';
