import { REFUSALS, type RefusalCode, refusalEntry } from '../../../shared/refusals.ts';
import { type CallFilter, type CallPlace, heldAt, type LoggedCall, listCalls } from '../../../shared/store/usage/call-log.ts';
import { type Cell, csvFile } from '../csv.ts';
import type { Download } from '../download.ts';
import type { Shown, WorkspaceVisit } from '../page.ts';
import { addressOf } from '../read-api.ts';
import { filterOf, keyChoices, keyNames, scopeOf, seesAll } from './scope.ts';

/** Calls per page, few enough for a phone. */
const SHOWN_CALLS = 12;
const PATH = '/dashboard/usage/calls';
/** The longest time from holding a call's credits to its entry in the log. */
const CALL_LASTS_MS = 10 * 60_000;
const DAY_MS = 86_400_000;

/** Shows the request log, newest first. */
export async function showCalls(visit: WorkspaceVisit): Promise<Shown> {
    const { app, query } = visit;
    const filter = await filterCalls(visit);
    const before = placeOf(query('before'));
    const [{ calls, next }, keys] = await Promise.all([
        filter === undefined ? NOTHING : listCalls(app.browse, filter, { limit: SHOWN_CALLS, before }),
        keyNames(visit),
    ]);
    const typed = typedOf(visit);
    return {
        view: 'usage/calls',
        title: 'Request log',
        model: {
            seesAll: seesAll(visit),
            calls: calls.map((call) => ({
                ...call,
                status: statusOf(call),
                key: keys.get(call.keyId ?? '') ?? 'deleted key',
                facts: factsOf(call),
                meaning: REFUSALS.get(call.outcome as RefusalCode)?.meaning,
            })),
            typed,
            isNarrowed: Object.values(typed).some((value) => value !== undefined),
            outcomes: OUTCOMES,
            keyChoices: keyChoices(keys),
            newest: before && addressOf(PATH, typed),
            older: next && addressOf(PATH, { ...typed, before: next.join('-') }),
            file: addressOf(`${PATH}.csv`, typed),
        },
    };
}

/** The details of a call that its row does not show. */
function factsOf({ requestId, version, results, queueMs, upstreamStatus, upstreamMs }: LoggedCall): { name: string; value: string }[] {
    const facts = [
        { name: 'Request', value: requestId },
        { name: 'Version', value: version },
        { name: 'Results', value: results },
        { name: 'Waited', value: queueMs === null ? null : `${queueMs} ms` },
        { name: 'Site answered', value: upstreamStatus },
        { name: 'Site took', value: upstreamMs === null ? null : `${upstreamMs} ms` },
    ];
    return facts.flatMap(({ name, value }) => (value === null ? [] : [{ name, value: String(value) }]));
}

export async function downloadCalls(visit: WorkspaceVisit): Promise<Download> {
    const [filter, keys] = await Promise.all([filterCalls(visit), keyNames(visit)]);
    return csvFile<CallPlace>('routebook-calls.csv', Object.keys(COLUMNS), async (page) => {
        const { calls, next } = filter === undefined ? NOTHING : await listCalls(visit.app.browse, filter, page);
        return { rows: calls.map((call) => Object.values(COLUMNS).map((read) => read(call, keys))), next };
    });
}

const NOTHING = { calls: [], next: undefined };

const COLUMNS: Readonly<Record<string, (call: LoggedCall, keys: ReadonlyMap<string, string>) => Cell>> = {
    at: (call) => call.at,
    call: (call) => call.operation,
    request: (call) => call.requestId,
    kind: (call) => call.kind,
    site: (call) => call.site,
    endpoint: (call) => call.endpoint,
    version: (call) => call.version,
    key: (call, keys) => keys.get(call.keyId ?? '') ?? call.keyId,
    status: statusOf,
    code: (call) => call.outcome,
    credits: (call) => call.credits,
    results: (call) => call.results,
    kept_answer: (call) => call.cached,
    duration_ms: (call) => call.durationMs,
    queue_ms: (call) => call.queueMs,
    site_status: (call) => call.upstreamStatus,
    site_ms: (call) => call.upstreamMs,
};

const OUTCOMES = [
    { value: '', label: 'all' },
    { value: 'success', label: 'succeeded' },
    { value: 'failed', label: 'failed or refused' },
    ...[...REFUSALS].map(([code, { status }]) => ({ value: code, label: `${status} ${code}` })).toSorted(byLabel),
];

function byLabel(a: { label: string }, b: { label: string }): number {
    return a.label < b.label ? -1 : 1;
}

/** Reads the filter from the query. Undefined if it names a call of another workspace. */
async function filterCalls(visit: WorkspaceVisit): Promise<CallFilter | undefined> {
    const typed = typedOf(visit);
    const from = dayOf(typed.from);
    const last = dayOf(typed.to);
    const filter = {
        ...scopeOf(visit),
        outcome: typed.outcome,
        operation: undefined,
        requestId: typed.request,
        from,
        until: last && new Date(last.getTime() + DAY_MS),
    };
    if (typed.call === undefined) return filter;
    const began = (await heldAt(visit.app.browse, filter.workspaceId, typed.call))?.getTime();
    if (began === undefined) return undefined;
    return { ...filter, operation: typed.call, from: new Date(began - 1000), until: new Date(began + CALL_LASTS_MS) };
}

function typedOf(visit: WorkspaceVisit) {
    const outcome = filterOf(visit, 'outcome');
    const day = (name: string) => (dayOf(filterOf(visit, name)) === undefined ? undefined : filterOf(visit, name));
    return {
        site: filterOf(visit, 'site'),
        endpoint: filterOf(visit, 'endpoint'),
        key: filterOf(visit, 'key'),
        outcome: OUTCOMES.find(({ value }) => value === outcome)?.value,
        request: filterOf(visit, 'request'),
        from: day('from'),
        to: day('to'),
        call: filterOf(visit, 'call'),
    };
}

/** Midnight UTC of a date such as `2026-11-21`. Undefined for any other text. */
function dayOf(text: string | undefined): Date | undefined {
    if (text === undefined || !/^20\d\d-\d\d-\d\d$/.test(text)) return undefined;
    const date = new Date(`${text}T00:00:00Z`);
    return Number.isNaN(date.getTime()) ? undefined : date;
}

function placeOf(text: string | undefined): CallPlace | undefined {
    const [, micros, id] = /^(\d{1,16})-(\d{1,15})$/.exec(text ?? '') ?? [];
    const place = [Number(micros), Number(id)] as const;
    return place.every(Number.isSafeInteger) ? place : undefined;
}

export function statusOf({ outcome }: Pick<LoggedCall, 'outcome'>): number {
    return outcome === 'success' ? 200 : refusalEntry(outcome as RefusalCode).status;
}
