import type { App } from '../../shared/app.ts';
import { isDoubtful } from '../../shared/domain/site/stated-effect.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import { isBelievedToRead } from '../../shared/store/registry/trusted-reads.ts';
import { isEffectBound, judgeEffect } from '../auth/key-scopes.ts';
import type { Found } from './find-endpoint.ts';

/**
 * Checks the effect of an endpoint against the scopes of a key. For a POST that its author calls a read, the site's owner and the
 * verification decide too.
 * @throws Refusal FORBIDDEN
 */
export async function judgeFound(app: App, caller: Caller, found: Found): Promise<void> {
    if (!isEffectBound(caller)) return;
    const { endpoint } = found;
    judgeEffect(caller, endpoint, isDoubtful(endpoint) && (await isBelievedToRead(app.db, found, endpoint.name)));
}
