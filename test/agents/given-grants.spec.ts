import { expect } from 'chai';
import { keyHash } from '../../shared/domain/accounts/api-key.ts';
import { AGENT_SCOPES } from '../../shared/domain/accounts/scopes.ts';
import { newId } from '../../shared/domain/text/ids.ts';
import { addGrant, MAX_GRANTS } from '../../shared/store/apps/grants.ts';
import { signUp, type Visitor, wordsOf } from '../dashboard/support/visitor.ts';
import { eventually } from '../support/eventually.ts';
import { type OwnerSites, openOwnerSites } from '../support/owner-sites.ts';
import { openWorld, type World } from '../support/world.ts';
import { oauthOf } from './support/oauth.ts';

const CALLBACK = 'http://127.0.0.1/callback';
const NAMES = new Map([
    ['app.test', ['127.0.0.1']],
    ['inner.test', ['10.0.0.7']],
    ['both.test', ['169.254.169.254', '127.0.0.1']],
]);

describe('grants of apps, when they are given', () => {
    let world: World;
    let sites: OwnerSites;
    let oauth: ReturnType<typeof oauthOf>;
    let ada: Visitor;
    let clientId: string;

    before(async () => {
        sites = await openOwnerSites(NAMES);
        world = await openWorld({ connector: sites.connector, config: { egressHosts: NAMES, trustProxy: 1 } });
        oauth = oauthOf(world);
        ada = await signUp(world);
        clientId = await oauth.register(CALLBACK);
    });
    after(async () => {
        await world?.close();
        await sites?.close();
    });

    const signIn = (who = ada) => oauth.signIn(who, { clientId, redirectUri: CALLBACK });

    it('are limited to 50 for a user, beside the keys of the workspace', async () => {
        const person = await signUp(world);
        const first = await signIn(person);
        expect(first.status).to.equal(200);
        const hash = keyHash(first.body['access_token'] ?? '');
        const of = await world.app.db('api_keys').where({ hash }).first('workspace_id', 'user_id');
        const order = {
            appId: clientId,
            name: 'one of many',
            workspaceId: of.workspace_id,
            userId: of.user_id,
            scopes: AGENT_SCOPES,
            dayCap: 1,
            resource: '/mcp',
            redirectUri: CALLBACK,
            challenge: 'x'.repeat(43),
        };
        for (let count = 1; count < MAX_GRANTS; count++) {
            expect(await world.app.db.transaction((trx) => addGrant(trx, order)), String(count)).to.not.equal(undefined);
        }
        const { query } = oauth.request(clientId, CALLBACK);
        const from = oauth.pathOf(query);
        const one = { ...query, workspace_id: of.workspace_id, cap: '5', decision: 'allow' };
        const refused = await person.send('/oauth/authorize', one, { from });
        expect(refused.status).to.equal(422);
        expect(wordsOf(refused.html)).to.include(`at most ${MAX_GRANTS} apps`);
        // Codes that nobody redeemed no longer count.
        await world.clock.advance({ minutes: 2 });
        expect((await signIn(person)).status).to.equal(200);
    });

    it('are given to an app whose long name is cut within a character', async () => {
        const registered = await oauth.register(CALLBACK, `${'x'.repeat(59)}\u{1f98a}`);
        const { status } = await oauth.signIn(await signUp(world), { clientId: registered, redirectUri: CALLBACK });
        expect(status).to.equal(200);
    });

    it('are given by owners, admins and members, only for their own workspaces', async () => {
        const person = await signUp(world);
        const { query } = oauth.request(clientId, CALLBACK);
        const from = oauth.pathOf(query);
        const form = { ...query, cap: '5', decision: 'allow' };
        const others = /<option value="(wsp_\w+)"/.exec((await ada.get(from)).html)?.[1] ?? '';
        for (const workspace of [others, newId('wsp'), '']) {
            expect((await person.send('/oauth/authorize', { ...form, workspace_id: workspace }, { from })).status, workspace).to.equal(404);
        }
        const own = /<option value="(wsp_\w+)"/.exec((await person.get(from)).html)?.[1] ?? '';
        await world.app.db('memberships').where({ workspace_id: own }).update({ role: 'billing' });
        await eventually(
            async () => (await person.get(from)).html,
            (html) => !html.includes(own),
            5000,
        );
        expect(wordsOf((await person.get(from)).html)).to.include('Ask an owner for the member role');
        const forged = await person.send('/oauth/authorize', { ...form, workspace_id: own });
        expect([forged.status, forged.to]).to.deep.equal([404, undefined]);
    });

    it('are refused for a document behind a redirect, too large, without https or at a private address', async () => {
        const person = await signUp(world);
        const asked = sites.asked.length;
        const documents: Record<string, string> = {
            'https://app.test/redirects.json': 'It answered with status 302',
            'https://app.test/large.json': 'could not be read over https',
            'https://app.test/text.json': 'It is not JSON',
            'https://app.test/nobody.json': 'It answered with status 404',
            'https://app.test/list.json': 'client_id differs from its URL',
            'http://app.test/plain.json': 'could not be read over https',
            'https://inner.test/client.json': 'could not be read over https',
            'https://both.test/client.json': 'could not be read over https',
            'https://127.0.0.2:6379/client.json': 'could not be read over https',
            'https://[::ffff:10.0.0.1]/client.json': 'no valid client_id',
            'https://[::ffff:a00:1]/client.json': 'could not be read over https',
        };
        sites.hosts.set('app.test', ({ url }, response) => {
            if (url === '/redirects.json') response.writeHead(302, { location: 'https://inner.test/client.json' }).end();
            else if (url === '/large.json') response.end(JSON.stringify({ client_name: 'x'.repeat(70_000) }));
            else if (url === '/text.json') response.end('<html>');
            else if (url === '/list.json') response.end('[]');
            else response.writeHead(404).end();
        });
        for (const [id, why] of Object.entries(documents)) {
            const { status, html, to } = await person.get(oauth.pathOf(oauth.request(id, CALLBACK).query));
            expect([status, to], id).to.deep.equal([400, undefined]);
            expect(wordsOf(html), id).to.include(why);
        }
        expect(sites.asked.slice(asked).filter((one) => !one.startsWith('app.test/'))).to.deep.equal([]);
    });

    it('redirect to no address that only resembles the registered one', async () => {
        const registered = 'https://app.test/callback';
        const tricks: Record<string, readonly string[]> = {
            [registered]: [
                'https://app.test/callback/',
                'https://app.test/callback/../evil',
                'https://app.test/callback%2f..',
                'https://app.test/callback?next=https://evil.test',
                'https://app.test/callback#x',
                'https://app.test:444/callback',
                'https://app.test.evil.test/callback',
                'https://app.test@evil.test/callback',
                'https://evil.test/https://app.test/callback',
                'http://app.test/callback',
                'HTTPS://APP.TEST/callback',
                'https://app.test\\@evil.test/callback',
                '//evil.test/callback',
                'javascript:alert(1)//https://app.test/callback',
            ],
            [CALLBACK]: [
                'http://127.0.0.1.evil.test/callback',
                'http://localhost/callback',
                'http://[::1]/callback',
                'https://127.0.0.1/callback',
                'http://127.0.0.1:80@evil.test/callback',
                'http://127.0.0.1/callback?x=1',
                'http://127.0.0.1:8080/other',
            ],
        };
        for (const [right, wrong] of Object.entries(tricks)) {
            const app = await oauth.register(right);
            expect((await ada.get(oauth.pathOf(oauth.request(app, right).query))).status, right).to.equal(200);
            for (const uri of wrong) {
                const { status, to } = await ada.get(oauth.pathOf(oauth.request(app, uri).query));
                expect([status, to], uri).to.deep.equal([400, undefined]);
            }
        }
        const { query } = oauth.request(clientId, CALLBACK);
        const twice = `${oauth.pathOf(query)}&redirect_uri=${encodeURIComponent('https://evil.test/callback')}`;
        const { html, to } = await ada.get(twice);
        expect(to).to.equal(undefined);
        expect(html).to.not.include('evil.test');
    });

    it('are exchanged from pages of any origin, by forms without repeated fields', async () => {
        for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke', '/.well-known/oauth-authorization-server']) {
            const method = path.startsWith('/oauth') ? 'POST' : 'GET';
            const headers = { origin: 'https://app.test', 'access-control-request-method': method };
            const preflight = await fetch(`${world.base}${path}`, { method: 'OPTIONS', headers });
            expect(preflight.headers.get('access-control-allow-origin'), path).to.equal('*');
            expect(preflight.headers.get('access-control-allow-methods'), path).to.include(method);
        }
        const send = async (body: string, type = 'application/x-www-form-urlencoded') => {
            const answer = await fetch(`${world.base}/oauth/token`, { method: 'POST', headers: { 'content-type': type }, body });
            return [answer.status, ((await answer.json()) as { error: string }).error];
        };
        for (const body of ['grant_type=refresh_token&grant_type=refresh_token', 'grant_type=%00', '%', '', `a=${'x'.repeat(20_000)}`]) {
            expect((await send(body))[0], body.slice(0, 50)).to.be.within(400, 413);
        }
        expect(await send('{}', 'application/json')).to.deep.equal([400, 'invalid_request']);
    });
});
