import { randomBytes } from 'node:crypto';
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { newSecret } from '../../shared/domain/accounts/api-key.ts';
import type { JsonObject } from '../../shared/domain/types.ts';
import { openBrowser, openTab } from '../dashboard/support/browser.ts';
import { freshAddress, signUp, type Visitor } from '../dashboard/support/visitor.ts';
import { eventually } from '../support/eventually.ts';
import { type OwnerSites, openOwnerSites } from '../support/owner-sites.ts';
import { join } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';
import { oauthOf } from './support/oauth.ts';

const DOCUMENT = 'https://app.test/client.json';
const CALLBACK = 'http://127.0.0.1/callback';

/** An app in the official client: its stored credentials, and the last redirect. */
interface Session extends OAuthClientProvider {
    kept: { server?: unknown; client?: JsonObject; tokens?: Record<string, string>; verifier: string; leads?: URL };
}

function session(redirectUri: string, more: Partial<OAuthClientProvider> = {}): Session {
    const kept: Session['kept'] = { verifier: '' };
    return {
        kept,
        redirectUrl: redirectUri,
        clientMetadata: { client_name: 'Test agent', redirect_uris: [redirectUri], scope: 'read' },
        state: () => 'of-the-app',
        clientInformation: () => kept.client as never,
        saveClientInformation: (client) => void Object.assign(kept, { client }),
        tokens: () => kept.tokens as never,
        saveTokens: (tokens) => void Object.assign(kept, { tokens }),
        redirectToAuthorization: (leads) => void Object.assign(kept, { leads }),
        saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
        codeVerifier: () => kept.verifier,
        saveDiscoveryState: (server) => void Object.assign(kept, { server }),
        discoveryState: () => kept.server as never,
        ...more,
    };
}

