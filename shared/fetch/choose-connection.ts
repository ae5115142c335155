import type { App } from '../app.ts';
import type { FetchRequest } from '../contracts/fetch.ts';
import { missingScope } from '../domain/accounts/scopes.ts';
import { type AuthOffer, changesOfTerms, needOf, termsOf } from '../domain/package/auth.ts';
import type { Endpoint, PackageAuth } from '../domain/types.ts';
import { type Detail, Refusal } from '../refusals.ts';
import type { Caller } from '../store/accounts/callers.ts';
import { isFor } from '../store/connections/connections.ts';
import type { UsableConnection } from '../store/connections/vault.ts';

/** The value of `connection` that selects the caller's only connection. */
export const DEFAULT = 'default';

/** An endpoint, and how its package sends credentials. */
interface Called {
    site: string;
    endpoint: Endpoint;
    offer: AuthOffer;
    takesCookies: boolean;
}

/**
 * The connection that a call uses: the named one, or the caller's only one for `default` or a required connection; undefined: none.
 * @throws Refusal CONNECTION_NOT_FOUND, CONNECTION_REQUIRED, CONNECTION_REJECTED, FORBIDDEN, VALIDATION_ERROR, SERVICE_UNAVAILABLE
 */
export async function chooseConnection(
    app: App,
    caller: Caller,
    called: Called,
    { connection: named }: Pick<FetchRequest, 'connection'>,
): Promise<UsableConnection | undefined> {
    const need = needOf(called.endpoint, called.offer.auth);
    if (need === 'none') {
        if (named === undefined || named === DEFAULT) return undefined;
        const message = 'This endpoint uses no connection. Omit this field.';
        throw new Refusal('VALIDATION_ERROR', message, { details: [{ path: '/connection', code: 'INVALID_VALUE', message }] });
    }
    if (named === undefined && need === 'optional') return undefined;
    requireExternalKeyRing(app);
    const { workspaceId, userId } = caller;
    const decide = (all: readonly UsableConnection[]) =>
        decideAmong(app, caller, called, { known: all.filter((one) => isFor(one, userId)), named });
    try {
        return decide(await app.vault.list(workspaceId, called.site));
    } catch (error) {
        // The cache may not contain a new connection yet.
        if (error instanceof Refusal) return decide(await app.vault.listNow(workspaceId, called.site));
        throw error;
    }
}

/** @throws Refusal CONNECTION_NOT_FOUND, CONNECTION_REQUIRED, CONNECTION_REJECTED, FORBIDDEN */
function decideAmong(
    app: App,
    caller: Caller,
    called: Called,
    { known, named }: { known: readonly UsableConnection[]; named: string | undefined },
): UsableConnection {
    const isDefault = named === undefined || named === DEFAULT;
    const chosen = isDefault ? requireOnly(app, caller, called, known) : requireNamed(app, caller, called, { known, named });
    checkTerms(app, called, chosen);
    return chosen;
}

/** Checks that the called version may send the credential of a connection. @throws Refusal CONNECTION_REQUIRED, FORBIDDEN */
export function checkTerms(app: App, called: Called, chosen: Pick<UsableConnection, 'entry' | 'authId' | 'hosts' | 'scopes'>): void {
    checkCookies(chosen.entry, called);
    const changes = changesOfTerms(chosen, termsOf(called.offer, chosen.authId), called.endpoint);
    const missing = chosen.entry.type === 'oauth2' ? called.endpoint.scopes.filter((scope) => !chosen.scopes.includes(scope)) : [];
    if (missing.length > 0 && chosen.scopes.length > 0)
        throw connectionRequired(app, called, `This connection lacks the scopes ${missing.join(', ')}. Connect again and consent to them.`);
    if (changes.length === 0) return;
    const message = 'The schema of this site has changed how it uses this connection. The owner of the connection has to agree again.';
    throw connectionRequired(
        app,
        called,
        message,
        changes.map((change) => ({ path: '/connection', code: 'INVALID_VALUE', message: change })),
    );
}

/** Credentials are stored only if the key ring is outside of the database. @throws Refusal SERVICE_UNAVAILABLE */
export function requireExternalKeyRing({ secrets }: App): void {
    if (secrets.isConfigured) return;
    throw new Refusal('SERVICE_UNAVAILABLE', 'Connections need SECRET_KEYS, which the operator of this service has not set.', {
        retryAfter: 3600,
    });
}

/** Operators may forbid connections with session cookies for a site (`site set --cookies`). @throws Refusal FORBIDDEN */
export function checkCookies({ type }: PackageAuth, { site, takesCookies }: { site: string; takesCookies: boolean }): void {
    if (type !== 'cookie' || takesCookies) return;
    throw new Refusal('FORBIDDEN', `The operator of this service allows no session cookies for ${site}.`);
}

function requireNamed(
    app: App,
    { scopes }: Caller,
    called: Called,
    { known, named }: { known: readonly UsableConnection[]; named: string },
): UsableConnection {
    const chosen = known.find(({ connectionId }) => connectionId === named);
    if (chosen === undefined) throw new Refusal('CONNECTION_NOT_FOUND');
    if (scopes.listed.connections?.includes(named) === false) throw missingScope({ part: 'connections', needs: named });
    if (isUsable(chosen)) return chosen;
    if (chosen.status === 'rejected') throw new Refusal('CONNECTION_REJECTED', REJECTED);
    throw connectionRequired(app, called, `This connection is ${chosen.status}. Connect again.`);
}

const REJECTED = 'The site rejected this connection three times in a row. Replace its secret, or test it again.';

/** Whether the site may still accept the credential. */
function isUsable({ status }: Pick<UsableConnection, 'status'>): boolean {
    return status === 'active' || status === 'untested';
}

function requireOnly(app: App, { scopes }: Caller, called: Called, known: readonly UsableConnection[]): UsableConnection {
    const { connections: listed } = scopes.listed;
    const allowed = known.filter(({ connectionId }) => listed === null || listed.includes(connectionId));
    const [only, another] = allowed.filter(isUsable);
    if (another !== undefined) {
        const message = 'You have several connections for this site. Set `connection` to one of their ids.';
        throw connectionRequired(app, called, message, allowed.filter(isUsable).map(detailOf));
    }
    if (only !== undefined) return only;
    if (allowed.length > 0)
        throw connectionRequired(app, called, 'None of your connections for this site is active.', allowed.map(detailOf));
    const [forbidden] = known;
    if (forbidden !== undefined) throw missingScope({ part: 'connections', needs: forbidden.connectionId });
    throw connectionRequired(
        app,
        called,
        `${called.site} needs a credential of your own. Store it with POST /v1/connections, then call again.`,
    );
}

function detailOf({ connectionId, entry, status }: UsableConnection): Detail {
    const message = isUsable({ status }) ? `${connectionId} (${entry.id})` : `${connectionId} (${entry.id}, ${status})`;
    return { path: '/connection', code: 'INVALID_VALUE', message };
}

function connectionRequired(app: App, { site, offer }: Called, message: string, details?: Detail[]): Refusal {
    const obtainUrl = offer.auth.find(({ obtain_url: url }) => url !== undefined)?.obtain_url;
    return new Refusal('CONNECTION_REQUIRED', message, {
        details,
        connectUrl: `${app.publicUrl()}/dashboard/connections/new?site=${encodeURIComponent(site)}`,
        obtainUrl,
    });
}
