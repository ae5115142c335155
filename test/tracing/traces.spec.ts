import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type Arrived, type Collector, openCollector, outline } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openSite, type Site } from '../support/sites.ts';
import { ANY_TOPOLOGY, openWorld, type World } from '../support/world.ts';

const SITE = 'shop.test';
const FETCH = ['POST /v1/fetch in routebook-api', '  limits', '  hold', '  queue', '    job in routebook-worker', '      upstream'];

for (const topology of ANY_TOPOLOGY) {
    describe(`traces to a collector, over ${topology}`, () => {
        let collector: Collector;
        let world: World;
        let site: Site;
        let ada: Person;

        before(async () => {
            collector = await openCollector();
            site = await openSite((request, response) => {
                const isSecond = site.seen.filter(({ path }) => path === request.url).length > 1;
                const status = request.url === '/flaky' && !isSecond ? 503 : request.url === '/gone' ? 404 : 200;
                if (request.url === '/moved') return response.writeHead(302, { location: '/things' }).end();
                response.writeHead(status, { 'content-type': 'application/json' }).end('{"a":1}');
            });
            const config = { egressHosts: new Map([[SITE, ['127.0.0.1']]]), otelEndpoint: `${collector.endpoint}/` };
            world = await openWorld({ topology, config });
            ada = await join(world, { plan: 'pro' });
            const endpoints = ['things', 'flaky', 'gone', 'moved'].map((name) =>
                anEndpoint(SITE, { name, url: `http://${SITE}:${site.port}/${name}`, params: [] }),
            );
            dataOf(await ada.publish(aPackage(SITE, { endpoints })));
        });
        after(async () => {
            await world.close();
            await site.close();
            await collector.close();
        });

        /** Calls with a trace id of the test, which identifies the spans. */
        async function call(endpoint: string, { flags = '01', more = {} }: { flags?: string; more?: object } = {}) {
            const traceId = randomBytes(16).toString('hex');
            const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-${flags}` };
            const answer = await ada.call('POST', '/v1/fetch', { body: { site: SITE, endpoint, params: {}, ...more }, headers });
            return { traceId, answer };
        }

        const spansOf = (traceId: string) => collector.spans().filter((span) => span.traceId === traceId);
        const one = (spans: readonly Arrived[], name: string) => {
            const [span, another] = spans.filter((candidate) => candidate.name === name);
            if (span === undefined || another !== undefined) throw new Error(`not one span ${name}: ${outline(spans)}`);
            return span;
        };

        /** Waits for the expected spans of a trace. */
        async function arrived(traceId: string, expected: readonly string[], show: readonly string[] = []): Promise<Arrived[]> {
            const isThere = (lines: string[]) => lines.length >= expected.length;
            await eventually(async () => outline(spansOf(traceId), show), isThere, 15_000);
            expect(outline(spansOf(traceId), show)).to.deep.equal(expected);
            return spansOf(traceId);
        }

        it('show one fetch as one trace that continues the caller’s, through limits, hold, queue and worker, to the site', async () => {
            const { traceId, answer } = await call('things');
            dataOf(answer);
            const spans = await arrived(traceId, [...FETCH, '  charge']);
            const server = one(spans, 'POST /v1/fetch');
            expect(server.parentId).to.equal('b7ad6b7169203331');
            expect(spans.map(({ kind }) => kind).filter((kind) => kind !== 'internal')).to.have.members([
                'server',
                'producer',
                'consumer',
                'client',
            ]);
            expect(server.traits).to.deep.equal({
                'http.request.method': 'POST',
                'http.route': '/v1/fetch',
                'http.response.status_code': 200,
                'routebook.request_id': answer.headers.get('x-request-id'),
            });
            expect(one(spans, 'upstream').traits).to.deep.equal({
                'routebook.site': SITE,
                'routebook.endpoint': 'things',
                'routebook.attempt': 1,
                'http.request.method': 'GET',
                'http.request.body.size': 0,
                'http.response.status_code': 200,
                'http.response.body.size': 7,
            });
            expect(one(spans, 'job').traits).to.include({ 'routebook.site': SITE, 'routebook.endpoint': 'things' });
            expect(spans.filter(({ isFailed }) => isFailed)).to.deep.equal([]);
            expect(collector.seen.map(({ path }) => path)).to.include('/v1/traces');
        });

        it('show each attempt at the site, with its outcome', async () => {
            const { traceId, answer } = await call('flaky');
            dataOf(answer);
            const show = ['routebook.attempt', 'http.response.status_code', 'error.type'];
            const [root = '', ...rest] = FETCH.slice(0, -1);
            const attempts = ['      upstream 1 503 UPSTREAM_STATUS', '      upstream 2 200'];
            await arrived(traceId, [`${root} 200`, ...rest, ...attempts, '  charge'], show);
            const moved = await call('moved');
            dataOf(moved.answer);
            await arrived(moved.traceId, [`${root} 200`, ...rest, '      upstream 1 302', '      upstream 2 200', '  charge'], show);
        });

        it('show the error of a failed fetch, and of one that was refused before it was queued', async () => {
            const { traceId, answer } = await call('gone');
            expect(codeOf(answer)).to.equal('UPSTREAM_STATUS');
            const failed = await arrived(traceId, [...FETCH, '  release']);
            for (const name of ['queue', 'job', 'upstream']) expect(one(failed, name).traits['error.type']).to.equal('UPSTREAM_STATUS');
            const server = one(failed, 'POST /v1/fetch');
            expect(server.traits).to.include({ 'routebook.code': 'UPSTREAM_STATUS', 'http.response.status_code': answer.status });

            const refused = await call('nothing');
            expect(codeOf(refused.answer)).to.equal('ENDPOINT_NOT_FOUND');
            const spans = await arrived(refused.traceId, FETCH.slice(0, 2));
            expect(one(spans, 'POST /v1/fetch').traits).to.include({ 'routebook.code': 'ENDPOINT_NOT_FOUND' });
            // A caller's mistake is not a server error.
            expect(one(spans, 'POST /v1/fetch').isFailed).to.equal(false);
        });

        // The other tests do not depend on the queue.
        if (topology !== ANY_TOPOLOGY[0]) return;

        it('have their id in the log, on the line of the request and on that of the job', async () => {
            const { traceId } = await call('things');
            await arrived(traceId, [...FETCH, '  charge']);
            const messages = world.logged.filter(({ trace_id }) => trace_id === traceId).map(({ message }) => message);
            expect(messages).to.have.members(['job done', 'answered']);
        });

        it('start a new trace without a valid one of the caller, and are left out if the caller does not sample', async () => {
            const parents = [
                '00-00000000000000000000000000000000-b7ad6b7169203331-01',
                'ff-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01',
            ];
            const parent = '00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01';
            parents.push(parent.toUpperCase(), `${parent}-more`, parent.slice(1), `${parent}, ${parent}`);
            const ids: string[] = [];
            const ask = async (headers: Record<string, string>) => {
                const { headers: answered } = await ada.call('GET', '/v1/account', { headers });
                ids.push(answered.get('x-request-id') ?? '');
            };
            const unsampled = await call('things', { flags: '00' });
            dataOf(unsampled.answer);
            await ask({});
            for (const traceparent of parents) await ask({ traceparent });
            const roots = () => collector.spans().filter(({ traits }) => ids.includes(String(traits['routebook.request_id'])));
            await eventually(
                async () => roots().length,
                (count) => count === ids.length,
                15_000,
            );
            expect(roots().map(({ parentId }) => parentId)).to.deep.equal(ids.map(() => ''));
            expect(new Set(roots().map(({ traceId }) => traceId)).size).to.equal(ids.length);
            expect(spansOf(unsampled.traceId)).to.deep.equal([]);
        });

        it('are not sent to the site, which gets its usual headers', async () => {
            site.seen.length = 0;
            dataOf((await call('things')).answer);
            const names = site.seen.map(({ headers }) => Object.keys(headers).toSorted().join(' '));
            expect(names).to.deep.equal(['accept accept-encoding connection host user-agent']);
        });

        it('include calls of our own API from a page or an agent in the trace of that request', async () => {
            const traceId = randomBytes(16).toString('hex');
            const message = {
                jsonrpc: '2.0',
                id: 1,
                method: 'tools/call',
                params: { name: 'fetch', arguments: { site: SITE, endpoint: 'things' } },
            };
            const headers = {
                traceparent: `00-${traceId}-b7ad6b7169203331-01`,
                authorization: `Bearer ${ada.apiKey}`,
                'content-type': 'application/json',
                accept: 'application/json, text/event-stream',
            };
            const response = await fetch(`${world.base}/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
            expect(response.status, await response.text()).to.equal(200);
            // A span is exported when it ends, so the outermost one is last.
            const root = 'POST /mcp in routebook-api';
            const isThere = (lines: string[]) => lines[0] === root && lines.some((line) => line.trim() === 'upstream');
            await eventually(async () => outline(spansOf(traceId)), isThere, 15_000);
            expect(outline(spansOf(traceId)).filter((line) => !line.startsWith(' '))).to.deep.equal([root]);
        });
    });
}
