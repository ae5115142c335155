import { expect } from 'chai';
import type { FetchJob } from '../../shared/domain/fetch/call.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { type FetchTools, runFetchJob } from '../../workers/run-fetch-job.ts';
import { createReader } from '../../workers/select/reader.ts';
import { createMemoryBudget } from '../../workers/upstream/memory-budget.ts';
import { createUpstream } from '../../workers/upstream.ts';
import { dataOf } from '../queue/jobs.ts';
import { loopbackRules, openSite, type Site } from '../support/sites.ts';

describe('a fetch job', () => {
    let site: Site;
    const memoryBudget = createMemoryBudget();
    let tools: FetchTools;
    const endpoints = new Map<string, PackageEndpoint>();
    const marks: string[] = [];
    let isMarkWon = true;

    before(async () => {
        site = await openSite((request, response) => {
            response.setHeader('content-type', 'application/json');
            if (request.url === '/none') return response.end('{"nothing":true}');
            if (request.url === '/door') return response.writeHead(302, { location: '/inside', 'set-cookie': 'pass=1; Path=/' }).end();
            if (request.url === '/door-elsewhere') {
                const location = `http://api.shop.test:${site.port}/inside`;
                return response.writeHead(302, { location, 'set-cookie': 'pass=1; Path=/; Domain=shop.test' }).end();
            }
            if (request.url === '/torn') return response.destroy();
            if (request.url === '/inside') return response.end(JSON.stringify({ cookie: request.headers.cookie ?? null }));
            response.end(JSON.stringify({ items: [1, 2, 3, 4, 5], path: request.url, sent: request.text }));
        });
        tools = {
            loadEndpoint: async (_versionId, name) => {
                const document = endpoints.get(name);
                return document === undefined ? undefined : { endpoint: readEndpoint(document), registrable: 'shop.test' };
            },
            markSent: async (operation) => {
                marks.push(operation);
                return isMarkWon;
            },
            upstream: createUpstream({
                rules: loopbackRules(`127.0.0.1:${site.port}`, {
                    'shop.test': '127.0.0.1',
                    'api.shop.test': '127.0.0.1',
                    'away.shop.test': '127.0.0.1',
                }),
            }),
            reader: createReader({ threads: 1 }),
            memoryBudget,
            userAgent: () => 'Routebook/test (+http://localhost/abuse)',
        };
        const url = `http://shop.test:${site.port}`;
        const add = (endpoint: PackageEndpoint) => endpoints.set(endpoint.name, endpoint);
        add({ name: 'list', method: 'GET', url: `${url}/list/{section}`, params: [{ name: 'section', source: 'path', required: true }] });
        add({ name: 'order', method: 'POST', url: `${url}/orders`, params: [{ name: 'n', source: 'body', required: true }] });
        add({
            name: 'results',
            kind: 'search',
            method: 'GET',
            url: `${url}/list/all`,
            billing: { unit: 'result', results: 'items', max_results: 50 },
        });
        add({ name: 'door', method: 'GET', url: `${url}/door` });
        add({ name: 'door_elsewhere', method: 'GET', url: `${url}/door-elsewhere` });
        const prepare = { url: `${url}/door-elsewhere` };
        add({ name: 'back_again', method: 'GET', url: `${url}/inside`, prepare });
        add({ name: 'away', method: 'GET', url: `http://away.shop.test:${site.port}/torn`, prepare: { url: `${url}/inside` } });
        add({ name: 'inside', method: 'GET', url: `${url}/inside` });
        add({ name: 'no_results', method: 'GET', url: `${url}/none`, billing: { unit: 'result' } });
        add({ name: 'bad', method: 'GET', url: `${url}/none`, response: { schema: { required: ['items'] } } });
    });

    after(async () => {
        tools.upstream.close();
        await tools.reader.close();
        await site.close();
    });

    // No memory is reserved after any call.
    afterEach(() => expect(memoryBudget.held()).to.equal(0));

    beforeEach(() => {
        site.seen.length = 0;
        marks.length = 0;
        isMarkWon = true;
    });

    function job(endpoint: string, more: Partial<FetchJob> = {}): FetchJob {
        const now = Date.now();
        return {
            operation: 'op_1',
            requestId: 'req_1',
            site: 'shop.test',
            versionId: 1,
            endpoint,
            effect: 'read',
            values: '{}',
            deadlineAt: now + 5000,
            admittedAt: now,
            maxResults: 100,
            maxPages: 1,
            run: 1,
            ...more,
        };
    }

    const run = (one: FetchJob, signal = new AbortController().signal) => runFetchJob(tools, one, signal);

    it('calls the site as the endpoint says and returns its response', async () => {
        const outcome = await run(job('list', { values: '{"section":"a b"}' }));
        if (!outcome.ok) throw new Error(outcome.code);
        expect(dataOf(outcome)).to.deep.equal({ items: [1, 2, 3, 4, 5], path: '/list/a%20b', sent: '' });
        expect(outcome).to.include({ results: 5, requests: 1, truncated: false });
        expect(outcome.upstream).to.include({ status: 200, attempts: 1 });
        expect(site.seen[0]?.headers['user-agent']).to.equal('Routebook/test (+http://localhost/abuse)');
        expect(marks).to.deep.equal([]);
    });

    it('sends a cookie that a redirect set to its host, in this call only', async () => {
        const cookies = [];
        for (const endpoint of ['door', 'inside', 'door_elsewhere']) cookies.push(dataOf(await run(job(endpoint)))?.['cookie']);
        expect(cookies).to.deep.equal(['pass=1', null, null]);
    });

    it('names the hosts that it reached, up to the one where it ended', async () => {
        expect((await run(job('list', { values: '{"section":"a"}' }))).hosts).to.deep.equal(['shop.test']);
        expect((await run(job('door_elsewhere'))).hosts).to.deep.equal(['shop.test', 'api.shop.test']);
        expect((await run(job('back_again'))).hosts).to.deep.equal(['api.shop.test', 'shop.test']);
        expect((await run(job('away'))).hosts).to.deep.equal(['shop.test', 'away.shop.test']);
    });

    it('cuts the results to the units of the hold', async () => {
        const outcome = await run(job('results', { maxResults: 2 }));
        expect(outcome.ok && [dataOf(outcome)?.['items'], outcome.results, outcome.truncated]).to.deep.equal([[1, 2], 2, true]);
    });

    it('marks a write as sent before it sends it', async () => {
        const outcome = await run(job('order', { effect: 'write', values: '{"n":1}' }));
        expect(dataOf(outcome)?.['sent']).to.equal('{"n":1}');
        expect(marks).to.deep.equal(['op_1']);
    });

    it('sends no write whose hold is gone', async () => {
        isMarkWon = false;
        expect(await run(job('order', { effect: 'write', values: '{"n":1}' }))).to.include({ ok: false, code: 'DEADLINE_EXCEEDED' });
        expect(site.seen).to.have.length(0);
    });

    it('drops a job whose deadline has passed or whose caller disconnected before it calls the site', async () => {
        expect(await run(job('list', { values: '{"section":"a"}', deadlineAt: Date.now() }))).to.include({
            ok: false,
            code: 'DEADLINE_EXCEEDED',
        });
        expect(await run(job('list', { values: '{"section":"a"}' }), AbortSignal.abort())).to.include({
            ok: false,
            code: 'DEADLINE_EXCEEDED',
        });
        expect(site.seen).to.have.length(0);
    });

    it('refuses a response without results if results are billed', async () => {
        const outcome = await run(job('no_results'));
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
        expect(!outcome.ok && outcome.details?.[0]?.path).to.equal('/items');
    });

    it('reports why a page could not be read', async () => {
        const outcome = await run(job('bad'));
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE', attempts: 1 });
        expect(!outcome.ok && outcome.details).to.have.length(1);
    });

    it('refuses missing endpoints', async () => {
        expect(await run(job('gone'))).to.include({ ok: false, code: 'ENDPOINT_NOT_FOUND' });
        expect(site.seen).to.have.length(0);
    });
});
