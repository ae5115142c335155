import type { Role } from '../../shared/domain/accounts/roles.ts';
import type { SignedIn } from '../../shared/store/accounts/user-sessions.ts';
import { type Audience, BILLING_VIEWERS, MANAGERS, MEMBERS, USERS } from './page.ts';

interface Entry {
    path: string;
    label: string;
    audience: Audience;
    /** Another path whose pages belong to this entry. */
    also?: string;
}

const DASHBOARD: readonly Entry[] = [
    { path: '/dashboard', label: 'Overview', audience: 'signed-in' },
    { path: '/dashboard/keys', label: 'Keys', audience: USERS },
    { path: '/dashboard/connections', label: 'Connections', audience: USERS },
    { path: '/dashboard/jobs', label: 'Jobs', audience: USERS },
    { path: '/dashboard/monitors', label: 'Monitors', audience: USERS },
    { path: '/dashboard/usage', label: 'Usage', audience: USERS },
    { path: '/dashboard/statement', label: 'Statement', audience: MEMBERS },
    { path: '/dashboard/schemas', label: 'Schemas', audience: USERS },
    { path: '/dashboard/domains', label: 'Domains', audience: MANAGERS },
    { path: '/dashboard/webhooks', label: 'Webhooks', audience: MANAGERS },
    { path: '/dashboard/billing', label: 'Billing', audience: BILLING_VIEWERS },
    { path: '/dashboard/workspace', label: 'Workspace', audience: 'signed-in', also: '/dashboard/audit' },
    { path: '/dashboard/invite', label: 'Invite', audience: 'signed-in' },
    { path: '/dashboard/settings', label: 'Settings', audience: 'signed-in', also: '/dashboard/confirm' },
    { path: '/dashboard/operations', label: 'Operations', audience: 'operator' },
];

const PUBLIC: readonly Entry[] = [
    { path: '/registry', label: 'Registry', audience: 'anyone' },
    { path: '/docs', label: 'Docs', audience: 'anyone' },
    { path: '/upgrade', label: 'Plans', audience: 'anyone' },
];

interface MenuEntry {
    path: string;
    label: string;
    isCurrent: boolean;
}

export function dashboardMenu(me: SignedIn, isOperator: boolean, path: string): MenuEntry[] {
    const place = placeOf(DASHBOARD, path);
    return DASHBOARD.filter(({ audience }) => mayOpen(audience, me.current?.role, isOperator)).map((entry) => mark(entry, place));
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
function placeOf(entries: readonly Entry[], path: string): string | undefined {
    const other = entries.find(({ also }) => also === path);
    if (other !== undefined) return other.path;
    const around = entries.filter((entry) => path === entry.path || path.startsWith(`${entry.path}/`));
    return around.toSorted((a, b) => b.path.length - a.path.length)[0]?.path;
}

function mark({ path, label }: Entry, place: string | undefined): MenuEntry {
    return { path, label, isCurrent: path === place };
}
