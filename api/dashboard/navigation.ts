import type { Role } from '../../shared/domain/accounts/roles.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type Audience, BILLING_VIEWERS, MANAGERS, MEMBERS, USERS } from './page.ts';

interface Place {
    path: string;
    audience: Audience;
    /** Its label within the tab. */
    label?: string;
}

interface Tab {
    label: string;
    /** A tab opens its first place. */
    places: readonly Place[];
}

const DASHBOARD: readonly Tab[] = [
    { label: 'Overview', places: [{ path: '/dashboard', audience: 'signed-in' }] },
    { label: 'Keys', places: [{ path: '/dashboard/keys', audience: USERS }] },
    { label: 'Connections', places: [{ path: '/dashboard/connections', audience: USERS }] },
    {
        label: 'Jobs',
        places: [
            { path: '/dashboard/jobs', label: 'Jobs', audience: USERS },
            { path: '/dashboard/jobs/batches', label: 'Batches', audience: USERS },
        ],
    },
    { label: 'Monitors', places: [{ path: '/dashboard/monitors', audience: USERS }] },
    { label: 'Webhooks', places: [{ path: '/dashboard/webhooks', audience: MANAGERS }] },
    {
        label: 'Usage',
        places: [
            { path: '/dashboard/usage', label: 'Charts', audience: USERS },
            { path: '/dashboard/usage/calls', label: 'Request log', audience: USERS },
            { path: '/dashboard/statement', label: 'Statement', audience: MEMBERS },
        ],
    },
    {
        label: 'Schemas',
        places: [
            { path: '/dashboard/schemas', label: 'Schemas', audience: USERS },
            { path: '/dashboard/domains', label: 'Domains', audience: MANAGERS },
        ],
    },
    { label: 'Billing', places: [{ path: '/dashboard/billing', audience: BILLING_VIEWERS }] },
    {
        label: 'Workspace',
        places: [
            { path: '/dashboard/workspace', label: 'Members', audience: 'signed-in' },
            { path: '/dashboard/audit', label: 'Audit log', audience: MANAGERS },
        ],
    },
    { label: 'Operations', places: [{ path: '/dashboard/operations', audience: 'operator' }] },
];

/** Pages about the person, not the workspace. */
const PERSON: readonly Tab[] = [
    {
        label: 'Settings',
        places: [
            { path: '/dashboard/settings', audience: 'signed-in' },
            { path: '/dashboard/confirm', audience: 'signed-in' },
        ],
    },
    { label: 'Invite friends', places: [{ path: '/dashboard/invite', audience: 'signed-in' }] },
];

const PUBLIC: readonly Required<Place>[] = [
    { path: '/registry', label: 'Registry', audience: 'anyone' },
    { path: '/docs', label: 'Docs', audience: 'anyone' },
    { path: '/upgrade', label: 'Plans', audience: 'anyone' },
];

interface MenuEntry {
    path: string;
    label: string;
    isCurrent: boolean;
}

interface DashboardMenu {
    tabs: MenuEntry[];
    /** All places of the current tab, if it has several. */
    beside: { label: string; entries: MenuEntry[] } | undefined;
}

export function dashboardMenu(me: SignedIn, isOperator: boolean, path: string): DashboardMenu {
    const tabs = DASHBOARD.map(({ label, places }) => ({
        label,
        places: places.filter(({ audience }) => mayOpen(audience, me.current?.role, isOperator)),
    }));
    const here = placeOf(
        [...tabs, ...PERSON].flatMap(({ places }) => places),
        path,
    );
    const current = tabs.find((tab) => isIn(tab, here));
    return {
        tabs: entriesOf(tabs, here),
        beside:
            current === undefined || current.places.length < 2 || here !== path
                ? undefined
                : {
                      label: current.label,
                      entries: current.places.map(({ label = current.label, ...place }) => mark({ ...place, label }, here)),
                  },
    };
}

export function personMenu(path: string): MenuEntry[] {
    return entriesOf(
        PERSON,
        placeOf(
            PERSON.flatMap(({ places }) => places),
            path,
        ),
    );
}

function entriesOf(tabs: readonly Tab[], here: string | undefined): MenuEntry[] {
    return tabs.flatMap((tab) => tab.places.slice(0, 1).map(({ path }) => ({ path, label: tab.label, isCurrent: isIn(tab, here) })));
}

function isIn({ places }: Tab, here: string | undefined): boolean {
    return places.some(({ path }) => path === here);
}

export function publicMenu(path: string): MenuEntry[] {
    const place = placeOf(PUBLIC, path);
    return PUBLIC.map((entry) => mark(entry, place));
}

function mayOpen(audience: Audience, role: Role | undefined, isOperator: boolean): boolean {
    if (audience === 'operator') return isOperator;
    return typeof audience === 'string' || (role !== undefined && (audience === MEMBERS || audience.includes(role)));
}

/** The path of the current entry: the longest one that contains the page. */
function placeOf(entries: readonly Place[], path: string): string | undefined {
    const around = entries.filter((entry) => path === entry.path || path.startsWith(`${entry.path}/`));
    return around.toSorted((a, b) => b.path.length - a.path.length)[0]?.path;
}

function mark({ path, label }: Pick<MenuEntry, 'path' | 'label'>, place: string | undefined): MenuEntry {
    return { path, label, isCurrent: path === place };
}
