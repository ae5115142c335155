import type { ConnectionEntry, ConnectionOrder, NewConnectionQuery } from '../../shared/contracts/connections.ts';
import { hintOf, secretProblems, toStoredSecret } from '../../shared/domain/connections/secret.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { checkCookies, requireExternalKeyRing } from '../../shared/fetch/choose-connection.ts';
import { invalidField, invalidFields } from '../../shared/refusals.ts';
import * as connections from '../../shared/store/connections/connections.ts';
import { sealSecret } from '../../shared/store/connections/sealing.ts';
import { inDomainTurn, writeInTurn } from '../admission/writes.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';
import { presentConnection } from './connections.ts';
import { chooseTerms, mustFindOffer } from './terms.ts';
import { passTest } from './test-connection.ts';

/**
 * POST /v1/connections: encrypts the credential for the terms of the latest version. If the version names a test endpoint, the credential
 * is first stored as a hidden trial and tested, since only workers can decrypt credentials.
 */
export async function addConnection(call: Call<object, NewConnectionQuery, ConnectionOrder>): Promise<Reply<ConnectionEntry>> {
    const { app, body, query } = call;
    const { workspaceId, userId } = call.caller;
    requireExternalKeyRing(app);
    const { site, offer, takesCookies } = await mustFindOffer(app, body.site);
    const terms = chooseTerms(offer, body.auth_id);
    checkCookies(terms.entry, { site, takesCookies });
    const problems = secretProblems(terms.entry, body.secret);
    if (problems.length > 0) throw invalidFields(problems);
    const secret = toStoredSecret(terms.entry, body.secret);
    const connectionId = newId('con');
    const sealed = await sealSecret(app.db, app.secrets, { workspaceId, connectionId, site }, secret);
    const { name = site, shared = false } = body;
    const { test } = terms.entry;
    const isTried = test !== undefined && query.test !== false;
    const status = isTried ? 'trial' : query.test === false ? 'untested' : 'active';
    const viewer = { workspaceId, userId };
    const made = await writeInTurn(call, undefined, () =>
        connections.addConnection(
            app.db,
            { connectionId, viewer, shared, site, name, terms, sealed, hint: hintOf(secret), status },
            byCall(call),
        ),
    );
    if (made === undefined) throw invalidField('', connections.TOO_MANY_CONNECTIONS);
    const kept = isTried ? await testAndKeep(call, made, test) : made;
    app.vault.forget(workspaceId, site);
    return { answer: presentConnection(kept), headers: { location: `/v1/connections/${connectionId}` } };
}

/** Tests a trial and keeps it only if the site accepts it. */
async function testAndKeep(call: Call<object, NewConnectionQuery, ConnectionOrder>, trial: connections.Connection, test: string) {
    try {
        await passTest(call, trial, test);
        // The account's queue has already admitted the trial. A full queue must not refuse it now.
        const kept = await inDomainTurn(call, undefined, () => connections.keepTrial(call.app.db, trial, byCall(call)));
        if (kept === undefined) throw new Error('a trial that passed is gone');
        return kept;
    } catch (error) {
        await connections.dropTrial(call.app.db, trial.connectionId);
        throw error;
    }
}
