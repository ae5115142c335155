import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as EarlierTransportType } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { fitToBudget } from '../../shared/agents/fit-to-budget.ts';
import { truncateJson } from '../../shared/domain/json/truncate-json.ts';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { eventually } from '../support/eventually.ts';
import { ownEnvironment } from '../support/own-environment.ts';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

const READS = ['find_endpoint', 'look_up_site', 'price_fetch', 'get_job', 'check_request'];
const WRITES = ['fetch', 'start_job', 'run_batch', 'request_schema', 'report_problem'];

interface Listed {
    name: string;
    description?: string | undefined;
    annotations?: { readOnlyHint?: boolean | undefined } | undefined;
    outputSchema?: object | undefined;
}

/** The common interface of the clients of all protocol revisions. */
interface Agent {
    listTools(): Promise<{ tools: Listed[] }>;
    callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
    close(): Promise<void>;
}

const headersOf = (apiKey: string | undefined) => (apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` });

/** How an agent reaches the tools. */
const CLIENTS: Readonly<Record<string, (world: World, apiKey: string | undefined) => Promise<Agent>>> = {
    async 'streamable HTTP'(world, apiKey) {
        const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
        await client.connect(
            new StreamableHTTPClientTransport(new URL(`${world.base}/mcp`), { requestInit: { headers: headersOf(apiKey) } }),
        );
        expect(client.getNegotiatedProtocolVersion()).to.equal('2026-07-28');
        return client;
    },
    async 'streamable HTTP, of 2025'(world, apiKey) {
        const client = new EarlierClient({ name: 'test', version: '1' });
        // The SDK's own types disagree under exactOptionalPropertyTypes.
        await client.connect(
            new EarlierTransport(new URL(`${world.base}/mcp`), { requestInit: { headers: headersOf(apiKey) } }) as EarlierTransportType,
        );
        return client;
    },
    async stdio(world, apiKey) {
        const client = new Client({ name: 'test', version: '1' });
        await client.connect(
            new StdioClientTransport({
                command: process.execPath,
                args: ['cli/bin/routebook.ts', 'mcp', '--server', world.base],
                env: {
                    ...ownEnvironment(),
                    XDG_CONFIG_HOME: '/nonexistent',
                    ...(apiKey === undefined ? {} : { ROUTEBOOK_API_KEY: apiKey }),
                },
                stderr: 'ignore',
            }),
        );
        return client;
    },
};

for (const [name, open] of Object.entries(CLIENTS)) {
    describe(`an agent over ${name}`, function () {
        this.timeout(240_000);
        let world: World;
        let shop: Shop;
        let ada: Person;
        let agent: Agent;

        before(async () => {
            shop = await openShop();
            world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
            ada = await join(world, { plan: 'starter' });
            await ada.publish(shopPackage(shop.port));
            agent = await connect(ada.apiKey);
        });
        after(async () => {
            await agent?.close();
            await world.close();
            await shop.close();
        });

        const connect = (apiKey: string | undefined) => open(world, apiKey);

        const use = async (tool: string, args: Record<string, unknown> = {}, by = agent) => {
            const answer = (await by.callTool({ name: tool, arguments: args })) as {
                isError?: boolean;
                content: { text: string }[];
                structuredContent?: unknown;
            };
            const text = answer.content[0]?.text ?? '';
            const said = JSON.parse(text);
            expect(answer.structuredContent, tool).to.deep.equal(said);
            return { isError: answer.isError ?? false, text, said };
        };
        const balance = async () => (await ada.call('GET', '/v1/account')).body as unknown as { data: { credits: { balance: number } } };

        it('gets every tool, and which of them are read-only', async () => {
            const { tools } = await agent.listTools();
            expect(tools.map((tool) => tool.name)).to.have.members([...READS, ...WRITES]);
            for (const { name: tool, annotations, description, outputSchema } of tools) {
                expect(annotations?.readOnlyHint, tool).to.equal(READS.includes(tool));
                expect(description?.length, tool).to.be.above(20);
                expect(outputSchema, tool).to.have.property('type', 'object');
            }
        });

        it('finds a site, looks it up, sees the price, fetches, and pays the API’s price', async () => {
            const found = await use('look_up_site', { site: SHOP, intent: 'read the price of one product by its number' });
            expect(found.said.session_id).to.match(/^ses_/);
            expect(found.said.endpoints[0].name).to.equal('product');
            const before = (await balance()).data.credits.balance;
            const dry = await use('price_fetch', { site: SHOP, endpoint: 'product', params: { id: 7 } });
            expect(dry.said.data).to.include({ credits_max: 1 });
            const fetched = await use('fetch', { site: SHOP, endpoint: 'product', params: { id: 7 }, session_id: found.said.session_id });
            expect(fetched.said.data).to.include({ id: 7 });
            // The first fetch of an account earns its bonus.
            expect(fetched.said.meta.credits_used).to.equal(1);
            const { balance: after } = (await balance()).data.credits;
            expect(after).to.equal(fetched.said.meta.credits_remaining);
            expect(after).to.be.at.least(before - 1);
        });

        it('finds an endpoint by its task first, and fetches with the call in the result', async () => {
            const { tools } = await agent.listTools();
            expect(tools[0]).to.include({ name: 'find_endpoint' });
            expect(tools[0]?.description).to.match(/^Start here/);
            const fitting = { ...shopPackage(shop.port, { site: 'dear.test' }), title: 'Exchange rates' };
            const [product] = fitting.endpoints.filter(({ name: endpoint }) => endpoint === 'product');
            await ada.publish({
                ...fitting,
                endpoints: [
                    {
                        ...(product as NonNullable<typeof product>),
                        name: 'exchange_rate',
                        description: 'Exchange rate of a currency.',
                        url: `http://dear.test:${shop.port}/products/{id}`,
                        examples: [{ params: { id: 7 } }],
                    },
                ],
            });
            let said: { session_id?: string; endpoints: { site: string; fetch: Record<string, unknown> }[] } = { endpoints: [] };
            await eventually(
                async () => {
                    said = (await use('find_endpoint', { task: 'currency exchange rates' })).said;
                    return said.endpoints[0]?.site;
                },
                (site) => site === 'dear.test',
            );
            expect(said.session_id).to.match(/^ses_/);
            const fetched = await use('fetch', { ...said.endpoints[0]?.fetch, session_id: said.session_id });
            expect(fetched.said.data).to.include({ id: 7 });
            const nothing = await use('find_endpoint', { task: 'horoscope for Leo this week' });
            expect(nothing.said.endpoints).to.deep.equal([]);
            expect(nothing.said.suggestion).to.deep.equal({ request: { task: 'horoscope for Leo this week' }, missing: ['site'] });
            const named = await use('find_endpoint', { task: 'horoscope for Leo this week', site: 'stars.example', effect: 'read' });
            expect((await use('request_schema', named.said.suggestion.request)).said).to.include({ status: 'open' });
        });

        it('sees before a call which endpoints need a connection', async () => {
            const account: PackageAuth = { id: 'key', type: 'header', name: 'X-Api-Key' };
            const url = `http://dear.test:${shop.port}/products`;
            await ada.publish({
                ...shopPackage(shop.port, { site: 'dear.test' }),
                auth: [account],
                endpoints: [
                    { name: 'sealed_glockenspiels', method: 'GET', url, description: 'Glockenspiels that are sealed.' },
                    { name: 'open_glockenspiels', method: 'GET', url, description: 'Glockenspiels that are open.', auth: 'none' },
                ],
            });
            let found: { endpoint: string; needs_connection?: true }[] = [];
            await eventually(
                async () => {
                    found = (await use('find_endpoint', { task: 'glockenspiels' })).said.endpoints;
                    return found.length;
                },
                (length) => length === 2,
            );
            const needs = Object.fromEntries(found.map(({ endpoint, needs_connection }) => [endpoint, needs_connection]));
            expect(needs).to.deep.equal({ sealed_glockenspiels: true, open_glockenspiels: undefined });
        });

        it('gets the beginning of a large response, with all metadata of the call', async () => {
            const url = `http://dear.test:${shop.port}/search`;
            const n = { name: 'n', source: 'query', required: true, schema: { type: 'integer' } } as const;
            await ada.publish({
                ...shopPackage(shop.port, { site: 'dear.test' }),
                endpoints: [{ name: 'all', method: 'GET', url, params: [n] }],
            });
            const { said, text } = await use('fetch', { site: 'dear.test', endpoint: 'all', params: { n: 60_000 }, max_characters: 5000 });
            expect(text.length).to.be.within(4800, 5000);
            expect(said.data.products.slice(0, 2)).to.deep.equal([{ id: 1 }, { id: 2 }]);
            expect(said.data.products.at(-1)).to.match(/^… \d+ more$/);
            expect(said.meta).to.include({ site: 'dear.test', endpoint: 'all', results: 1, truncated: false });
        });

        it('learns the site’s response if it refused, and where to get a key', async () => {
            const refused = await use('fetch', { site: SHOP, endpoint: 'status', params: { code: 404 } });
            expect(refused.said.error).to.deep.include({ code: 'UPSTREAM_STATUS' }).and.have.nested.property('upstream.status', 404);
            expect(refused.said.error.doc_url).to.match(/#UPSTREAM_STATUS$/);
        });

        it('sends a write by fetch once with a key of its own', async () => {
            const sent = () => shop.seen.filter(({ path }) => path === '/echo/orders').length;
            const before = sent();
            const order = { site: SHOP, endpoint: 'order', params: { product: 3 } };
            const first = await use('fetch', { ...order, idempotency_key: `order-${name.length}` });
            const second = await use('fetch', { ...order, idempotency_key: `order-${name.length}` });
            expect(first.isError).to.equal(false);
            expect(second.said.data).to.deep.equal(first.said.data);
            expect(sent() - before).to.equal(1);
        });

        it('starts a job, and waits for its result', async () => {
            const { said } = await use('start_job', { site: SHOP, endpoint: 'product', params: { id: 7 } });
            expect(said.job_id).to.match(/^job_/);
            const ended = await use('get_job', { job_id: said.job_id, wait: 20 });
            expect(ended.said).to.include({ job_id: said.job_id, status: 'succeeded' });
            expect(ended.said.result.data).to.include({ id: 7 });
        });

        it('runs a batch, and reads its results', async () => {
            const items = [{ params: { id: 7 } }, { params: { id: 8 } }];
            const { said } = await use('run_batch', { items, defaults: { site: SHOP, endpoint: 'product' } });
            expect(said.batch_id).to.match(/^bat_/);
            const ended = await use('get_job', { job_id: said.batch_id, wait: 20 });
            expect(ended.said).to.include({ batch_id: said.batch_id, status: 'succeeded' });
            const ids = ended.said.results.map(({ result }: { result: { data: { id: number } } }) => result.data.id);
            expect(ids).to.have.members([7, 8]);
        });

        it('reports a problem', async () => {
            const { said } = await use('report_problem', { site: SHOP, endpoint: 'broken', kind: 'broken', text: 'It answers no JSON.' });
            expect(said.report_id).to.match(/^rep_/);
        });

        it('requests a missing site, and sees the status of the request', async () => {
            const asked = await use('request_schema', { site: 'missing.example', task: 'Read the opening hours of every shop.' });
            expect(asked.said.request_id).to.match(/^srq_/);
            expect((await use('check_request', { request_id: asked.said.request_id })).said.status).to.equal('open');
        });

        it('gets with each error its code and what to do', async () => {
            for (const [tool, args, code, next] of [
                ['fetch', { site: 'missing.example', endpoint: 'any' }, 'SITE_NOT_FOUND', 'find_endpoint'],
                ['fetch', { site: SHOP, endpoint: 'products' }, 'ENDPOINT_NOT_FOUND', 'fetch'],
                ['fetch', { site: SHOP, endpoint: 'product', params: { id: 'x' } }, 'INVALID_PARAMS', 'look_up_site'],
                ['look_up_site', { site: SHOP, intent: 'too short' }, 'INTENT_TOO_SHORT', 'find_endpoint'],
                ['look_up_site', { site: SHOP, intent: 'x' }, 'INTENT_TOO_SHORT', 'look_up_site'],
                ['fetch', { site: SHOP, endpoint: 'broken' }, 'UPSTREAM_INVALID_RESPONSE', 'report_problem'],
                ['check_request', { request_id: 'srq_none' }, 'REQUEST_NOT_FOUND', undefined],
                ['fetch', { site: SHOP, endpoints: 'product' }, 'INVALID_ARGUMENTS', undefined],
            ] as const) {
                const { isError, said } = await use(tool, args);
                expect([isError, said.error.code], tool).to.deep.equal([true, code]);
                expect(said.error.what_to_do.length, code).to.be.above(20);
                expect(said.error.fault, code).to.be.oneOf(['caller', 'schema']);
                if (next !== undefined) expect(said.error.next, code).to.deep.include({ tool: next });
            }
        });

        it('does not get its own long call back, nor a thousand problems: an error is within the budget too', async () => {
            const mistyped = { site: SHOP, endpoint: 'produc', params: { id: 7 } };
            expect((await use('fetch', mistyped)).said.error.next).to.deep.include({ tool: 'fetch' });
            const long = await use('fetch', { ...mistyped, params: { id: 7, note: 'y'.repeat(20_000) } });
            expect(long.said.error).to.include({ code: 'ENDPOINT_NOT_FOUND', next: null });
            const many = await use('run_batch', { items: Array.from({ length: 1000 }, () => null) });
            expect(many.said.error.details.length).to.be.above(10);
            for (const { text } of [long, many]) expect(text.length).to.be.at.most(8000);
        });

        it('gets a suggestion for a mistyped site', async () => {
            const { said } = await use('fetch', { site: SHOP.replace('shop', 'shopp'), endpoint: 'product' });
            expect(said.error).to.deep.include({ code: 'SITE_NOT_FOUND', did_you_mean: [SHOP] });
        });

        it('gets a result within its budget, as JSON that says what is missing', async () => {
            const { text, said } = await use('look_up_site', {
                site: SHOP,
                intent: 'list everything that this shop can do for me',
                max_characters: 900,
            });
            expect(text.length).to.be.at.most(900);
            expect(said.note).to.include('max_characters');
        });
    });
}

