import type { RateWindow } from '../../domain/accounts/plans.ts';

/** One running fetch. It counts against its account and its site until it ends or the lease expires. */
export interface Lease {
    operation: string;
    account: string;
    /** Maximum number of concurrent fetches of the account. */
    concurrency: number;
    /** Registrable domain; absent: no site share applies. */
    site?: string | undefined;
    /** The limit that an operator set for the site; absent: half of all slots of the live workers, at least 2. */
    share?: number | undefined;
    /**
     * Whether it shares the slots of Free. All accounts on Free together may use three quarters of the slots, so that others always find
     * some. Once they use half, each may use only one, so that a few cannot use all. Both bounds are at least 64, for small installations.
     */
    isFree?: boolean | undefined;
    /** The deadline + 5 s, in milliseconds since the epoch. Real time, like `FetchJob.deadlineAt`. */
    expiresAt: number;
}

export type LeaseKey = Pick<Lease, 'operation' | 'account' | 'site' | 'isFree'>;

export interface TakeOrder {
    /** Owner of the windows, for example `account:wsp_…` or `ip:…`. Other rate limits use prefixes of their own. */
    identity: string;
    /** Each name at most once. */
    windows: readonly RateWindow[];
    lease?: Lease | undefined;
}

export interface WindowState extends RateWindow {
    remaining: number;
    /** Seconds until the window ends, rounded up; 0: no window is running. */
    resetsIn: number;
}

export type TakeVerdict =
    | { ok: true; windows: WindowState[] }
    /** `window`: the exhausted window that ends last. Without other callers, a retry after `retryAfter` seconds succeeds. */
    | { ok: false; reason: 'window'; window: RateWindow['name']; retryAfter: number; windows: WindowState[] }
    | { ok: false; reason: 'concurrency' | 'share' | 'free'; retryAfter: number; windows: WindowState[] };

export interface Limits {
    /**
     * Counts a call in one atomic step against all windows, the concurrency of the account and the share of the site. It counts against all
     * of them or none.
     * @throws Refusal SERVICE_UNAVAILABLE when the counters are unreachable (within 300 ms with Redis).
     */
    take(order: TakeOrder): Promise<TakeVerdict>;
    /** Ends a lease. Idempotent. Never throws, because a lease that cannot be ended expires. */
    end(lease: LeaseKey): Promise<void>;
    /** Reads the counters without counting. @throws Refusal SERVICE_UNAVAILABLE */
    peek(identity: string, windows: readonly RateWindow[], account: string): Promise<{ windows: WindowState[]; inFlight: number }>;
    close(): Promise<void>;
}

/** The answer of a store. Verdict: 0 taken, 1 window, 2 concurrency, 3 share, 4 free. The lists have an entry for each window. */
export interface StoreAnswer {
    verdict: number;
    used: number[];
    leftMs: number[];
}

/** A store of counters. Every method throws the error of its client. */
export interface LimitStore {
    take(order: TakeOrder): Promise<StoreAnswer>;
    end(lease: LeaseKey): Promise<void>;
    peek(identity: string, windows: readonly RateWindow[], account: string): Promise<{ answer: StoreAnswer; inFlight: number }>;
    close(): Promise<void>;
}
