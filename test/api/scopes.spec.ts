import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import type { AnyContract } from '../../shared/contracts/contract.ts';
import { CONTRACTS } from '../../shared/contracts/index.ts';
import { EVERY_SCOPE, ROUTE_SCOPES, type Scopes } from '../../shared/domain/accounts/scopes.ts';
import { createKey } from '../../shared/store/accounts/api-keys.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person, stranger, withKey } from '../support/people.ts';
import { callRoute, codeOf, dataOf, everyRoute, INTENT } from '../support/routes.ts';
import { lackOf, scopedKey } from '../support/scopes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

/** Routes that every key may use, with the reason. Any other route that takes a key has a scope. */
const FOR_EVERY_KEY: Readonly<Record<string, string>> = {
    getEndpoints: 'browsing',
    getSchemas: 'browsing',
    getSchema: 'browsing',
    getVersions: 'browsing',
    getPackage: 'browsing',
    getMaintainers: 'browsing',
    getCategories: 'browsing',
    getTrending: 'browsing',
    postReport: 'anybody with a key may say what is broken',
    postSchemaRequest: 'anybody may ask for a schema',
    getSchemaRequest: 'anybody with the id may read it',
    getAccount: 'a key may know itself',
};

/** The site in the paths of these calls. Some of them change it. */
const MATRIX = 'matrix.test';

/** The scopes that the tools for agents need. */
const SCOPES_OF_TOOLS: Readonly<Record<string, string>> = {
    find_endpoint: 'none',
    look_up_site: 'catalog',
    fetch: 'fetch',
    price_fetch: 'fetch',
    start_job: 'jobs',
    get_job: 'jobs',
    run_batch: 'jobs',
    request_schema: 'none',
    check_request: 'none',
    report_problem: 'none',
};

/** Routes that name what a key of one site, or of some endpoints, may not see. */
const isOfAllSites = ({ ofWholeWorkspace, name }: AnyContract): boolean => ofWholeWorkspace === true || name === 'getAudit';

/** All scopes of routes except one. */
const without = (scope: string): Partial<Scopes> => ({ routes: ROUTE_SCOPES.filter((route) => route !== scope) });

