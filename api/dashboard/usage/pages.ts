import {
    DIMENSIONS,
    type Dimension,
    type Share,
    sitesCalled,
    usageOverTime,
    usageShares,
} from '../../../shared/store/usage/usage-report.ts';
import { formats } from '../formats.ts';
import { MEMBERS, type Shown, USERS, type WorkspaceVisit, workspacePage } from '../page.ts';
import { addressOf } from '../read-api.ts';
import { downloadCalls, showCalls } from './calls.ts';
import { BOX, chartsOf } from './charts.ts';
import { filterOf, keyChoices, keyNames, LOOK_UPS, scopeOf, seesAll } from './scope.ts';
import { downloadStatement, showStatement } from './statement.ts';

/** The request log and the credit statement. */
export const usagePages = [
    workspacePage({ method: 'GET', path: '/dashboard/usage', audience: USERS, respond: showUsage }),
    workspacePage({ method: 'GET', path: '/dashboard/usage/calls', audience: USERS, respond: showCalls }),
    workspacePage({ method: 'GET', path: '/dashboard/usage/calls.csv', audience: USERS, isPart: true, respond: downloadCalls }),
    workspacePage({ method: 'GET', path: '/dashboard/statement', audience: MEMBERS, respond: showStatement }),
    workspacePage({ method: 'GET', path: '/dashboard/statement.csv', audience: MEMBERS, isPart: true, respond: downloadStatement }),
];

const RANGES = {
    '24h': { label: '24 hours', slots: 24, slotHours: 1 },
    '7d': { label: '7 days', slots: 28, slotHours: 6 },
    '30d': { label: '30 days', slots: 30, slotHours: 24 },
} as const;
type RangeName = keyof typeof RANGES;

const MAX_SHARES = 20;

/** Shows charts over time, and the usage by site, endpoint and key. */
async function showUsage(visit: WorkspaceVisit): Promise<Shown> {
    const { app, query } = visit;
    const scope = scopeOf(visit);
    const range = (Object.keys(RANGES) as RangeName[]).find((name) => name === query('range')) ?? '24h';
    const by = DIMENSIONS.find((name) => name === query('by')) ?? 'endpoint';
    const { slots, total } = await usageOverTime(app.browse, scope, RANGES[range]);
    const since = slots[0]?.from ?? new Date(0);
    const [shares, sites, keys] = await Promise.all([
        usageShares(app.browse, scope, { by, since, limit: MAX_SHARES }),
        sitesCalled(app.browse, scope, since),
        keyNames(visit),
    ]);
    const filters = { site: filterOf(visit, 'site'), endpoint: filterOf(visit, 'endpoint'), key: filterOf(visit, 'key') };
    const here = (more: Record<string, string | undefined>) => addressOf('/dashboard/usage', { range, by, ...filters, ...more });
    return {
        view: 'usage/usage',
        title: 'Usage',
        model: {
            seesAll: seesAll(visit),
            slots,
            total,
            charts: chartsOf(slots, formats),
            box: BOX,
            isByDay: RANGES[range].slotHours === 24,
            ranges: Object.entries(RANGES).map(([name, { label }]) => ({ label, to: here({ range: name }), isCurrent: name === range })),
            dimensions: DIMENSIONS.map((name) => ({ label: NAMES[name], to: `${here({ by: name })}#by`, isCurrent: name === by })),
            shares: shares.map((share) => ({ ...share, ...nameOf(share, by, keys), to: here(narrowing(share, by)) })),
            typed: { ...filters, range, by },
            siteChoices: [{ value: '', label: 'all' }, ...withChosen(sites, filters.site).map((site) => ({ value: site, label: site }))],
            keyChoices: keyChoices(keys),
            isNarrowed: Object.values(filters).some((filter) => filter !== undefined),
            callsPath: addressOf('/dashboard/usage/calls', { ...filters, from: since.toISOString().slice(0, 10) }),
        },
    };
}

const NAMES: Readonly<Record<Dimension, string>> = { site: 'Site', endpoint: 'Endpoint', key: 'Key' };

function nameOf({ site, endpoint, keyId }: Share, by: Dimension, keys: ReadonlyMap<string, string>): { name: string; detail?: string } {
    if (by === 'site') return { name: site };
    if (by === 'endpoint') return { name: site, detail: endpoint === '' ? 'no endpoint' : endpoint };
    return { name: keys.get(keyId) ?? 'deleted key' };
}

function narrowing({ site, endpoint, keyId }: Share, by: Dimension): Record<string, string | undefined> {
    if (by === 'key') return { key: keyId };
    return by === 'site' ? { site } : { site, endpoint: endpoint === '' ? LOOK_UPS : endpoint };
}

/** Adds the chosen value to the options if it is missing because it was not called recently. */
function withChosen(values: readonly string[], chosen: string | undefined): string[] {
    return chosen === undefined || values.includes(chosen) ? [...values] : [chosen, ...values];
}
