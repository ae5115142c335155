import { expect } from 'chai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { eventually } from '../support/eventually.ts';
import { join } from '../support/people.ts';
import { SHOP, SHOP_HOSTS, shopPackage, useShop } from '../support/shop.ts';
import { useWorld } from '../support/world.ts';

describe('POST /mcp', () => {
    const world = useWorld({ workers: 0 });

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

    it('refuses a cursor that no list gave, and params of another type, as wrong params', async () => {
        const { apiKey } = await join(world);
        const codeOf = async (method: string, params: object) => {
            const answer = await post({ authorization: `Bearer ${apiKey}` }, { jsonrpc: '2.0', id: 1, method, params });
            return ((await answer.json()) as { error?: { code: number } }).error?.code;
        };
        for (const method of ['tools/list', 'resources/list', 'resources/templates/list']) {
            for (const cursor of ['page 2', 5]) expect(await codeOf(method, { cursor }), `${method} ${cursor}`).to.equal(-32602);
            for (const first of [{}, { cursor: '' }]) expect(await codeOf(method, first), method).to.equal(undefined);
        }
        for (const params of [{}, { uri: 5 }]) expect(await codeOf('resources/read', params)).to.equal(-32602);
        for (const params of [{}, { name: 5 }, { name: 'look_up_site', arguments: 5 }])
            expect(await codeOf('tools/call', params)).to.equal(-32602);
    });

    it('says in words which params of a request are wrong, as wrong params', async () => {
        const errorOf = async (method: string, params?: object) => {
            const answer = await post({}, { jsonrpc: '2.0', id: 1, method, params });
            return ((await answer.json()) as { error: { code: number; message: string } }).error;
        };
        const missing = await errorOf('initialize', { protocolVersion: 1, capabilities: {} });
        expect(missing).to.deep.equal({
            code: -32602,
            message: 'Invalid params for initialize. The argument clientInfo is required. The value of protocolVersion must be a string.',
        });
        expect((await errorOf('initialize')).message).to.include('The argument protocolVersion is required.');
        expect(await errorOf('tools/call', { name: 'find_endpoint', arguments: ['shoes'] })).to.deep.equal({
            code: -32602,
            message: 'Invalid params for tools/call. The value of arguments must be an object.',
        });
        expect((await errorOf('tools/call', { name: 'find_endpont' })).message).to.equal(
            'Unknown tool: find_endpont; did you mean find_endpoint?',
        );
    });

    it('says which value of a message is not allowed, as wrong params', async () => {
        const { apiKey } = await join(world);
        const headers = { authorization: `Bearer ${apiKey}` };
        const garbled = called('fetch', { site: 'shop.test', endpoint: 'product', params: { q: 'a\0b' } });
        const message = 'Invalid params. /params/arguments/params/q: The value has a NUL character (U+0000 at position 1).';
        const alone = await post(headers, garbled);
        expect([alone.status, await alone.json()]).to.deep.equal([200, { jsonrpc: '2.0', id: 1, error: { code: -32602, message } }]);
        const [first, second] = (await (await post(headers, [garbled, { ...garbled, id: 'b' }])).json()) as { id: unknown }[];
        expect([first?.id, second?.id]).to.deep.equal([1, 'b']);
        expect((await post(headers, { ...garbled, id: undefined })).status, 'nobody waits for an answer').to.equal(400);
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

describe('a call of an agent that leaves before the answer', () => {
    const world = useWorld({ config: { egressHosts: SHOP_HOSTS } });
    const shop = useShop();

    it('is stopped at the site, and free', async () => {
        const ada = await join(world, { plan: 'starter' });
        await ada.publish(shopPackage(shop.port));
        const before = await world.app.credits.balance(ada.workspaceId);
        const params = { name: 'fetch', arguments: { site: SHOP, endpoint: 'held', params: {} } };
        const leaving = new AbortController();
        const call = fetch(`${world.base}/mcp`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.apiKey}` },
            body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
            signal: leaving.signal,
        }).catch((error: Error) => error.name);
        await shop.waiting(1);
        leaving.abort();
        expect(await call).to.equal('AbortError');
        await eventually(
            () => world.app.credits.balance(ada.workspaceId),
            (now) => now?.held === 0 && now.available === before?.available,
        );
    });
});
