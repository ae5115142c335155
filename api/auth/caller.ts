import type { Request } from '@hapi/hapi';
import type { Caller } from '../../shared/store/accounts/callers.ts';

declare module '@hapi/hapi' {
    interface AppCredentials extends Caller {}
}

/** The caller of a request; undefined without a key. */
export function callerOf({ auth }: Request): Caller | undefined {
    // hapi sets null if nobody is authenticated.
    return (auth.credentials as Request['auth']['credentials'] | null)?.app;
}
