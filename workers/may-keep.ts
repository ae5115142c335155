import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../shared/domain/types.ts';

/**
 * Whether an answer may be served again to the account that paid for it (CONTRACT section 4, `max_age`): not one that a session
 * was made for, nor one that sets a cookie or that its site calls private or not to be stored.
 */
export function mayKeep({ prepare }: Pick<Endpoint, 'prepare'>, headers: IncomingHttpHeaders): boolean {
    if (prepare !== undefined || headers['set-cookie'] !== undefined) return false;
    // `private="field"` restricts one field; it is rare, and safely taken for the whole.
    const directives = (headers['cache-control'] ?? '').split(',').map((directive) => directive.trim().split('=')[0]?.toLowerCase());
    return !directives.includes('private') && !directives.includes('no-store');
}
