import type { Request } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { describeApp } from '../../shared/domain/apps/describe-app.ts';
import { takeAttempts } from '../../shared/store/accounts/attempts.ts';
import { registerApp as keepApp } from '../../shared/store/apps/apps.ts';
import { limitIdentity } from '../admission/client-address.ts';
import { readJsonBody } from '../bodies/json-body.ts';
import { OAuthFailure, tooManyRequests } from './read-form.ts';

const BODY_BYTES = 64 * 1024;

/** POST /oauth/register: registers an app that has no metadata document (RFC 7591). @throws OAuthFailure */
export async function registerApp(app: App, request: Request): Promise<object> {
    const { value, faults } = await readJsonBody(request, { guard: true, maxBytes: BODY_BYTES });
    const [fault] = faults;
    if (fault !== undefined) throw new OAuthFailure('invalid_client_metadata', `${fault.path}: ${fault.message}`);
    const facts = describeApp(value);
    if ('code' in facts) throw new OAuthFailure(facts.code, facts.message);
    const retryAfter = await takeAttempts(app.db, [['app registration by client', limitIdentity(request.app.clientAddress)]]);
    if (retryAfter > 0) throw tooManyRequests('One address can register at most 20 apps an hour.', retryAfter);
    const { appId, name, redirectUris } = await keepApp(app.db, facts);
    return {
        client_id: appId,
        client_id_issued_at: Math.floor(app.clock.now() / 1000),
        ...(name === '' ? {} : { client_name: name }),
        redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
    };
}
