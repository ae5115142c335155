import type { Monitor, MonitorChange, MonitorRun } from '../../../shared/contracts/monitor-fields.ts';
import type { WebhookEntry } from '../../../shared/contracts/webhooks.ts';
import { writeJson } from '../../../shared/domain/json/bounded-json.ts';
import type { Json } from '../../../shared/domain/types.ts';
import { keysToActWith } from '../callers.ts';
import { formats } from '../formats.ts';
import type { Notice } from '../notices.ts';
import { type Answer, MANAGERS, type Shown, USERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { changeAs, dateOf, pagerOf, readData, readList } from '../read-api.ts';
import { addByForm, showNew } from './add.ts';

const ONE = '/dashboard/monitors/{monitor_id}';
const SHOWN = { method: 'GET', audience: USERS } as const;
const FORM = { method: 'POST', audience: USERS } as const;

export const monitorPages = [
    workspacePage({ ...SHOWN, path: '/dashboard/monitors', respond: listMonitors }),
    workspacePage({ ...SHOWN, path: '/dashboard/monitors/new', respond: (visit) => showNew(visit) }),
    workspacePage({ ...FORM, path: '/dashboard/monitors/new', respond: addByForm }),
    workspacePage({ ...SHOWN, path: ONE, respond: (visit) => showMonitor(visit) }),
    workspacePage({ ...FORM, path: `${ONE}/run`, respond: (visit) => actOnMonitor(visit, 'run') }),
    workspacePage({ ...FORM, path: `${ONE}/pause`, respond: (visit) => actOnMonitor(visit, 'pause') }),
    workspacePage({ ...FORM, path: `${ONE}/resume`, respond: (visit) => actOnMonitor(visit, 'resume') }),
    workspacePage({ ...FORM, path: `${ONE}/delete`, respond: (visit) => actOnMonitor(visit, 'delete') }),
];

const PATH = '/dashboard/monitors';
const ROWS = '12';
/** How many changes, runs and entries of one change a page shows at most, and the most characters of a value. */
const CHANGES = '20';
const RUNS = '20';
const ENTRIES = 50;
const VALUE = 300;

/** GET /dashboard/monitors: newest first. */
async function listMonitors(visit: WorkspaceVisit): Promise<Shown> {
    const cursor = visit.query('cursor');
    const { items, next } = await readList<Monitor>(visit, '/v1/monitors', { cursor, limit: ROWS });
    return {
        view: 'monitors/list',
        title: 'Monitors',
        model: {
            monitors: items.map(forView),
            ...pagerOf(PATH, {}, { cursor, next }),
        },
    };
}

/** GET /dashboard/monitors/{monitor_id}: changes and runs. @param problem the reason why a form had no effect */
async function showMonitor(visit: WorkspaceVisit, problem?: string): Promise<Shown> {
    const path = `/v1/monitors/${encodeURIComponent(visit.params['monitor_id'] ?? '')}`;
    const monitor = await readData<Monitor>(visit, path);
    const [changes, runs, keys, webhooks] = await Promise.all([
        readList<MonitorChange>(visit, `${path}/changes`, { limit: CHANGES }),
        readList<MonitorRun>(visit, `${path}/runs`, { limit: RUNS }),
        keysToActWith(visit),
        countChangeWebhooks(visit),
    ]);
    return {
        view: 'monitors/one',
        title: monitor.name ?? 'Monitor',
        status: problem === undefined ? 200 : 409,
        model: {
            monitor: { ...forView(monitor), params: writeJson(monitor.params, 10_000, { indent: 2 }).text },
            changes: changes.items.map(changeForView),
            changesInAll: changes.total,
            runs: runs.items.map(runForView),
            runsInAll: runs.total,
            keys,
            webhooks,
            problem,
        },
    };
}

/** The number of webhooks that receive changes; undefined for members, who may not see webhooks. */
async function countChangeWebhooks(visit: WorkspaceVisit): Promise<number | undefined> {
    if (!MANAGERS.includes(visit.workspace.role)) return undefined;
    const { items } = await readList<WebhookEntry>(visit, '/v1/webhooks', { limit: '100' });
    return items.filter(({ enabled, events }) => enabled && events.some((name) => name === 'monitor.*' || name === 'monitor.changed'))
        .length;
}

const ACTS = {
    run: { method: 'POST', path: '/run', body: undefined, needsKey: true, notice: 'monitor-runs' },
    pause: { method: 'PATCH', path: '', body: { status: 'paused' }, needsKey: true, notice: 'monitor-paused' },
    resume: { method: 'PATCH', path: '', body: { status: 'active' }, needsKey: true, notice: 'monitor-resumed' },
    delete: { method: 'DELETE', path: '', body: undefined, needsKey: false, notice: 'monitor-deleted' },
} as const satisfies Record<
    string,
    { method: 'POST' | 'PATCH' | 'DELETE'; path: string; body?: object | undefined; needsKey: boolean; notice: Notice }
>;

/** POST …/run, …/pause, …/resume and …/delete. All but `delete` use the chosen key, also for later runs. */
async function actOnMonitor(visit: WorkspaceVisit, act: keyof typeof ACTS): Promise<Answer> {
    const { method, path, body, needsKey, notice } = ACTS[act];
    const at = encodeURIComponent(visit.params['monitor_id'] ?? '');
    const call = { method, path: `/v1/monitors/${at}${path}`, body, needsKey };
    const to = act === 'delete' ? PATH : `${PATH}/${at}`;
    return changeAs(visit, call, { to, notice }, (problem) => showMonitor(visit, problem));
}

function forView(monitor: Monitor) {
    const { every, cron, timezone, when } = monitor;
    return {
        ...monitor,
        schedule: every === null ? `${cron} (${timezone})` : formats.every(every),
        tells: typeof when === 'string' ? { changed: 'each change', always: 'each run' }[when] : `where ${when.expression}`,
        createdAt: new Date(monitor.created_at),
        nextRunAt: dateOf(monitor.next_run_at),
        lastRun: monitor.last_run === null ? undefined : runForView(monitor.last_run),
    };
}

function runForView(run: MonitorRun) {
    return {
        ...run,
        startedAt: new Date(run.started_at),
        finishedAt: dateOf(run.finished_at),
        code: run.error?.code,
        why: run.error?.message,
    };
}

function changeForView({ change_id: id, at, diff, diff_truncated: isCut }: MonitorChange) {
    const { added, removed, changed } = diff;
    const entries = [
        ...added.slice(0, ENTRIES).map((value) => ({ kind: 'added', value: writeValue(value) })),
        ...removed.slice(0, ENTRIES).map((value) => ({ kind: 'removed', value: writeValue(value) })),
        ...changed
            .slice(0, ENTRIES)
            .map(({ path, before, after }) => ({ kind: 'changed', path, before: writeValue(before), after: writeValue(after) })),
    ];
    return {
        id,
        at: new Date(at),
        added: added.length,
        removed: removed.length,
        changed: changed.length,
        entries: entries.slice(0, ENTRIES),
        isCut: isCut || entries.length > ENTRIES || added.length + removed.length + changed.length > entries.length,
    };
}

function writeValue(value: unknown): string {
    const { text, isWhole } = writeJson(value as Json, VALUE);
    return isWhole ? text : `${text}…`;
}
