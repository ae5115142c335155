import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join as joinPath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Json, JsonObject } from '../../shared/domain/types.ts';
import { untilIndexed } from '../support/find.ts';
import { join, type Person } from '../support/people.ts';
import { dataOf } from '../support/routes.ts';
import { anEndpoint } from '../support/schemas.ts';
import { openShop, SHOP, SHOP_HOSTS, type Shop, shopPackage } from '../support/shop.ts';
import { openSite, type Site } from '../support/sites.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, type World } from '../support/world.ts';

/** In an ignored folder on disk, since n8n is too large for the temporary files in memory. */
const CACHE = fileURLToPath(new URL('../../.data', import.meta.url));
const CLIENT = fileURLToPath(new URL('../../clients/n8n', import.meta.url));

interface Ran {
    items?: { json: JsonObject; pairedItem: { item: number } }[];
    error?: { message: string; description?: string; httpCode?: string };
}

describe('the node for n8n, in n8n itself', function () {
    this.timeout(1_800_000);
    let folder: string;
    let world: World;
    let shop: Shop;
    let ada: Person;
    let executions = 0;

    before(async function () {
        needs(this, 'npx');
        folder = await install();
        shop = await openShop();
        world = await openWorld({ config: { egressHosts: SHOP_HOSTS } });
        ada = await join(world, { plan: 'enterprise' });
        const gone = { ...anEndpoint(SHOP, { name: 'gone', params: [] }), url: `http://${SHOP}:${shop.port}/status/404` };
        const document = shopPackage(shop.port);
        dataOf(await ada.publish({ ...document, endpoints: [...document.endpoints, gone] }));
        await untilIndexed(world);
    });
    after(async () => {
        await world?.close();
        await shop?.close();
    });

    /** Installs n8n's packages beside a copy of the node. They are kept between runs, as long as its lock file is the same. */
    async function install(): Promise<string> {
        const lock = createHash('sha256')
            .update(readFileSync(joinPath(CLIENT, 'package-lock.json')))
            .digest('hex')
            .slice(0, 16);
        const at = joinPath(CACHE, `n8n-${lock}`);
        const isNew = !existsSync(joinPath(at, 'node_modules/.package-lock.json'));
        mkdirSync(at, { recursive: true });
        for (const old of ['nodes', 'dist', 'test']) rmSync(joinPath(at, old), { recursive: true, force: true });
        cpSync(CLIENT, at, { recursive: true, filter: (path) => !path.includes('node_modules') });
        // NODE_ENV=production would leave out what builds the node.
        if (isNew) await run('npm', ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: at });
        return at;
    }

    function run(program: string, args: readonly string[], { cwd = folder, input = '' } = {}): Promise<string> {
        // With another NODE_ENV, the linter checks nothing.
        const env = { ...process.env, NODE_ENV: 'production', N8N_USER_FOLDER: cwd, N8N_ENCRYPTION_KEY: 'test' };
        return new Promise((resolve, reject) => {
            const child = execFile(program, args, { cwd, env, maxBuffer: 64e6 }, (error, stdout, stderr) => {
                if (error === null) resolve(stdout);
                else reject(new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`));
            });
            child.stdin?.on('error', () => {}).end(input);
        });
    }

    async function execute(parameters: JsonObject, items: Json[] = [{}], more: JsonObject = {}): Promise<Ran> {
        executions += 1;
        const input = JSON.stringify({
            credential: { baseUrl: `${world.base}/`, apiKey: ada.apiKey ?? '' },
            executionId: String(executions),
            parameters,
            items,
            ...more,
        });
        const lines = (await run(process.execPath, ['test/run-workflow.cjs'], { input })).trim().split('\n');
        return JSON.parse(lines.at(-1) ?? '') as Ran;
    }

    it('passes its linter, and builds', async () => {
        await run(joinPath(folder, 'node_modules/.bin/n8n-node'), ['lint']);
        await run(joinPath(folder, 'node_modules/.bin/n8n-node'), ['build']);
        expect(existsSync(joinPath(folder, 'dist/nodes/Routebook/Routebook.node.js'))).to.equal(true);
    });

    it('fetches an endpoint for each item', async () => {
        const asked = shop.seen.length;
        const { items } = await execute({ operation: 'fetch', site: SHOP, endpoint: 'product', params: '={{ { "id": $json.id } }}' }, [
            { id: 3 },
            { id: 4 },
        ]);
        expect(items?.map(({ json }) => (json['data'] as JsonObject)['title'])).to.deep.equal(['Product 3', 'Product 4']);
        expect(items?.map(({ pairedItem }) => pairedItem.item)).to.deep.equal([0, 1]);
        expect(items?.[0]?.json['meta']).to.include({ credits_used: 1 });
        expect(shop.seen.length - asked).to.equal(2);
    });

    it('shows an error in Routebook’s words, with what to change', async () => {
        const { error } = await execute({ operation: 'fetch', site: SHOP, endpoint: 'product', params: '{"id": "x"}' });
        expect(error?.message).to.match(/^INVALID_PARAMS: /);
        expect(error?.description).to.include('/params/id: ');
        expect(error?.httpCode).to.equal('400');
        const wrong = await execute({ operation: 'fetch', site: SHOP, endpoint: 'product', params: '{"id": ' });
        expect(wrong.error?.message).to.include('"params" is not JSON');
        const gone = await execute({ operation: 'fetch', site: SHOP, endpoint: 'gone', params: '{}' });
        expect(gone.error?.description).to.include('The site answered 404');
    });

    it('continues after an error if it is told to', async () => {
        const given = { operation: 'fetch', site: SHOP, endpoint: 'product', params: '={{ { "id": $json.id } }}' };
        const { items } = await execute(given, [{ id: 'x' }, { id: 4 }], { continueOnFail: true });
        expect(String(items?.[0]?.json['error'])).to.match(/^INVALID_PARAMS/);
        expect(items?.[1]?.json['data']).to.include({ id: 4 });
    });

    it('finds endpoints by a task', async () => {
        const { items } = await execute({ operation: 'find', task: 'a product of the shop', limit: 3, filters: { site: SHOP } });
        expect(items?.map(({ json }) => json['endpoint'])).to.include('product');
        expect(items).to.have.lengthOf(3);
    });

    it('runs a batch of all items, and returns each in its place', async () => {
        const given = { operation: 'batch', site: SHOP, endpoint: 'product', params: '={{ { "id": $json.id } }}' };
        const numbers = Array.from({ length: 25 }, (_, index) => index + 1);
        const { items } = await execute(
            given,
            numbers.map((id) => ({ id })),
        );
        expect(items?.map(({ json }) => (json['data'] as JsonObject)['id'])).to.deep.equal(numbers);
        expect(items?.map(({ pairedItem }) => pairedItem.item)).to.deep.equal(numbers.map((id) => id - 1));
        const failing = await execute({ ...given, endpoint: 'gone', params: '{}' }, [{}], { continueOnFail: true });
        expect(String(failing.items?.[0]?.json['error'])).to.match(/^UPSTREAM_STATUS/);
    });

    describe('at another server', () => {
        const given = { site: SHOP, endpoint: 'product', params: '{"id": 3}' };
        let server: Site;
        let answering: (request: IncomingMessage, response: ServerResponse) => void;

        before(async () => {
            server = await openSite((request, response) => answering(request, response));
        });
        after(() => server?.close());

        function executeThere(operation: string, more: JsonObject = {}): Promise<Ran> {
            const credential = { baseUrl: `http://127.0.0.1:${server.port}`, apiKey: 'rb_live_test' };
            return execute({ operation, ...given }, [{}], { credential, ...more });
        }

        it('shows the status of an answer that is not of Routebook', async () => {
            for (const body of ['<html><h1>Bad gateway</h1></html>', '', 'null', '3', '{"error":"bad"}']) {
                answering = (_request, response) => response.writeHead(502, { 'content-type': 'text/html' }).end(body);
                const { error } = await executeThere('fetch');
                expect(error?.message, body).to.equal('The address answered 502, but not with an answer of Routebook.');
                expect(error?.httpCode, body).to.equal('502');
            }
        });

        it('stops at an answer without end', async () => {
            const part = Buffer.alloc(64 * 1024, 'x');
            answering = (_request, response) => {
                const send = () => {
                    while (!response.destroyed && response.write(part));
                };
                response.on('drain', send);
                send();
            };
            const { error } = await executeThere('fetch');
            expect(JSON.stringify(error)).to.include('more than 67108864 bytes');
        });

        it('stops at an answer that goes on too slowly', async () => {
            answering = (_request, response) => {
                const drip = setInterval(() => response.write(' '), 50);
                response.on('close', () => clearInterval(drip));
            };
            const { error } = await executeThere('fetch', { maxWaitMs: 500 });
            expect(JSON.stringify(error)).to.include('did not end within 90 s');
        });

        it('stops at results without end', async () => {
            const result = { custom_id: '0', status: 'succeeded', result: { data: {}, meta: {} } };
            let pages = 0;
            answering = ({ url = '' }, response) => {
                const isOrder = url === '/v1/batches';
                if (!isOrder) pages += 1;
                const data = isOrder ? { batch_id: 'bat_1' } : [result, result, result];
                response.end(JSON.stringify({ success: true, data, meta: { pagination: { next_cursor: String(pages) } } }));
            };
            const { error } = await executeThere('batch');
            expect(error?.message).to.equal('The results in the answers do not end.');
            // One item has at most ten results.
            expect(pages).to.equal(4);
        });
    });
});
