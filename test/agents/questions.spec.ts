import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as EarlierTransportType } from '@modelcontextprotocol/sdk/shared/transport.js';
import { expect } from 'chai';
import { EVERY_SCOPE } from '../../shared/domain/accounts/scopes.ts';
import { createKey, setConfirmAbove } from '../../shared/store/accounts/api-keys.ts';
import { API_KEY, connectedPackage } from '../support/connections.ts';
import { join, type Person, withKey } from '../support/people.ts';
import { codeOf, dataOf, detailsOf } from '../support/routes.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openWorld, type World } from '../support/world.ts';

/** A question that a client shows to its user, and the answer. */
interface Question {
    mode?: string | undefined;
    message: string;
    url?: string | undefined;
}
type Reply = 'accept' | 'decline' | 'cancel';

describe('questions to the user of an agent', () => {
    let world: World;
    let shop: Shop;
    let ada: Person;
    const clients: { close(): Promise<void> }[] = [];

    before(async () => {
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world, { plan: 'starter' });
        dataOf(await ada.publish(shopPackage(shop.port)));
    });
    after(async () => {
        await Promise.all(clients.map((client) => client.close()));
        await world.close();
        await shop.close();
    });

    /** A key with every scope and a confirmation price. */
    async function aKey(confirmAbove: number | null = null): Promise<Person> {
        const { workspaceId, userId } = ada;
        const { keyId, apiKey } = await createKey(world.app.db, { workspaceId, userId, name: 'agent', scopes: EVERY_SCOPE });
        if (confirmAbove !== null) await setConfirmAbove(world.app.db, keyId, confirmAbove);
        return withKey(world, apiKey);
    }

    async function connect(person: Person, answer?: (question: Question) => Reply | Promise<Reply>, path = '/mcp') {
        const asked: Question[] = [];
        const capabilities = answer === undefined ? {} : { elicitation: { form: {}, url: {} } };
        const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode: 'auto' } });
        if (answer !== undefined) {
            client.setRequestHandler('elicitation/create', async ({ params }) => {
                asked.push(params as Question);
                const action = await answer(params as Question);
                return action === 'accept' ? { action, content: {} } : { action };
            });
        }
        const requestInit = { headers: { authorization: `Bearer ${person.apiKey}` } };
        await client.connect(new StreamableHTTPClientTransport(new URL(`${world.base}${path}`), { requestInit }));
        clients.push(client);
        const use = async (name: string, args: Record<string, unknown>) => {
            const { structuredContent, isError = false } = await client.callTool({ name, arguments: args });
            return { isError, said: structuredContent as { error?: { code: string; what_to_do: string; details: { code: string }[] } } };
        };
        return { asked, use };
    }

    const order = (product: number) => ({ site: SHOP, endpoint: 'order', params: { product } });
    const orders = () => shop.seen.filter(({ path }) => path === '/echo/orders').length;

    it('come before a write above the confirmation price of the key, which runs once the user accepts', async () => {
        const agent = await connect(await aKey(0), () => 'accept');
        const before = orders();
        const { isError, said } = await agent.use('fetch', { ...order(1), idempotency_key: 'asked-once' });
        expect([isError, orders() - before], JSON.stringify(said)).to.deep.equal([false, 1]);
        expect(agent.asked).to.have.length(1);
        expect(agent.asked[0]?.message).to.include('may cost 1 credit');
        // Reads, prices and cheaper writes need no confirmation.
        expect((await agent.use('fetch', { site: SHOP, endpoint: 'product', params: { id: 1 } })).isError).to.equal(false);
        expect((await agent.use('price_fetch', order(1))).isError).to.equal(false);
        const trusted = await connect(await aKey(1), () => 'decline');
        expect((await trusted.use('fetch', order(1))).isError).to.equal(false);
        expect([agent.asked.length, trusted.asked.length]).to.deep.equal([1, 0]);
    });

    it('come for the tools of a site, for jobs, and for the maximum cost of a batch of writes', async () => {
        const agent = await connect(await aKey(1), () => 'accept');
        const batch = await agent.use('run_batch', { items: [order(1), order(2)] });
        expect(batch.isError, JSON.stringify(batch.said)).to.equal(false);
        expect(agent.asked[0]?.message).to.include('may cost 2 credits');
        const strict = await aKey(0);
        const { batch_id: batchId } = batch.said as { batch_id?: string };
        for (const act of ['retry', 'resume']) {
            const refused = await strict.call('POST', `/v1/batches/${batchId}/${act}`, { body: {} });
            expect([codeOf(refused), ...detailsOf(refused)].join(), act)
                .to.include('FORBIDDEN')
                .and.include('CONFIRMATION_REQUIRED');
        }
        const jobs = await connect(strict, () => 'accept');
        const started = await jobs.use('start_job', order(3));
        const { job_id: id } = started.said as { job_id?: string };
        const ended = await jobs.use('get_job', { job_id: id, wait: 20 });
        expect(ended.said).to.include({ status: 'succeeded' });
        const site = await connect(strict, () => 'accept', `/mcp/${SHOP}`);
        expect((await site.use('order', { product: 4 })).isError).to.equal(false);
        expect([jobs.asked.length, site.asked.length]).to.deep.equal([1, 1]);
    });

    for (const reply of ['decline', 'cancel'] as const) {
        it(`leave a call unsent after ${reply}`, async () => {
            const agent = await connect(await aKey(0), () => reply);
            const before = orders();
            const { said } = await agent.use('fetch', order(1));
            expect(said.error).to.include({ code: 'FORBIDDEN' });
            expect(said.error?.details[0]).to.include({ code: 'CONFIRMATION_REQUIRED' });
            expect([orders() - before, agent.asked.length]).to.deep.equal([0, 1]);
        });
    }

    it('are replaced by an error with the same text for a client that cannot ask, over the API, /mcp and earlier revisions', async () => {
        const person = await aKey(0);
        const before = orders();
        const plain = await person.fetch(SHOP, 'order', { product: 1 });
        expect([plain.status, codeOf(plain)]).to.deep.equal([403, 'FORBIDDEN']);
        expect(detailsOf(plain).join()).to.include('CONFIRMATION_REQUIRED');
        for (const path of ['/v1/jobs', '/v1/batches']) {
            const body = path === '/v1/jobs' ? order(1) : { items: [order(1)] };
            expect(codeOf(await person.call('POST', path, { body })), path).to.equal('FORBIDDEN');
        }
        const silent = await connect(person);
        const refused = await silent.use('fetch', order(1));
        expect(refused.said.error).to.include({ code: 'FORBIDDEN' });
        expect(refused.said.error?.what_to_do).to.include('confirm_above');
        const earlier = new EarlierClient({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
        const requestInit = { headers: { authorization: `Bearer ${person.apiKey}` } };
        await earlier.connect(new EarlierTransport(new URL(`${world.base}/mcp`), { requestInit }) as EarlierTransportType);
        clients.push(earlier);
        const answer = await earlier.callTool({ name: 'fetch', arguments: order(1) });
        expect(answer['structuredContent']).to.have.nested.property('error.code', 'FORBIDDEN');
        expect(orders()).to.equal(before);
    });

    describe('are bound to their call', () => {
        const envelope = {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
        };
        const send = async (person: Person, params: object, args: object = order(1)) => {
            const message = { name: 'fetch', arguments: args, ...params, _meta: envelope };
            const response = await fetch(`${world.base}/mcp`, {
                method: 'POST',
                headers: {
                    'content-type': 'application/json',
                    accept: 'application/json, text/event-stream',
                    authorization: `Bearer ${person.apiKey}`,
                    'mcp-protocol-version': '2026-07-28',
                    'mcp-method': 'tools/call',
                    'mcp-name': 'fetch',
                },
                body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: message }),
            });
            const text = await response.text();
            const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as { result: Record<string, unknown> };
            return result;
        };
        const accepted = { inputResponses: { confirm: { action: 'accept', content: {} } } };

        it('are needed for each call: an answer to no question, another call, another key or an old question is refused', async () => {
            const person = await aKey(0);
            const asked = await send(person, {});
            expect(asked).to.include({ resultType: 'input_required' });
            const requestState = asked['requestState'] as string;
            const before = orders();
            const refused = [
                await send(person, accepted),
                await send(person, { ...accepted, requestState: `${requestState.slice(0, -4)}AAAA` }),
                await send(person, { ...accepted, requestState: 'x'.repeat(5000) }),
                await send(person, { ...accepted, requestState }, order(2)),
                await send(await aKey(0), { ...accepted, requestState }),
                await send(person, { inputResponses: { confirm: { action: 'decline' } }, requestState }),
            ];
            for (const result of refused) expect(result).to.have.nested.property('structuredContent.error.code', 'FORBIDDEN');
            expect(orders()).to.equal(before);
            // An answer that is sent again gets the result of the first time.
            const first = await send(person, { ...accepted, requestState });
            expect(first).to.not.include({ isError: true });
            const [again, both] = await Promise.all([1, 2].map(() => send(person, { ...accepted, requestState })));
            expect([again, both].map((one) => one?.['structuredContent'])).to.deep.equal([1, 2].map(() => first['structuredContent']));
            await world.clock.advance({ minutes: 11 });
            expect(await send(person, { ...accepted, requestState })).to.include({ isError: true });
            expect(orders()).to.equal(before + 1);
        });
    });

    it('name a page if a connection is missing, and the call continues once it exists', async () => {
        const site = 'dear.test';
        dataOf(await ada.publish(connectedPackage(site, { base: `http://${site}:${shop.port}` })));
        const person = await aKey();
        const call = { site, endpoint: 'mine', params: {} };
        const declined = await connect(person, () => 'decline');
        expect((await declined.use('fetch', call)).said.error).to.include({ code: 'CONNECTION_REQUIRED' });
        const silent = await connect(person);
        expect((await silent.use('fetch', call)).said.error).to.include({
            code: 'CONNECTION_REQUIRED',
            connect_url: `${world.app.publicUrl()}/dashboard/connections/new?site=${site}`,
            obtain_url: API_KEY.obtain_url,
        });
        const agent = await connect(person, async () => {
            dataOf(await person.call('POST', '/v1/connections', { body: { site, secret: { value: 'my-own-key' } } }));
            return 'accept' as const;
        });
        const { isError, said } = await agent.use('fetch', call);
        expect(isError, JSON.stringify(said)).to.equal(false);
        expect(agent.asked).to.have.length(1);
        expect(agent.asked[0]).to.include({ mode: 'url', url: `${world.app.publicUrl()}/dashboard/connections/new?site=${site}` });
    });
});
