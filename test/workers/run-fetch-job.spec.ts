import { expect } from 'chai';
import type { FetchJob } from '../../shared/domain/fetch/fetch-job.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { type FetchTools, runFetchJob } from '../../workers/run-fetch-job.ts';
import { createReader } from '../../workers/select/reader.ts';
import { createMemoryBudget } from '../../workers/upstream/memory-budget.ts';
import { createUpstream } from '../../workers/upstream.ts';
import { loopbackRules, openSite, type Site } from '../support/sites.ts';

describe('a fetch job', () => {
    let site: Site;
    const memoryBudget = createMemoryBudget();
    let tools: FetchTools;
    const endpoints = new Map<string, PackageEndpoint>();

    before(async () => {
        site = await openSite((request, response) => {
            response.setHeader('content-type', 'application/json');
            if (request.url === '/door-elsewhere') {
                const location = `http://api.shop.test:${site.port}/inside`;
                return response.writeHead(302, { location }).end();
            }
            if (request.url === '/torn') return response.destroy();
            response.end('{}');
        });
        tools = {
            loadEndpoint: async (_versionId, name) => {
                const document = endpoints.get(name);
                return document === undefined ? undefined : { endpoint: readEndpoint(document), registrable: 'shop.test' };
            },
            markSent: async () => true,
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
        add({ name: 'list', method: 'GET', url: `${url}/list` });
        add({ name: 'door_elsewhere', method: 'GET', url: `${url}/door-elsewhere` });
        const prepare = { url: `${url}/door-elsewhere` };
        add({ name: 'back_again', method: 'GET', url: `${url}/inside`, prepare });
        add({ name: 'away', method: 'GET', url: `http://away.shop.test:${site.port}/torn`, prepare: { url: `${url}/inside` } });
    });

    after(async () => {
        tools.upstream.close();
        await tools.reader.close();
        await site.close();
    });

    // No memory is reserved after any call.
    afterEach(() => expect(memoryBudget.held()).to.equal(0));

    function job(endpoint: string): FetchJob {
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
        };
    }

    const run = (one: FetchJob) => runFetchJob(tools, one, new AbortController().signal);

    it('names the hosts that it reached, up to the one where it ended', async () => {
        expect((await run(job('list'))).hosts).to.deep.equal(['shop.test']);
        expect((await run(job('door_elsewhere'))).hosts).to.deep.equal(['shop.test', 'api.shop.test']);
        expect((await run(job('back_again'))).hosts).to.deep.equal(['api.shop.test', 'shop.test']);
        expect((await run(job('away'))).hosts).to.deep.equal(['shop.test', 'away.shop.test']);
    });

    it('refuses missing endpoints', async () => {
        const before = site.seen.length;
        expect(await run(job('gone'))).to.include({ ok: false, code: 'ENDPOINT_NOT_FOUND' });
        expect(site.seen).to.have.length(before);
    });
});
