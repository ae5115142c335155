import type { FetchRequest } from '../../shared/contracts/fetch.ts';
import { missingScope } from '../../shared/domain/accounts/scopes.ts';
import { buildStepUrl, buildUrl } from '../../shared/domain/fetch/build-request.ts';
import { withPlaceholderValues } from '../../shared/domain/fetch/prepared-values.ts';
import { readSite, siteBlocked } from '../../shared/domain/site/read-site.ts';
import { isPathBlocked, type StrictestPolicy } from '../../shared/domain/site/site-policy.ts';
import type { Values } from '../../shared/domain/types.ts';
import { bindValues } from '../../shared/fetch/bind-values.ts';
import { checkEffect, checkHours, checkUrl, lacksAnEffect } from '../../shared/fetch/check-rights.ts';
import { chooseConnection, DEFAULT } from '../../shared/fetch/choose-connection.ts';
import { SETTLED_GRACE_MS } from '../../shared/fetch/deadlines.ts';
import { type Found, findEndpoint } from '../../shared/fetch/find-endpoint.ts';
import { Refusal } from '../../shared/refusals.ts';
import type { OnceRules } from '../answers/idempotency.ts';
import type { Call } from '../call.ts';

type FetchCall = Call<unknown, unknown, FetchRequest>;

/** How a fetch uses its Idempotency-Key: dry runs are not stored, and a stored answer that is no longer allowed is not replayed. */
export const fetchOnce: OnceRules<FetchRequest> = {
    isKept: (body) => body.dry_run !== true,
    lastsMs: ({ app, body }) => (body.timeout_ms ?? app.config.fetchTimeoutMs) + SETTLED_GRACE_MS,
    whose,
    mayReplay: checkReplay,
};

/**
 * The user whom a stored answer belongs to; undefined if the whole workspace may get it. If the site accepts connections and the call names
 * none by its id, the answer belongs to the user of the API key, because the same call of a colleague would use the colleague's own
 * connection.
 */
async function whose({ app, body, caller }: FetchCall): Promise<string | undefined> {
    if (body.connection !== undefined && body.connection !== DEFAULT) return undefined;
    const question = readSite(body.site, '/site');
    const { version } = app.latest.recall(question) ?? (await app.latest.find(question));
    const offer = version === undefined ? undefined : await app.versions.load(version.versionId);
    return offer === undefined || offer.auth.length === 0 ? undefined : caller.userId;
}

/**
 * Checks a stored answer against the current rules: the block of the site, the policies of its owner and the operator, the scopes of the
 * key, and the connection. Sends no request.
 * @throws Refusal SITE_BLOCKED, SITE_UNAVAILABLE, FORBIDDEN, CONNECTION_REQUIRED, CONNECTION_NOT_FOUND
 */
async function checkReplay({ app, body, caller }: FetchCall): Promise<void> {
    const { isBlocked, policy } = await app.latest.find(readSite(body.site, '/site'));
    if (isBlocked) throw siteBlocked();
    const isBound = lacksAnEffect(caller);
    const found = await findEndpoint(app, body);
    if (found.ok) {
        await chooseConnection(app, caller, found, body);
        if (isBound) await checkEffect(app, caller, found);
        await checkPath(found, body);
        return;
    }
    // The endpoint no longer exists, so the connection cannot be checked.
    if (body.connection !== undefined) throw new Refusal('CONNECTION_NOT_FOUND');
    // Nor can the effect of the endpoint.
    if (isBound) throw missingScope({ part: 'effects', needs: 'write' });
    if (policy === null) return;
    if (!policy.writes || policy.blocked_paths.length > 0) throw noLongerAllowed();
    checkHours(app, policy);
}

/** @throws Refusal SITE_BLOCKED if the path is blocked, or if the current version no longer accepts the params */
async function checkPath(found: Found, body: FetchRequest): Promise<void> {
    const { policy, endpoint } = found;
    if (policy === null || policy.blocked_paths.length === 0) return;
    const values = await bindValues(found, body).catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'INVALID_PARAMS') throw noLongerAllowed();
        throw error;
    });
    if (isPrepareBlocked(policy, found, values)) throw noLongerAllowed();
    checkUrl(policy, () => buildUrl(endpoint, withPlaceholderValues(endpoint, values)));
}

function isPrepareBlocked({ blocked_paths: paths }: StrictestPolicy, { endpoint }: Found, values: Values): boolean {
    const all = withPlaceholderValues(endpoint, values);
    return (endpoint.prepare ?? []).some((step) => isPathBlocked(paths, buildStepUrl(step, endpoint, all)));
}

function noLongerAllowed(): Refusal {
    return new Refusal('SITE_BLOCKED', "The site's owner or an operator has restricted calls since this one was made.");
}
