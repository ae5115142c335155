import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { parseExact } from '../domain/json/exact-numbers.ts';
import { MAX_TURN, MIN_INTERVAL } from '../domain/monitors/bounds.ts';
import { closestRuns, nextRun, type Rhythm, readEvery, type Schedule } from '../domain/monitors/schedule.ts';
import { newId } from '../domain/text/ids.ts';
import type { Db } from '../platform/db.ts';
import { invalidField, Refusal } from '../refusals.ts';
import type { Caller } from '../store/accounts/callers.ts';
import { addJob, type NewJob } from '../store/jobs/orders.ts';
import type { MonitorRow } from '../store/monitors/monitors.ts';
import { addRun, creditsOfDay } from '../store/monitors/runs.ts';
import { openText } from '../store/monitors/sealed.ts';
import { type Admitted, admitFresh } from './admit.ts';
import { newJobOf } from './new-job.ts';

export interface PreparedRun {
    job: NewJob;
    /** Seconds until its job expires if it has not started. */
    expiresIn: number;
    maxCredits: number;
}

export const UNREADABLE = 'The params of this monitor cannot be decrypted.';

export async function openCall(app: App, { request }: Pick<MonitorRow, 'request'>): Promise<FetchRequest | undefined> {
    const text = await openText(app.secrets, 'request', request);
    return text === undefined ? undefined : parseExact<FetchRequest>(text);
}

/** Decrypts the call of a monitor. @throws Refusal INTERNAL if that fails */
export async function callOf(app: App, monitor: Pick<MonitorRow, 'request'>): Promise<FetchRequest> {
    const call = await openCall(app, monitor);
    if (call === undefined) throw new Refusal('INTERNAL', UNREADABLE);
    return call;
}

/**
 * Admits the call of a monitor.
 * @param options.isLater whether the site may be closed at this hour
 * @throws the same Refusals as a fetch; VALIDATION_ERROR for a write
 */
export async function admitMonitor(app: App, caller: Caller, call: FetchRequest, { isLater = false } = {}): Promise<Admitted> {
    const admitted = await admitFresh(app, { caller, body: call, isLater });
    if (!admitted.ok) throw admitted.refusal;
    if (admitted.found.endpoint.effect === 'read') return admitted;
    throw invalidField('/endpoint', 'A monitor calls only endpoints that read. This one writes.');
}

export async function prepareRun(app: App, caller: Caller, monitor: MonitorRow): Promise<PreparedRun> {
    const asked = await callOf(app, monitor);
    const admitted = await admitMonitor(app, caller, asked);
    const { unit, maxUnits } = admitted.price;
    const job = await newJobOf(app, { caller, asked, metadata: monitor.metadata }, admitted);
    const distance = closestRuns(scheduleOf(monitor), MIN_INTERVAL.starter, new Date(app.clock.now()));
    return { job: { ...job, monitorId: monitor.monitorId }, expiresIn: Math.min(MAX_TURN, distance), maxCredits: unit * maxUnits };
}

/**
 * Stores a run and its job. Call it with the monitor locked, and only while the monitor has no other run.
 * @returns false if the run could cost more than the rest of `max_credits_per_day`; then nothing is stored
 */
export async function storeRun(
    trx: Db,
    { monitorId, base, maxCreditsPerDay }: MonitorRow,
    { job, expiresIn, maxCredits }: PreparedRun,
    dueAt: Date | null,
): Promise<boolean> {
    if (maxCreditsPerDay !== null && (await creditsOfDay(trx, monitorId)) + maxCredits > maxCreditsPerDay) return false;
    await addJob(trx, job, expiresIn);
    await addRun(trx, { runId: newId('run'), monitorId, base, dueAt }, job);
    return true;
}

export function scheduleOf({ every, cron, timezone }: Pick<MonitorRow, 'every' | 'cron' | 'timezone'>): Schedule {
    return cron === null ? { every: readEvery(every ?? '') ?? 0 } : { cron, timezone: timezone ?? 'UTC' };
}

/** The next time at which a monitor runs. @param last when the last run was due */
export function nextRunOf(
    app: App,
    monitor: Pick<MonitorRow, 'monitorId' | 'every' | 'cron' | 'timezone' | 'since' | 'failures'>,
    plan: Caller['plan'],
    last?: Date | null,
): Date {
    const { monitorId, since, failures } = monitor;
    const rhythm: Rhythm = { monitorId, schedule: scheduleOf(monitor), since: since.getTime(), failures, shortest: MIN_INTERVAL[plan] };
    return new Date(nextRun(rhythm, app.clock.now(), last?.getTime()));
}
