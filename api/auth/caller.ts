import type { Request } from '@hapi/hapi';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { actorOf, type By } from '../../shared/store/accounts/workspace-audit.ts';

declare module '@hapi/hapi' {
    interface AppCredentials extends Caller {}
}

export function callerOf({ auth }: Request): Caller | undefined {
    // hapi sets null if nobody is authenticated.
    return (auth.credentials as Request['auth']['credentials'] | null)?.app;
}

/** The actor and address of a call, for the audit of the workspace. */
export function byCall({ caller, clientAddress }: { caller: Caller; clientAddress: string }): By {
    return { actor: actorOf(caller), ip: clientAddress };
}
