import type { Caller } from '../../shared/store/accounts/callers.ts';
import { actorOf, type By } from '../../shared/store/accounts/workspace-audit.ts';

/** The actor and address of a call, for the audit of the workspace. */
export function byCall({ caller, clientAddress }: { caller: Caller | undefined; clientAddress: string }): By {
    if (caller === undefined) throw new Error('an act in a workspace has a caller');
    return { actor: actorOf(caller), ip: clientAddress };
}
