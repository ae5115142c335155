import { EFFECTS } from '../../../shared/domain/accounts/scopes.ts';
import { isDocumentId } from '../../../shared/domain/apps/describe-app.ts';
import { isRegistered } from '../../../shared/domain/apps/redirect-uri.ts';
import { readResource } from '../../../shared/domain/apps/resource.ts';
import type { Effect } from '../../../shared/domain/types.ts';
import { pollUntil } from '../../../shared/platform/poll-until.ts';
import { takeAttempts } from '../../../shared/store/accounts/attempts.ts';
import { askForDocument, type ClientApp, findApp } from '../../../shared/store/apps/apps.ts';
import type { PersonalVisit } from '../page.ts';

/** How long the page waits until a worker has read the app's document. */
const LOOKS = { everyMs: 100, maxMs: 7000 };

export interface AppRequest {
    client: ClientApp;
    redirectUri: string;
    state: string | undefined;
    resource: string;
    challenge: string;
    effects: Effect[];
}

/** `problem`: there is no valid redirect URI, so the page shows it. `error`: an OAuth error code for the app. */
type ReadRequest =
    | { request: AppRequest }
    | { problem: string; retryAfter?: number }
    | { error: string; message: string; client: ClientApp; redirectUri: string; state: string | undefined };

/** The parameters of an authorization request. The consent page sends them again with its form. */
export const PARAMETERS = [
    'client_id',
    'redirect_uri',
    'response_type',
    'code_challenge',
    'code_challenge_method',
    'resource',
    'scope',
    'state',
] as const;

/** Reads an authorization request (OAuth 2.1). @param get returns a parameter that was sent exactly once */
export async function readRequest(visit: PersonalVisit, get: (name: string) => string | undefined): Promise<ReadRequest> {
    const found = await findClient(visit, get('client_id') ?? '');
    if ('problem' in found) return found;
    const { client } = found;
    const [only, ...others] = client.redirectUris;
    const redirectUri = get('redirect_uri') ?? (others.length === 0 ? only : undefined) ?? '';
    if (!isRegistered(redirectUri, client.redirectUris)) {
        return { problem: 'The app did not register this redirect_uri.' };
    }
    const state = get('state');
    const wrong = (error: string, message: string): ReadRequest => ({ error, message, client, redirectUri, state });
    if (get('response_type') !== 'code') return wrong('unsupported_response_type', 'response_type is code.');
    const challenge = get('code_challenge') ?? '';
    if (get('code_challenge_method') !== 'S256' || !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
        return wrong('invalid_request', 'PKCE is required: send code_challenge, with code_challenge_method S256.');
    }
    const resource = readResource(get('resource'), visit.app.publicUrl());
    if (resource === undefined) return wrong('invalid_target', `resource is ${visit.app.publicUrl()}/mcp, or a site's below it.`);
    const asked = (get('scope') ?? 'read').split(' ');
    const effects = EFFECTS.filter((effect) => effect === 'read' || asked.includes(effect));
    return { request: { client, redirectUri, state, resource, challenge, effects } };
}

/** Finds the app with this id. If its document is not stored, asks a worker to read it and waits. */
async function findClient(
    { app, me }: PersonalVisit,
    id: string,
): Promise<{ client: ClientApp } | { problem: string; retryAfter?: number }> {
    const isRegistration = /^app_[0-9A-Za-z]{22}$/.test(id);
    if (!isRegistration && !isDocumentId(id)) return { problem: 'The request has no valid client_id.' };
    let client = await findApp(app.db, id);
    if (client === undefined && isRegistration)
        return { problem: 'The app is not registered, or its registration was deleted. Connect it again.' };
    if (client === undefined) {
        const retryAfter = await takeAttempts(app.db, [['app document by user', me.userId]]);
        if (retryAfter > 0) return { problem: 'You connected too many apps within an hour. Try again later.', retryAfter };
        await askForDocument(app.db, id);
        const look = () => findApp(app.db, id);
        client = await pollUntil(LOOKS, look, (found) => found !== undefined);
    }
    if (client === undefined) return { problem: "The app's document could not be read in time. Reload this page." };
    return client.problem === null ? { client } : { problem: `The app's document cannot be used: ${client.problem}` };
}