describe('an app that signs in for a user', () => {
    let world: World;
    let shop: Shop;
    let sites: OwnerSites;
    let browser: Browser;
    let callback: Site;
    let ada: Visitor;
    let oauth: ReturnType<typeof oauthOf>;
    const hosts = new Map([['app.test', ['127.0.0.1']], ...SHOP_HOSTS]);

    before(async function () {
        browser = await openBrowser(this);
        sites = await openOwnerSites(hosts);
        shop = await openShop();
        callback = await openSite((_request, response) => void response.end('<!doctype html><title>Back</title>'));
        world = await openWorld({ connector: sites.connector, config: { egressHosts: hosts } });
        oauth = oauthOf(world);
        dataOf(await (await join(world)).publish(shopPackage(shop.port)));
        sites.hosts.set('app.test', (_request, response) => {
            response.setHeader('content-type', 'application/json');
            const document = { client_id: DOCUMENT, client_name: 'Described agent', redirect_uris: [CALLBACK] };
            response.end(JSON.stringify(document));
        });
        ada = await signUp(world);
    });
    after(async () => {
        await browser?.close();
        await world?.close();
        await shop?.close();
        await sites?.close();
        await callback?.close();
    });

    const base = () => world.app.publicUrl();
    const redirectUri = () => `http://127.0.0.1:${callback.port}/callback`;
    const transportTo = (path: string, authProvider: OAuthClientProvider) =>
        new StreamableHTTPClientTransport(new URL(`${base()}${path}`), { authProvider });
    const open = () => new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });

    let registered: Promise<string> | undefined;
    /** An address may register few apps. */
    function registerOnce(): Promise<string> {
        registered ??= oauth.register(redirectUri());
        return registered;
    }

    const request = (clientId: string, more: Record<string, string> = {}) => oauth.request(clientId, redirectUri(), more);

    async function signIn(more: Record<string, string> = {}, form: Record<string, string> = {}) {
        return oauth.signIn(ada, { clientId: await registerOnce(), redirectUri: redirectUri() }, more, form);
    }

    for (const form of ['a registration', 'a document of its own']) {
        it(`gets from no credentials to a tool call in a browser, with ${form}`, async () => {
            const provider = form === 'a registration' ? session(redirectUri()) : session(redirectUri(), { clientMetadataUrl: DOCUMENT });
            const first = transportTo('/mcp?sign_in=true', provider);
            const refused = await open()
                .connect(first)
                .then(
                    () => undefined,
                    (error: unknown) => error,
                );
            expect(refused, String(refused)).to.be.instanceOf(UnauthorizedError);
            const { kept } = provider;
            expect(kept.leads?.origin).to.equal(new URL(base()).origin);

            const tab = await openTab(browser, base(), { expects: /127\.0\.0\.1/ });
            const visitor = await signUp(world, freshAddress());
            await tab.context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: base() })));
            await tab.page.goto(kept.leads?.href ?? '');
            await tab.lookAround(`oauth.consent.${form.replaceAll(' ', '-')}`);
            const text = (await tab.page.locator('main').textContent()) ?? '';
            expect(text).to.include(form === 'a registration' ? 'Test agent' : 'Described agent');
            expect(text).to.include('Its name is not verified').and.to.include(`127.0.0.1:${callback.port}`);
            await tab.page.getByLabel('Credits a day').fill('5');
            await tab.page.getByRole('button', { name: 'Allow' }).click();
            await tab.page.waitForURL(/\/callback\?/);
            const { searchParams } = new URL(tab.page.url());
            expect(searchParams.get('state')).to.equal('of-the-app');
            expect(searchParams.get('iss')).to.equal(base());
            await first.finishAuth(searchParams);

            const client = open();
            await client.connect(transportTo('/mcp', provider));
            const fetched = await client.callTool({ name: 'fetch', arguments: { site: SHOP, endpoint: 'product', params: { id: 3 } } });
            expect(JSON.stringify(fetched)).to.include('Product 3');
            await client.close();

            await tab.visit('/dashboard/keys');
            await tab.lookAround(`oauth.grants.${form.replaceAll(' ', '-')}`);
            const apps = tab.page.getByRole('table', { name: 'Apps that may act for members' });
            expect(await apps.textContent()).to.include(form === 'a registration' ? 'Test agent' : 'Described agent');
            await apps.getByRole('link', { name: /Manage/ }).click();
            await tab.page.locator('summary', { hasText: 'Revoke' }).click();
            await tab.page.getByRole('button', { name: 'Revoke this key' }).click();
            await tab.page.waitForURL(/\/dashboard\/keys$/);
            await tab.close();
            await eventually(
                () => oauth.statusOf(kept.tokens?.['access_token']),
                (status) => status === 401,
                2000,
            );
        });
    }

    it('reads the document once, and refuses one that belongs to another app', async () => {
        const asked = sites.asked.length;
        const { query } = request(DOCUMENT, { redirect_uri: CALLBACK });
        expect((await ada.get(oauth.pathOf(query))).html).to.include('Described agent');
        expect(sites.asked.length - asked, 'kept for a day').to.equal(0);
        const foreign = request('https://app.test/other.json', { redirect_uri: CALLBACK });
        const page = await ada.get(oauth.pathOf(foreign.query));
        expect(page.status).to.equal(400);
        expect(page.html).to.include('client_id differs from its URL');
        const nowhere = await ada.get(oauth.pathOf(request('https://10.0.0.1/client.json').query));
        expect(nowhere.status).to.equal(400);
        expect(nowhere.html).to.include('could not be read over https');
    });

    it('renews its tokens, and the old ones are refused', async () => {
        const { body, clientId, status } = await signIn();
        expect(status).to.equal(200);
        expect(body).to.include({ token_type: 'Bearer', scope: 'read' });
        expect(Number(body['expires_in'])).to.be.within(3590, 3600);
        expect(body['access_token']).to.match(/^rb_oat_/);
        expect(await oauth.statusOf(body['access_token'])).to.equal(200);
        await world.clock.advance({ hours: 2 });
        await eventually(
            () => oauth.statusOf(body['access_token']),
            (now) => now === 401,
            2000,
        );
        const refresh = { grant_type: 'refresh_token', client_id: clientId, refresh_token: body['refresh_token'] ?? '' };
        const next = await oauth.post('/oauth/token', refresh);
        expect(next.status, JSON.stringify(next.body)).to.equal(200);
        expect(await oauth.statusOf(next.body['access_token'])).to.equal(200);

        const replayed = await oauth.post('/oauth/token', refresh);
        expect(replayed).to.deep.include({ status: 400 });
        expect(replayed.body['error']).to.equal('invalid_grant');
        await eventually(
            () => oauth.statusOf(next.body['access_token']),
            (now) => now === 401,
            2000,
        );
        const later = await oauth.post('/oauth/token', { ...refresh, refresh_token: next.body['refresh_token'] ?? '' });
        expect(later.body['error'], 'the whole grant ended').to.equal('invalid_grant');
    });

    it('redeems a code once, from the same app and with its proof', async () => {
        const stolen = async (change: Record<string, string>) => {
            const clientId = await registerOnce();
            const { query, verifier } = request(clientId);
            const code = (await oauth.consent(ada, query)).searchParams.get('code') ?? '';
            const fields = {
                grant_type: 'authorization_code',
                client_id: clientId,
                redirect_uri: redirectUri(),
                code,
                code_verifier: verifier,
            };
            return (await oauth.post('/oauth/token', { ...fields, ...change })).body['error'];
        };
        expect(await stolen({ code_verifier: randomBytes(32).toString('base64url') })).to.equal('invalid_grant');
        expect(await stolen({ client_id: await oauth.register(redirectUri()) })).to.equal('invalid_grant');
        for (const unknown of ['app_unknown', 'unknown']) expect(await stolen({ client_id: unknown }), unknown).to.equal('invalid_client');
        expect(await stolen({ redirect_uri: 'http://127.0.0.1:1/callback' })).to.equal('invalid_grant');
        expect(await stolen({ resource: `${base()}/mcp/${SHOP}` })).to.equal('invalid_target');
        expect(await stolen({ code: newSecret('code') })).to.equal('invalid_grant');
        expect(await stolen({ grant_type: 'password' })).to.equal('unsupported_grant_type');
        const withoutToken = { grant_type: 'refresh_token', refresh_token: '' };
        for (const missing of [{ code: '' }, { code_verifier: '' }, { code: '', code_verifier: '' }, { grant_type: '' }, withoutToken])
            expect(await stolen(missing), JSON.stringify(missing)).to.equal('invalid_request');

        const { body, fields } = await signIn();
        expect((await oauth.post('/oauth/token', fields)).body['error']).to.equal('invalid_grant');
        await eventually(
            () => oauth.statusOf(body['access_token']),
            (status) => status === 401,
            2000,
        );
    });

    it('calls the tools of its grant, and nothing else', async () => {
        const { body } = await signIn({ resource: `${base()}/mcp/${SHOP}` });
        expect(await oauth.statusOf(body['access_token'], `/mcp/${SHOP}`)).to.equal(200);
        expect(await oauth.statusOf(body['access_token'], '/mcp')).to.equal(401);
        expect(await oauth.statusOf(body['access_token'], '/mcp/other.test')).to.equal(401);
        const direct = await fetch(`${base()}/v1/account`, { headers: { authorization: `Bearer ${body['access_token']}` } });
        expect(direct.status).to.equal(401);
        expect(((await direct.json()) as { error: { code: string } }).error.code).to.equal('INVALID_API_KEY');
    });

    it('may write only if it asked for it and the user agreed', async () => {
        const order = async (token: string | undefined) => {
            const client = open();
            const requestInit = { headers: { authorization: `Bearer ${token}` } };
            await client.connect(new StreamableHTTPClientTransport(new URL(`${base()}/mcp`), { requestInit }));
            const answer = await client.callTool({ name: 'fetch', arguments: { site: SHOP, endpoint: 'order', params: { product: 3 } } });
            await client.close();
            return JSON.stringify(answer);
        };
        const agreed = await signIn({ scope: 'read write' }, { effect_write: 'on' });
        expect(agreed.body['scope']).to.equal('read write');
        expect(await order(agreed.body['access_token'])).not.to.include('FORBIDDEN');
        const careful = await signIn({ scope: 'read write' }, { effect_write: 'on', confirm_above: '0' });
        expect(await order(careful.body['access_token'])).to.include('confirm_above');
        const unticked = await signIn({ scope: 'read write' });
        expect(unticked.body['scope']).to.equal('read');
        expect(await order(unticked.body['access_token'])).to.include('FORBIDDEN');
        const unasked = await signIn({ scope: 'read' }, { effect_write: 'on' });
        expect(unasked.body['scope']).to.equal('read');
    });

    it('spends no more a day than the user allowed', async () => {
        const { body } = await signIn({}, { cap: '1' });
        const client = open();
        const requestInit = { headers: { authorization: `Bearer ${body['access_token']}` } };
        await client.connect(new StreamableHTTPClientTransport(new URL(`${base()}/mcp`), { requestInit }));
        const read = (id: number) => client.callTool({ name: 'fetch', arguments: { site: SHOP, endpoint: 'product', params: { id } } });
        expect((await read(1)).isError ?? false).to.equal(false);
        expect((await read(2)).structuredContent).to.have.nested.property('error.code', 'SPENDING_LIMIT');
        await client.close();
    });

    it('ends a grant by either token, and one whose token leaked', async () => {
        for (const which of ['access_token', 'refresh_token']) {
            const { body, clientId } = await signIn();
            expect((await oauth.post('/oauth/revoke', { token: body[which] ?? '', client_id: clientId })).status).to.equal(200);
            await eventually(
                () => oauth.statusOf(body['access_token']),
                (status) => status === 401,
                2000,
            );
        }
        expect((await oauth.post('/oauth/revoke', { token: newSecret('refresh') })).status, 'unknown').to.equal(200);
        const { body } = await signIn();
        const report = await fetch(`${base()}/v1/keys/report`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ keys: [body['refresh_token']] }),
        });
        expect(JSON.stringify(await report.json())).to.include('true_positive');
        await eventually(
            () => oauth.statusOf(body['access_token']),
            (status) => status === 401,
            2000,
        );
    });

    it('reports a body that it cannot read by an error of OAuth', async () => {
        const errorOf = async (path: string, type: string, body: string) => {
            const response = await fetch(`${base()}${path}`, { method: 'POST', headers: { 'content-type': type }, body });
            const { error, error_description: description } = (await response.json()) as Record<string, unknown>;
            expect(description).to.be.a('string');
            return [response.status, error];
        };
        expect(await errorOf('/oauth/register', 'application/json', '{')).to.deep.equal([400, 'invalid_request']);
        expect(await errorOf('/oauth/register', 'text/plain', '{}')).to.deep.equal([415, 'invalid_request']);
        const long = `token=${'a'.repeat(100_000)}`;
        expect(await errorOf('/oauth/revoke', 'application/x-www-form-urlencoded', long)).to.deep.equal([413, 'invalid_request']);
    });
});
