export const PLAN_NAMES = ['free', 'starter', 'pro', 'enterprise'] as const;
export type Plan = (typeof PLAN_NAMES)[number];

/** Limits of an account: calls per window, credits per month, concurrent fetches, monitors. */
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
    /** US dollars a month; null: agreed individually with the operator. */
    priceUsd: number | null;
}

/** The limits that an operator set for one paying account. Absent or null: the limits of the plan. */
export type LimitOverrides = { [figure in keyof AccountFigures]?: number | null | undefined };

/** A fixed window of an identity. It begins with the first counted request after the last window ended. */
export interface RateWindow {
    name: 'minute' | 'hour' | 'day';
    /** Maximum number of counted requests in the window. */
    limit: number;
    /** Length of the window. */
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

/** Whether the account's fetches share the slots of Free. They do not if an operator raised the account's concurrency. */
export function sharesSlotsOfFree({ plan, figures }: { plan: Plan; figures: Pick<AccountFigures, 'concurrency'> }): boolean {
    return plan === 'free' && figures.concurrency <= PLANS.free.concurrency;
}

/** Without an API key: catalog look-ups by client address. */
export const ANONYMOUS: Readonly<RateWindow> = { name: 'hour', limit: 5, seconds: 3600 };

/** Without an API key: schema requests by client address, in a separate window. */
export const ANONYMOUS_REQUESTS: Readonly<RateWindow> = { name: 'hour', limit: 5, seconds: 3600 };

/** The same by IPv6 network (/48), because one customer may have all its 65,536 client addresses (/64). */
export const NETWORK_REQUESTS: Readonly<RateWindow> = { name: 'hour', limit: 500, seconds: 3600 };

/** With a key: schema requests by account. */
export const ACCOUNT_REQUESTS: Readonly<RateWindow> = { name: 'hour', limit: 30, seconds: 3600 };

/** Like the limit of new versions: each yank is an event for everyone who fetched the site. */
export const YANKS: Readonly<RateWindow> = { name: 'hour', limit: 60, seconds: 3600 };

export const REPORTS: Readonly<RateWindow> = { name: 'hour', limit: 30, seconds: 3600 };

/** Endpoint searches by account, or without a key by client address. */
export const FINDS: Readonly<RateWindow> = { name: 'minute', limit: 60, seconds: 60 };

export const KEY_REPORTS: Readonly<RateWindow> = { name: 'minute', limit: 60, seconds: 60 };

/** Token and revocation requests of apps by client address. */
export const TOKEN_REQUESTS: Readonly<RateWindow> = { name: 'minute', limit: 120, seconds: 60 };

export const CONNECTION_TESTS: Readonly<RateWindow> = { name: 'hour', limit: 30, seconds: 3600 };

/** Rejected tests by account and site, limited so that nobody can guess credentials. */
export const REJECTED_TESTS: Readonly<RateWindow> = { name: 'hour', limit: 5, seconds: 3600 };

/** The plan that a 402 offers: the next higher plan. For enterprise it is enterprise itself, whose limits are negotiable. */
export function planAbove(plan: Plan): Plan {
    return PLAN_NAMES[PLAN_NAMES.indexOf(plan) + 1] ?? 'enterprise';
}

/** The limits of an account: the operator's overrides, otherwise those of the plan. */
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
