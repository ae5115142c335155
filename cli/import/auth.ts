import type { PackageAuth } from '../../shared/domain/types.ts';
import { leaveOut, type NotCarried, type ReadOperation } from './operation.ts';

/** Maximum number of entries in a package's `auth`. */
const MAX_AUTH = 10;

/**
 * The `auth` of a package: the authentication methods of its operations, the most used first. If a required method has no room, its
 * operations get `hosted: false`.
 */
export function authOf(
    operations: readonly ReadOperation[],
    notCarried: NotCarried[],
): { auth: PackageAuth[]; operations: readonly ReadOperation[] } {
    const uses = new Map<PackageAuth, number>();
    for (const { auth = [] } of operations) for (const entry of auth) uses.set(entry, (uses.get(entry) ?? 0) + 1);
    const used = [...uses].sort(([, a], [, b]) => b - a).map(([entry]) => entry);
    const auth = used.slice(0, MAX_AUTH);
    for (const { id } of used.slice(MAX_AUTH))
        leaveOut(notCarried, `security ${id}`, `A package has at most ${MAX_AUTH} ways to authenticate.`);
    const kept = new Set(auth);
    return {
        auth,
        operations: operations.map((operation) => {
            const { auth: need, scopes, ...endpoint } = operation.endpoint;
            if (auth.length === 0) return { ...operation, endpoint };
            const own = operation.auth ?? [];
            const isReached = own.some((entry) => kept.has(entry));
            if (need === 'required' && !isReached) return { ...operation, endpoint: { ...endpoint, auth: 'none', hosted: false } };
            return {
                ...operation,
                endpoint: {
                    ...endpoint,
                    auth: isReached ? (need ?? 'none') : 'none',
                    ...(isReached && scopes !== undefined && scopes.length > 0 ? { scopes } : {}),
                },
            };
        }),
    };
}
