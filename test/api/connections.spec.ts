import { expect } from 'chai';
import { EARLIER_SCOPES, EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { removeMember } from '../../shared/store/accounts/workspaces.ts';
import { API, expectNowhere, HEADER, idOf, OTHER, SITE, useConnectionWorld, VALUE } from '../support/connection-world.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { ANY_TOPOLOGY, type World } from '../support/world.ts';

for (const topology of ANY_TOPOLOGY) {
    describe(`a credential of the caller's own, over ${topology}`, () => {
        const opened = useConnectionWorld(topology);
        const { world, site, owner, at, endpoint, publish, connect, connectOnly } = opened;
        const seenHeaders = (answer: Answer) => dataOf<{ headers: Record<string, string> }>(answer).headers;

        describe('with one header', () => {
            let id: string;
            before(async () => {
                id = await connectOnly();
            });

            it('is not sent to endpoints without auth, and to an endpoint with optional auth only if it is named', async () => {
                expect(seenHeaders(await owner.fetch(SITE, 'open'))).not.to.have.property('x-api-key');
                expect(seenHeaders(await owner.fetch(SITE, 'elsewhere'))).not.to.have.property('x-api-key');
                expect(seenHeaders(await owner.fetch(SITE, 'maybe'))).not.to.have.property('x-api-key');
                expect(seenHeaders(await owner.fetch(SITE, 'maybe', {}, { connection: 'default' }))).to.have.property('x-api-key', '•••');
                expect(codeOf(await owner.fetch(SITE, 'open', {}, { connection: id }))).to.equal('VALIDATION_ERROR');
            });

            it('that the site refuses is the caller’s fault: free of charge, and without effect on circuit and health', async () => {
                const refused = await owner.fetch(SITE, 'refuse', { to: '401' });
                expect(refused.status).to.equal(502);
                expect(refused.body['error']).to.deep.include({ code: 'UPSTREAM_UNAUTHORIZED', fault: 'caller', retryable: false });
                expect(refused.text).to.include('•••').and.not.to.include(VALUE);
                const from = site.seen.length;
                expect(codeOf(await owner.fetch(SITE, 'refuse', { to: '403' }))).to.equal('UPSTREAM_STATUS');
                expect(site.seen.length - from).to.equal(1);
                await world.app.usage.flush();
                const row = await world.app.db('endpoint_days').where({ site: SITE, endpoint: 'refuse' }).first();
                expect(row).to.equal(undefined);
            });

            it('belongs to its owner unless it is shared, and looks absent to others', async () => {
                const stranger = await join(world, { plan: 'pro' });
                const colleague = await aColleague(world, owner);
                for (const person of [stranger, colleague]) {
                    expect(codeOf(await person.call('GET', `/v1/connections/${id}`))).to.equal('CONNECTION_NOT_FOUND');
                    expect(codeOf(await person.fetch(SITE, 'echo', {}, { connection: id }))).to.equal('CONNECTION_NOT_FOUND');
                    const required = await person.fetch(SITE, 'echo');
                    expect(required.body['error']).to.deep.include({ code: 'CONNECTION_REQUIRED', obtain_url: 'https://keyed.test/keys' });
                }
                const shared = idOf(await connect(owner, { value: 'for-all-of-us' }, { shared: true }));
                await eventually(
                    () => colleague.fetch(SITE, 'echo', {}, { connection: shared }),
                    ({ status }) => status === 200,
                );
                expect(codeOf(await stranger.fetch(SITE, 'echo', {}, { connection: shared }))).to.equal('CONNECTION_NOT_FOUND');
                const several = await owner.fetch(SITE, 'echo');
                expect(codeOf(several)).to.equal('CONNECTION_REQUIRED');
                expect(several.text).to.include(id).and.to.include(shared);
                dataOf(await owner.call('DELETE', `/v1/connections/${shared}`));
            });

            it('that is missing or unknown is counted like any call that the package refuses', async () => {
                const person = await join(world, { plan: 'pro' });
                for (const [code, more] of [
                    ['CONNECTION_REQUIRED', {}],
                    ['CONNECTION_REQUIRED', { dry_run: true }],
                    ['CONNECTION_NOT_FOUND', { connection: id }],
                ] as const) {
                    const before = await leftOf(person);
                    const refused = await person.fetch(SITE, 'echo', {}, more);
                    expect([codeOf(refused), refused.headers.has('ratelimit')]).to.deep.equal([code, true]);
                    expect(before - (await leftOf(person)), code).to.equal(1);
                }
            });

            it('is for keys whose scope names it', async () => {
                const { workspaceId, userId } = owner;
                const keyWith = async (connections: readonly string[] | null) => {
                    const made = await createKey(world.app.db, { workspaceId, userId, name: 'k', scopes: { ...EVERY_SCOPE, connections } });
                    return withKey(world, made.apiKey);
                };
                const [named, none] = [await keyWith([id]), await keyWith(EARLIER_SCOPES.connections)];
                dataOf(await named.fetch(SITE, 'echo', {}, { connection: id }));
                for (const more of [{ connection: id }, {}, { dry_run: true }]) {
                    const refused = await none.fetch(SITE, 'echo', {}, more);
                    expect([codeOf(refused), refused.text?.includes(`connections: ${id}`)]).to.deep.equal(['FORBIDDEN', true]);
                }
            });

            it('is listed only to keys of its site', async () => {
                const { workspaceId, userId } = owner;
                const listedTo = async (sites: readonly string[]) => {
                    const made = await createKey(world.app.db, { workspaceId, userId, name: 'k', scopes: { ...EVERY_SCOPE, sites } });
                    const answer = await withKey(world, made.apiKey).call('GET', '/v1/connections');
                    return dataOf<{ connection_id: string }[]>(answer).map(({ connection_id: listed }) => listed);
                };
                expect(await listedTo([SITE])).to.deep.equal([id]);
                expect(await listedTo(['other.test'])).to.deep.equal([]);
            });

            it('keeps results for max_age only under itself', async () => {
                const two = idOf(await connect(owner, { value: 'another-value' }));
                await eventually(
                    () => owner.fetch(SITE, 'echo', {}, { connection: two, dry_run: true }),
                    ({ status }) => status === 200,
                );
                const cached = async (connection: string) => {
                    const answer = await owner.fetch(SITE, 'echo', {}, { connection, max_age: 600 });
                    return (answer.body['meta'] as { cached: boolean }).cached;
                };
                expect([await cached(id), await cached(two), await cached(id), await cached(two)]).to.deep.equal([
                    false,
                    false,
                    true,
                    true,
                ]);
                dataOf(await owner.call('DELETE', `/v1/connections/${two}`));
            });

            it('is in the audit, with the user and the endpoint of each use', async () => {
                dataOf(await owner.fetch(SITE, 'echo', {}, { connection: id }));
                await world.app.connectionUses.flush();
                const acts = dataOf<{ action: string; target: string; details: object }[]>(
                    await owner.call('GET', `/v1/audit?action=connection.used&limit=100`),
                );
                expect(acts.filter(({ target }) => target === id).map(({ details }) => details)).to.deep.include({
                    site: SITE,
                    endpoint: 'echo',
                });
                expect(dataOf(await owner.call('GET', `/v1/connections/${id}`))['last_used_at']).to.be.a('string');
            });

            it('is not sent to hosts that its owner did not agree to', async () => {
                await publish([{ ...HEADER, hosts: [API, OTHER] }], [endpoint('added', at(OTHER, '/echo'))]);
                const answer = await owner.fetch(SITE, 'added');
                expect(codeOf(answer)).to.equal('CONNECTION_REQUIRED');
                expect(answer.text).to.include(OTHER);
                dataOf(await owner.fetch(SITE, 'echo'));
                await publish([{ ...HEADER, name: 'X-Other-Key' }]);
                const changed = await owner.fetch(SITE, 'echo');
                expect(codeOf(changed)).to.equal('CONNECTION_REQUIRED');
                expect(changed.text).to.include('X-Other-Key');
                await publish([HEADER]);
            });

            it('is part of the Idempotency-Key’s identity: a member does not get the response of a colleague’s connection', async () => {
                const colleague = await aColleague(world, owner, 'admin');
                idOf(await connect(colleague, { value: 'of-the-colleague' }));
                const headers = { 'idempotency-key': `colleagues-${topology}` };
                const body = { site: SITE, endpoint: 'echo', params: {} };
                dataOf(await owner.call('POST', '/v1/fetch', { body, headers }));
                expect((await owner.call('POST', '/v1/fetch', { body, headers })).headers.get('idempotent-replayed')).to.equal('true');
                expect(codeOf(await colleague.call('POST', '/v1/fetch', { body, headers }))).to.equal('IDEMPOTENCY_CONFLICT');
            });

            it('is not sent with any page more than a second after it was deleted', async () => {
                const walked = idOf(await connect(owner, { value: 'for-two-pages' }));
                opened.whilePaging = async () => {
                    dataOf(await owner.call('DELETE', `/v1/connections/${walked}`));
                    const deletedAt = performance.now();
                    await eventually(
                        async () => performance.now() - deletedAt,
                        (ms) => ms > 1000,
                    );
                };
                const from = site.seen.length;
                const answer = await owner.fetch(SITE, 'pages', {}, { connection: walked });
                expect([codeOf(answer), site.seen.length - from]).to.deep.equal(['CONNECTION_REQUIRED', 2]);
            });

            it('is checked before a response is replayed', async () => {
                const headers = { 'idempotency-key': `replay-${topology}` };
                const body = { site: SITE, endpoint: 'echo', params: {}, connection: id };
                dataOf(await owner.call('POST', '/v1/fetch', { body, headers }));
                expect((await owner.call('POST', '/v1/fetch', { body, headers })).headers.get('idempotent-replayed')).to.equal('true');
                dataOf(await owner.call('DELETE', `/v1/connections/${id}`));
                await eventually(
                    () => owner.call('POST', '/v1/fetch', { body, headers }),
                    (answer) => codeOf(answer) === 'CONNECTION_NOT_FOUND',
                    2000,
                );
            });
        });

        describe('while it is tested', () => {
            it('is not stored for a person who leaves the workspace', async () => {
                await publish([{ ...HEADER, test: 'second' }], [endpoint('second', at(API, '/pages?page=2'))]);
                const colleague = await aColleague(world, owner, 'admin');
                const { user_id: userId } = dataOf<{ user_id: string }>(await colleague.call('GET', '/v1/account'));
                const { workspaceId } = owner;
                opened.whilePaging = async () => void (await removeMember(world.app.db, { workspaceId, userId, by: owner.userId }));
                expect(codeOf(await connect(colleague, { value: 'of-a-leaver' }, { shared: true }))).to.equal('INVALID_API_KEY');
                expect(await world.app.db('connections').where({ shared: true })).to.deep.equal([]);
            });
        });

        describe('in logs and tables', () => {
            it('never appears, in any encoding', () => expectNowhere(world));
        });
    });
}

/** How many counted calls the account may still make in this minute. */
async function leftOf(person: Person): Promise<number> {
    const { limits } = dataOf<{ limits: { window: string; remaining: number }[] }>(await person.call('GET', '/v1/account'));
    return limits.find(({ window }) => window === 'minute')?.remaining ?? 0;
}

/** Another member of a workspace, with a key of every scope. */
async function aColleague(world: World, { workspaceId }: Person, role = 'member'): Promise<Person> {
    const { userId } = await join(world);
    await world.app.db('memberships').insert({ workspace_id: workspaceId, user_id: userId, role });
    const { apiKey } = await createKey(world.app.db, { workspaceId, userId, name: 'colleague', scopes: EVERY_SCOPE });
    return withKey(world, apiKey);
}
