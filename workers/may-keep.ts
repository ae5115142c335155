import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../shared/domain/types.ts';

/**
 * Whether an answer may be served again to the account that paid for it (docs/api.md, "Hosted fetch"). Excluded are answers of prepared
 * calls, answers that set cookies, and answers with `private` or `no-store`.
 */
export function mayKeep({ prepare }: Pick<Endpoint, 'prepare'>, headers: IncomingHttpHeaders): boolean {
    if (prepare !== undefined || headers['set-cookie'] !== undefined) return false;
    // `private="field"` restricts one field. It is rare, so it counts for the whole answer.
    const directives = (headers['cache-control'] ?? '').split(',').map((directive) => directive.trim().split('=')[0]?.toLowerCase());
    return !directives.includes('private') && !directives.includes('no-store');
}
