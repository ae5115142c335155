import { expect } from 'chai';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import type { PackageAuth, PackageDocument } from '../../shared/domain/types.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { beginSession } from '../../shared/store/accounts/user-sessions.ts';
import { addMember, removeMember } from '../../shared/store/accounts/workspaces.ts';
import { freshAddress, signUp, type Visitor, visitor } from '../dashboard/support/visitor.ts';
import { type AuthorizationServer, CLIENT, openAuthorizationServer } from '../support/authorization-server.ts';
import { connectedPackage } from '../support/connections.ts';
import { consent as consentAs } from '../support/consent.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, stranger, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'granted.test';
const API = `api.${SITE}`;

for (const topology of ANY_TOPOLOGY) {
    describe(`an OAuth grant, over ${topology}`, () => {
        let world: World;
        let site: Site;
        let server: AuthorizationServer;
        let ada: Visitor;
        let owner: Person;
        let workspaceId: string;

        before(async () => {
            site = await openSite(async (request, response) => {
                const scopes = await server.scopesOf(String(request.headers.authorization).replace('Bearer ', ''));
                const json = { 'content-type': 'application/json' };
                response
                    .writeHead(scopes === undefined ? 401 : 200, json)
                    .end(JSON.stringify({ scopes, sent: request.headers.authorization }));
            });
            const egressHosts = new Map([SITE, API, `auth.${SITE}`].map((name): [string, string[]] => [name, ['127.0.0.1']]));
            world = await openWorld({ topology, workers: 2, config: { egressHosts } });
            server = await openAuthorizationServer(`auth.${SITE}`, `${world.app.publicUrl()}/connections/callback`);
            owner = await join(world, { plan: 'pro' });
            workspaceId = owner.workspaceId;
            ada = visitor(world);
            const session = { userId: owner.userId, browser: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', address: '127.0.0.1' };
            ada.cookies.set('routebook_session', await beginSession(world.app.db, session));
            const publisher = await join(world, { plan: 'pro' });
            dataOf(await publisher.publish(aPackage()));
            dataOf(await owner.call('PUT', `/v1/oauth-clients/${SITE}`, { body: CLIENT }));
        });
        after(async () => {
            await world.close();
            await server.close();
            await site.close();
        });
        beforeEach(async () => {
            server.lasting(3600);
            await world.app.db('connections').delete();
            world.app.vault.forget(workspaceId, SITE);
        });

        function aPackage(more: Partial<NonNullable<PackageAuth['oauth2']>> = {}): PackageDocument {
            const oauth2: PackageAuth['oauth2'] = {
                authorization_url: `${server.origin}/auth`,
                token_url: `${server.origin}/token`,
                revocation_url: `${server.origin}/token/revocation`,
                scopes: [{ name: 'orders', description: 'Reads orders' }, { name: 'stock' }],
                flows: ['authorization_code', 'client_credentials'],
                ...more,
            };
            return connectedPackage(SITE, {
                auth: [{ id: 'account', type: 'oauth2', hosts: [API], oauth2 }],
                base: `http://${API}:${site.port}`,
            });
        }
        const authorize = (more: object = {}, person = owner) =>
            person.call('POST', '/v1/connections/authorize', { body: { site: SITE, ...more } });
        /** Consents as Ada does. @returns the URL of the last page */
        async function consent(answer: Answer): Promise<string> {
            const { asked, to } = await consentAs(server, answer, ada);
            expect(asked).to.include(SITE);
            return to;
        }
        const mine = async () =>
            dataOf<{ connection_id: string; status: string; scopes: string[] }[]>(await owner.call('GET', '/v1/connections'));
        const refreshes = () => server.asked.filter(({ grantType }) => grantType === 'refresh_token').length;

        it('starts with a code, PKCE and a state, and is stored only after its user confirmed it here', async () => {
            const begun = dataOf<{ authorize_url: string; expires_at: string }>(await authorize());
            const url = new URL(begun.authorize_url);
            expect(url.searchParams.get('code_challenge_method')).to.equal('S256');
            expect(url.searchParams.get('state')?.length).to.be.greaterThan(20);
            expect(url.searchParams.get('scope')).to.equal('orders stock');
            expect(Date.parse(begun.expires_at)).to.be.greaterThan(Date.now());
            expect(await mine()).to.deep.equal([]);
            expect(await consent(await authorize())).to.equal('/dashboard/connections');
            const [connection] = await mine();
            expect(connection).to.deep.include({ status: 'active', scopes: ['orders', 'stock'], type: 'oauth2', shared: false });
            const fetched = await owner.fetch(SITE, 'mine');
            expect(dataOf(fetched)).to.deep.equal({ scopes: ['orders', 'stock'], sent: 'Bearer •••' });
        });

        it('needs an OAuth client; a workspace has at most 500', async () => {
            const eve = await join(world);
            const set = (name: string) => eve.call('PUT', `/v1/oauth-clients/${name}`, { body: { client_id: 'eve' } });
            dataOf(await set('first.test'));
            await world.app.db.raw(
                `insert into oauth_clients (workspace_id, site, client_id)
                select ?, 'site' || n || '.test', 'eve' from generate_series(2, 500) n`,
                [eve.workspaceId],
            );
            expect(JSON.stringify((await set('one-more.test')).body)).to.include('500 OAuth clients');
            dataOf(await set('first.test'));
            dataOf(await eve.call('DELETE', '/v1/oauth-clients/first.test'));
            dataOf(await set('one-more.test'));
        });

        it('is given to nobody else: not for another browser, another user, or a used or unknown state', async () => {
            const begun = await authorize();
            const back = await server.consent(dataOf<{ authorize_url: string }>(begun).authorize_url);
            const path = back.pathname + back.search;
            const eve = await signUp(world, freshAddress());
            expect((await eve.get(path)).status).to.equal(404);
            const [state = '', code = ''] = ['state', 'code'].map((name) => back.searchParams.get(name) ?? '');
            expect((await eve.send('/connections/callback', { state, code }, { from: '/dashboard/keys' })).status).to.equal(404);
            expect((await ada.send('/connections/callback', { state, code }, { from: path })).status).to.equal(303);
            expect((await ada.send('/connections/callback', { state, code }, { from: '/dashboard/keys' })).status).not.to.equal(500);
            const late = await ada.get('/connections/callback?state=unknown&code=x');
            expect(late.status).to.equal(404);
            expect(late.html).to.include('Start again from your connections');
            expect(await mine()).to.have.length(1);
        });

        it('is not stored for a person who leaves the workspace while it is exchanged', async () => {
            const { db } = world.app;
            const bob = await join(world);
            await addMember(db, { workspaceId, userId: bob.userId, role: 'member' });
            const { apiKey } = await createKey(db, { workspaceId, userId: bob.userId, name: 'bob', scopes: EVERY_SCOPE });
            const browser = visitor(world);
            browser.cookies.set('routebook_session', await beginSession(db, { userId: bob.userId, browser: '', address: '127.0.0.1' }));
            const begun = await authorize({}, withKey(world, apiKey));
            const from = server.asked.length;
            const release = server.stall();
            const consented = consentAs(server, begun, browser).catch((error: Error) => error.message);
            await eventually(
                async () => server.asked.length - from,
                (count) => count === 1,
                20_000,
            );
            await removeMember(db, { workspaceId, userId: bob.userId, by: owner.userId });
            release();
            expect(await consented).to.include('no longer a member');
            expect(await db('connections').where({ owner_id: bob.userId })).to.deep.equal([]);
        });

        it('is not stored beyond the 500 connections of a workspace, but renews one of them', async () => {
            const { db } = world.app;
            expect(await consent(await authorize())).to.equal('/dashboard/connections');
            await db.raw(
                `insert into connections (id, workspace_id, owner_id, shared, site, auth_id, name, entry, hosts, sealed, hint)
                select 'con_' || n, workspace_id, owner_id, shared, site, auth_id, name, entry, hosts, sealed, hint
                from connections, generate_series(2, 500) n`,
            );
            const refused = await consent(await authorize()).catch((error: Error) => error.message);
            expect(refused).to.include('500 connections, which is the limit');
            await db('connections').where({ id: 'con_2' }).update({ status: 'expired' });
            expect(await consent(await authorize())).to.equal('/dashboard/connections');
            expect(await db('connections').where({ workspace_id: workspaceId }).pluck('status')).to.have.length(500);
        });

        it('holds no database connection while token endpoints are slow', async () => {
            const pool = 16;
            const secret = { ...CLIENT, scopes: ['orders'] };
            const create = (at: number) => owner.call('POST', '/v1/connections', { body: { site: SITE, name: `${at}`, secret } });
            const ids: string[] = [];
            for (let at = 0; at < 2 * pool + 8; at++) ids.push(dataOf<{ connection_id: string }>(await create(at)).connection_id);
            const from = server.asked.length;
            const release = server.stall();
            const calls = ids.map((connection) => owner.fetch(SITE, 'mine', {}, { connection, timeout_ms: 30_000 }));
            await eventually(
                async () => server.asked.length - from,
                (count) => count === ids.length,
                20_000,
            ).finally(release);
            const answers = await Promise.all(calls);
            expect(new Set(answers.map((answer) => codeOf(answer) ?? 'success'))).to.deep.equal(new Set(['success']));
        });

        it('that a token endpoint refuses has a known error code, and repeats no text of the site', async () => {
            const text = 'text-that-the-site-chose';
            const secret = { ...CLIENT, scopes: ['orders'] };
            dataOf(await owner.call('POST', '/v1/connections', { body: { site: SITE, secret } }));
            const refusedWith = async (code: string) => {
                server.refuse(code);
                const back = await server.consent(dataOf<{ authorize_url: string }>(await authorize()).authorize_url);
                const [state = '', given = ''] = ['state', 'code'].map((name) => back.searchParams.get(name) ?? '');
                const page = await ada.send('/connections/callback', { state, code: given }, { from: back.pathname + back.search });
                const call = await owner.fetch(SITE, 'mine');
                server.refuse(undefined);
                expect(codeOf(call)).to.equal('UPSTREAM_UNAUTHORIZED');
                return page.html + JSON.stringify(call.body);
            };
            expect(await refusedWith('unauthorized_client'))
                .to.include('gave no token: unauthorized_client')
                .and.include('answered unauthorized_client');
            expect(await refusedWith(text))
                .to.include('gave no token: other')
                .and.include('answered other')
                .and.not.include(text);
            const problems = await world.app.db('oauth_flows').whereNotNull('problem').pluck('problem');
            expect(JSON.stringify([world.logged, problems]))
                .to.include('other')
                .and.not.include(text);
        });

        it('that was withdrawn at the site becomes revoked, and its owner connects again', async () => {
            server.lasting(30);
            await consent(await authorize());
            await server.withdraw();
            expect(codeOf(await owner.fetch(SITE, 'mine'))).to.equal('CONNECTION_REQUIRED');
            const [{ connection_id: id, status } = { connection_id: '', status: '' }] = await mine();
            expect(status).to.equal('revoked');
            server.lasting(3600);
            await consent(await authorize());
            expect((await mine()).map((one) => [one.connection_id, one.status])).to.deep.equal([[id, 'active']]);
            await eventually(
                () => owner.fetch(SITE, 'mine'),
                (answer) => answer.status === 200,
            );
        });

        it('is revoked at the site when it is deleted', async () => {
            await consent(await authorize());
            const [{ connection_id: id } = { connection_id: '' }] = await mine();
            const from = server.revoked.length;
            dataOf(await owner.call('DELETE', `/v1/connections/${id}`));
            await eventually(
                async () => server.revoked.length,
                (count) => count === from + 1,
            );
            expect(await world.app.db('oauth_revocations')).to.deep.equal([]);
        });

        it('of the workspace’s own client needs no consent', async () => {
            const secret = { ...CLIENT, scopes: ['orders'] };
            const made = dataOf<{ hint: string }>(await owner.call('POST', '/v1/connections', { body: { site: SITE, secret } }));
            expect(made.hint).to.equal('…0815');
            expect(dataOf(await owner.fetch(SITE, 'mine'))).to.deep.include({ sent: 'Bearer •••' });
            const wrong = { ...secret, client_secret: 'a-wrong-secret-of-mine' };
            await world.app.db('connections').delete();
            dataOf(await owner.call('POST', '/v1/connections', { body: { site: SITE, secret: wrong } }));
            await eventually(
                () => owner.fetch(SITE, 'mine'),
                (answer) => codeOf(answer) === 'UPSTREAM_UNAUTHORIZED',
            );
            expect(detailsOf(await owner.call('POST', '/v1/connections', { body: { site: SITE, secret: { value: 'x' } } }))).to.include(
                '/secret/client_id REQUIRED',
            );
        });

        it('is started at most twenty times, and only by permitted roles', async () => {
            await world.app.db('oauth_flows').delete();
            for (let at = 0; at < 20; at++) dataOf(await authorize());
            expect(codeOf(await authorize())).to.equal('RATE_LIMITED');
            await world.app.db('oauth_flows').delete();
            expect(detailsOf(await authorize({ scopes: ['everything'] }))).to.deep.equal(['/scopes/0 INVALID_VALUE']);
            expect(detailsOf(await authorize({ redirect_url: 'https://elsewhere.example/' }))).to.deep.equal([
                '/redirect_url INVALID_VALUE',
            ]);
            expect(codeOf(await authorize({}, stranger(world)))).to.equal('API_KEY_REQUIRED');
            const other = await join(world);
            expect(detailsOf(await authorize({}, other))).to.deep.equal(['/site INVALID_VALUE']);
        });

        it('ends at a URL of the workspace if one is given', async () => {
            const redirect_url = 'http://127.0.0.1:4711/done?from=routebook';
            await world.app.db('redirect_urls').insert({ workspace_id: workspaceId, url: redirect_url });
            const end = new URL(await consent(await authorize({ redirect_url })));
            const [{ connection_id: id } = { connection_id: '' }] = await mine();
            expect(end.origin + end.pathname).to.equal('http://127.0.0.1:4711/done');
            expect([end.searchParams.get('from'), end.searchParams.get('connection_id')]).to.deep.equal(['routebook', id]);
        });

        it('is not requested with a client of another token endpoint until the client is set again', async () => {
            const publisher = await join(world, { plan: 'pro' });
            const site = 'moving.test';
            const document = (host: string): PackageDocument =>
                connectedPackage(site, {
                    auth: [
                        {
                            id: 'account',
                            type: 'oauth2',
                            oauth2: { authorization_url: `https://auth.${site}/auth`, token_url: `https://${host}/token` },
                        },
                    ],
                });
            const begin = () => owner.call('POST', '/v1/connections/authorize', { body: { site } });
            dataOf(await publisher.publish(document(`auth.${site}`)));
            dataOf(await owner.call('PUT', `/v1/oauth-clients/${site}`, { body: CLIENT }));
            dataOf(await begin());
            dataOf(await publisher.publish(document(`other.${site}`)));
            await eventually(begin, (answer) => answer.status === 400);
            const refused = await begin();
            expect(detailsOf(refused)).to.deep.equal(['/site INVALID_VALUE']);
            expect(JSON.stringify(refused.body)).to.include(`https://other.${site}`).and.include(`PUT /v1/oauth-clients/${site}`);
            dataOf(await owner.call('PUT', `/v1/oauth-clients/${site}`, { body: CLIENT }));
            dataOf(await begin());
        });

        it('is renewed without sending the client secret to another token endpoint', async () => {
            server.lasting(30);
            await consent(await authorize());
            const before = refreshes();
            const client = () => world.app.db('oauth_clients').where({ workspace_id: workspaceId, site: SITE });
            const { origins } = await client().first('origins');
            await client().update({ origins: ['https://elsewhere.granted.test'] });
            const answer = await owner.fetch(SITE, 'mine');
            await client().update({ origins });
            expect(codeOf(answer)).to.equal('CONNECTION_REQUIRED');
            expect(origins).to.deep.equal([server.origin]);
            expect(refreshes()).to.equal(before);
        });

        it('is requested only on the site’s domain, unless an operator allows another host', async () => {
            const publisher = await join(world, { plan: 'pro' });
            const foreign = (host: string): PackageDocument => ({
                ...connectedPackage('elsewhere.test', {
                    auth: [
                        {
                            id: 'account',
                            type: 'oauth2',
                            oauth2: { authorization_url: `https://${host}/auth`, token_url: `https://${host}/token` },
                        },
                    ],
                }),
            });
            expect(detailsOf(await publisher.publish(foreign('accounts.example.com')))).to.deep.equal(['/auth HOST_NOT_IN_SITE']);
            dataOf(await publisher.publish(foreign('auth.elsewhere.test')));
            await world.app
                .db('domains')
                .where({ registrable: 'elsewhere.test' })
                .update({ auth_hosts: ['accounts.example.com'] });
            dataOf(await publisher.publish(foreign('accounts.example.com')));
        });

        it('has clients that only owners and admins set and delete', async () => {
            expect(codeOf(await owner.call('DELETE', '/v1/oauth-clients/other.test'))).to.equal('NOT_FOUND');
            const put = dataOf(await owner.call('PUT', '/v1/oauth-clients/other.test', { body: { client_id: 'x' } }));
            expect(put).to.deep.equal({
                site: 'other.test',
                client_id: 'x',
                callback_url: `${world.app.publicUrl()}/connections/callback`,
            });
            expect(dataOf(await owner.call('DELETE', '/v1/oauth-clients/other.test'))).to.deep.equal({ site: 'other.test', deleted: true });
        });
    });
}
