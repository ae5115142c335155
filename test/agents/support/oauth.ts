import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Visitor } from '../../dashboard/support/visitor.ts';
import type { World } from '../../support/world.ts';

interface TokenAnswer {
    status: number;
    body: Record<string, string>;
    /** Seconds, from its header. */
    retryAfter: number;
}

/** The requests of an app that signs in for a user. */
export function oauthOf(world: World) {
    const base = () => world.app.publicUrl();
    const pathOf = (query: Record<string, string>) => `/oauth/authorize?${new URLSearchParams(query)}`;

    async function post(path: string, fields: Record<string, string>): Promise<TokenAnswer> {
        const response = await fetch(`${base()}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
        const retryAfter = Number(response.headers.get('retry-after'));
        return { status: response.status, body: (await response.json()) as Record<string, string>, retryAfter };
    }

    async function register(redirectUri: string, name = 'By hand'): Promise<string> {
        const response = await fetch(`${base()}/oauth/register`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ client_name: name, redirect_uris: [redirectUri] }),
        });
        expect(response.status).to.equal(201);
        return ((await response.json()) as { client_id: string }).client_id;
    }

    /** An authorization request, and its PKCE verifier. */
    function request(clientId: string, redirectUri: string, more: Record<string, string> = {}) {
        const verifier = randomBytes(32).toString('base64url');
        const query: Record<string, string> = {
            client_id: clientId,
            redirect_uri: redirectUri,
            response_type: 'code',
            code_challenge: createHash('sha256').update(verifier).digest('base64url'),
            code_challenge_method: 'S256',
            state: 's',
            ...more,
        };
        return { query, verifier };
    }

    /** Consents without a browser. @returns the redirect target */
    async function consent(who: Visitor, query: Record<string, string>, form: Record<string, string> = {}): Promise<URL> {
        const page = await who.get(pathOf(query));
        expect(page.status, page.html).to.equal(200);
        const workspace = /<option value="(wsp_\w+)"/.exec(page.html)?.[1] ?? '';
        const sent = { ...query, workspace_id: workspace, cap: '50', decision: 'allow', ...form };
        const answer = await who.send('/oauth/authorize', sent, { from: pathOf(query) });
        expect(answer.status, answer.html).to.equal(303);
        return new URL(answer.to ?? '');
    }

    /** From the authorization request to the first tokens. */
    async function signIn(
        who: Visitor,
        { clientId, redirectUri }: { clientId: string; redirectUri: string },
        more: Record<string, string> = {},
        form: Record<string, string> = {},
    ) {
        const { query, verifier } = request(clientId, redirectUri, more);
        const code = (await consent(who, query, form)).searchParams.get('code') ?? '';
        const fields = {
            grant_type: 'authorization_code',
            client_id: clientId,
            redirect_uri: redirectUri,
            code,
            code_verifier: verifier,
        };
        return { clientId, code, fields, ...(await post('/oauth/token', fields)) };
    }

    const renew = (clientId: string, refresh: string | undefined) =>
        post('/oauth/token', { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh ?? '' });

    /** The status of the tools with this token. */
    async function statusOf(token: string | undefined, path = '/mcp', api = base()): Promise<number> {
        const headers = {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
        };
        const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
        return (await fetch(`${api}${path}`, { method: 'POST', headers, body: JSON.stringify(message) })).status;
    }

    return { pathOf, post, register, request, consent, signIn, renew, statusOf };
}
