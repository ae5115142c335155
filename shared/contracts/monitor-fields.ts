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

export type MonitorParams = Record<'monitor_id', string>;

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

export interface Monitor extends Required<Omit<MonitorChanges, 'status'>> {
    monitor_id: string;
    site: string;
    endpoint: string;
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

const name = () => v.publicText(1, 100);
const every = () =>
    Joi.string()
        .custom((text: string, { error }) => (readEvery(text) === undefined ? error('every.bounds') : text))
        .messages({ 'every.bounds': '{{#label}} must be a number of minutes, hours or days from 5m to 30d, such as 15m, 1h or 1d' })
        .description('5m to 30d; the shortest is 1h on Free');
const cron = () => Joi.string().max(200).description('Five fields: minute, hour, day of the month, month, day of the week');
const timezone = () =>
    Joi.string()
        .max(64)
        .description('Timezone of cron, an IANA name; UTC by default. PATCH may change it alone, and keeps it with another cron');
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
const perDay = () => v.integer(1, 1_000_000_000).description('Maximum number of credits that the runs of one day (UTC) may cost');
const maxPages = () => v.integer(1, 20).description("Most pages of a call; can only lower the package's limit");

/** What may change. Each value but these can be removed by null. */
const NEVER_NULL: readonly string[] = ['params', 'when', 'metadata'];

function settings() {
    const { params: values, version, timeout_ms, max_results, max_credits, connection } = fetchFields();
    return {
        ...{ name: name(), params: values, version, timeout_ms, max_results, max_pages: maxPages(), max_credits, connection },
        ...{ every: every(), cron: cron(), timezone: timezone(), watch: expression(), identity: expression(), when: when() },
        ...{ max_credits_per_day: perDay(), metadata: metadata() },
    };
}

export const order = () => {
    const { site, endpoint } = fetchFields();
    const { name: named, ...all } = settings();
    return Joi.object<MonitorOrder, true>({
        ...{ name: named, site, endpoint, ...all },
        watch: all.watch.description('JMESPath over data that selects the watched value; all of data by default'),
        identity: all.identity.description("JMESPath of an item's id; arrays are compared by these ids"),
    });
};

export const changes = () => {
    const all = Object.entries(settings()).map(([field, schema]) => [field, NEVER_NULL.includes(field) ? schema : schema.allow(null)]);
    const fields = { ...Object.fromEntries(all), status: Joi.string().valid('active', 'paused') };
    return Joi.object<MonitorChanges, true>(fields as Joi.StrictSchemaMap<MonitorChanges>);
};

const text = () => Joi.string().allow(null);
const number = () => Joi.number().integer().allow(null);

export const run = () =>
    v.complete<MonitorRun>({
        run_id: v.id('run'),
        status: v.oneOf(RUN_STATUSES),
        skipped_reason: Joi.string().valid(...SKIPPED_REASONS, null),
        due_at: v.nullableTime().description('null: started by hand'),
        started_at: v.time(),
        finished_at: v.nullableTime(),
        job_id: text().description('null: the run ended before it had a job'),
        version: number(),
        credits_used: v.count(),
        changed: Joi.boolean().allow(null).description('null: there was no earlier value to compare with'),
        change_id: text(),
        error: v.jsonObject().allow(null),
    });

export const monitor = () =>
    v.complete<Monitor>({
        monitor_id: v.id('mon'),
        name: text(),
        site: v.siteName(),
        endpoint: Joi.string(),
        params: v.jsonObject(),
        version: Joi.alternatives(v.versionNumber(), v.versionHash()).allow(null).description('null: each run uses the latest version'),
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
        when: when(),
        max_credits_per_day: number(),
        metadata: metadata(),
        status: v.oneOf(MONITOR_STATUSES),
        paused_reason: Joi.string()
            .valid(...PAUSED_REASONS, null)
            .description('null if somebody paused it by hand'),
        next_run_at: v.nullableTime(),
        last_run: run().allow(null),
        failures: v.count().description('Failed runs in a row'),
        created_at: v.time(),
    });

export const change = () =>
    v.complete<MonitorChange>({
        change_id: v.id('chg'),
        at: v.time(),
        diff: {
            added: v.listOf(v.anyJson()).description('Array items that were added'),
            removed: v.listOf(v.anyJson()).description('Array items that were removed'),
            changed: v
                .listOf(v.complete({ path: Joi.string().allow(''), before: v.anyJson().optional(), after: v.anyJson().optional() }))
                .description('Changed values; path is a JSON pointer into the later value'),
        },
        diff_truncated: Joi.boolean().description('true: the diff was longer than 1,000 entries or 256 KiB'),
        before_run: Joi.string(),
        after_run: Joi.string(),
    });