describe('POST /mcp', () => {
    let world: World;
    before(async () => {
        world = await openWorld({ workers: 0 });
    });
    after(() => world.close());

    const post = (headers: Record<string, string>, body: unknown = { jsonrpc: '2.0', id: 1, method: 'tools/list' }, query = '') =>
        fetch(`${world.base}/mcp${query}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
            body: typeof body === 'string' ? body : JSON.stringify(body),
        });

    it('refuses pages of other origins, and wrong keys at once', async () => {
        expect((await post({ origin: 'https://evil.example' })).status).to.equal(403);
        const wrong = await post({ authorization: 'Bearer rb_live_nonsense' });
        expect(wrong.status).to.equal(401);
        expect(wrong.headers.get('www-authenticate')).to.match(/^Bearer error="invalid_token", resource_metadata="/);
        expect((await post({ origin: world.base.replace('127.0.0.1', 'localhost') })).status).to.equal(200);
    });

    const called = (name: string, args: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
    const listOf = async (query: string) => {
        const { result } = (await (await post({}, undefined, query)).json()) as { result: { tools: { name: string }[] } };
        return result.tools.map(({ name }) => name);
    };

    it('has lists and browsing tools for everybody, and says where to sign in for the others', async () => {
        expect((await post({}, called('check_request', { request_id: 'srq_none' }))).status).to.equal(200);
        for (const name of ['fetch', 'price_fetch', 'start_job', 'get_job', 'run_batch', 'report_problem']) {
            const refused = await post({}, called(name, {}));
            expect(refused.status, name).to.equal(401);
            expect(refused.headers.get('www-authenticate')).to.equal(
                `Bearer resource_metadata="${world.app.publicUrl()}/.well-known/oauth-protected-resource/mcp"`,
            );
            expect(await refused.json()).to.have.nested.property('error.code', 'API_KEY_REQUIRED');
        }
        for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
            const metadata = await fetch(new URL(path, world.base));
            expect(metadata.status).to.equal(200);
            expect(metadata.headers.get('access-control-allow-origin')).to.equal('*');
            expect(await metadata.json()).to.deep.equal({
                resource: `${world.app.publicUrl()}/mcp`,
                resource_name: 'Routebook',
                authorization_servers: [world.app.publicUrl()],
                scopes_supported: ['read', 'write'],
                bearer_methods_supported: ['header'],
                resource_documentation: `${world.app.publicUrl()}/docs/agents`,
            });
        }
        const ofSite = await fetch(new URL('/.well-known/oauth-protected-resource/mcp/shop.test', world.base));
        expect(await ofSite.json()).to.include({ resource: `${world.app.publicUrl()}/mcp/shop.test` });
        expect((await post({}, undefined, '?sign_in=true')).status).to.equal(401);
        const { apiKey } = await join(world);
        expect((await post({ authorization: `Bearer ${apiKey}` }, undefined, '?sign_in=true')).status).to.equal(200);
    });

    it('answers in JSON whoever accepts it, without event streams too', async () => {
        for (const accept of ['application/json', '*/*', 'text/html, application/*;q=0.8']) {
            const answer = await post({ accept });
            expect(answer.status, accept).to.equal(200);
            expect(answer.headers.get('content-type'), accept).to.match(/^application\/json/);
        }
        expect((await post({ accept: 'text/html' })).status).to.equal(406);
    });

    it('names no tool as the next step that its list does not have', async () => {
        const { apiKey } = await join(world);
        const wrong = called('fetch', { site: 'missing.example', endpoint: 'any' });
        const nextOf = async (query: string) => {
            const answer = await post({ authorization: `Bearer ${apiKey}` }, wrong, query);
            const { result } = (await answer.json()) as { result: { structuredContent: { error: { next: { tool: string } | null } } } };
            return result.structuredContent.error.next?.tool ?? null;
        };
        expect(await nextOf('?tools=fetch')).to.equal(null);
        expect(await nextOf('?tools=fetch,find_endpoint')).to.equal('find_endpoint');
    });

    it('lists the tools that a URL names, and refuses unknown names', async () => {
        expect(await listOf('?tools=find_endpoint,fetch')).to.deep.equal(['find_endpoint', 'fetch']);
        expect((await post({}, undefined, '?tools=find_endpoint,nothing')).status).to.equal(400);
        expect((await post({}, undefined, '?tool=find_endpoint')).status).to.equal(400);
    });

    it('lists all general tools in at most 1,500 tokens', async () => {
        const { result } = (await (await post({})).json()) as { result: unknown };
        expect(countTokens(JSON.stringify(result))).to.be.at.most(1500);
    });

    it('answers invalid messages with an error', async () => {
        for (const body of [
            '',
            'nope',
            '[]',
            '{}',
            '{"jsonrpc":"2.0"}',
            '[[[[]]]]',
            { jsonrpc: '2.0', id: 1, method: 'tools/call', params: 7 },
        ]) {
            expect((await post({}, body)).status, JSON.stringify(body)).to.be.below(500);
        }
        expect((await fetch(`${world.base}/mcp`)).status).to.equal(405);
    });

    const search = (id: number) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'check_request', arguments: { request_id: 'srq_none' } },
    });

    it('passes on numbers of params with all their digits', async () => {
        const maker = await join(world);
        const url = 'https://numbers.example/{id}';
        const params = [{ name: 'id', source: 'path', required: true, schema: { type: 'integer' } }];
        const endpoints = [{ name: 'one', method: 'GET', url, params }];
        await maker.publish({ format: 'routebook/1', site: 'numbers.example', title: 'Numbers', intent_category: 'commerce', endpoints });
        const order = '{"site":"numbers.example","endpoint":"one","params":{"id":9007199254740993}}';
        const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"price_fetch","arguments":${order}}}`;
        const answer = await post({ authorization: `Bearer ${maker.apiKey}` }, call);
        expect(await answer.text()).to.include('https://numbers.example/9007199254740993');
    });

    it('answers a call that is cancelled at once', async () => {
        const takenBack = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
        const answer = await post({}, [search(1), takenBack, search(2)]);
        expect(answer.status).to.equal(200);
        expect(((await answer.json()) as { id: number }[]).map(({ id }) => id)).to.have.members([1, 2]);
    });

    it('refuses two calls with the same id in a request, of which one would be charged without an answer', async () => {
        for (const calls of [
            [search(1), search(1)],
            [search(1), { jsonrpc: '2.0', id: 1, method: 'ping' }],
        ]) {
            const answer = await post({}, calls);
            expect(answer.status).to.equal(400);
            expect(await answer.json()).to.have.nested.property('error.code', 'VALIDATION_ERROR');
        }
        const notes = [1, 2].map(() => ({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }));
        expect((await post({}, [search(1), ...notes, { ...search(2), id: '1' }])).status).to.equal(200);
    });

    it('accepts several messages in a request, but not a hundred', async () => {
        const calls = Array.from({ length: 11 }, (_, id) => search(id));
        expect((await post({}, calls.slice(1))).status).to.equal(200);
        const many = await post({}, calls);
        expect(many.status).to.equal(400);
        expect(await many.json()).to.have.nested.property('error.code', 'VALIDATION_ERROR');
    });
});

