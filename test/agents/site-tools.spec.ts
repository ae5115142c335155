import { createHash } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

describe('the endpoints of a site as tools', () => {
    const world = useWorld({ config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();
    let ada: Person;

    before(async () => {
        ada = await join(world, { plan: 'starter' });
        dataOf(await ada.publish(shopPackage(shop.port)));
    });

    async function connect(path: string, apiKey: string | undefined = ada.apiKey): Promise<Client> {
        const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
        const requestInit = { headers: { authorization: `Bearer ${apiKey}` } };
        await client.connect(new StreamableHTTPClientTransport(new URL(`${world.base}${path}`), { requestInit }));
        return client;
    }
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
        fetch(`${world.base}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
        });
    const toolsOf = async (client: Client) => (await client.listTools()).tools;

    it('have its names and params, and mark those that change something', async () => {
        const agent = await connect(`/mcp/${SHOP}`);
        const tools = await toolsOf(agent);
        const product = tools.find(({ name }) => name === 'product');
        expect(product?.inputSchema.properties).to.have.property('id');
        expect(product?.outputSchema).to.have.property('type', 'object');
        expect(product?.annotations).to.include({ readOnlyHint: true });
        expect(tools.find(({ name }) => name === 'order')?.annotations).to.include({ readOnlyHint: false, destructiveHint: true });
        const answer = await agent.callTool({ name: 'product', arguments: { id: 7 } });
        expect(answer.structuredContent).to.have.nested.property('data.id', 7);
        const wrong = await agent.callTool({ name: 'product', arguments: { id: 'seven' } });
        expect(wrong.isError).to.equal(true);
        expect(wrong.structuredContent).to.have.nested.property('error.code', 'INVALID_PARAMS');
        // The list has no tool that helps; look_up_site belongs to the general one.
        expect(wrong.structuredContent).to.have.nested.property('error.next', null);
        expect(JSON.stringify(wrong.structuredContent)).to.not.include('look_up_site');
        await agent.close();
    });

    it('show no cursor, because none of them accepts one', async () => {
        const endpoint = {
            name: 'pages',
            kind: 'paginate',
            method: 'GET',
            url: `http://dear.test:${shop.port}/search`,
            params: [{ name: 'page', source: 'query', required: false, schema: { type: 'integer' } }],
            pagination: { style: 'page', param: 'page', max_pages: 1 },
            billing: { unit: 'request', results: 'products' },
        } as const;
        dataOf(await ada.publish({ ...shopPackage(shop.port, { site: 'dear.test' }), endpoints: [endpoint] }));
        const fetched = await ada.call('POST', '/v1/fetch', { body: { site: 'dear.test', endpoint: 'pages' } });
        expect(fetched.body).to.have.nested.property('meta.next_cursor');
        const agent = await connect('/mcp/dear.test');
        const { structuredContent } = await agent.callTool({ name: 'pages', arguments: {} });
        expect(structuredContent).to.have.nested.property('meta.truncated', true);
        expect(structuredContent).not.to.have.nested.property('meta.next_cursor');
        await agent.close();
    });

    it('are limited to those in the URL', async () => {
        const named = await connect(`/mcp/${SHOP}?endpoints=product,order`);
        expect((await toolsOf(named)).map(({ name }) => name)).to.have.members(['product', 'order']);
        const reading = await connect(`/mcp/${SHOP}?effect=read`);
        const names = (await toolsOf(reading)).map(({ name }) => name);
        expect(names).to.include('product').and.not.include('order');
        await named.close();
        await reading.close();
    });

    it('are listed for everybody and called with a key, with errors for a wrong URL', async () => {
        expect((await post(`/mcp/${SHOP}`, { method: 'tools/list' })).status).to.equal(200);
        const refused = await post(`/mcp/${SHOP}`, { method: 'tools/call', params: { name: 'product', arguments: { id: 1 } } });
        expect(refused.status).to.equal(401);
        expect(refused.headers.get('www-authenticate')).to.include(`/.well-known/oauth-protected-resource/mcp/${SHOP}"`);
        expect((await post('/mcp/nobody.test', { method: 'tools/list' })).status).to.equal(404);
        expect((await post(`/mcp/${SHOP}?endpoints=product,nothing`, { method: 'tools/list' })).status).to.equal(400);
        expect((await post(`/mcp/${SHOP}?effect=all`, { method: 'tools/list' })).status).to.equal(400);
    });

    it('are at most 100 of 500, working ones first, in at most 10,000 tokens', async () => {
        const site = 'large.test';
        const url = `https://${site}/things/{id}`;
        const endpoints = Array.from({ length: 500 }, (_, number) => ({
            name: `thing_${number}`,
            method: 'GET',
            url,
            description: `Reads thing number ${number} of the large site, with all that is known of its price, its stock and its makers.`,
            params: [{ name: 'id', source: 'path', required: true, description: 'The number of the thing', schema: { type: 'integer' } }],
            response: { schema: { type: 'object', properties: { price: { type: 'number' }, stock: { type: 'integer' } } } },
        }));
        dataOf(await ada.publish({ format: 'routebook/1', site, title: 'Large', intent_category: 'commerce', endpoints }));
        await world.app
            .db('endpoint_days')
            .insert({ site, endpoint: 'thing_444', day: world.app.db.raw('app_now()::date'), successes: 3, failures: 0 });
        const { result } = (await (await post(`/mcp/${site}`, { method: 'tools/list' })).json()) as {
            result: { tools: { name: string }[] };
        };
        expect(result.tools).to.have.length(100);
        expect(result.tools[0]).to.include({ name: 'thing_444' });
        expect(countTokens(JSON.stringify(result))).to.be.at.most(10_000);
        expect(JSON.stringify(result)).to.not.include('outputSchema');
        const one = await connect(`/mcp/${site}?endpoints=thing_7`);
        const [tool] = await toolsOf(one);
        expect(tool?.outputSchema?.properties).to.have.nested.property('data.properties.price');
        await one.close();
    });

    it('are in at most 10,000 tokens even if their texts are random', async () => {
        const site = 'nonsense.test';
        const texts = {
            letters: (seed: number) => createHash('sha512').update(String(seed)).digest('base64').repeat(3),
            digits: (seed: number) => createHash('sha512').update(String(seed)).digest('hex').replaceAll(/[a-f]/g, ' '),
            signs: (seed: number) =>
                String.fromCodePoint(
                    ...createHash('sha512')
                        .update(String(seed))
                        .digest()
                        .map((byte) => byte),
                ) + '\u3456'.repeat(40),
        };
        for (const [kind, textOf] of Object.entries(texts)) {
            const endpoints = Array.from({ length: 150 }, (_, number) => ({
                name: `thing_${number}`,
                method: 'GET',
                url: `https://${site}/${kind}`,
                description: textOf(number).replaceAll(/[\u0000-\u009f]/g, 'x'),
                params: [],
            }));
            dataOf(await ada.publish({ format: 'routebook/1', site, title: 'Nonsense', intent_category: 'commerce', endpoints }));
            const list = async () => (await post(`/mcp/${site}`, { method: 'tools/list' })).json();
            const { result } = (await list()) as { result: { tools: { description: string }[] } };
            expect(result.tools.length, kind).to.be.above(20);
            expect(countTokens(JSON.stringify(result)), kind).to.be.at.most(10_000);
        }
    });

    it('offer the complete long result, page by page, for a day and to its caller only', async () => {
        const site = 'dear.test';
        const url = `http://${site}:${shop.port}/search`;
        const n = { name: 'n', source: 'query', required: true, schema: { type: 'integer' } } as const;
        dataOf(await ada.publish({ ...shopPackage(shop.port, { site }), endpoints: [{ name: 'all', method: 'GET', url, params: [n] }] }));
        const agent = await connect('/mcp');
        const linkTo = async (count: number) => {
            const answer = await agent.callTool({ name: 'fetch', arguments: { site, endpoint: 'all', params: { n: count } } });
            return answer.content.find(({ type }) => type === 'resource_link') as { uri: string };
        };
        // The second one is longer than what the tools parse.
        for (const count of [2000, 40_000]) {
            let whole = '';
            for (let uri: string | null = (await linkTo(count)).uri; uri !== null; ) {
                const { contents } = await agent.readResource({ uri });
                const page = JSON.parse((contents[0] as { text: string }).text) as { text: string; next: string | null };
                whole += page.text;
                uri = page.next;
            }
            expect((JSON.parse(whole) as { data: { products: unknown[] } }).data.products).to.have.length(count);
            expect(whole.length > 256 * 1024, `${whole.length}`).to.equal(count > 2000);
        }
        const link = await linkTo(2000);
        expect(link.uri).to.match(/^routebook:/);
        const other = await connect('/mcp', (await join(world)).apiKey);
        const refused = await other.readResource({ uri: link.uri }).catch((error: Error) => error.message);
        expect(refused).to.include('No such result');
        await world.clock.advance({ hours: 25 });
        expect(await agent.readResource({ uri: link.uri }).catch((error: Error) => error.message)).to.include('No such result');
        await agent.close();
        await other.close();
    });
});
