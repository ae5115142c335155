import { readFileSync, writeFileSync } from 'node:fs';
import { join as joinPath } from 'node:path';
import { expect } from 'chai';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { aPackage } from '../support/schemas.ts';
import { openShop, SHOP, type Shop } from '../support/shop.ts';

interface Result {
    endpoint: string;
    ok: boolean;
    code?: string;
    details?: { path: string }[];
    data?: unknown;
    results?: number;
}

describe('routebook test', () => {
    let shell: CommandLine;
    let shop: Shop;

    before(async () => {
        shop = await openShop();
        shell = openCommandLine({ EGRESS_ALLOW: `127.0.0.1/32:${shop.port}`, EGRESS_HOSTS: `${SHOP}=127.0.0.1` });
    });

    after(async () => {
        await shop.close();
        shell.close();
    });

    beforeEach(() => {
        shop.seen.length = 0;
    });

    function write(...endpoints: Partial<PackageEndpoint>[]): string {
        const base = `http://${SHOP}:${shop.port}`;
        const whole = endpoints.map(({ url, ...rest }) => ({ name: 'product', method: 'GET' as const, ...rest, url: `${base}${url}` }));
        writeFileSync(joinPath(shell.folder, 'shop.json'), JSON.stringify(aPackage(SHOP, { endpoints: whole })));
        return 'shop.json';
    }

    const id = { name: 'id', source: 'path', required: true, schema: { type: 'integer' } } as const;
    const product: Partial<PackageEndpoint> = {
        url: '/products/{id}',
        params: [id],
        examples: [{ params: { id: 7 } }, { params: { id: 8 } }],
    };
    const order: Partial<PackageEndpoint> = { name: 'order', url: '/echo', method: 'POST', examples: [{ params: {} }] };

    it('calls every example like a worker, and shows the results', async () => {
        const search: Partial<PackageEndpoint> = {
            name: 'search',
            kind: 'search',
            url: '/search',
            response: { select: { items: 'products[].{id: id}' } },
            billing: { unit: 'result' },
            examples: [{ params: {} }],
        };
        const ran = await shell.run(['test', write(product, search), '--pause', '0', '--show', '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.json).to.include({ ok: true, site: SHOP, passed: 3, failed: 0 });
        const results = ran.json['results'] as Result[];
        expect(results.map(({ endpoint }) => endpoint)).to.deep.equal(['product', 'product', 'search']);
        expect(results[0]?.data).to.deep.equal({ id: 7, title: 'Product 7', price: { amount: 10 } });
        expect(results[2]).to.deep.include({ data: { items: [{ id: 1 }, { id: 2 }, { id: 3 }] }, results: 3 });
        expect(shop.seen.map(({ path }) => path)).to.deep.equal(['/products/7', '/products/8', '/search']);
        expect(shop.seen[0]?.headers['user-agent']).to.match(/^Routebook\/\d/);
    });

    it('reads HTML like the workers, in a thread', async () => {
        const page: Partial<PackageEndpoint> = {
            url: '/html',
            response: { type: 'html', select: { title: 'h1' } },
            examples: [{ params: {} }],
        };
        const ran = await shell.run(['test', write(page), '--show', '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect((ran.json['results'] as Result[])[0]?.data).to.deep.equal({ title: 'Welcome' });
    });

    it('fails for a page without any of the selected fields, and for a sign-in page', async () => {
        const page = (name: string, select: PackageEndpoint['response']): Partial<PackageEndpoint> => ({
            name,
            url: `/${name}`,
            response: { type: 'html', ...select },
            examples: [{ params: {} }],
        });
        const drifted = { select: { price: '.price', names: ['.name'], rows: [{ selector: 'tr', value: { a: 'td' } }] } };
        const ran = await shell.run([
            'test',
            write(page('html', drifted), page('members', { select: { title: 'h1' } }), { ...page('whole', {}), url: '/members' }),
            '--pause',
            '0',
            '--json',
        ]);
        expect(ran.code).to.equal(1);
        const [empty, login, whole] = ran.json['results'] as (Result & { message: string })[];
        expect(empty).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message: 'The page has none of the selected fields.' });
        expect(empty?.details?.map(({ path }) => path)).to.deep.equal(['/select/price', '/select/names', '/select/rows']);
        for (const one of [login, whole]) expect(one).to.include({ ok: false, message: 'The site answered with a page to sign in on.' });
    });

    it('fails for a page whose list has no items, whatever else it has', async () => {
        const select = { title: 'h1', items: ['.name'] };
        const response = { type: 'html' as const, select };
        const page = { name: 'html', kind: 'search' as const, url: '/html', response, examples: [{ params: {} }] };
        const ran = await shell.run(['test', write(page), '--json']);
        expect(ran.code).to.equal(1);
        const [empty] = ran.json['results'] as (Result & { message: string })[];
        expect(empty).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE', message: 'The list of the page has no items.' });
        expect(empty?.details?.map(({ path }) => path)).to.deep.equal(['/select/items']);
    });

    it('says that a page without the selected data is a sign-in page, whatever the title and the schema say', async () => {
        const schema = { type: 'object', required: ['price'], properties: { price: { type: 'string' } } };
        const page = (name: string, response: PackageEndpoint['response']): Partial<PackageEndpoint> => ({
            name,
            url: `/${name}`,
            response: { type: 'html', select: { price: '.price' }, ...response },
            examples: [{ params: {} }],
        });
        const ran = await shell.run(['test', write(page('wall', {}), page('members', { schema })), '--pause', '0']);
        expect(ran.code).to.equal(1);
        expect(ran.stdout).to.include('The page has none of the selected fields, and it asks to sign in.');
        expect(ran.stdout).to.include('The site asks to sign in. The answer does not fit the response schema of this endpoint.');
        // Nothing is quoted from a page.
        expect(ran.stdout).to.match(/the site answered 200$/m);
    });

    it('ends with its summary even if an idle process read the last responses', async () => {
        const large = { name: 'large', url: '/search?n=5000', examples: [{ params: {} }, { params: {} }] };
        const light = { name: 'light', url: '/list', examples: [{ params: {} }] };
        const ran = await shell.run(['test', write(large, light), '--pause', '300', '--json']);
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.json).to.include({ ok: true, passed: 3, failed: 0 });
    });

    it('shows the error code of a failed example, and where the shape broke', async () => {
        const amount = { type: 'object', properties: { amount: { type: 'string' } } };
        const schema = { type: 'object', properties: { price: amount } };
        const shape = { ...product, response: { schema }, examples: [{ params: { id: 7 } }] };
        const gone = { name: 'gone', url: '/status/410', examples: [{ params: {} }] };
        const ran = await shell.run(['test', write(shape, gone), '--pause', '0', '--json']);
        expect(ran.code).to.equal(1);
        const [broken, refused] = ran.json['results'] as Result[];
        expect(broken).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
        expect(broken?.details?.map(({ path }) => path)).to.deep.equal(['/price/amount']);
        expect(refused).to.deep.include({ ok: false, code: 'UPSTREAM_STATUS', upstream: { status: 410, snippet: '{"status":410}' } });
        const shown = await shell.run(['test', 'shop.json', '--pause', '0']);
        expect(shown.stdout).to.include('UPSTREAM_INVALID_RESPONSE').and.include('/price/amount').and.include('0 passed, 2 failed');
    });

    it('never sends a write that was not allowed by name, and sends it once otherwise', async () => {
        const file = write(product, order);
        const without = await shell.run(['test', file, '--pause', '0', '--json']);
        expect(without.code).to.equal(0);
        expect(without.json['skipped']).to.deep.equal([{ endpoint: 'order', reason: 'a write: --allow-writes order sends it' }]);
        expect(shop.seen.filter(({ method }) => method === 'POST')).to.deep.equal([]);
        const another = await shell.run(['test', file, 'order', '--allow-writes', 'product', '--json']);
        expect(another.code).to.equal(1);
        expect(shop.seen.filter(({ method }) => method === 'POST')).to.deep.equal([]);
        const allowed = await shell.run(['test', file, '--allow-writes', 'order', '--pause', '0', '--json']);
        expect(allowed.code, allowed.stdout).to.equal(0);
        expect(shop.seen.filter(({ method }) => method === 'POST')).to.have.length(1);
    });

    it('calls neither what requires a credential, which it does not have, nor what a worker would not call', async () => {
        const alone = { ...product, name: 'alone', hosted: false, auth: 'none' } as const;
        const file = write({ ...product, name: 'mine' }, { ...product, name: 'open', auth: 'none' }, alone);
        const document = JSON.parse(readFileSync(joinPath(shell.folder, file), 'utf8'));
        const auth = [{ id: 'shop_key', type: 'header', name: 'X-Shop-Key' }];
        writeFileSync(joinPath(shell.folder, file), JSON.stringify({ ...document, auth }));
        const ran = await shell.run(['test', file, '--pause', '0', '--json']);
        expect(ran.code, ran.stdout).to.equal(0);
        expect(ran.json).to.deep.include({ passed: 2, failed: 0 });
        const [mine, other] = ran.json['skipped'] as { endpoint: string; reason: string }[];
        expect([mine?.endpoint, other?.endpoint]).to.deep.equal(['mine', 'alone']);
        expect(mine?.reason).to.include('needs a credential');
        expect(other?.reason).to.include('not hosted');
        expect(shop.seen).to.have.length(2);
    });

    it('points to an example that yields an empty list', async () => {
        const search: Partial<PackageEndpoint> = {
            name: 'search',
            url: '/search',
            params: [{ name: 'n', source: 'query', required: false, schema: { type: 'integer' } }],
            response: { select: { items: 'products' } },
            billing: { unit: 'result' },
        };
        const empty = await shell.run(['test', write({ ...search, examples: [{ params: { n: 0 } }] })]);
        expect(empty.code, empty.stdout).to.equal(0);
        expect(empty.stdout).to.include('0 results').and.include('an empty list');
        const full = await shell.run(['test', write({ ...search, examples: [{ params: { n: 2 } }] })]);
        expect(full.stdout).to.include('2 results').and.not.include('an empty list');
    });

    it('calls one endpoint with the given params, parsed by its schema', async () => {
        const ran = await shell.run(['test', write(product, order), 'product', '--param', 'id=9', '--json']);
        expect(ran.code, ran.stdout).to.equal(0);
        expect(shop.seen.map(({ path }) => path)).to.deep.equal(['/products/9']);
        const wrong = await shell.run(['test', 'shop.json', 'product', '-p', 'id=nine', '--json']);
        expect(wrong.code).to.equal(1);
        expect((wrong.json['results'] as Result[])[0]).to.include({ code: 'INVALID_PARAMS' });
        expect(shop.seen).to.have.length(1);
    });

    it('sends a file, and shows its size instead of its bytes', async () => {
        const params = [{ name: 'photo', source: 'body', required: true, schema: { format: 'file' } }] as const;
        const file = write({ ...order, body_format: 'multipart', params: [...params], examples: [] });
        writeFileSync(joinPath(shell.folder, 'cat.png'), 'meow');
        const ran = await shell.run(['test', file, 'order', '--allow-writes', 'order', '--param', 'photo=@cat.png']);
        expect(ran.code, ran.stdout).to.equal(0);
        expect(ran.stdout).to.include('order {"photo":{"filename":"cat.png","content_type":"image/png","bytes":4}}');
        expect(shop.seen).to.have.length(1);
    });

    it('uses the same egress guard: it connects to nothing that EGRESS_ALLOW does not cover', async () => {
        const file = write({ ...product, examples: [{ params: { id: 1 } }] });
        const before = shop.connections();
        const closed = await shell.run(['test', file, '--json'], { env: { EGRESS_ALLOW: '127.0.0.2/32' } });
        expect(closed.code).to.equal(1);
        expect((closed.json['results'] as Result[])[0]).to.include({ code: 'EGRESS_DENIED' });
        const none = await shell.run(['test', file, '--json'], { env: { EGRESS_ALLOW: '' } });
        expect(none.code).to.equal(1);
        expect(none.error['code']).to.equal('SCHEMA_INVALID');
        expect(shop.connections()).to.equal(before);
    });

    it('says how to give a name of this machine its address', async () => {
        const file = write({ ...product, examples: [{ params: { id: 1 } }] });
        const ran = await shell.run(['test', file], { env: { EGRESS_HOSTS: '' } });
        expect(ran.code).to.equal(1);
        expect(ran.stdout).to.include('does not resolve').and.include(`EGRESS_HOSTS=${SHOP}=127.0.0.1`);
    });

    it('fails if nothing could be called, and for missing endpoints', async () => {
        const nothing = await shell.run(['test', write({ url: '/list' }), '--json']);
        expect(nothing.code).to.equal(1);
        expect(nothing.json).to.deep.include({ ok: false, passed: 0, failed: 0 });
        const unknown = await shell.run(['test', 'shop.json', 'prodct', '--json']);
        expect(unknown.code).to.equal(1);
        expect(unknown.error).to.deep.include({ code: 'ENDPOINT_NOT_FOUND', did_you_mean: ['product'] });
    });
});