describe('a key with scopes', () => {
    const verified = 'verified.test';
    const world = useWorld({
        config: {
            trustProxy: 1,
            egressHosts: new Map([...SHOP_HOSTS, ...[verified, MATRIX, `eu.${MATRIX}`].map((site) => [site, ['127.0.0.1']] as const)]),
        },
    });
    const shop = useShop();
    let ada: Person;

    before(async () => {
        ada = await join(world, { plan: 'enterprise' });
        dataOf(await ada.publish(shopPackage(shop.port)));
        dataOf(await ada.publish(shopPackage(shop.port, { site: verified })));
        await world.app.db.raw("update versions set verified_at = app_now(), passed_endpoints = '{graphql}' where site = ?", [verified]);
    });

    const key = (scopes: Partial<Scopes>) => scopedKey(world, ada, scopes);
    const routes = (site = MATRIX) => everyRoute(site);
    const mayRefuse = ({ auth }: AnyContract) => auth !== 'ignored';

    describe('for every route of the API:', () => {
        it('each contract that takes a key names a scope, or is listed here with a reason', () => {
            const open = CONTRACTS.filter((contract) => mayRefuse(contract) && contract.scope === 'none').map(({ name }) => name);
            expect(open.filter((name) => !(name in FOR_EVERY_KEY))).to.deep.equal([]);
            expect(Object.keys(FOR_EVERY_KEY).filter((name) => !open.includes(name))).to.deep.equal([]);
            for (const contract of CONTRACTS.filter(({ scope }) => scope !== 'none')) {
                expect(contract.refusals, contract.name).to.include('FORBIDDEN');
            }
        });

        it('the OpenAPI document names the scopes of each route', async () => {
            const { body } = await stranger(world).call('GET', '/v1/openapi.json');
            const paths = body['paths'] as Record<string, Record<string, { security: Record<string, string[]>[] }>>;
            for (const { name, path, method, scope, ofWholeWorkspace, auth } of CONTRACTS) {
                const security = paths[path]?.[method.toLowerCase()]?.security ?? [];
                const named = security.flatMap(({ apiKey = [] }) => apiKey);
                expect(named, name).to.deep.equal(
                    scope === 'none' || auth === 'ignored' ? [] : [scope, ...(ofWholeWorkspace ? ['jobs'] : [])],
                );
            }
        });

        for (const scope of ROUTE_SCOPES) {
            it(`without ${scope} it is refused where that is needed, with the scope’s name, and nowhere else`, async () => {
                const person = await key(without(scope));
                for (const route of routes()) {
                    const lack = lackOf(await callRoute(person, route));
                    const isNeeded = route.contract.scope === scope || (scope === 'jobs' && route.contract.ofWholeWorkspace);
                    expect(lack, route.contract.name).to.equal(isNeeded ? `routes: ${scope}` : undefined);
                }
            });
        }

        it('without any scope it browses, requests schemas and reads its own account, and nothing more', async () => {
            const person = await key({ routes: [] });
            for (const route of routes()) {
                const answer = await callRoute(person, route);
                const { scope, name } = route.contract;
                expect(lackOf(answer), name).to.equal(scope === 'none' ? undefined : `routes: ${scope}`);
            }
            const account = dataOf<{ key: { scopes: Scopes } }>(await person.call('GET', '/v1/account'));
            expect(account.key.scopes).to.deep.equal({ ...EVERY_SCOPE, routes: [] });
        });

        it('of one site it is refused for every other, in any spelling', async () => {
            const person = await key({ sites: ['other.test'] });
            for (const site of [MATRIX, ` ${MATRIX.toUpperCase()}. `]) {
                for (const route of routes(site)) {
                    const { contract, body } = route;
                    const isBound = contract.scope !== 'none' && (/\{(site|domain)\}/.test(contract.path) || 'site' in (body ?? {}));
                    if (site !== MATRIX && contract.name === 'postSchema') continue;
                    const called = { ...route, path: route.path.replaceAll(site, encodeURIComponent(site)) };
                    expect(lackOf(await callRoute(person, called)), contract.name).to.equal(
                        isOfAllSites(contract) ? 'sites: all' : isBound ? `sites: ${MATRIX}` : undefined,
                    );
                }
            }
        });

        it('of one site it works there, but cannot administrate the domain of a sub-site', async () => {
            const own = await key({ sites: [MATRIX] });
            for (const route of routes().filter(({ contract }) => !isOfAllSites(contract)))
                expect(lackOf(await callRoute(own, route)), route.contract.name).to.equal(undefined);
            const below = await key({ sites: [`eu.${MATRIX}`] });
            for (const route of routes(`eu.${MATRIX}`).filter(({ contract }) => !isOfAllSites(contract))) {
                const expected = route.contract.actsOnDomain === true ? `sites: ${MATRIX}` : undefined;
                expect(lackOf(await callRoute(below, route)), route.contract.name).to.equal(expected);
            }
        });

        it('of some endpoints it reads nothing that names the others', async () => {
            const person = await key({ endpoints: ['product'] });
            for (const route of routes().filter(({ contract }) => isOfAllSites(contract)))
                expect(lackOf(await callRoute(person, route)), route.contract.name).to.equal('endpoints: all');
        });

        it('bound to addresses it works only from these, on every route', async () => {
            const person = await key({ ip_allow: ['203.0.113.0/28', '2001:db8:1::/48'] });
            const from = (address: string) => ({ 'x-forwarded-for': address });
            for (const route of routes()) {
                const needs = mayRefuse(route.contract) ? 'ip_allow: 203.0.113.16' : undefined;
                expect(lackOf(await callRoute(person, route, from('203.0.113.16'))), route.contract.name).to.equal(needs);
            }
            const statusFrom = async (address: string) => (await person.call('GET', '/v1/account', { headers: from(address) })).status;
            for (const address of ['203.0.113.15', '::ffff:203.0.113.1', '2001:db8:1:2::3'])
                expect(await statusFrom(address)).to.equal(200);
            for (const address of ['203.0.112.255', '2001:db8:2::1', '::1']) expect(await statusFrom(address)).to.equal(403);
        });
    });

    describe('never exceeds the role of its user:', () => {
        for (const [role, allowed] of Object.entries({
            owner: [...ROUTE_SCOPES],
            admin: [...ROUTE_SCOPES],
            member: ['fetch', 'catalog', 'jobs', 'publish', 'account'],
            billing: [],
        })) {
            it(`${role}: ${allowed.join(', ') || 'nothing'}`, async () => {
                const other = await join(world);
                await world.app.db.raw('insert into memberships (workspace_id, user_id, role) values (?, ?, ?)', [
                    ada.workspaceId,
                    other.userId,
                    role,
                ]);
                const person = await scopedKey(world, { ...other, workspaceId: ada.workspaceId }, {});
                for (const route of routes()) {
                    const { scope, name, managersOnly } = route.contract;
                    const { status, body } = await callRoute(person, route);
                    const message = (body['error'] as { message: string } | undefined)?.message ?? '';
                    const isRefused = status === 403 && message.startsWith(`This needs the scope ${scope}, which the role ${role}`);
                    const isAllowed = scope === 'none' || (allowed as string[]).includes(scope);
                    expect(isRefused, `${name}: ${message}`).to.equal(!isAllowed);
                    const isForOthers = status === 403 && message.startsWith('This is for owners and admins of');
                    expect(isForOthers, `${name}: ${message}`).to.equal(isAllowed && managersOnly === true && role === 'member');
                }
            });
        }
    });

    describe('for a fetch', () => {
        const product = { site: SHOP, endpoint: 'product', params: { id: 1 } };
        const order = { site: SHOP, endpoint: 'order', params: { product: 3 } };
        const question = { site: SHOP, endpoint: 'graphql', params: { q: 'lamp' } };

        /** Kinds of calls. A replayed response must exist first. */
        const WAYS: Readonly<Record<string, { more?: object; isKeyed?: true; isRemembered?: true }>> = {
            plainly: {},
            'as a dry run': { more: { dry_run: true } },
            'with max_age': { more: { max_age: 600 }, isRemembered: true },
            'as a replay': { isKeyed: true, isRemembered: true },
        };
        const LIMITS: readonly [string, Partial<Scopes>, refused: object, lack: string, served: object][] = [
            ['without fetch', without('fetch'), product, 'routes: fetch', {}],
            ['of another site', { sites: [verified] }, product, `sites: ${SHOP}`, { ...product, site: verified }],
            ['of another endpoint', { endpoints: ['search', 'product'] }, order, 'endpoints: order', product],
            ['that reads', { effects: ['read'] }, order, 'effects: write', product],
            [
                'that reads, at a POST that nobody verified',
                { effects: ['read'] },
                question,
                'effects: write',
                { ...question, site: verified },
            ],
            ['that writes only', { effects: ['write'] }, product, 'effects: read', order],
        ];

        for (const [way, { more = {}, isKeyed, isRemembered }] of Object.entries(WAYS)) {
            const ask = (person: Person, body: object) =>
                person.call('POST', '/v1/fetch', {
                    body: { ...body, ...more },
                    ...(isKeyed ? { headers: { 'idempotency-key': JSON.stringify(body) } } : {}),
                });
            for (const [name, scopes, refused, lack, served] of LIMITS) {
                it(`a key ${name} is refused ${way}, and the site is not called`, async () => {
                    const person = await key(scopes);
                    if (isRemembered) dataOf(await ask(ada, refused));
                    const before = shop.seen.length;
                    expect(lackOf(await ask(person, refused))).to.equal(lack);
                    expect(shop.seen.length).to.equal(before);
                    if ('site' in served) dataOf(await ask(person, served));
                });
            }
        }

        it('a read-only key calls a POST of a site whose owner is proved, and not of other sites', async () => {
            const person = await key({ effects: ['read'] });
            const claimed = { ...question, site: 'dear.test', params: { q: 'proved' } };
            dataOf(await ada.publish(shopPackage(shop.port, { site: 'dear.test', title: 'Proved' })));
            const ask = () => person.call('POST', '/v1/fetch', { body: { ...claimed, dry_run: true } });
            expect(lackOf(await ask())).to.equal('effects: write');
            await world.app.db.raw("update maintainers set proven_at = app_now() where registrable = 'dear.test'");
            dataOf(await ask());
            await world.app.db.raw("update maintainers set proven_at = null where registrable = 'dear.test'");
        });

        it('a key does not learn whether a site or endpoint outside its scopes exists', async () => {
            const person = await key({ sites: [SHOP], endpoints: ['product'] });
            expect(lackOf(await person.fetch('nowhere.test', 'product'))).to.equal('sites: nowhere.test');
            expect(lackOf(await person.fetch(SHOP, 'no_such_endpoint'))).to.equal('endpoints: no_such_endpoint');
        });

        it('a read-only key gets no stored response of a removed endpoint', async () => {
            const site = 'dear.test';
            dataOf(await ada.publish(shopPackage(shop.port, { site })));
            const body = { ...product, site };
            const headers = { 'idempotency-key': 'kept-product' };
            dataOf(await ada.call('POST', '/v1/fetch', { body, headers }));
            const reader = await key({ effects: ['read'] });
            const endpoints = shopPackage(shop.port, { site }).endpoints.filter(({ name }) => name !== 'product');
            dataOf(await ada.publish(shopPackage(shop.port, { site, endpoints })));
            expect(lackOf(await reader.call('POST', '/v1/fetch', { body, headers }))).to.equal('effects: write');
        });

        it('a key gets no replay of a job or batch that it could not have made', async () => {
            const orders: readonly [string, object, Partial<Scopes>, string][] = [
                ['jobs', order, { effects: ['read'] }, 'effects: write'],
                ['batches', { items: [order] }, { effects: ['read'] }, 'effects: write'],
                ['batches', { items: [product] }, { sites: [verified] }, 'sites: each site that it calls'],
            ];
            for (const [what, body, scopes, lack] of orders) {
                const headers = { 'idempotency-key': JSON.stringify([what, body]) };
                const made = await ada.call('POST', `/v1/${what}`, { body, headers });
                const other = await key(scopes);
                expect(lackOf(await other.call('POST', `/v1/${what}`, { body, headers })), what).to.equal(lack);
                const replayed = await ada.call('POST', `/v1/${what}`, { body, headers });
                expect(replayed.body).to.deep.equal(made.body);
                dataOf(await ada.call('GET', `${made.headers.get('location')}?wait=30`));
            }
        });

        it('is refused within a second after its scopes were reduced, in every process', async () => {
            const { db } = world.app;
            const { apiKey, keyId } = await createKey(db, { ...ada, name: 'narrowed', scopes: EVERY_SCOPE });
            const another = await world.openAnotherApi();
            const person = withKey(world, apiKey);
            const ask = async (base: string) =>
                lackOf(await person.call('POST', '/v1/fetch', { body: { ...product, dry_run: true }, base }));
            for (const base of [world.base, another.base]) expect(await ask(base)).to.equal(undefined);
            await db.raw('update api_keys set scopes = ?::jsonb where id = ?', [JSON.stringify({ ...EVERY_SCOPE, routes: [] }), keyId]);
            for (const base of [world.base, another.base]) {
                await eventually(
                    () => ask(base),
                    (lack) => lack === 'routes: fetch',
                    1000,
                );
            }
        });
    });

    describe('given to an agent', () => {
        const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
            find_endpoint: { task: 'price of a product' },
            look_up_site: { site: SHOP, intent: INTENT },
            fetch: { site: SHOP, endpoint: 'product', params: { id: 1 } },
            start_job: { site: SHOP, endpoint: 'product', params: { id: 1 } },
            get_job: { job_id: 'job_none' },
            run_batch: { items: [{ site: SHOP, endpoint: 'product', params: { id: 1 } }] },
            price_fetch: { site: SHOP, endpoint: 'order', params: { product: 3 } },
            request_schema: { site: 'wished.test', task: 'Read the price of every product once a day.' },
            check_request: { request_id: 'srq_none' },
            report_problem: { site: SHOP, endpoint: 'product', kind: 'other', text: 'It is slow.' },
        };

        /** The messages of every tool with a key of these scopes. */
        async function sayings(scopes: Partial<Scopes>): Promise<Record<string, string>> {
            const { apiKey } = await key(scopes);
            const client = new Client({ name: 'test', version: '1' });
            const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
            // The SDK's own types disagree under exactOptionalPropertyTypes.
            await client.connect(new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit }) as Transport);
            const said: Record<string, string> = {};
            for (const { name } of (await client.listTools()).tools) {
                const answer = (await client.callTool({ name, arguments: ARGUMENTS[name] ?? {} })) as { content: { text: string }[] };
                said[name] = answer.content[0]?.text ?? '';
            }
            await client.close();
            return said;
        }
        const lacking = (said: Record<string, string>) =>
            Object.keys(said).filter((tool) => /SCOPE_MISSING|"code":"FORBIDDEN"/.test(said[tool] ?? ''));

        it('applies to each of its tools', async () => {
            expect(Object.keys(await sayings({}))).to.have.members(Object.keys(SCOPES_OF_TOOLS));
            for (const scope of ['fetch', 'catalog', 'jobs']) {
                const expected = Object.keys(SCOPES_OF_TOOLS).filter((tool) => SCOPES_OF_TOOLS[tool] === scope);
                expect(lacking(await sayings(without(scope))), scope).to.have.members(expected);
            }
            expect(lacking(await sayings({ effects: ['read'] }))).to.have.members(['price_fetch']);
            expect(lacking(await sayings({ endpoints: ['order'] }))).to.have.members(['fetch', 'start_job', 'run_batch']);
            expect(lacking(await sayings({ sites: ['other.test'] }))).to.have.members([
                'look_up_site',
                'fetch',
                'start_job',
                'run_batch',
                'price_fetch',
            ]);
        });

        it('refuses all calls from another address, with a reason', async () => {
            const person = await key({ ip_allow: ['203.0.113.1'] });
            const answer = await person.call('POST', '/mcp', {
                body: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
                headers: { accept: 'application/json, text/event-stream' },
            });
            expect(codeOf(answer), JSON.stringify(answer.body)).to.equal('FORBIDDEN');
            expect(JSON.stringify(answer.body)).to.include('ip_allow');
        });
    });
});
