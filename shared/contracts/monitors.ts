import Joi from 'joi';
import { MONITOR_STATUSES } from '../domain/monitors/states.ts';
import { CALL_BYTES } from './body-bytes.ts';
import { contract } from './contract.ts';
import { ADMISSION_REFUSALS } from './fetch.ts';
import { jobSchema } from './jobs.ts';
import { change, changes, type MonitorsQuery, monitor, order, run } from './monitor-fields.ts';
import * as v from './vocabulary.ts';

const ADMISSION = ADMISSION_REFUSALS.filter((code) => code !== 'INSUFFICIENT_CREDITS' && code !== 'INVALID_CURSOR');

const COMMON = { tag: 'Monitors', scope: 'jobs' } as const;
const body = { maxBytes: CALL_BYTES, hasParams: true } as const;
const WITH_BODY = [...ADMISSION, 'PLAN_LIMIT'] as const;

export const postMonitor = contract('postMonitor', 'POST /v1/monitors', {
    ...COMMON,
    summary: 'Watch an endpoint',
    window: 'jobs',
    description:
        'Calls a read endpoint on a schedule and sends monitor.changed when its result changes. Set exactly one of every and cron. The first run stores the base value and reports no change. Each run is a job and billed as one.',
    body: { ...body, schema: order() },
    answer: { status: 201, schema: () => monitor() },
    refusals: WITH_BODY,
});

export const getMonitors = contract('getMonitors', 'GET /v1/monitors', {
    ...COMMON,
    summary: 'List monitors',
    window: 'reads',
    description: 'Newest first.',
    query: Joi.object<MonitorsQuery, true>({ status: v.oneOf(MONITOR_STATUSES), limit: v.limit(), cursor: v.cursor() }),
    answer: { shape: 'list', schema: () => v.listOf(monitor()) },
});

export const getMonitor = contract('getMonitor', 'GET /v1/monitors/{monitor_id}', {
    ...COMMON,
    summary: 'Read one monitor',
    window: 'reads',
    answer: { schema: () => monitor() },
});

export const patchMonitor = contract('patchMonitor', 'PATCH /v1/monitors/{monitor_id}', {
    ...COMMON,
    summary: 'Change, pause or resume a monitor',
    window: 'jobs',
    description:
        'Later runs have the rights of the calling key. Changing params, watch or identity resets the base value. Send null to clear a field.',
    body: { ...body, schema: changes() },
    answer: { schema: () => monitor() },
    // The site was validated when the monitor was created.
    refusals: WITH_BODY.filter((code) => code !== 'INVALID_DOMAIN'),
});

export const deleteMonitor = contract('deleteMonitor', 'DELETE /v1/monitors/{monitor_id}', {
    ...COMMON,
    summary: 'Delete a monitor with its runs and changes',
    window: 'reads',
    answer: { schema: () => v.deleted('monitor_id') },
});

export const postMonitorRun = contract('postMonitorRun', 'POST /v1/monitors/{monitor_id}/run', {
    ...COMMON,
    summary: 'Run a monitor now',
    description:
        'Up to ten times an hour for each monitor. Returns the job of the run; if a run has not ended yet, returns its job. If the run could exceed max_credits_per_day, the job is returned as cancelled.',
    answer: { status: 202, schema: () => jobSchema({ result: true }) },
    refusals: [...ADMISSION.filter((code) => !['INVALID_JSON', 'INVALID_DOMAIN'].includes(code)), 'PLAN_LIMIT', 'SITE_UNAVAILABLE'],
});

export const getMonitorChanges = contract('getMonitorChanges', 'GET /v1/monitors/{monitor_id}/changes', {
    ...COMMON,
    summary: 'List the changes that a monitor saw',
    window: 'reads',
    description: 'Newest first; the latest 100 are kept.',
    query: v.pageQuery(),
    answer: { shape: 'list', schema: () => v.listOf(change()) },
});

export const getMonitorRuns = contract('getMonitorRuns', 'GET /v1/monitors/{monitor_id}/runs', {
    ...COMMON,
    summary: 'List the runs of a monitor',
    window: 'reads',
    description: 'Newest first; the latest 100 are kept.',
    query: v.pageQuery(),
    answer: { shape: 'list', schema: () => v.listOf(run()) },
});
