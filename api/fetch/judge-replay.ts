import { buildUrl } from '../../shared/domain/fetch/build-request.ts';
import { readSite, siteBlocked } from '../../shared/domain/site/read-site.ts';
import { isPathBlocked, type StrictestPolicy } from '../../shared/domain/site/site-policy.ts';
import { Refusal } from '../../shared/refusals.ts';
import { isEffectBound, lacks } from '../auth/key-scopes.ts';
import { bindValues } from './admit.ts';
import type { FetchCall } from './fetch-call.ts';
import { type Found, findEndpoint } from './find-endpoint.ts';
import { judgeFound } from './judge-found.ts';
import { judgeHours, judgeUrl } from './judge-policy.ts';

/**
 * Checks a stored answer against today's rules: the block of the site, the policies of its owner and the operator, and the scopes of the
 * key. Nothing is sent again.
 * @throws Refusal SITE_BLOCKED, SITE_UNAVAILABLE, FORBIDDEN
 */
export async function judgeReplay(call: Omit<FetchCall, 'params' | 'query'>): Promise<void> {
    const { app, body, caller } = call;
    const { isBlocked, policy } = await app.latest.find(readSite(body.site, '/site'));
    if (isBlocked) throw siteBlocked();
    const isBound = caller !== undefined && isEffectBound(caller);
    if (policy === null && !isBound) return;
    const found = await findEndpoint(app, body, (question) => app.latest.find(question));
    if (found.ok) {
        if (isBound) await judgeFound(app, caller, found);
        await judgePath(found, call);
        return;
    }
    // The effect of the endpoint is no longer known.
    if (isBound) throw lacks({ part: 'effects', needs: 'write' });
    if (policy === null) return;
    if (!policy.writes || policy.blocked_paths.length > 0) throw noLongerAllowed();
    judgeHours(app, policy);
}

/**
 * @throws Refusal SITE_BLOCKED where the path is blocked, or where today's version no longer accepts its params
 */
async function judgePath(found: Found, { body }: Pick<FetchCall, 'body'>): Promise<void> {
    const { policy, endpoint } = found;
    if (policy === null || policy.blocked_paths.length === 0) return;
    if (isPrepareBlocked(policy, found)) throw noLongerAllowed();
    const values = await bindValues(found, body).catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'INVALID_PARAMS') throw noLongerAllowed();
        throw error;
    });
    judgeUrl(policy, () => buildUrl(endpoint, values));
}

function isPrepareBlocked({ blocked_paths: paths }: StrictestPolicy, { endpoint: { prepare } }: Found): boolean {
    return prepare !== undefined && isPathBlocked(paths, prepare.url);
}

function noLongerAllowed(): Refusal {
    return new Refusal('SITE_BLOCKED', "The site's owner or an operator has restricted calls since this one was made.");
}
