import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A real authorization server on loopback. Its only user consents to everything at once. */
export interface AuthorizationServer {
    origin: string;
    /** Bodies of requests to the token endpoint, by grant type. */
    asked: { grantType: string; body: string }[];
    revoked: string[];
    /** Sets how many seconds new access tokens last. */
    lasting(seconds: number): void;
    /** The scopes of a valid token; undefined for any other. */
    scopesOf(token: string): Promise<string[] | undefined>;
    /** Follows an authorize URL as a browser does, until it leaves the server. @returns that last URL */
    consent(authorizeUrl: string): Promise<URL>;
    /** Makes the token endpoint delay its answers. @returns a function that sends them */
    stall(): () => void;
    /** Makes the token endpoint refuse everything with this code. Undefined ends this. */
    refuse(code: string | undefined): void;
    /** Withdraws every consent. */
    withdraw(): Promise<void>;
    close(): Promise<void>;
}

export const CLIENT = { client_id: 'routebook', client_secret: 'the-secret-of-the-client-0815' };

/** Opens the server. @param host a name that the test's world resolves to 127.0.0.1 */
export async function openAuthorizationServer(host: string, callbackUrl: string): Promise<AuthorizationServer> {
    const asked: AuthorizationServer['asked'] = [];
    const revoked: string[] = [];
    const grants: string[] = [];
    let seconds = 3600;
    let released: Promise<void> | undefined;
    let refusal: string | undefined;
    const server = createServer((incoming, response) => void handle(incoming, response));
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const origin = `http://${host}:${port}`;
    const provider = new Provider(origin, {
        clients: [
            {
                ...CLIENT,
                redirect_uris: [callbackUrl],
                grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
                response_types: ['code'],
            },
        ],
        scopes: ['orders', 'stock'],
        features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true }, revocation: { enabled: true } },
        issueRefreshToken: async () => true,
        rotateRefreshToken: true,
        pkce: { required: () => true },
        ttl: { AccessToken: () => seconds, ClientCredentials: () => seconds },
        findAccount: (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
        interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
        cookies: { keys: ['of-a-test'] },
    });
    const callback = provider.callback();
    provider.on('server_error', (_ctx, error) => {
        throw error;
    });
    async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
        if (incoming.url?.startsWith('/interaction/')) {
            const { params, grantId } = await provider.interactionDetails(incoming, response);
            const grant =
                (grantId && (await provider.Grant.find(grantId))) || new provider.Grant({ accountId: 'ada', clientId: CLIENT.client_id });
            grant.addOIDCScope(String(params['scope'] ?? ''));
            const id = await grant.save();
            grants.push(id);
            await provider.interactionFinished(incoming, response, { login: { accountId: 'ada' }, consent: { grantId: id } });
            return;
        }
        if (incoming.method === 'POST') {
            const chunks: Buffer[] = [];
            incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
            incoming.on('end', () => {
                const body = Buffer.concat(chunks).toString();
                const fields = new URLSearchParams(body);
                if (incoming.url === '/token') asked.push({ grantType: fields.get('grant_type') ?? '', body });
                if (incoming.url === '/token/revocation') revoked.push(fields.get('token') ?? '');
            });
        }
        if (incoming.url === '/token' && released !== undefined) delay(response, released);
        if (incoming.url === '/token' && refusal !== undefined) {
            response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: refusal }));
            return;
        }
        callback(incoming, response);
    }
    return {
        origin,
        asked,
        revoked,
        lasting: (wanted) => {
            seconds = wanted;
        },
        async scopesOf(token) {
            const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
            return found?.isValid === true ? (found.scope ?? '').split(' ') : undefined;
        },
        async consent(authorizeUrl) {
            const cookies = new Map<string, string>();
            for (let url = new URL(authorizeUrl), steps = 0; steps < 10; steps++) {
                if (url.origin !== origin) return url;
                url = await step(url, cookies, port);
            }
            throw new Error('the authorization server redirects without end');
        },
        stall() {
            const stalled = Promise.withResolvers<void>();
            released = stalled.promise;
            return () => {
                released = undefined;
                stalled.resolve();
            };
        },
        refuse(code) {
            refusal = code;
        },
        async withdraw() {
            for (const id of grants) await (await provider.Grant.find(id))?.destroy();
        },
        close: () => new Promise<void>((closed) => void server.close(() => closed())),
    };
}

function delay(response: ServerResponse, released: Promise<void>): void {
    const end = response.end.bind(response) as (...last: unknown[]) => void;
    response.end = (...last: unknown[]) => {
        void released.then(() => end(...last));
        return response;
    };
}

/** Sends one request as a browser does. @returns the URL of its redirect */
function step(url: URL, cookies: Map<string, string>, port: number): Promise<URL> {
    return new Promise((resolve, reject) => {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const sent = request(
            { host: '127.0.0.1', port, path: url.pathname + url.search, headers: { host: url.host, cookie } },
            (answer) => {
                for (const line of answer.headers['set-cookie'] ?? []) {
                    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
                    cookies.set(name, value);
                }
                answer.resume();
                const { location } = answer.headers;
                if (location === undefined) reject(new Error(`${url.href} answered ${answer.statusCode}`));
                else resolve(new URL(location, url));
            },
        );
        sent.on('error', reject);
        sent.end();
    });
}
