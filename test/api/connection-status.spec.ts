import { expect } from 'chai';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { admin } from '../support/admin.ts';
import { connectedPackage } from '../support/connections.ts';
import { holdMails, mailsTo } from '../support/mails.ts';
import { type Answer, join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { anEndpoint } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const GOOD = 'the-good-key-4711';
const BETTER = 'the-better-key-0815';

for (const topology of ANY_TOPOLOGY) {
    describe(`the status of a connection, over ${topology}`, () => {
        let world: World;
        let site: Site;
        /** The keys that the site accepts, and its response to others. */
        let taken = new Set([GOOD]);
        let refusal = 401;

        before(async () => {
            site = await openSite((request, response) => {
                const json = { 'content-type': 'application/json' };
                const key = String(request.headers['x-api-key']);
                if (request.url === '/broken') return void response.writeHead(501, json).end('{}');
                if (request.url === '/open') return void response.writeHead(200, json).end('{}');
                if (request.url === '/slow-down') return void response.writeHead(429, { ...json, 'retry-after': '1' }).end('{}');
                response.writeHead(taken.has(key) ? 200 : refusal, json).end('{"ok":true}');
            });
            const names = Array.from({ length: 20 }, (_, index) => siteName(index));
            const hosts = new Map(names.map((name): [string, string[]] => [name, ['127.0.0.1']]));
            world = await openWorld({ topology, config: { egressHosts: hosts } });
        });
        after(async () => {
            await world.close();
            await site.close();
        });
        beforeEach(() => {
            taken = new Set([GOOD]);
            refusal = 401;
        });

        let made = 0;
        const siteName = (index: number) => `standing${index}.test`;
        /** A person with a site. Its package names a test endpoint unless `auth` leaves it out. */
        async function aSite(auth: Partial<PackageAuth> = { test: 'mine' }): Promise<{ name: string; owner: Person }> {
            const name = siteName(made++);
            const owner = await join(world, { plan: 'pro' });
            const base = `http://${name}:${site.port}`;
            const entry: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key', ...auth };
            const endpoints = ['broken', 'slow-down', 'open'].map((path) =>
                anEndpoint(name, { name: path.replace('-', '_'), url: `${base}/${path}`, params: [] }),
            );
            dataOf(await owner.publish(connectedPackage(name, { auth: [entry], base, endpoints })));
            return { name, owner };
        }
        const connect = (person: Person, name: string, value = GOOD, { query = '', ...more }: { query?: string; shared?: boolean } = {}) =>
            person.call('POST', `/v1/connections${query}`, { body: { site: name, secret: { value }, ...more } });
        const idOf = (answer: Answer) => dataOf<{ connection_id: string }>(answer).connection_id;
        const statusOf = async (person: Person, id: string) => dataOf(await person.call('GET', `/v1/connections/${id}`))['status'];
        const test = (person: Person, id: string) => person.call('POST', `/v1/connections/${id}/test`);
        const change = (person: Person, id: string, body: object, query = '') =>
            person.call('PATCH', `/v1/connections/${id}${query}`, { body });
        async function thrice(person: Person, name: string, id: string): Promise<string[]> {
            const codes: string[] = [];
            for (let at = 0; at < 3; at++) codes.push(codeOf(await person.fetch(name, 'mine', {}, { connection: id })) ?? '');
            return codes;
        }

        for (const status of [401, 403]) {
            it(`a credential that the site rejects with ${status} is not stored`, async () => {
                const { name, owner } = await aSite();
                refusal = status;
                const refused = await connect(owner, name, 'a-wrong-key-of-mine');
                expect([refused.status, codeOf(refused)]).to.deep.equal([422, 'CONNECTION_REJECTED']);
                expect(refused.text).not.to.include('a-wrong-key-of-mine');
                expect(dataOf(await owner.call('GET', '/v1/connections'))).to.deep.equal([]);
                expect(await world.app.db('connections').where({ site: name })).to.deep.equal([]);
            });
        }

        it('a credential that the site accepts is active, and the test costs nothing', async () => {
            const { name, owner } = await aSite();
            const before = dataOf<{ credits: { available: number } }>(await owner.call('GET', '/v1/account')).credits;
            const from = site.seen.length;
            const connection = dataOf(await connect(owner, name));
            expect(connection).to.include({ status: 'active', expires_at: null });
            expect(connection['scopes']).to.deep.equal([]);
            expect(site.seen.slice(from).map(({ path }) => path)).to.deep.equal(['/echo/mine']);
            const account = dataOf<{ credits: object }>(await owner.call('GET', '/v1/account'));
            expect(account.credits).to.deep.equal(before);
        });

        it('test=false skips the test: the connection is untested until a call succeeds', async () => {
            const { name, owner } = await aSite();
            const from = site.seen.length;
            const id = idOf(await connect(owner, name, GOOD, { query: '?test=false' }));
            expect([await statusOf(owner, id), site.seen.length]).to.deep.equal(['untested', from]);
            dataOf(await owner.fetch(name, 'mine'));
            await world.app.connectionUses.flush();
            expect(await statusOf(owner, id)).to.equal('active');
        });

        it('three consecutive calls with 401 make it rejected, its owner is notified, and a passed test makes it active', async () => {
            const { name, owner } = await aSite();
            await holdMails(world.app);
            await world.app
                .db('users')
                .where({ id: owner.userId })
                .update({ verified_at: world.app.db.raw('app_now()') });
            const id = idOf(await connect(owner, name));
            taken = new Set();
            await owner.fetch(name, 'mine');
            await owner.fetch(name, 'mine');
            taken = new Set([GOOD]);
            dataOf(await owner.fetch(name, 'mine'));
            taken = new Set();
            expect(await thrice(owner, name, id)).to.deep.equal(Array(3).fill('UPSTREAM_UNAUTHORIZED'));
            expect(await statusOf(owner, id)).to.equal('rejected');
            const from = site.seen.length;
            expect(codeOf(await owner.fetch(name, 'mine', {}, { connection: id }))).to.equal('CONNECTION_REJECTED');
            const required = await owner.fetch(name, 'mine');
            expect(codeOf(required)).to.equal('CONNECTION_REQUIRED');
            expect(required.text).to.include('rejected');
            expect(site.seen.length).to.equal(from);
            const { email } = await world.app.db('users').where({ id: owner.userId }).first('email');
            const [mail, another] = await mailsTo(world.app, email);
            expect([mail?.subject.includes(name), another]).to.deep.equal([true, undefined]);
            const acts = dataOf<{ target: string }[]>(await owner.call('GET', '/v1/audit?action=connection.rejected'));
            expect(acts.map(({ target }) => target)).to.deep.equal([id]);

            expect(codeOf(await test(owner, id))).to.equal('CONNECTION_REJECTED');
            taken = new Set([GOOD]);
            expect(dataOf(await test(owner, id))['status']).to.equal('active');
            dataOf(await owner.fetch(name, 'mine'));
        });

        it('concurrent calls count as one, and none counts for a version that never succeeded', async () => {
            const { name, owner } = await aSite();
            const id = idOf(await connect(owner, name));
            taken = new Set();
            await Promise.all(Array.from({ length: 6 }, () => owner.fetch(name, 'mine')));
            expect(await statusOf(owner, id)).to.equal('active');

            const other = await aSite({});
            const untried = idOf(await connect(other.owner, other.name));
            expect(await thrice(other.owner, other.name, untried)).to.deep.equal(Array(3).fill('UPSTREAM_UNAUTHORIZED'));
            expect(await statusOf(other.owner, untried)).to.equal('active');
        });

        it('a new secret ends the rejection and is used by the next call; a secret that the site refuses changes nothing', async () => {
            const { name, owner } = await aSite();
            const id = idOf(await connect(owner, name));
            taken = new Set([BETTER]);
            await thrice(owner, name, id);
            expect(codeOf(await change(owner, id, { secret: { value: 'neither-good-nor-better' } }))).to.equal('CONNECTION_REJECTED');
            expect(await statusOf(owner, id)).to.equal('rejected');
            const changed = dataOf(await change(owner, id, { secret: { value: BETTER }, name: 'Mine' }));
            expect(changed).to.include({ connection_id: id, status: 'active', name: 'Mine', hint: '…0815' });
            dataOf(await owner.fetch(name, 'mine'));
            taken = new Set([GOOD]);
            expect(dataOf(await change(owner, id, { secret: { value: GOOD } }, '?test=false'))['status']).to.equal('untested');
            dataOf(await owner.fetch(name, 'mine'));
        });

        it('a new secret is tested also if the workspace has its maximum of connections', async () => {
            const { name, owner } = await aSite();
            const id = idOf(await connect(owner, name));
            await world.app.db.raw(
                `insert into connections select (copy).* from (
                    select jsonb_populate_record(c, jsonb_build_object('id', c.id || n)) as copy
                    from connections c, generate_series(1, 499) n where c.id = ?) as copies`,
                [id],
            );
            expect((await connect(owner, name)).text).to.include('500 connections, which is the limit');
            taken = new Set([BETTER]);
            expect(dataOf(await change(owner, id, { secret: { value: BETTER } }))['status']).to.equal('active');
            expect((await connect(owner, name, BETTER)).text).to.include('500 connections, which is the limit');
        });

        it('PATCH names the fields that it cannot change', async () => {
            const { name, owner } = await aSite();
            const id = idOf(await connect(owner, name));
            expect((await change(owner, id, {})).text).to.include('Give at least one of name, secret, shared, verify_with, agree.');
            expect(detailsOf(await change(owner, id, { secret: { username: 'ada', password: 'x' } }))).to.include('/secret/value REQUIRED');
            expect(codeOf(await change(owner, 'con_0000', { name: 'x' }))).to.equal('CONNECTION_NOT_FOUND');
        });

        it('a new version of the schema needs the owner’s agreement again', async () => {
            const { name, owner } = await aSite({});
            const id = idOf(await connect(owner, name));
            const base = `http://${name}:${site.port}`;
            const entry: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key', prefix: 'k ', test: 'mine' };
            dataOf(await owner.publish(connectedPackage(name, { auth: [entry], base })));
            taken = new Set([`k ${GOOD}`]);
            expect(codeOf(await owner.fetch(name, 'mine'))).to.equal('CONNECTION_REQUIRED');
            const untold = await test(owner, id);
            expect(untold.status).to.equal(422);
            expect(untold.body['error']).to.include({ code: 'CONNECTION_REQUIRED' }).and.to.have.property('connect_url');
            expect(detailsOf(untold)).to.deep.equal(['/connection INVALID_VALUE']);
            dataOf(await change(owner, id, { agree: true }));
            dataOf(await owner.fetch(name, 'mine'));
        });

        it('members create private connections and change only those; owners and admins change shared ones', async () => {
            const { name, owner } = await aSite();
            const [member, admin] = [await colleague(owner, 'member'), await colleague(owner, 'admin')];
            const mine = idOf(await connect(member, name));
            const shared = idOf(await connect(owner, name, GOOD, { shared: true }));
            dataOf(await member.fetch(name, 'mine', {}, { connection: shared }));
            expect(dataOf(await change(member, mine, { name: 'My own' }))['name']).to.equal('My own');
            for (const person of [owner, admin]) expect(codeOf(await change(person, mine, { name: 'x' }))).to.equal('CONNECTION_NOT_FOUND');
            expect(codeOf(await change(member, shared, { name: 'x' }))).to.equal('FORBIDDEN');
            expect(codeOf(await member.call('DELETE', `/v1/connections/${shared}`))).to.equal('FORBIDDEN');
            dataOf(await change(admin, shared, { name: 'Ours' }));
            dataOf(await admin.call('DELETE', `/v1/connections/${shared}`));
            dataOf(await member.call('DELETE', `/v1/connections/${mine}`));
            expect(codeOf(await member.call('GET', '/v1/audit'))).to.equal('FORBIDDEN');
        });

        it('session cookies are refused if an operator forbids them, including stored ones', async () => {
            const { name, owner } = await aSite({ type: 'cookie', name: 'sid' });
            const id = idOf(await connect(owner, name));
            dataOf(await owner.fetch(name, 'open', {}));
            const set = async (how: 'allow' | 'forbid') => (await admin(world.databaseUrl, ['site', 'set', name, '--cookies', how])).code;
            expect(await set('forbid')).to.equal(0);
            for (const refused of [
                await connect(owner, name),
                await change(owner, id, { secret: { value: BETTER } }),
                await owner.fetch(name, 'open', {}, { connection: id }),
                await owner.call('POST', '/v1/jobs', { body: { site: name, endpoint: 'open' } }),
            ]) {
                expect([codeOf(refused), refused.text?.includes('no session cookies')]).to.deep.equal(['FORBIDDEN', true]);
            }
            expect(await set('allow')).to.equal(0);
            dataOf(await owner.fetch(name, 'open', {}, { connection: id }));
        });

        it('only its owner lends a connection to verification runs', async () => {
            const { name, owner } = await aSite({});
            const { userId } = await join(world);
            await world.app.db('memberships').insert({ workspace_id: owner.workspaceId, user_id: userId, role: 'admin' });
            const key = await createKey(world.app.db, { workspaceId: owner.workspaceId, userId, name: 'admin', scopes: EVERY_SCOPE });
            const id = idOf(await connect(owner, name, GOOD, { shared: true }));
            expect(codeOf(await change(withKey(world, key.apiKey), id, { verify_with: true }))).to.equal('FORBIDDEN');
            expect(dataOf(await change(owner, id, { verify_with: true }))).to.include({ verify_with: true, shared: true });
            expect(dataOf(await change(owner, id, { verify_with: false }))).to.include({ verify_with: false });
        });

        it('a schema without a test leaves it untested, and a failing site does not reject it', async () => {
            const { name, owner } = await aSite({});
            const id = idOf(await connect(owner, name));
            expect(codeOf(await test(owner, id))).to.equal('ENDPOINT_NOT_FOUND');
            const broken = await aSite({ test: 'broken' });
            expect(codeOf(await connect(broken.owner, broken.name))).to.equal('UPSTREAM_STATUS');
            expect(dataOf(await broken.owner.call('GET', '/v1/connections'))).to.deep.equal([]);
        });

        it('a 429 to one connection slows down that connection only', async () => {
            const { name, owner } = await aSite({});
            idOf(await connect(owner, name));
            expect(codeOf(await owner.fetch(name, 'slow_down', {}, { timeout_ms: 2000 }))).to.be.oneOf([
                'UPSTREAM_RATE_LIMITED',
                'SITE_UNAVAILABLE',
            ]);
            const paused = await world.app.db('site_turns').whereNotNull('paused_until').select('key');
            const keys = paused.map(({ key }: { key: string }) => key).filter((key) => key.endsWith(name));
            expect(keys).to.deep.equal([
                `${dataOf<{ connection_id: string }[]>(await owner.call('GET', '/v1/connections'))[0]?.connection_id}@${name}`,
            ]);
        });

        it('a package names an endpoint that is suitable as a test', async () => {
            const { owner } = await aSite();
            const name = 'untestable.test';
            const write = anEndpoint(name, { name: 'change', method: 'POST', url: `https://${name}/change`, params: [] });
            const wants = anEndpoint(name, {
                name: 'wants',
                url: `https://${name}/wants`,
                params: [{ name: 'id', source: 'query', required: true }],
            });
            for (const test of ['nothing', 'change', 'wants']) {
                const auth: PackageAuth[] = [{ id: 'key', type: 'bearer', test }];
                const refused = await owner.publish(connectedPackage(name, { auth, endpoints: [write, wants] }));
                expect(detailsOf(refused), test).to.deep.equal(['/auth/0/test INVALID_VALUE']);
            }
        });

        it('a credential is tested at most five times an hour with failures, and thirty times in total', async () => {
            const { name, owner } = await aSite();
            taken = new Set();
            for (let at = 0; at < 5; at++) expect(codeOf(await connect(owner, name, `wrong-key-${at}`))).to.equal('CONNECTION_REJECTED');
            const sixth = await connect(owner, name, GOOD);
            expect([sixth.status, codeOf(sixth)]).to.deep.equal([429, 'RATE_LIMITED']);
            expect(sixth.text).to.include('connection_tests');
            expect(Number(sixth.headers.get('retry-after'))).to.be.greaterThan(0);

            const other = await aSite();
            taken = new Set([GOOD]);
            const id = idOf(await connect(other.owner, other.name));
            for (let at = 1; at < 30; at++) dataOf(await test(other.owner, id));
            expect((await test(other.owner, id)).text).to.include('connection_tests');
        });

        async function colleague({ workspaceId }: Person, role: string): Promise<Person> {
            const { userId } = await join(world);
            await world.app.db('memberships').insert({ workspace_id: workspaceId, user_id: userId, role });
            const { apiKey } = await createKey(world.app.db, { workspaceId, userId, name: role, scopes: EVERY_SCOPE });
            return withKey(world, apiKey);
        }
    });
}
