import Joi from 'joi';
import { readEvery } from '../domain/monitors/schedule.ts';
import {
    MONITOR_STATUSES,
    type MonitorStatus,
    PAUSED_REASONS,
    type PausedReason,
    RUN_STATUSES,
    type RunStatus,
    SKIPPED_REASONS,
    type SkippedReason,
    type When,
} from '../domain/monitors/states.ts';
import type { JsonObject } from '../domain/types.ts';
import type { ErrorBody } from '../refusals.ts';
import { fetchFields } from './fetch.ts';
import { metadata } from './jobs.ts';
import * as v from './vocabulary.ts';

export interface MonitorParams {
    monitor_id: string;
}

/** The fields of POST and PATCH; null in PATCH removes a value. */
export interface MonitorChanges {
    name?: string | null;
    params?: JsonObject;
    version?: number | string | null;
    timeout_ms?: number | null;
    max_results?: number | null;
    max_pages?: number | null;
    max_credits?: number | null;
    connection?: string | null;
    every?: string | null;
    cron?: string | null;
    timezone?: string | null;
    watch?: string | null;
    identity?: string | null;
    when?: When;
    max_credits_per_day?: number | null;
    metadata?: Readonly<Record<string, string>>;
    status?: 'active' | 'paused';
}

export interface MonitorOrder extends Omit<MonitorChanges, 'status'> {
    site: string;
    endpoint: string;
}

export interface MonitorRun {
    run_id: string;
    status: RunStatus;
    skipped_reason: SkippedReason | null;
    due_at: string | null;
    started_at: string;
    finished_at: string | null;
    job_id: string | null;
    version: number | null;
    credits_used: number;
    changed: boolean | null;
    change_id: string | null;
    error: ErrorBody | null;
}

export interface Monitor {
    monitor_id: string;
    name: string | null;
    site: string;
    endpoint: string;
    params: JsonObject;
    version: number | string | null;
    timeout_ms: number | null;
    max_results: number | null;
    max_pages: number | null;
    max_credits: number | null;
    connection: string | null;
    every: string | null;
    cron: string | null;
    timezone: string | null;
    watch: string | null;
    identity: string | null;
    when: When;
    max_credits_per_day: number | null;
    metadata: Readonly<Record<string, string>>;
    status: MonitorStatus;
    paused_reason: PausedReason | null;
    next_run_at: string | null;
    last_run: MonitorRun | null;
    failures: number;
    created_at: string;
}

export interface MonitorChange {
    change_id: string;
    at: string;
    diff: { added: unknown[]; removed: unknown[]; changed: { path: string; before: unknown; after: unknown }[] };
    diff_truncated: boolean;
    before_run: string;
    after_run: string;
}

export interface MonitorsQuery extends v.PageQuery {
    status?: MonitorStatus;
}

export const params = () => Joi.object<MonitorParams, true>({ monitor_id: Joi.string().required().description('mon_…') });
const name = () => v.publicText(1, 100);
const every = () =>
    Joi.string()
        .custom((text: string, { error }) => (readEvery(text) === undefined ? error('every.bounds') : text))
        .messages({ 'every.bounds': '{{#label}} must be a number of minutes, hours or days from 5m to 30d, such as 15m, 1h or 1d' })
        .description('5m to 30d; the shortest is 1h on Free');
const cron = () => Joi.string().max(200).description('Five fields: minute, hour, day of the month, month, day of the week');
const timezone = () => Joi.string().max(64).description('Timezone of cron, an IANA name; UTC by default. PATCH may change it alone');
const expression = () => Joi.string().description('JMESPath, at most 1,000 characters');
const WHEN = '{{#label}} must be changed, always or an object with an expression';
const when = () =>
    Joi.alternatives()
        .conditional(Joi.object(), {
            // biome-ignore lint/suspicious/noThenProperty: Joi's name. Problems inside an object are reported at their own places.
            then: Joi.object({
                expression: Joi.string().required().description('JMESPath over {before, after, diff} that yields true or false'),
            }),
            otherwise: Joi.string().valid('changed', 'always').messages({ 'any.only': WHEN }),
        })
        .description('When monitor.changed is sent: on changes (the default), after every run, or when an expression yields true');
const perDay = () => Joi.number().integer().min(1).max(1_000_000_000).description('Most credits that the runs of one day (UTC) may cost');
const maxPages = () => Joi.number().integer().min(1).max(20).description("Most pages of a call; can only lower the package's limit");

