import { Refusal } from '../shared/refusals.ts';
import type { Caller } from '../shared/store/keys.ts';
import { isManager } from '../shared/store/workspaces.ts';
import type { Call } from './serve.ts';

/**
 * The caller, where it acts for an owner or an admin of its workspace.
 * @throws Refusal FORBIDDEN
 */
export function requireManager({ caller }: Pick<Call<unknown, unknown, unknown>, 'caller'>): Caller {
    if (caller === undefined) throw new Error('a route for managers demands a key');
    if (isManager(caller.role)) return caller;
    throw new Refusal('FORBIDDEN', 'Only owners and admins of the workspace may do this.');
}
