import type { App } from '../../shared/app.ts';
import type { ConnectionEntry, ConnectionParams, ConnectionPatch, NewConnectionQuery } from '../../shared/contracts/connections.ts';
import { hintOf, type SecretFields, type StoredSecret, secretProblems, toStoredSecret } from '../../shared/domain/connections/secret.ts';
import { type AuthTerms, termsOf } from '../../shared/domain/package/auth.ts';
import { notMaintainer, readSite } from '../../shared/domain/site/read-site.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { checkCookies, requireExternalKeyRing } from '../../shared/fetch/choose-connection.ts';
import { invalidField, invalidFields, Refusal } from '../../shared/refusals.ts';
import type { Caller } from '../../shared/store/accounts/callers.ts';
import * as connections from '../../shared/store/connections/connections.ts';
import { sealSecret } from '../../shared/store/connections/sealing.ts';
import { isMaintainer } from '../../shared/store/registry/maintainers.ts';
import * as verification from '../../shared/store/registry/verification.ts';
import { writeInTurn } from '../admission/writes.ts';
import { byCall } from '../auth/caller.ts';
import type { Call, Reply } from '../call.ts';
import { checkMayChange, mustFindConnection, presentConnection } from './connections.ts';
import { mustFindOffer } from './terms.ts';
import { passTest } from './test-connection.ts';

type ChangeCall = Call<ConnectionParams, NewConnectionQuery, ConnectionPatch>;

/** PATCH /v1/connections/{connection_id}. A new secret implies agreement to the terms of the latest version. */
export async function changeConnection(call: ChangeCall): Promise<Reply<ConnectionEntry>> {
    const { app, body, caller } = call;
    const connection = await mustFindConnection(call);
    checkMayChange(connection, caller);
    const { name, shared, secret, agree, verify_with: verifies } = body;
    if (verifies === true) await checkMayLend(app, connection, caller);
    const terms = secret === undefined && agree === undefined ? undefined : await latestTerms(call, connection);
    const value = secret === undefined || terms === undefined ? undefined : await newValue(call, connection, terms, secret);
    const by = { ...byCall(call), userId: caller.userId };
    const changes = { name, shared, verifies, terms, value };
    const changed = await writeInTurn(call, undefined, () => connections.changeConnection(app.db, connection, changes, by));
    if (changed === undefined) throw new Refusal('CONNECTION_NOT_FOUND');
    if (verifies === true) await verification.requestRun(app.db, connection.site);
    app.vault.forget(connection.workspaceId, connection.site);
    return { answer: presentConnection(changed) };
}

async function latestTerms({ app }: ChangeCall, { site, authId }: connections.Connection): Promise<AuthTerms> {
    const { offer, takesCookies } = await mustFindOffer(app, site);
    const terms = termsOf(offer, authId);
    if (terms !== undefined) checkCookies(terms.entry, { site, takesCookies });
    if (terms !== undefined) return terms;
    const message = `The latest version of the schema has no auth entry ${authId}. Make a new connection.`;
    throw invalidField('', message);
}

/** Encrypts a new credential after the site has accepted it in a trial. */
async function newValue(call: ChangeCall, connection: connections.Connection, terms: AuthTerms, given: SecretFields) {
    const { app, query } = call;
    requireExternalKeyRing(app);
    const problems = secretProblems(terms.entry, given);
    if (problems.length > 0) throw invalidFields(problems);
    const secret = toStoredSecret(terms.entry, given);
    const { test } = terms.entry;
    const isTried = test !== undefined && query.test !== false;
    if (isTried) await tryValue(call, connection, { terms, secret, test });
    const sealed = await sealSecret(app.db, app.secrets, connection, secret);
    const status = query.test === false ? ('untested' as const) : ('active' as const);
    return { sealed, hint: hintOf(secret), status };
}

async function tryValue(
    call: ChangeCall,
    { workspaceId, site, name, shared }: connections.Connection,
    { terms, secret, test }: { terms: AuthTerms; secret: StoredSecret; test: string },
): Promise<void> {
    const { app } = call;
    const connectionId = newId('con');
    const sealed = await sealSecret(app.db, app.secrets, { workspaceId, connectionId, site }, secret);
    const viewer = { workspaceId, userId: call.caller.userId };
    const added = { connectionId, viewer, shared, site, name, terms, sealed };
    const trial = await writeInTurn(call, undefined, () => connections.addTrial(app.db, added));
    try {
        await passTest(call, trial, test);
    } finally {
        await connections.dropTrial(app.db, connectionId);
    }
}

/**
 * Checks that the caller may lend the connection to verification runs: maintainers of the site may lend their own connections. @throws
 * Refusal FORBIDDEN, NOT_MAINTAINER, INVALID_DOMAIN
 */
async function checkMayLend({ db }: App, { site, ownerId }: connections.Connection, { workspaceId, userId }: Caller): Promise<void> {
    if (ownerId !== userId) throw new Refusal('FORBIDDEN', 'Only the owner of a connection can lend it to verification runs.');
    const { registrable } = readSite(site, '/site');
    if (!(await isMaintainer(db, registrable, workspaceId))) throw notMaintainer(registrable);
}
