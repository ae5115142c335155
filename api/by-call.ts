import type { Caller } from '../shared/store/keys.ts';
import { actorOf, type By } from '../shared/store/workspace-audit.ts';

/** Who makes a call, and from where, for the audit of the workspace. */
export function byCall({ caller, clientAddress }: { caller: Caller | undefined; clientAddress: string }): By {
    if (caller === undefined) throw new Error('an act in a workspace has a caller');
    return { actor: actorOf(caller), ip: clientAddress };
}
