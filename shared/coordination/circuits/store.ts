/** Counts of ended fetches of a site. */
export interface Tally {
    site: string;
    passed: number;
    failed: number;
}

/** The outcome of a fetch for its site's circuit; `none` does not count. */
export type CircuitVerdict = 'passed' | 'failed' | 'none';

/** The death of a worker during a job. */
export interface Death {
    versionId: number;
    endpoint: string;
    /** Minimum run time of the job, in milliseconds. A worker that died within it died at the same time. */
    ageMs: number;
    /** When the endpoint last succeeded, by the clock of stored times. */
    lastSuccessAt: Date | undefined;
}

/** An endpoint in quarantine. */
export interface Quarantined {
    versionId: number;
    endpoint: string;
    /** By the clock of stored times. */
    until: Date;
}

/** The store of circuits, turns and deaths that all processes share. Every method throws the error of its client. */
export interface CircuitStore {
    /** Adds outcomes, and returns the sites whose circuit this opened. */
    report(tallies: readonly Tally[]): Promise<string[]>;
    /** -1: the circuit is closed; 0: this operation is the probe; otherwise milliseconds to wait. */
    takeProbe(site: string, operation: string, lifeMs: number): Promise<number>;
    /** `periodMs`: how long the circuit stays open now. */
    endProbe(site: string, operation: string, verdict: CircuitVerdict): Promise<{ change: ProbeChange; periodMs: number }>;
    /** Sites whose circuit is not closed. */
    open(): Promise<string[]>;
    /** @param intervalMs distance between turns; null: only pauses apply */
    takeTurn(site: string, intervalMs: number | null, patienceMs: number): Promise<{ granted: boolean; waitMs: number }>;
    /** @param ageMs milliseconds since the request was sent @returns false if this 429 belongs to a burst that already counted */
    pause(site: string, pauseMs: number, ageMs: number): Promise<boolean>;
    /** @returns whether this death quarantined the endpoint */
    recordDeath(death: Death): Promise<boolean>;
    /** Endpoints in quarantine, at most `most`. */
    quarantined(most: number): Promise<Quarantined[]>;
    close(): Promise<void>;
}

export type ProbeChange = 'closed' | 'reopened' | 'unchanged';
