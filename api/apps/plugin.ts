import type { Request, ResponseObject, ResponseToolkit } from '@hapi/hapi';
import type { App } from '../../shared/app.ts';
import { EFFECTS } from '../../shared/domain/accounts/scopes.ts';
import { Refusal, refusalEntry } from '../../shared/refusals.ts';
import { servePublic } from '../answers/public-file.ts';
import { refusalHeaders } from '../answers/refusal.ts';
import type { AppPlugin } from '../plugins/plugin.ts';
import { OAuthFailure } from './read-form.ts';

/**
 * OAuth 2.1 with PKCE. It lets apps, such as MCP clients, act for a person. The consent page is in api/dashboard/apps. Bodies and errors
 * follow RFC 6749. Pages of any origin may call these routes.
 */
export const apps: AppPlugin = {
    name: 'apps',
    register(server, { app }) {
        const open = { app: { isOpen: true } };
        for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server/{resource*}']) {
            servePublic(server, path, { isOpen: true, read: () => describeServer(app) });
        }
        server.route([
            {
                method: 'POST',
                path: '/oauth/register',
                options: open,
                // Loaded on first use: most processes serve no app.
                handler: (request, h) => answer(h, 201, async () => (await import('./register-app.ts')).registerApp(app, request)),
            },
            {
                method: 'POST',
                path: '/oauth/token',
                options: open,
                handler: (request, h) => answer(h, 200, async () => (await import('./exchange-token.ts')).exchangeToken(app, request)),
            },
            {
                method: 'POST',
                path: '/oauth/revoke',
                options: open,
                handler: (request, h) => answer(h, 200, () => revoke(app, request)),
            },
        ]);
    },
};

async function revoke(app: App, request: Request): Promise<object> {
    await (await import('./exchange-token.ts')).endGrantByToken(app, request);
    return {};
}

/** Responds with the result of `work`. An OAuthFailure, or a body that cannot be read, becomes an OAuth error response. */
async function answer(h: ResponseToolkit, status: number, work: () => Promise<object>): Promise<ResponseObject> {
    try {
        return h
            .response(await work())
            .code(status)
            .header('cache-control', 'no-store');
    } catch (error) {
        const failure = failureOf(error);
        if (failure === undefined) throw error;
        const { code, message, headers } = failure;
        const response = h.response({ error: code, error_description: message }).code(failure.status).header('cache-control', 'no-store');
        for (const [name, value] of Object.entries(headers)) response.header(name, value);
        return response;
    }
}

function failureOf(error: unknown): OAuthFailure | undefined {
    if (error instanceof OAuthFailure) return error;
    if (!(error instanceof Refusal)) return undefined;
    const { status } = refusalEntry(error.code);
    return status < 500 ? new OAuthFailure('invalid_request', error.message, status, Object.fromEntries(refusalHeaders(error))) : undefined;
}

/** Authorization server metadata (RFC 8414). */
function describeServer(app: App): object {
    const url = app.publicUrl();
    return {
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/oauth/token`,
        revocation_endpoint: `${url}/oauth/revoke`,
        registration_endpoint: `${url}/oauth/register`,
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        scopes_supported: [...EFFECTS],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
        service_documentation: `${url}/docs/agents`,
    };
}
