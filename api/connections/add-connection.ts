import type { App } from '../../shared/app.ts';
import type { ConnectionEntry, ConnectionOrder } from '../../shared/contracts/connections.ts';
import { hintOf, type Secret, secretProblems } from '../../shared/domain/connections/secret.ts';
import { type AuthOffer, type AuthTerms, termsOf } from '../../shared/domain/package/auth.ts';
import { readSite, siteBlocked, siteNotFound } from '../../shared/domain/site/read-site.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { mayKeepCredentials } from '../../shared/fetch/choose-connection.ts';
import { type Detail, Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import * as connections from '../../shared/store/connections/connections.ts';
import { sealSecret } from '../../shared/store/connections/sealing.ts';
import { mayRun } from '../../shared/store/registry/schemas.ts';
import { byCall } from '../auth/by-call.ts';
import type { Call, Reply } from '../serve.ts';
import { presentConnection } from './present-connection.ts';

/** POST /v1/connections: seals the value for the terms of the latest version. */
export async function addConnection(call: Call<object, object, ConnectionOrder>): Promise<Reply<ConnectionEntry>> {
    const { app, body } = call;
    const caller = call.caller as Caller;
    mayKeepCredentials(app);
    const { site, offer } = await latestOffer(app, body.site);
    const terms = chooseTerms(offer, body.auth_id);
    const problems = secretProblems(terms.entry, body.secret);
    if (problems.length > 0) throw invalid(...problems);
    const secret = body.secret as Secret;
    const viewer = { workspaceId: caller.workspaceId, userId: caller.userId };
    const connectionId = newId('con');
    const sealed = await sealSecret(app.db, app.secrets, { workspaceId: viewer.workspaceId, connectionId, site }, secret);
    const { name = site, shared = false } = body;
    const added = { connectionId, viewer, shared, site, name, terms, sealed, hint: hintOf(secret) };
    const made = await connections.addConnection(app.db, added, byCall(call));
    if (made === undefined) {
        const message = `This workspace has ${connections.MOST_CONNECTIONS} connections, which is the limit: delete one.`;
        throw invalid({ path: '', code: 'INVALID_VALUE', message });
    }
    return { answer: presentConnection(made), headers: { location: `/v1/connections/${connectionId}` } };
}

/** How the latest version of a site sends credentials. @throws Refusal INVALID_DOMAIN, SITE_BLOCKED, SITE_NOT_FOUND */
async function latestOffer(app: App, written: string): Promise<{ site: string; offer: AuthOffer }> {
    const { site, registrable } = readSite(written, '/site');
    const { isBlocked, version } = await app.latest.find({ site, registrable });
    if (isBlocked) throw siteBlocked();
    const offer = version === undefined || !mayRun(version) ? undefined : await app.versions.load(version.versionId);
    if (offer === undefined) throw siteNotFound(site);
    return { site, offer };
}

/** @throws Refusal VALIDATION_ERROR */
function chooseTerms(offer: AuthOffer, id: string | undefined): AuthTerms {
    const ids = offer.auth.map((entry) => entry.id);
    const [first] = ids;
    if (first === undefined)
        throw invalid({ path: '/site', code: 'INVALID_VALUE', message: 'The schema of this site takes no connections.' });
    const names = `the schema has ${ids.join(', ')}`;
    if (id === undefined && ids.length > 1)
        throw invalid({ path: '/auth_id', code: 'REQUIRED', message: `Say which way to authenticate: ${names}.` });
    const terms = termsOf(offer, id ?? first);
    if (terms === undefined)
        throw invalid({ path: '/auth_id', code: 'INVALID_VALUE', message: `There is no such way to authenticate: ${names}.` });
    return terms;
}

function invalid(...details: Detail[]): Refusal {
    return new Refusal('VALIDATION_ERROR', undefined, { details });
}
