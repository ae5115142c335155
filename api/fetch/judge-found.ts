import type { App } from '../../shared/app.ts';
import { findClaim } from '../../shared/store/claim.ts';
import type { Caller } from '../../shared/store/keys.ts';
import { isDoubtful, isEffectBound, judgeEffect } from '../plugins/key-scopes.ts';
import type { Found } from './find-endpoint.ts';

/**
 * Judges whether a key may do what an endpoint does. Only for a key that lacks an effect, and a POST that says it reads, it matters who
 * speaks for the site.
 * @throws Refusal FORBIDDEN
 */
export async function judgeFound(app: App, caller: Caller, { endpoint, registrable, isVerified }: Found): Promise<void> {
    if (!isEffectBound(caller)) return;
    const isTrusted = isVerified || (isDoubtful(endpoint) && (await findClaim(app.db, registrable)) !== 'unproven');
    judgeEffect(caller, endpoint, isTrusted);
}
