import type { RouteScope } from './scopes.ts';

/** `owner` may do everything, `admin` manages members and keys, `billing` manages the plan only, `member` uses the workspace. */
export const ROLES = ['owner', 'admin', 'billing', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** The maximum scopes of each role, regardless of the scopes of its keys. */
const SCOPES_OF_ROLES: Readonly<Record<Role, readonly RouteScope[]>> = {
    owner: ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'],
    admin: ['fetch', 'catalog', 'jobs', 'publish', 'maintain', 'account'],
    member: ['fetch', 'catalog', 'jobs', 'publish', 'account'],
    billing: [],
};

export function isManager(role: Role): boolean {
    return role === 'owner' || role === 'admin';
}

export function canRoleHave(role: Role, scope: RouteScope): boolean {
    return SCOPES_OF_ROLES[role].includes(scope);
}
