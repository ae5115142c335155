/** Figures that an operator set for one paying account; what is absent follows the plan. */
export interface Overrides {
    perMinute?: number;
    perHour?: number;
    perDay?: number;
    /** Credits a month. */
    allowance?: number;
    concurrency?: number;
}

export interface OverrideColumns {
    per_minute: number | null;
    per_hour: number | null;
    per_day: number | null;
    allowance_override: number | null;
    concurrency: number | null;
}

/** The overrides in a row of credit_accounts, or in a row joined to none. */
export function toOverrides(row: OverrideColumns): Overrides {
    return {
        ...(row.per_minute !== null && { perMinute: row.per_minute }),
        ...(row.per_hour !== null && { perHour: row.per_hour }),
        ...(row.per_day !== null && { perDay: row.per_day }),
        ...(row.allowance_override !== null && { allowance: row.allowance_override }),
        ...(row.concurrency !== null && { concurrency: row.concurrency }),
    };
}
