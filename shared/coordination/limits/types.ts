export type WindowName = 'minute' | 'hour' | 'day';

/** A fixed window of an identity. It begins with the first counted call after the last window ended. */
export interface LimitWindow {
    name: WindowName;
    /** Allowed calls. */
    limit: number;
    /** Length of the window. */
    seconds: number;
}

/** One fetch in flight, counted against its account and its site until it ends or expires. */
export interface Lease {
    operation: string;
    account: string;
    /** Allowed fetches in flight of the account. */
    concurrency: number;
    /** Registrable domain; absent: no site share applies. */
    site?: string | undefined;
    /** An operator's limit for the site; absent: half of all slots of the live workers, at least 2. */
    share?: number | undefined;
    /** Milliseconds since the epoch, real time like `FetchJob.deadlineAt`: the deadline + 5 s. */
    expiresAt: number;
}

export interface TakeOrder {
    /** Owner of the windows, e.g. `account:wsp_…` or `ip:…`. Other guards use their own prefix. */
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
    /** Seconds until the window ends, rounded up; 0 when none is running. */
    resetsIn: number;
}

export type TakeVerdict =
    | { ok: true; windows: WindowState[] }
    /** `window`: the full window that ends last. Without other callers, a retry after `retryAfter` seconds succeeds. */
    | { ok: false; reason: 'window'; window: WindowName; retryAfter: number; windows: WindowState[] }
    | { ok: false; reason: 'concurrency' | 'share'; retryAfter: number; windows: WindowState[] };

export interface Limits {
    /**
     * Counts a call in one atomic step over all windows, the account's concurrency and the site's share: all or none.
     * @throws Refusal SERVICE_UNAVAILABLE when the counters are unreachable (within 300 ms with Redis).
     */
    take(order: TakeOrder): Promise<TakeVerdict>;
    /** Ends a lease; idempotent. Never throws: a lease that cannot be ended expires. */
    end(lease: Pick<Lease, 'operation' | 'account' | 'site'>): Promise<void>;
    /** Reads the counters without counting. @throws Refusal SERVICE_UNAVAILABLE */
    peek(identity: string, windows: readonly LimitWindow[], account: string): Promise<{ windows: WindowState[]; inFlight: number }>;
    close(): Promise<void>;
}

/** A store's answer. Verdict: 0 taken, 1 window, 2 concurrency, 3 share; then used calls and milliseconds left of each window. */
export interface StoreAnswer {
    verdict: number;
    used: number[];
    leftMs: number[];
}
