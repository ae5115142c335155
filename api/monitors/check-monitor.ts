import type { App } from '../../shared/app.ts';
import type { MonitorChanges } from '../../shared/contracts/monitor-fields.ts';
import { MAX_OF_FREE_USER, MIN_INTERVAL } from '../../shared/domain/monitors/bounds.ts';
import { closestRuns, cronFault, type Schedule } from '../../shared/domain/monitors/schedule.ts';
import { expressionFault } from '../../shared/domain/package/rules/expressions.ts';
import type { Db } from '../../shared/platform/db.ts';
import { type Detail, invalidFields } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { countMonitors, type MonitorRow } from '../../shared/store/monitors/monitors.ts';
import { planLimit } from '../answers/plan-limit.ts';

type Times = Pick<MonitorRow, 'every' | 'cron' | 'timezone'>;

/** The timezone of a cron expression. @param given in the call @param before the monitor, whose timezone is kept if the call gives none */
export const timezoneOf = (given: string | null | undefined, before?: Times): string =>
    (given === undefined ? before?.timezone : given) ?? 'UTC';

/** Validates schedule and expressions. @param before the monitor that is changed @throws Refusal VALIDATION_ERROR with every problem */
export function checkFields({ clock }: App, fields: MonitorChanges, before?: Times): void {
    const { watch, identity, when } = fields;
    const every = fields.every ?? undefined;
    const timezone = fields.timezone ?? undefined;
    // A timezone without `cron` applies to the monitor's current cron expression.
    const cron = fields.cron ?? (every === undefined && timezone !== undefined ? (before?.cron ?? undefined) : undefined);
    const left = { every: before?.every, cron: before?.cron, ...fields };
    const details: Detail[] = [];
    if (left.every == null && left.cron == null)
        details.push({ path: '/every', code: 'REQUIRED', message: 'Set a schedule: either every or cron.' });
    if (every !== undefined && cron !== undefined)
        details.push({ path: '/cron', code: 'INVALID_VALUE', message: 'Set either every or cron, not both.' });
    if (timezone !== undefined && cron === undefined)
        details.push({ path: '/timezone', code: 'INVALID_VALUE', message: 'A timezone can only be used with cron.' });
    const fault = cron === undefined ? undefined : cronFault(cron, timezoneOf(fields.timezone, before), new Date(clock.now()));
    if (fault !== undefined) details.push({ path: fault.path, code: 'INVALID_VALUE', message: fault.message });
    const expressions: [string, string | null | undefined][] = [
        ['/watch', watch],
        ['/identity', identity],
        ['/when/expression', typeof when === 'object' ? when.expression : undefined],
    ];
    for (const [path, expression] of expressions) {
        const wrong = expression == null ? undefined : expressionFault(expression);
        if (wrong !== undefined) details.push({ path, code: 'INVALID_VALUE', message: wrong });
    }
    if (details.length > 0) throw invalidFields(details);
}

/** @throws Refusal PLAN_LIMIT if two runs would be closer than the plan allows */
export function checkInterval(app: App, caller: Caller, schedule: Schedule): void {
    const shortest = MIN_INTERVAL[caller.plan];
    if (closestRuns(schedule, shortest, new Date(app.clock.now())) >= shortest) return;
    throw planLimit(app, caller, `On the ${caller.plan} plan, the runs of a monitor must be at least ${shortest / 60} minutes apart.`);
}

/** Checks the number of monitors. Call it in the transaction that stored the monitor. @throws Refusal PLAN_LIMIT */
export async function checkMonitorLimit(trx: Db, app: App, caller: Caller, { active }: { active: boolean }): Promise<void> {
    const max = caller.figures.monitors;
    if ((await countMonitors(trx, caller, { active })) <= max) return;
    throw planLimit(app, caller, `On the ${caller.plan} plan, you can have up to ${max} monitors. Delete or pause one.`);
}

/**
 * Limits the monitors that a user on Free takes over by changing or running them. Otherwise two users could create paused monitors without
 * limit and hand them to each other. Call it in the transaction that locked the monitor. @throws Refusal PLAN_LIMIT
 */
export async function checkTakeover(trx: Db, app: App, caller: Caller, { userId }: MonitorRow): Promise<void> {
    if (caller.plan !== 'free' || userId === caller.userId) return;
    if ((await countMonitors(trx, caller, { active: false })) < MAX_OF_FREE_USER) return;
    throw planLimit(
        app,
        caller,
        `On the free plan, you can have up to ${MAX_OF_FREE_USER} monitors, including those you took over. Delete one.`,
    );
}
