import { expect } from 'chai';
import type { PackageAuth } from '../../shared/domain/types.ts';
import { SHOP, shopPackage } from '../support/shop.ts';
import { CLIENTS, useAgentWorld } from './support/agent-world.ts';

for (const client of CLIENTS) {
    describe(`an agent over ${client} whose call fails`, () => {
        const { shop, ada, use } = useAgentWorld(client);

        it('learns the site’s response if it refused, and where to get a key', async () => {
            const refused = await use('fetch', { site: SHOP, endpoint: 'status', params: { code: 404 } });
            expect(refused.said.error).to.deep.include({ code: 'UPSTREAM_STATUS' }).and.have.nested.property('upstream.status', 404);
            expect(refused.said.error.doc_url).to.match(/#UPSTREAM_STATUS$/);
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

        it('learns in words which arguments are wrong, and what it may have meant', async () => {
            const { error } = (await use('find_endpoint', { taks: 'buy shoes', limit: 'five', effect: 'reed' })).said;
            expect(error.details).to.deep.equal([
                { path: '/task', code: 'REQUIRED', message: 'The argument task is required.' },
                { path: '/taks', code: 'UNKNOWN_FIELD', message: 'There is no such argument; did you mean task?' },
                { path: '/effect', code: 'INVALID_VALUE', message: 'The value of effect must be one of "read", "write".' },
                { path: '/limit', code: 'INVALID_TYPE', message: 'The value of limit must be an integer.' },
            ]);
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
    });
}
