import { expect } from 'chai';
import { type Collector, openCollector } from '../support/collector.ts';
import { eventually } from '../support/eventually.ts';
import { join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { anEndpoint, aPackage } from '../support/schemas.ts';
import { openRawSite, openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'shop.test';

describe('a collector of traces', () => {
    let site: Site;
    let world: World;
    let ada: Person;

    before(async () => {
        site = await openSite((request, response) => {
            const headers = { 'content-type': 'application/json', 'x-secret': MARK.siteHeader };
            response.writeHead(request.url?.startsWith('/fail') ? 500 : 200, headers).end(JSON.stringify({ text: MARK.answer }));
        });
    });
    after(() => site.close());

    async function open(otelEndpoint: string): Promise<void> {
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]), otelEndpoint } });
        ada = await join(world, { plan: 'pro' });
        const at = (path: string) => `http://${SITE}:${site.port}${path}`;
        const params = [{ name: 'q', source: 'query' as const, required: false, schema: { type: 'string' } }];
        const written = [{ name: 'text', source: 'body' as const, required: true }];
        const endpoints = [
            anEndpoint(SITE, { name: 'good', url: at('/good'), params }),
            anEndpoint(SITE, { name: 'fail', url: at('/fail'), params }),
            anEndpoint(SITE, { name: 'write', method: 'POST', url: at('/good'), params: written }),
        ];
        dataOf(await ada.publish(aPackage(SITE, { endpoints })));
    }

    /** The log lines about the collector, in order. */
    const messages = () => world.logged.filter(({ part }) => part === 'traces').map(({ message }) => message);
    const good = async () => expect(dataOf(await ada.fetch(SITE, 'good'))).to.deep.equal({ text: MARK.answer });

    it('gets no confidential data of callers and sites', async () => {
        const collector = await openCollector();
        await open(collector.endpoint);
        try {
            await sayMuch();
        } finally {
            // Ended spans are exported when the processes stop.
            await world.close();
        }
        const names = new Set(collector.spans().map(({ name }) => name));
        expect(names).to.include.keys('POST /v1/fetch', 'GET other', 'GET /v1/catalog/{domain}', 'upstream', 'charge', 'release');
        const everything = collector.seen.map(({ path, headers, body }) => `${path} ${JSON.stringify(headers)} ${body}`).join('\n');
        for (const mark of [...Object.values(MARK), ada.apiKey?.slice(12) ?? '']) {
            expect(everything.includes(mark), `${mark} was exported`).to.equal(false);
        }
        await collector.close();
    });

    /** Calls with confidential data in each place: some succeed, some fail at the site, some are refused. */
    async function sayMuch(): Promise<void> {
        const headers = {
            cookie: `session=${MARK.cookie}`,
            'x-anything': MARK.header,
            tracestate: `vendor=${MARK.state}`,
            baggage: `user=${MARK.state}`,
            'idempotency-key': MARK.replayKey,
        };
        const call = (endpoint: string, params: object, more: object = {}) =>
            ada.call('POST', '/v1/fetch', { body: { site: SITE, endpoint, params, ...more }, headers });
        dataOf(await call('good', { q: MARK.param }));
        headers['idempotency-key'] += 'x';
        expect(codeOf(await call('fail', { q: MARK.param }))).to.equal('UPSTREAM_STATUS');
        headers['idempotency-key'] += 'x';
        dataOf(await call('write', { text: MARK.body }));
        headers['idempotency-key'] += 'x';
        expect(codeOf(await call('good', { unknown: MARK.param }))).to.equal('INVALID_PARAMS');
        expect(codeOf(await ada.call('POST', '/v1/fetch', { body: `{"site": "${MARK.body}`, headers }))).to.equal('INVALID_JSON');
        expect(codeOf(await ada.call('GET', `/v1/nothing/${MARK.path}?token=${MARK.query}`))).to.equal('NOT_FOUND');
        expect(codeOf(await ada.call('GET', `/v1/catalog/${MARK.path}.test?intent=find+one+product+with+its+${MARK.query}`))).to.equal(
            'SITE_NOT_FOUND',
        );
    }

    it('that fails is reported once, and once when it works again, without an effect on callers', async () => {
        let status = 500;
        const collector: Collector = await openCollector((_request, response) => response.writeHead(status).end('{}'));
        await open(collector.endpoint);
        try {
            await good();
            // The API and the worker are processes of their own in this.
            await eventually(
                async () => messages(),
                (lines) => lines.length === 2,
                15_000,
            );
            const failures = collector.seen.length;
            await good();
            await eventually(
                async () => collector.seen.length,
                (count) => count >= failures + 2,
                15_000,
            );
            status = 200;
            await good();
            await eventually(
                async () => messages(),
                (lines) => lines.length === 4,
                15_000,
            );
        } finally {
            await world.close();
            await collector.close();
        }
        const away = 'traces: does not work at the moment';
        const back = 'traces: works again';
        expect(messages()).to.have.members([away, away, back, back]);
    });

    for (const [what, openOne] of [
        ['is away', async () => ({ port: 9, close: async () => {} })],
        ['takes connections and never answers', () => openRawSite(() => {})],
    ] as const) {
        it(`that ${what} delays no fetch, and a stop by at most a second each`, async () => {
            const silent = await openOne();
            await open(`http://127.0.0.1:${silent.port}`);
            const began = performance.now();
            for (let calls = 0; calls < 20; calls++) await good();
            const elapsedMs = performance.now() - began;
            const closing = performance.now();
            await world.close();
            expect(performance.now() - closing).to.be.lessThan(10_000);
            await silent.close();
            expect(elapsedMs).to.be.lessThan(10_000);
            expect(messages()).to.deep.equal(Array(2).fill('traces: does not work at the moment'));
        });
    }
});

/** Each value is confidential between the caller and the site. */
const MARK = {
    param: 'mrkParam9c1e',
    body: 'mrkBody9c1e',
    header: 'mrkHeader9c1e',
    cookie: 'mrkCookie9c1e',
    state: 'mrkState9c1e',
    replayKey: 'mrkReplayKey9c1e',
    path: 'mrkpath9c1e',
    query: 'mrkQuery9c1e',
    answer: 'mrkAnswer9c1e',
    siteHeader: 'mrkSiteHeader9c1e',
} as const;
