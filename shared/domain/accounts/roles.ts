import type { RouteScope } from './scopes.ts';

/** `owner` may do everything, `admin` manages members and keys, `billing` manages the plan only, `member` uses the workspace. */
export const ROLES = ['owner', 'admin', 'billing', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** The upper limit of each role, whatever the scopes of its keys allow. */
const SCOPES_OF_ROLES: Readonly<Record<Role, readonly RouteScope[]>> = {
    owner: ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'],
    admin: ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'],
    member: ['fetch', 'catalog', 'jobs', 'publish', 'account'],
    billing: [],
};

/** Who manages a workspace. */
export function isManager(role: Role): boolean {
    return role === 'owner' || role === 'admin';
}

/** Whether a role can ever have a scope. */
export function canRoleHave(role: Role, scope: RouteScope): boolean {
    return SCOPES_OF_ROLES[role].includes(scope);
}
