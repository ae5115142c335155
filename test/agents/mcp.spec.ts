import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as EarlierTransportType } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { eventually } from '../support/eventually.ts';
import { ownEnvironment } from '../support/own-environment.ts';
import { join, type Person } from '../support/people.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, useWorld, type World } from '../support/world.ts';

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
    describe(`an agent over ${name}`, () => {
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
            expect(tools[0]?.description)
                .to.match(/^Start here/)
                .and.include('only if its description fits');
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
                ['fetch', { site: 'https://dear.test/all', endpoint: 'any' }, 'INVALID_DOMAIN', 'find_endpoint'],
                ['fetch', { site: SHOP, endpoint: 'products' }, 'ENDPOINT_NOT_FOUND', 'price_fetch'],
                ['price_fetch', { site: SHOP, endpoint: 'products' }, 'ENDPOINT_NOT_FOUND', 'price_fetch'],
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

        it('learns what its person has to do about a connection', async () => {
            const url = `http://dear.test:${shop.port}/status/401`;
            const auth: PackageAuth[] = [{ id: 'key', type: 'header', name: 'X-Api-Key', obtain_url: 'https://dear.test/keys' }];
            const endpoints = [{ name: 'mine', method: 'GET', url }] as const;
            await ada.publish({ ...shopPackage(shop.port, { site: 'dear.test' }), auth, endpoints: [...endpoints] });
            const mine = { site: 'dear.test', endpoint: 'mine' };
            const told = async (more: object, code: string) => {
                const { error } = (await use('fetch', { ...mine, ...more })).said;
                expect(error.code).to.equal(code);
                return error.what_to_do as string;
            };
            const connected = async () => {
                const { body } = await ada.call('POST', '/v1/connections?test=false', {
                    body: { site: 'dear.test', secret: { value: 'of-the-shop' } },
                });
                return (body as unknown as { data: { connection_id: string } }).data.connection_id;
            };
            expect(await told({}, 'CONNECTION_REQUIRED')).to.include('connect_url');
            const ids = [await connected(), await connected()];
            expect(await told({}, 'CONNECTION_REQUIRED'))
                .to.include('choose')
                .and.not.include('connect_url');
            expect(await told({ connection: ids[0] }, 'UPSTREAM_UNAUTHORIZED')).to.include('new one');
            expect(await told({ connection: 'con_none' }, 'CONNECTION_NOT_FOUND')).to.include('Leave connection out');
            expect(await told({ version: 99, connection: ids[0] }, 'VERSION_NOT_FOUND')).to.include('Leave version out');
            for (const id of ids) await ada.call('DELETE', `/v1/connections/${id}`);
        });

        it('is led from a mistyped name to a price, never to a call of something else', async () => {
            for (const tool of ['fetch', 'start_job']) {
                const mistyped = { site: SHOP, endpoint: 'orders', params: { product: 3 }, idempotency_key: 'orders' };
                for (const wrong of [mistyped, { ...mistyped, endpoint: 'order', site: SHOP.replace('shop', 'shopp') }]) {
                    const { error } = (await use(tool, wrong)).said;
                    expect(error.next, error.code).to.deep.equal({
                        tool: 'price_fetch',
                        arguments: { site: SHOP, endpoint: 'order', params: { product: 3 } },
                    });
                    expect((await use(error.next.tool, error.next.arguments)).said.data.request).to.include({ method: 'POST' });
                }
            }
        });

        it('goes on where a list stopped, with the cursor of its result', async () => {
            const page = { name: 'page', source: 'query', required: false, schema: { type: 'integer' } } as const;
            await ada.publish({
                ...shopPackage(shop.port, { site: 'dear.test' }),
                endpoints: [
                    {
                        name: 'pages',
                        kind: 'paginate',
                        method: 'GET',
                        url: `http://dear.test:${shop.port}/search`,
                        params: [page],
                        pagination: { style: 'page', param: 'page', max_pages: 1 },
                        billing: { unit: 'request', results: 'products' },
                    },
                ],
            });
            const pages = { site: 'dear.test', endpoint: 'pages' };
            const { next_cursor: cursor } = (await use('fetch', pages)).said.meta;
            for (const tool of ['fetch', 'start_job']) expect((await use(tool, { ...pages, cursor })).isError, tool).to.equal(false);
            await eventually(
                async () => shop.seen.filter(({ path }) => path === '/search?page=2').length,
                (asked) => asked === 2,
            );
        });

        it('does not get its own long call back, nor a thousand problems: an error is within the budget too', async () => {
            const mistyped = { site: SHOP, endpoint: 'produc', params: { id: 7 } };
            expect((await use('fetch', mistyped)).said.error.next).to.deep.include({ tool: 'price_fetch' });
            const long = await use('fetch', { ...mistyped, params: { id: 7, note: 'y'.repeat(20_000) } });
            expect(long.said.error).to.include({ code: 'ENDPOINT_NOT_FOUND', next: null });
            const many = await use('run_batch', { items: Array.from({ length: 1000 }, () => null) });
            expect(many.said.error.details.length).to.be.above(10);
            for (const { text } of [long, many]) expect(text.length).to.be.at.most(8000);
        });

        it('gets a suggestion for a mistyped site', async () => {
            const { said } = await use('fetch', { site: SHOP.replace('shop', 'shopp'), endpoint: 'product' });
            expect(said.error).to.deep.include({ code: 'SITE_NOT_FOUND', did_you_mean: [SHOP] });
            expect(said.error.what_to_do).to.include('did_you_mean');
            for (const missing of [
                { site: 'nothing-like-it.example', endpoint: 'product' },
                { site: SHOP, endpoint: 'zzzzzzzz' },
            ])
                expect((await use('fetch', missing)).said.error.what_to_do).not.to.include('did_you_mean');
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

describe('an agent over stdio that closes stdin at once', () => {
    const world = useWorld();

    it('still gets the answer to its call, and the command ends', async () => {
        const args = ['cli/bin/routebook.ts', 'mcp', '--server', world.base];
        const ran = spawn(process.execPath, args, {
            env: { ...ownEnvironment(), XDG_CONFIG_HOME: '/nonexistent' },
            stdio: ['pipe', 'pipe', 'ignore'],
        });
        const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
        const messages = [
            { id: 1, method: 'initialize', params: hello },
            { method: 'notifications/initialized' },
            { id: 2, method: 'tools/list' },
            { id: 3, method: 'tools/call', params: { name: 'find_endpoint', arguments: { task: 'buy shoes' } } },
        ];
        ran.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
        const [said, [code]] = await Promise.all([text(ran.stdout), once(ran, 'close')]);
        const answers = said
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line));
        expect(answers.map(({ id }) => id)).to.deep.equal([1, 2, 3]);
        expect(answers[2].result.structuredContent).to.have.property('endpoints');
        expect(code).to.equal(0);
    });
});
