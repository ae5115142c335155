export const PLAN_NAMES = ['free', 'starter', 'pro', 'enterprise'] as const;
export type Plan = (typeof PLAN_NAMES)[number];

/** Limits of an account: calls per window, credits per month, fetches at once, monitors. */
export interface AccountFigures {
    perMinute: number;
    perHour: number;
    perDay: number;
    /** Credits of one month. */
    allowance: number;
    concurrency: number;
    monitors: number;
}

interface PlanFigures extends AccountFigures {
    /** US dollars a month; null: as agreed with the operator. */
    priceUsd: number | null;
}

/** An operator's limits for one paying account; absent or null: the plan's. */
export type LimitOverrides = { [figure in keyof AccountFigures]?: number | null | undefined };

export interface RateWindow {
    name: 'minute' | 'hour' | 'day';
    /** Counted requests that fit into it. */
    limit: number;
    seconds: number;
}

const PRO: PlanFigures = {
    priceUsd: 149,
    allowance: 60_000,
    perMinute: 100,
    perHour: 5_000,
    perDay: 60_000,
    concurrency: 50,
    monitors: 250,
};

/** The plans (docs/api.md, "Limits"). Enterprise starts from Pro's figures. */
export const PLANS: Readonly<Record<Plan, Readonly<PlanFigures>>> = {
    free: { priceUsd: 0, allowance: 1_000, perMinute: 20, perHour: 1_000, perDay: 1_000, concurrency: 5, monitors: 3 },
    starter: { priceUsd: 49, allowance: 15_000, perMinute: 60, perHour: 3_000, perDay: 15_000, concurrency: 20, monitors: 25 },
    pro: PRO,
    enterprise: { ...PRO, priceUsd: null },
};

/** Without an API key: catalog look-ups by client address. */
export const ANONYMOUS: Readonly<RateWindow> = { name: 'hour', limit: 5, seconds: 3600 };

/** Without an API key: requests for schemas by client address, in a window of their own. */
export const ANONYMOUS_REQUESTS: Readonly<RateWindow> = { name: 'hour', limit: 5, seconds: 3600 };

/** With a key: requests for schemas by account. */
export const ACCOUNT_REQUESTS: Readonly<RateWindow> = { name: 'hour', limit: 30, seconds: 3600 };

/** Reports of problems, by account. */
export const REPORTS: Readonly<RateWindow> = { name: 'hour', limit: 30, seconds: 3600 };

/** Questions for endpoints, by account or without a key by address. */
export const FINDS: Readonly<RateWindow> = { name: 'minute', limit: 60, seconds: 60 };

/** Reports of leaked keys, by address. */
export const KEY_REPORTS: Readonly<RateWindow> = { name: 'minute', limit: 60, seconds: 60 };

/** Requests of apps for tokens and their ends, by address. */
export const TOKEN_REQUESTS: Readonly<RateWindow> = { name: 'minute', limit: 120, seconds: 60 };

/** Tests of connections, by account. */
export const CONNECTION_TESTS: Readonly<RateWindow> = { name: 'hour', limit: 30, seconds: 3600 };

/** Rejected tests by account and site, limited so that nobody can guess credentials. */
export const REJECTED_TESTS: Readonly<RateWindow> = { name: 'hour', limit: 5, seconds: 3600 };

/** The plan to offer in a 402: the next one up, and on enterprise enterprise itself (its limits are a matter of talking). */
export function planAbove(plan: Plan): Plan {
    return PLAN_NAMES[PLAN_NAMES.indexOf(plan) + 1] ?? 'enterprise';
}

/** The figures an account lives by: its plan's, where the operator set nothing else. */
export function figuresFor(plan: Plan, overrides: LimitOverrides = {}): AccountFigures {
    const figures = PLANS[plan];
    return {
        perMinute: overrides.perMinute ?? figures.perMinute,
        perHour: overrides.perHour ?? figures.perHour,
        perDay: overrides.perDay ?? figures.perDay,
        allowance: overrides.allowance ?? figures.allowance,
        concurrency: overrides.concurrency ?? figures.concurrency,
        monitors: overrides.monitors ?? figures.monitors,
    };
}

/** The rate windows of an account, shortest first. */
export function windowsOf(figures: Pick<AccountFigures, 'perMinute' | 'perHour' | 'perDay'>): RateWindow[] {
    return [
        { name: 'minute', limit: figures.perMinute, seconds: 60 },
        { name: 'hour', limit: figures.perHour, seconds: 3600 },
        { name: 'day', limit: figures.perDay, seconds: 86_400 },
    ];
}
