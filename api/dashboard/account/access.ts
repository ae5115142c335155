import { counted } from '../../../shared/domain/text/counted.ts';
import { type Access, type AccessKind, listAccess } from '../../../shared/store/accounts/access.ts';
import { isLocked } from '../authorize.ts';
import { type Answer, MANAGERS, type PersonalVisit, USERS } from '../page.ts';

export const ACCESS_PATH = '/dashboard/settings/access';

interface Removal {
    /** The form that removes one. */
    action(id: string): string;
    label: string;
    isAllowed(access: Access): boolean;
}

const always = () => true;
const byManager = ({ role }: Access) => role !== null && MANAGERS.includes(role);
const byUser = ({ role }: Access) => role !== null && USERS.includes(role);

const REMOVALS: Readonly<Record<AccessKind, Removal>> = {
    passkey: { action: (id) => `/dashboard/settings/factors/passkeys/${id}/remove`, label: 'Remove', isAllowed: always },
    'authenticator app': { action: () => '/dashboard/settings/factors/totp/remove', label: 'Turn off', isAllowed: always },
    'API key': { action: (id) => `/dashboard/keys/${id}/revoke`, label: 'Revoke', isAllowed: byUser },
    app: { action: (id) => `/dashboard/keys/${id}/revoke`, label: 'Revoke', isAllowed: byUser },
    webhook: { action: (id) => `/dashboard/webhooks/${id}/delete`, label: 'Delete', isAllowed: byManager },
    monitor: { action: (id) => `/dashboard/monitors/${id}/delete`, label: 'Delete', isAllowed: byUser },
    'batch run': { action: (id) => `/dashboard/jobs/batches/${id}/cancel`, label: 'Cancel', isAllowed: byUser },
    connection: { action: (id) => `/dashboard/connections/${id}/delete`, label: 'Delete', isAllowed: byUser },
    invitation: { action: (id) => `/dashboard/workspace/invitations/${id}/withdraw`, label: 'Revoke', isAllowed: byManager },
    member: { action: (id) => `/dashboard/workspace/members/${id}/remove`, label: 'Remove', isAllowed: byManager },
};

/** Lists what acts for the user without a session, newest first, each with the form that removes it. Workspaces that demand a missing factor are only named. */
export async function showAccess({ app, me }: PersonalVisit): Promise<Answer> {
    const locked = me.workspaces.filter((one) => isLocked(me, one));
    const lockedIds = new Set(locked.map(({ workspaceId }) => workspaceId));
    const rows = (await listAccess(app.db, me.userId)).filter(({ workspaceId }) => workspaceId === null || !lockedIds.has(workspaceId));
    const shown = rows.map((row) => {
        const { action, label, isAllowed } = REMOVALS[row.kind];
        return { ...row, label, action: isAllowed(row) ? action(row.id) : undefined };
    });
    return { view: 'account/access', title: 'Access to your account', model: { rows: shown, locked } };
}

/** What is left, for a mail: `2 API keys, 1 webhook`; empty if nothing is. */
export function accessInWords(rows: readonly Access[]): string {
    const kinds = Object.keys(REMOVALS).map((kind) => [kind, rows.filter((row) => row.kind === kind).length] as const);
    return kinds.flatMap(([kind, count]) => (count === 0 ? [] : [counted(count, kind)])).join(', ');
}
