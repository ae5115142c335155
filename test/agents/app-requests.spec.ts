import { expect } from 'chai';
import { signUp, type Visitor } from '../dashboard/support/visitor.ts';
import { useWorld } from '../support/world.ts';
import { oauthOf } from './support/oauth.ts';

const REDIRECT = 'http://127.0.0.1/callback';

describe('the request of an app to sign a user in', () => {
    const world = useWorld();
    let ada: Visitor;
    let oauth: ReturnType<typeof oauthOf>;

    before(async () => {
        oauth = oauthOf(world);
        ada = await signUp(world);
    });

    it('shows the user an app’s wrong request, and redirects nobody without a click', async () => {
        const clientId = await oauth.register(REDIRECT);
        const { query } = oauth.request(clientId, REDIRECT);
        const away = await ada.get(oauth.pathOf({ ...query, redirect_uri: 'https://evil.test/callback' }));
        expect(away.status).to.equal(400);
        expect(away.to).to.equal(undefined);
        expect((await ada.get(oauth.pathOf({ ...query, client_id: 'app_0000000000000000000000' }))).status).to.equal(400);
        const errorFor = async (change: Record<string, string>) => {
            const { to, status, html } = await ada.get(oauth.pathOf({ ...query, ...change }));
            expect(status).to.equal(400);
            expect(to).to.equal(undefined);
            expect(html)
                .to.include('By hand')
                .and.include(new URL(query['redirect_uri'] ?? '').host);
            const link = [...html.matchAll(/href="([^"]+)"/g)].map(([, href]) => href ?? '').find((href) => href.startsWith(REDIRECT));
            const { searchParams } = new URL(link?.replaceAll('&amp;', '&') ?? '');
            expect(searchParams.get('state')).to.equal('s');
            return searchParams.get('error');
        };
        expect(await errorFor({ code_challenge_method: 'plain' })).to.equal('invalid_request');
        expect(await errorFor({ code_challenge: '' })).to.equal('invalid_request');
        expect(await errorFor({ response_type: 'token' })).to.equal('unsupported_response_type');
        expect(await errorFor({ resource: 'https://evil.test/mcp' })).to.equal('invalid_target');
        expect((await oauth.consent(ada, query, { decision: 'deny' })).searchParams.get('error')).to.equal('access_denied');
    });

    it('is shown to signed-in users only, on our own page', async () => {
        const { query } = oauth.request(await oauth.register(REDIRECT), REDIRECT);
        const stranger = await fetch(`${world.app.publicUrl()}${oauth.pathOf(query)}`, { redirect: 'manual' });
        expect(stranger.headers.get('location')).to.match(/^\/login\?next=/);
        const page = await ada.get(oauth.pathOf(query));
        expect(page.headers['content-security-policy']).to.include("frame-ancestors 'none'");
        const forged = await ada.post('/oauth/authorize', new URLSearchParams({ ...query, decision: 'allow', cap: '5' }).toString());
        expect(forged.status).to.equal(403);
    });

    it('registers valid metadata, 20 times an hour from one address', async () => {
        const wrong = async (metadata: object) => {
            const response = await fetch(`${world.app.publicUrl()}/oauth/register`, {
                method: 'POST',
                headers: { 'content-type': 'application/json' },
                body: JSON.stringify(metadata),
            });
            return { status: response.status, error: ((await response.json()) as { error: string }).error };
        };
        for (const uri of [
            'javascript:alert(1)',
            'http://evil.test/',
            'https://a.test/#x',
            'data:text/html,x',
            'https://u:p@a.test/',
            'https://a.test;frame-ancestors/',
            'https://a.test,default-src/',
            'intent://a.test#Intent;end',
            'ms-settings:privacy',
            'jar:https://a.test/x!/',
            'ms-settings://privacy',
            'javascript://a.test/%0aalert(1)',
            'myapp:callback',
            'x',
        ]) {
            expect(await wrong({ redirect_uris: [uri] }), uri).to.deep.equal({ status: 400, error: 'invalid_redirect_uri' });
        }
        expect((await wrong({})).error).to.equal('invalid_redirect_uri');
        expect((await wrong({ redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_basic' })).error).to.equal(
            'invalid_client_metadata',
        );
        for (const char of '\u202a\u202e\u2066\u2069\u0000\n') {
            const named = await wrong({ redirect_uris: [REDIRECT], client_name: `Your ${char}bank` });
            expect(named.error, JSON.stringify(char)).to.equal('invalid_client_metadata');
        }
        expect((await wrong({ redirect_uris: [REDIRECT], client_name: 'חנות\u200f (\u200eA\u061c)' })).status).to.equal(201);
        expect((await wrong({ redirect_uris: ['com.example.app:/callback'] })).status).to.equal(201);
        const client = async () => (await wrong({ redirect_uris: ['cursor://app/callback'] })).status;
        let last = 201;
        for (let count = 0; count < 30 && last === 201; count++) last = await client();
        expect(last).to.equal(429);
    });
});