describe('a result that is larger than its budget', () => {
    it('is valid JSON within the budget, whatever its content', () => {
        const values = [
            { items: Array.from({ length: 5000 }, (_, id) => ({ id, title: `Thing ${id}`, about: 'x'.repeat(300) })) },
            { text: 'word '.repeat(50_000) },
            { emoji: '😀'.repeat(10_000) },
            Array.from({ length: 40 }, () => 'y'.repeat(5000)),
            { prices: Object.fromEntries(Array.from({ length: 5000 }, (_, id) => [`thing-${id}`, id])) },
        ];
        for (const value of values) {
            const { text, isCut } = fitToBudget(value, 3000);
            expect(isCut).to.equal(true);
            expect(text.length).to.be.at.most(3000);
            expect(JSON.parse(text)).to.have.property('note');
            expect(text.isWellFormed()).to.equal(true);
        }
        expect(fitToBudget({ a: 1 }, 3000)).to.deep.equal({ text: '{"a":1}', isCut: false });
        expect(fitToBudget({ a: 'x'.repeat(2900) }, 3000)).to.deep.equal({ text: `{"a":"${'x'.repeat(2900)}"}`, isCut: false });
    });

    it('says how much is missing, and contains as much as fits', () => {
        const items = Array.from({ length: 1000 }, (_, id) => ({ id }));
        const { text } = fitToBudget({ items, prices: Object.fromEntries(items.map(({ id }) => [`thing-${id}`, id])) }, 3000);
        const result = JSON.parse(text) as { items: unknown[]; prices: Record<string, unknown> };
        expect(result.items.at(-1)).to.equal(`… ${1001 - result.items.length} more`);
        expect(result.prices['…']).to.equal(`${1001 - Object.keys(result.prices).length} more`);
        expect(text.length).to.be.within(2900, 3000);
    });

    it('is never processed completely', () => {
        let looks = 0;
        const counted = new Proxy(Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`thing-${id}`, { id }])), {
            get: (target, name) => {
                looks++;
                return Reflect.get(target, name);
            },
        });
        expect(fitToBudget([counted], 3000).isCut).to.equal(true);
        expect(looks).to.be.below(3000);
    });
});

