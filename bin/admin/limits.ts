import type { Command } from 'commander';
import type { JsonObject } from '../../shared/domain/types.ts';
import type { Overrides } from '../../shared/store/credits/credits.ts';
import { wholeNumber } from './command.ts';

/** The options that override a plan's figures, as commander names them. */
export interface LimitOptions {
    perMinute?: number;
    perHour?: number;
    perDay?: number;
    allowance?: number;
    concurrency?: number;
}

const FIGURE = wholeNumber(0, 1_000_000_000);

/** Adds the limit options of `account create` and `plan set`. */
export function withLimits(command: Command): Command {
    return command
        .option('--per-minute <n>', 'counted calls a minute', FIGURE)
        .option('--per-hour <n>', 'counted calls an hour', FIGURE)
        .option('--per-day <n>', 'counted calls a day', FIGURE)
        .option('--allowance <n>', 'credits a month', FIGURE)
        .option('--concurrency <n>', 'fetches at the same time', FIGURE);
}

/** The limits that were given on the command line, and no others. */
export function readLimits({ perMinute, perHour, perDay, allowance, concurrency }: LimitOptions): Overrides {
    return {
        ...(perMinute !== undefined && { perMinute }),
        ...(perHour !== undefined && { perHour }),
        ...(perDay !== undefined && { perDay }),
        ...(allowance !== undefined && { allowance }),
        ...(concurrency !== undefined && { concurrency }),
    };
}

/** Overrides as they stand in results and in the audit; null follows the plan. */
export function presentLimits(overrides: Overrides): JsonObject {
    return {
        per_minute: overrides.perMinute ?? null,
        per_hour: overrides.perHour ?? null,
        per_day: overrides.perDay ?? null,
        allowance: overrides.allowance ?? null,
        concurrency: overrides.concurrency ?? null,
    };
}