function callFields() {
    const { params: values, version, timeout_ms, max_credits, max_results, connection } = fetchFields();
    return { values, version, timeout_ms, max_credits, max_results, connection };
}

export const order = () => {
    const { site, endpoint } = fetchFields();
    const { values, version, timeout_ms, max_credits, max_results, connection } = callFields();
    return Joi.object<MonitorOrder, true>({
        name: name(),
        site,
        endpoint,
        params: values,
        version,
        timeout_ms,
        max_results,
        max_pages: maxPages(),
        max_credits,
        connection,
        every: every(),
        cron: cron(),
        timezone: timezone(),
        watch: expression().description('JMESPath over data that selects the watched value; all of data by default'),
        identity: expression().description("JMESPath of an item's id; arrays are compared by these ids"),
        when: when(),
        max_credits_per_day: perDay(),
        metadata: metadata(),
    });
};

export const changes = () => {
    const { values, version, timeout_ms, max_credits, max_results, connection } = callFields();
    return Joi.object<MonitorChanges, true>({
        name: name().allow(null),
        params: values,
        version: version.allow(null),
        timeout_ms: timeout_ms.allow(null),
        max_results: max_results.allow(null),
        max_pages: maxPages().allow(null),
        max_credits: max_credits.allow(null),
        connection: connection.allow(null),
        every: every().allow(null),
        cron: cron().allow(null),
        timezone: timezone().allow(null),
        watch: expression().allow(null),
        identity: expression().allow(null),
        when: when(),
        max_credits_per_day: perDay().allow(null),
        metadata: metadata(),
        status: Joi.string().valid('active', 'paused'),
    });
};

const text = () => Joi.string().allow(null).required();
const number = () => Joi.number().integer().allow(null).required();

export const run = () =>
    Joi.object<MonitorRun, true>({
        run_id: Joi.string().required().description('run_…'),
        status: v.oneOf(RUN_STATUSES).required(),
        skipped_reason: Joi.string()
            .valid(...SKIPPED_REASONS, null)
            .required(),
        due_at: v.nullableTime().required().description('null: started by hand'),
        started_at: v.time().required(),
        finished_at: v.nullableTime().required(),
        job_id: text().description('null: the run ended before it had a job'),
        version: number(),
        credits_used: v.count().required(),
        changed: Joi.boolean().allow(null).required().description('null: there was no earlier value to compare with'),
        change_id: text(),
        error: v.jsonObject().allow(null).required(),
    });

export const monitor = () =>
    Joi.object<Monitor, true>({
        monitor_id: Joi.string().required().description('mon_…'),
        name: text(),
        site: v.siteName().required(),
        endpoint: Joi.string().required(),
        params: v.jsonObject().required(),
        version: Joi.alternatives(v.versionNumber(), v.versionHash())
            .allow(null)
            .required()
            .description('null: each run uses the latest version'),
        timeout_ms: number(),
        max_results: number(),
        max_pages: number(),
        max_credits: number(),
        connection: text(),
        every: text(),
        cron: text(),
        timezone: text(),
        watch: text(),
        identity: text(),
        when: when().required(),
        max_credits_per_day: number(),
        metadata: metadata().required(),
        status: v.oneOf(MONITOR_STATUSES).required(),
        paused_reason: Joi.string()
            .valid(...PAUSED_REASONS, null)
            .required()
            .description('null if somebody paused it by hand'),
        next_run_at: v.nullableTime().required(),
        last_run: run().allow(null).required(),
        failures: v.count().required().description('Failed runs in a row'),
        created_at: v.time().required(),
    });

export const change = () =>
    Joi.object<MonitorChange, true>({
        change_id: Joi.string().required().description('chg_…'),
        at: v.time().required(),
        diff: Joi.object({
            added: Joi.array().items(v.anyJson()).required().description('Array items that were added'),
            removed: Joi.array().items(v.anyJson()).required().description('Array items that were removed'),
            changed: Joi.array()
                .items(Joi.object({ path: Joi.string().allow('').required(), before: v.anyJson(), after: v.anyJson() }))
                .required()
                .description('Changed values; path is a JSON pointer into the later value'),
        }).required(),
        diff_truncated: Joi.boolean().required().description('true: the diff was longer than 1,000 entries or 256 KiB'),
        before_run: Joi.string().required(),
        after_run: Joi.string().required(),
    });