describe('the beginning of a large response', () => {
    const value = { list: [{ 'a"b': 'c\\d é 😀', n: [1, [], {}] }, 'plain, [text] {here}', null, -1.5e3], more: { x: 'y'.repeat(50) } };

    for (const [how, text] of [
        ['in one line', JSON.stringify(value)],
        ['in many', JSON.stringify(value, null, 2)],
        ['with escapes', JSON.stringify(value).replaceAll('é', '\\u00e9')],
    ] as const) {
        it(`is valid JSON wherever it is cut, and says that there is more: written ${how}`, () => {
            for (let most = 1; most < text.length; most++) {
                const beginning = truncateJson(text, most);
                expect(() => JSON.parse(beginning), `${most}: ${beginning}`).to.not.throw();
                expect(beginning, String(most)).to.match(/…/);
            }
            expect(truncateJson(text, text.length)).to.equal(text);
        });
    }

    it('starts with its content, however many blanks a site sends first', () => {
        for (const text of ['{"ok":true}', '[1,2]']) {
            expect(truncateJson(`${' '.repeat(100)}${text}`, 20)).to.equal(text);
            expect(truncateJson(`${'\n'.repeat(100)}${text}${' '.repeat(100)}`, 20)).to.equal(text);
        }
        expect(JSON.parse(truncateJson(`${' '.repeat(100)}[1,2,3,4,5,6,7]`, 5))).to.deep.equal([1, 2, '… more']);
    });

    it('has the beginning of a long text', () => {
        expect(JSON.parse(truncateJson(JSON.stringify({ value: 'abcdefgh' }), 15))).to.deep.equal({ value: 'abcde…', '…': 'more' });
    });
});
