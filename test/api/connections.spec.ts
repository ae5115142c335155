import { expect } from 'chai';
import { EARLIER_SCOPES, EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import type { AuthNeed, PackageAuth, PackageEndpoint } from '../../shared/domain/types.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { connectedPackage } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'keyed.test';
const API = 'api.keyed.test';
const OTHER = 'other.keyed.test';
const VALUE = 'sk/9f"3+b7 Zq~value=42';
const FORMS = [
    VALUE,
    Buffer.from(VALUE).toString('base64').replace(/=+$/, ''),
    encodeURIComponent(VALUE),
    JSON.stringify(VALUE).slice(1, -1),
];

for (const topology of ANY_TOPOLOGY) {
    describe(`a credential of the caller's own, over ${topology}`, () => {
        let world: World;
        let site: Site;
        let owner: Person;

        before(async () => {
            site = await openSite((request, response) => {
                const url = new URL(request.url ?? '/', 'http://site.invalid');
                const to = url.searchParams.get('to');
                const json = { 'content-type': 'application/json' };
                if (url.pathname === '/redirect') return void response.writeHead(302, { location: `${to}` }).end();
                if (url.pathname === '/refuse')
                    return void response.writeHead(Number(to), json).end(JSON.stringify({ you: request.headers }));
                if (url.pathname === '/raw-redirect') {
                    const key = Buffer.from(url.searchParams.get('key') ?? '').toString('latin1');
                    return void response.writeHead(302, { location: `${at(OTHER, '/echo?page=2')}&back=${key}` }).end();
                }
                if (url.pathname === '/escaped' || url.pathname === '/refuse-escaped') {
                    const escaped = [...VALUE].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
                    return void response.writeHead(url.pathname === '/escaped' ? 200 : 401, json).end(`{"text":"${escaped}"}`);
                }
                if (url.pathname === '/pages') {
                    const page = Number(url.searchParams.get('page') ?? '1');
                    if (page === 2) void whilePaging().then(() => response.writeHead(200, json).end(JSON.stringify({ items: [page] })));
                    else response.writeHead(200, json).end(JSON.stringify({ items: [page] }));
                    return;
                }
                // Pages that repeat the key, each with another encoding.
                const key = `${request.headers['x-api-key']}`;
                if (url.pathname === '/page-meta' || url.pathname === '/page-form') {
                    const entities = [...key].map((char) => `&#x${char.charCodeAt(0).toString(16)};`).join('');
                    const form = `<form id="f" action="${at(OTHER, '/echo')}" method="get"><input type="hidden" name="t" value="${entities}"></form>`;
                    const page = url.pathname === '/page-form' ? form : `<meta name="t" content="${entities}">`;
                    return void response.writeHead(200, { 'content-type': 'text/html' }).end(page);
                }
                if (url.pathname === '/page-cookie')
                    return void response.writeHead(200, { ...json, 'set-cookie': `t=${encodeURIComponent(key)}; Path=/` }).end('{}');
                if (url.pathname === '/forms') return void response.writeHead(200, json).end(JSON.stringify({ forms: FORMS }));
                response
                    .writeHead(200, { ...json, 'cache-control': 'max-age=60' })
                    .end(JSON.stringify({ url: request.url, headers: request.headers }));
            });
            const hosts = new Map([SITE, API, OTHER].map((name): [string, string[]] => [name, ['127.0.0.1']]));
            world = await openWorld({ topology, config: { logLevel: 'trace', egressHosts: hosts } });
            owner = await join(world, { plan: 'pro' });
        });
        after(async () => {
            await world.close();
            await site.close();
        });

        let whilePaging = async () => {};
        let versions = 0;
        const at = (host: string, path: string) => `http://${host}:${site.port}${path}`;
        function endpoint(name: string, url: string, auth: AuthNeed = 'required', more: Partial<PackageEndpoint> = {}): PackageEndpoint {
            return anEndpoint(SITE, { name, url, params: [], auth, ...more });
        }
        const to = [{ name: 'to', source: 'query' as const, required: true }];
        async function publish(auth: PackageAuth[], endpoints: PackageEndpoint[] = []): Promise<void> {
            const all = [
                endpoint('echo', at(API, '/echo')),
                endpoint('maybe', at(API, '/echo'), 'optional'),
                endpoint('open', at(API, '/echo'), 'none'),
                endpoint('redirect', at(API, '/redirect'), 'required', { params: to }),
                endpoint('refuse', at(API, '/refuse'), 'required', { params: to }),
                endpoint('escaped', at(API, '/escaped')),
                endpoint('forms', at(API, '/forms')),
                endpoint('refuse_escaped', at(API, '/refuse-escaped')),
                endpoint('raw_redirect', at(API, '/raw-redirect')),
                endpoint('pages', at(API, '/pages'), 'required', { kind: 'paginate', pagination: { param: 'page' } }),
                endpoint('elsewhere', at(OTHER, '/echo'), 'none'),
                ...endpoints,
            ];
            versions += 1;
            dataOf(await owner.publish({ ...connectedPackage(SITE, { auth }), title: `Version ${versions}`, endpoints: all }));
        }
        const HEADER: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key', hosts: [API], obtain_url: 'https://keyed.test/keys' };
        const connect = async (person: Person, secret: object = { value: VALUE }, more: object = {}) =>
            person.call('POST', '/v1/connections', { body: { site: SITE, secret, ...more } });
        const idOf = (answer: Answer) => dataOf<{ connection_id: string }>(answer).connection_id;
        /** Deletes all connections, and waits until every process has noticed. */
        async function forgetAll(): Promise<void> {
            await world.app.db('connections').delete();
            await eventually(
                () => world.app.vault.list(owner.workspaceId, SITE),
                (known) => known.length === 0,
            );
        }
        const seenHeaders = (answer: Answer) => dataOf<{ headers: Record<string, string> }>(answer).headers;

        const encodings: [
            entry: PackageAuth,
            secret: object,
            sent: (path: string, headers: Record<string, unknown>) => unknown,
            expected: string,
        ][] = [
            [HEADER, { value: VALUE }, (_path, headers) => headers['x-api-key'], VALUE],
            [
                { ...HEADER, name: 'Authorization', prefix: 'token ' },
                { value: VALUE },
                (_path, headers) => headers['authorization'],
                `token ${VALUE}`,
            ],
            [
                { id: 'key', type: 'bearer', hosts: [API] },
                { value: VALUE },
                (_path, headers) => headers['authorization'],
                `Bearer ${VALUE}`,
            ],
            [
                { id: 'key', type: 'basic', hosts: [API] },
                { username: 'ada', password: VALUE },
                (_path, headers) => headers['authorization'],
                `Basic ${Buffer.from(`ada:${VALUE}`).toString('base64')}`,
            ],
            [
                { id: 'key', type: 'query', name: 'api_key', hosts: [API] },
                { value: VALUE },
                (path) => new URL(path, 'http://x').searchParams.get('api_key'),
                VALUE,
            ],
            [
                { id: 'key', type: 'cookie', name: 'sid', hosts: [API] },
                { value: 'abcdefgh-1234' },
                (_path, headers) => headers['cookie'],
                'sid=abcdefgh-1234',
            ],
        ];
        for (const [entry, secret, sent, expected] of encodings) {
            it(`reaches the site as ${entry.type}${entry.prefix === undefined ? '' : ' with a prefix'}, and the caller sees ••• instead`, async () => {
                await forgetAll();
                await publish([entry]);
                idOf(await connect(owner, secret));
                const answer = await owner.fetch(SITE, 'echo');
                expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
                const seen = site.seen.at(-1);
                expect(sent(seen?.path ?? '', seen?.headers ?? {})).to.equal(expected);
                expect(answer.text).not.to.include(VALUE).and.not.to.include(expected);
                expect(answer.text).to.include('•••');
                const dry = await owner.fetch(SITE, 'echo', {}, { dry_run: true });
                expect(JSON.stringify(dataOf(dry)))
                    .to.include('•••')
                    .and.not.to.include(expected);
            });
        }

        it('is never sent by a step of prepare, in whatever form a page repeats it', async () => {
            const step = (path: string, extract: object) => ({ url: at(API, path), extract }) as NonNullable<PackageEndpoint['prepare']>;
            const elsewhere = at(API, '/echo?t={prepare.t}');
            await forgetAll();
            await publish(
                [HEADER],
                [
                    endpoint('by_meta', elsewhere, 'required', {
                        prepare: step('/page-meta', { t: { selector: 'meta', value: 'content' } }),
                    }),
                    endpoint('by_cookie', elsewhere, 'required', { prepare: step('/page-cookie', { t: { cookie: 't' } }) }),
                ],
            );
            idOf(await connect(owner));
            for (const name of ['by_meta', 'by_cookie']) {
                const from = site.seen.length;
                const answer = await owner.fetch(SITE, name);
                expect(codeOf(answer), name).to.equal('UPSTREAM_INVALID_RESPONSE');
                expect(JSON.stringify(answer.body), name).to.include('holds the credential').and.not.include(VALUE);
                expect(site.seen.slice(from).map(({ path }) => path.split('?')[0])).to.deep.equal([
                    name === 'by_meta' ? '/page-meta' : '/page-cookie',
                ]);
            }
        });

        describe('with one header', () => {
            let id: string;
            before(async () => {
                await forgetAll();
                await publish([HEADER]);
                id = idOf(await connect(owner));
            });

            it('is shown by no route, except for its last four characters', async () => {
                const answers = [
                    await owner.call('GET', '/v1/connections'),
                    await owner.call('GET', `/v1/connections/${id}`),
                    await owner.call('GET', '/v1/audit'),
                ];
                for (const answer of answers) expect(answer.text).not.to.include(VALUE.slice(0, 8));
                expect(dataOf(answers[1] as Answer)).to.include({ hint: '…e=42', type: 'header', shared: false, owner: owner.userId });
            });

            it('is masked in a response in every encoding', async () => {
                const forms = dataOf<{ forms: string[] }>(await owner.fetch(SITE, 'forms')).forms;
                expect(forms).to.deep.equal(['•••', '•••', '•••', '•••']);
                expect(dataOf(await owner.fetch(SITE, 'escaped'))).to.deep.equal({ text: '•••' });
            });

            it('is not sent on a redirect to another host, and is masked in URLs that repeat it', async () => {
                const from = site.seen.length;
                dataOf(await owner.fetch(SITE, 'redirect', { to: at(OTHER, `/echo?page=2&back=${encodeURIComponent(VALUE)}`) }));
                dataOf(await owner.fetch(SITE, 'redirect', { to: at(API, '/echo') }));
                const [, other, , same] = site.seen.slice(from);
                expect([other?.path, other?.headers['x-api-key']]).to.deep.equal(['/echo?page=2', undefined]);
                expect(same?.headers['x-api-key']).to.equal(VALUE);
                const inPath = await owner.fetch(SITE, 'redirect', { to: at(OTHER, `/${encodeURIComponent(VALUE)}`) });
                expect(codeOf(inPath)).to.equal('UPSTREAM_REDIRECT');
                expect(site.seen.at(-1)?.path).to.match(/^\/redirect/);
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

            it('is masked in JSON escapes of an error response', async () => {
                const refused = await owner.fetch(SITE, 'refuse_escaped');
                expect(codeOf(refused)).to.equal('UPSTREAM_UNAUTHORIZED');
                expect(refused.text).to.include('•••').and.not.to.include('u0073');
            });

            it('is not sent in raw UTF-8 of a redirect to another host', async () => {
                const query: PackageAuth = { id: 'query', type: 'query', name: 'key', hosts: [API] };
                await publish([HEADER, query]);
                const unknown = await connect(owner, { value: VALUE }, { auth_id: 'cookie' });
                expect(unknown.text).to.include('Unknown auth_id. Choose one of: key, query.');
                const two = idOf(await connect(owner, { value: 'schlüssel-für-alle' }, { auth_id: 'query' }));
                const answer = await owner.fetch(SITE, 'raw_redirect', {}, { connection: two });
                expect(answer.status, answer.text).to.equal(200);
                expect(site.seen.at(-1)?.path).to.equal('/echo?page=2');
                dataOf(await owner.call('DELETE', `/v1/connections/${two}`));
                await publish([HEADER]);
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
                whilePaging = async () => {
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

        describe('in logs, tables, responses and errors', () => {
            it('never appears, in any encoding', async () => {
                for (const line of world.logged) expectNone('the log', JSON.stringify(line));
                await world.app.usage.flush();
                const { rows } = await world.app.db.raw<{ rows: { name: string }[] }>(
                    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
                 where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
                );
                for (const { name } of rows) {
                    const { rows: texts } = await world.app.db.raw<{ rows: { text: string }[] }>(`select t::text as text from ${name} t`);
                    for (const { text } of texts) expectNone(name, text);
                }
                expect(() => expectNone('a text', `x${FORMS[1]}x`)).to.throw('stands in a text');
            });

            it('is refused while the key of its workspace is missing, and the operator learns which', async () => {
                await forgetAll();
                await publish([HEADER]);
                const eve = await join(world, { plan: 'pro' });
                dataOf(await connect(eve));
                await world.app
                    .db('connection_keys')
                    .where({ workspace_id: eve.workspaceId })
                    .update({ sealed: Buffer.alloc(80) });
                const answer = await connect(eve, { value: 'another-value' });
                expect([answer.status, codeOf(answer), answer.headers.get('retry-after')]).to.deep.equal([
                    503,
                    'SERVICE_UNAVAILABLE',
                    '60',
                ]);
                expect(world.logged.some(({ message }) => String(message).includes(`the data key of ${eve.workspaceId}`))).to.equal(true);
            });

            it('can be decrypted in no other row', async () => {
                await forgetAll();
                await publish([HEADER]);
                const [mine, theirs] = [owner, await join(world, { plan: 'pro' })];
                const id = idOf(await connect(mine));
                dataOf(await connect(theirs, { value: 'another-value' }));
                await world.app.db('connections').where({ id }).update({ workspace_id: theirs.workspaceId, owner_id: theirs.userId });
                const keys = () => world.app.db('connection_keys');
                const { sealed } = await keys().where({ workspace_id: mine.workspaceId }).first('sealed');
                await keys().where({ workspace_id: theirs.workspaceId }).update({ sealed });
                const from = site.seen.length;
                const answer = await theirs.fetch(SITE, 'echo', {}, { connection: id });
                expect([codeOf(answer), site.seen.length]).to.deep.equal(['CONNECTION_REQUIRED', from]);
            });
        });
    });
}

/** How many counted calls the account may still make in this minute. */
async function leftOf(person: Person): Promise<number> {
    const { limits } = dataOf<{ limits: { window: string; remaining: number }[] }>(await person.call('GET', '/v1/account'));
    return limits.find(({ window }) => window === 'minute')?.remaining ?? 0;
}

function expectNone(where: string, text: string): void {
    for (const form of FORMS) expect(text.includes(form), `it stands in ${where}: ${text.slice(0, 300)}`).to.equal(false);
}

/** Another member of a workspace, with a key of every scope. */
async function aColleague(world: World, { workspaceId }: Person, role = 'member'): Promise<Person> {
    const { userId } = await join(world);
    await world.app.db('memberships').insert({ workspace_id: workspaceId, user_id: userId, role });
    const { apiKey } = await createKey(world.app.db, { workspaceId, userId, name: 'colleague', scopes: EVERY_SCOPE });
    return withKey(world, apiKey);
}
