export type WindowName = 'minute' | 'hour' | 'day';

/** One fixed window of an identity: it begins with the first counted call after the last one ended. */
export interface LimitWindow {
    name: WindowName;
    /** Calls that it admits. */
    limit: number;
    /** Its length. */
    seconds: number;
}

/** One fetch in flight, counted against its account and its site until it ends or expires. */
export interface Lease {
    operation: string;
    account: string;
    /** Fetches in flight that the account may have. */
    concurrency: number;
    /** Registrable domain; absent: no site's share is taken. */
    site?: string | undefined;
    /** An operator's own figure for the site; absent: half of all slots of the living workers, at least 2. */
    share?: number | undefined;
    /** What is to be called, so that a quarantine is seen. */
    target?: { versionId: number; endpoint: string } | undefined;
    /** Milliseconds since the epoch, real time like `FetchJob.deadlineAt`: the deadline + 5 s. */
    expiresAt: number;
}

/** How the site of a lease stood in the moment of the step. */
export interface SiteStanding {
    /** Absent: its circuit is closed. 0: it wants a probe. Otherwise milliseconds to wait. */
    circuitMs?: number;
    /** Milliseconds until a request may be sent there; 0: at once. */
    backlogMs: number;
    /** Milliseconds that the endpoint stays quarantined; 0: it is not. */
    quarantineMs: number;
}

export interface TakeOrder {
    /** Whose windows these are, e.g. `account:wsp_…` or `ip:…`; other guards put a name of their own in front. */
    identity: string;
    /** Each name at most once. */
    windows: readonly LimitWindow[];
    lease?: Lease | undefined;
}

export interface WindowState {
    name: WindowName;
    limit: number;
    remaining: number;
    seconds: number;
    /** Seconds until it ends, rounded up; 0 when none is running. */
    resetsIn: number;
}

export type TakeVerdict =
    | { ok: true; windows: WindowState[]; standing: SiteStanding }
    /** `window`: of the full ones that which ends last; sleeping `retryAfter` seconds lets a caller in who is alone. */
    | { ok: false; reason: 'window'; window: WindowName; retryAfter: number; windows: WindowState[] }
    | { ok: false; reason: 'concurrency' | 'share'; retryAfter: number; windows: WindowState[] };

export interface Limits {
    /**
     * One atomic step over all windows, the account's concurrency and the site's share: taken together or not at all.
     * @throws Refusal SERVICE_UNAVAILABLE when the counters cannot be reached (within 300 ms with Redis).
     */
    take(order: TakeOrder): Promise<TakeVerdict>;
    /** Gives account and site their places back; a second time too. Never throws: what cannot be given back expires. */
    end(lease: Pick<Lease, 'operation' | 'account' | 'site'>): Promise<void>;
    /** What `take` would look at, taking nothing. @throws Refusal SERVICE_UNAVAILABLE */
    peek(identity: string, windows: readonly LimitWindow[], account: string): Promise<{ windows: WindowState[]; inFlight: number }>;
    close(): Promise<void>;
}

/** What both stores answer: 0 taken, 1 a window is full, 2 concurrency, 3 share; then used calls and milliseconds left, window by window. */
export interface StoreAnswer {
    verdict: number;
    used: number[];
    leftMs: number[];
    standing?: SiteStanding;
}
