import { defined } from '../../shared/domain/defined.ts';
import { counted } from '../../shared/domain/text/counted.ts';
import { fieldLines, table, toTheMinute } from '../../shared/platform/table.ts';
import { type CallOptions, paramsOfCall, requestFieldsOf } from '../calling/fetch-endpoint.ts';
import type { Monitor, MonitorChanges, MonitorOrder, MonitorStatus } from '../client/index.ts';
import { wrongUsage } from '../failures.ts';
import { type Done, done, type Session } from '../session.ts';
import { PROGRAM } from '../settings.ts';

/** The options of `monitor add` and `monitor change`. */
interface ChangeOptions {
    name?: string;
    every?: string;
    cron?: string;
    timezone?: string;
    watch?: string;
    identity?: string;
    when?: 'changed' | 'always';
    tellIf?: string;
    maxCreditsPerDay?: number;
}

interface AddOptions extends ChangeOptions, Omit<CallOptions, 'maxAge' | 'timeout'> {}

/** `routebook monitor add SITE ENDPOINT --every 1h` */
export async function addMonitor(session: Session, site: string, endpoint: string, options: AddOptions): Promise<Done> {
    if ((options.every === undefined) === (options.cron === undefined)) throw wrongUsage('give a schedule: either --every or --cron');
    const client = session.client();
    const params = await paramsOfCall(client, site, endpoint, options);
    const order: MonitorOrder = { site, endpoint, params, ...scheduleOf(options), ...requestFieldsOf(options) };
    const monitor = await client.monitors.create(order);
    const { paint } = session.terminal;
    return {
        result: monitor,
        lines: [
            `${paint('green', '✓')} monitor ${monitor.monitor_id} runs ${scheduleText(monitor)}${nextText(monitor)}`,
            'The first run stores the base value and reports no change.',
            `Show changes: ${PROGRAM} monitor changes ${monitor.monitor_id}`,
        ],
    };
}

export async function changeMonitor({ client, terminal }: Session, monitorId: string, options: ChangeOptions): Promise<Done> {
    const changes = scheduleOf(options);
    if (Object.keys(changes).length === 0) throw wrongUsage('name a change, such as --every 1d');
    return presentMonitor(await client().monitors.update(monitorId, changes), terminal);
}

function scheduleOf(options: ChangeOptions): MonitorChanges {
    const { name, every, cron, timezone, watch, identity, when, tellIf, maxCreditsPerDay } = options;
    if (when !== undefined && tellIf !== undefined) throw wrongUsage('use either --when or --tell-if');
    return defined({
        name,
        every,
        cron,
        timezone,
        watch,
        identity,
        when: tellIf === undefined ? when : { expression: tellIf },
        max_credits_per_day: maxCreditsPerDay,
    });
}

export async function listMonitors(
    { client, terminal }: Session,
    { status, limit }: { status?: MonitorStatus; limit: number },
): Promise<Done> {
    const { items: monitors } = await client().monitors.list(defined({ limit, status })).page();
    const result = { monitors };
    if (monitors.length === 0) return { result, lines: [`No monitors; "${PROGRAM} monitor add SITE ENDPOINT --every 1h" adds one.`] };
    const rows = monitors.map((one) => [
        one.monitor_id,
        stateOf(one),
        scheduleText(one),
        `${one.site} ${one.endpoint}`,
        one.next_run_at,
        one.name,
    ]);
    return { result, lines: table(['monitor', 'state', 'runs', 'watches', 'next', 'name'], rows, terminal) };
}

export async function showMonitor({ client, terminal }: Session, monitorId: string): Promise<Done> {
    return presentMonitor(await client().monitors.get(monitorId), terminal);
}

export async function pauseMonitor({ client, terminal }: Session, monitorId: string): Promise<Done> {
    return done(await client().monitors.pause(monitorId), terminal, `monitor ${monitorId} is paused`);
}

export async function resumeMonitor({ client, terminal }: Session, monitorId: string): Promise<Done> {
    const monitor = await client().monitors.resume(monitorId);
    return done(monitor, terminal, `monitor ${monitorId} runs again${nextText(monitor)}`);
}

export async function deleteMonitor({ client, terminal }: Session, monitorId: string): Promise<Done> {
    return done(await client().monitors.delete(monitorId), terminal, `monitor ${monitorId} is deleted`);
}

/** `routebook monitor run ID`: waits for the end of its job. */
export async function runMonitor({ client, terminal }: Session, monitorId: string): Promise<Done> {
    const { monitors, jobs } = client();
    let job = await monitors.run(monitorId);
    const progress = terminal.progress(`run of ${monitorId}`);
    try {
        while (job.status === 'queued' || job.status === 'running') job = await jobs.get(job.job_id, { wait: 30 });
    } finally {
        progress.end();
    }
    const { job_id: id, status, credits_used: credits, error } = job;
    const isGood = status === 'succeeded';
    const why = error === null ? '' : `: ${error.code}  ${error.message}`;
    return {
        result: job,
        lines: [
            `${isGood ? terminal.paint('green', '✓') : terminal.paint('red', '✗')} job ${id} ${status}${why}`,
            `${counted(credits, 'credit')} used. Show its changes: ${PROGRAM} monitor changes ${monitorId}`,
        ],
        isFailure: !isGood,
    };
}

function presentMonitor(monitor: Monitor, terminal: Session['terminal']): Done {
    const { last_run: last } = monitor;
    const fields = [
        ['monitor', monitor.monitor_id],
        ['name', monitor.name],
        ['watches', `${monitor.site} ${monitor.endpoint} ${JSON.stringify(monitor.params)}`],
        ['state', stateOf(monitor)],
        ['runs', scheduleText(monitor)],
        ['next', monitor.next_run_at],
        ['watch', monitor.watch],
        ['identity', monitor.identity],
        ['tells', typeof monitor.when === 'string' ? monitor.when : monitor.when.expression],
        ['last run', last === null ? null : `${last.status} at ${toTheMinute(last.started_at)}${last.changed === true ? ', changed' : ''}`],
        ['failures', monitor.failures],
    ] as const;
    return { result: monitor, lines: fieldLines(fields, terminal) };
}

function stateOf({ status, paused_reason: reason }: Monitor): string {
    return reason === null ? status : `${status} (${reason})`;
}

function nextText({ next_run_at: next }: Monitor): string {
    return next === null ? '' : `, next at ${toTheMinute(next)}`;
}

function scheduleText({ every, cron, timezone }: Monitor): string {
    return every === null ? `at "${cron}" ${timezone}` : `every ${every}`;
}
