import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { eventually } from '../support/eventually.ts';
import { ownEnvironment } from '../support/own-environment.ts';
import { SHOP, shopPackage } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';
import { CLIENTS, useAgentWorld } from './support/agent-world.ts';

const READS = ['find_endpoint', 'look_up_site', 'price_fetch', 'get_job', 'check_request'];
const WRITES = ['fetch', 'start_job', 'run_batch', 'request_schema', 'report_problem'];

for (const client of CLIENTS) {
    describe(`an agent over ${client}`, () => {
        const { shop, ada, tools: listTools, use } = useAgentWorld(client);
        const balance = async () => (await ada.call('GET', '/v1/account')).body as unknown as { data: { credits: { balance: number } } };

        it('gets every tool, and which of them are read-only', async () => {
            const tools = await listTools();
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
            const tools = await listTools();
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

        it('sends a write by fetch once with a key of its own', async () => {
            const sent = () => shop.seen.filter(({ path }) => path === '/echo/orders').length;
            const before = sent();
            const order = { site: SHOP, endpoint: 'order', params: { product: 3 } };
            const first = await use('fetch', { ...order, idempotency_key: 'order' });
            const second = await use('fetch', { ...order, idempotency_key: 'order' });
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
