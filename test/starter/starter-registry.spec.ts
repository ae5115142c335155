import { expect } from 'chai';
import { DEMO_SITE, openDemoSite } from '../../bin/demo/site.ts';
import { loadStarterRegistry, publishDemo } from '../../bin/demo/starter-registry.ts';
import { needOf } from '../../shared/domain/package/auth.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { CATEGORIES } from '../../shared/domain/package/taxonomy.ts';
import { ROUTEBOOK_WORKSPACE } from '../../shared/domain/site/routebook.ts';
import { normaliseSite } from '../../shared/domain/site/site-name.ts';
import type { Endpoint, PackageDocument } from '../../shared/domain/types.ts';
import { listMaintainers } from '../../shared/store/registry/maintainers.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, join, type Person, stranger } from '../support/people.ts';
import { dataOf, INTENT } from '../support/routes.ts';
import { openWorld, type World } from '../support/world.ts';
import { type Internet, openInternet } from './internet.ts';
import { README_ROWS, type Sample, STARTERS } from './packages.ts';

/** What a sample answer may rest on; none is a recording of the live service. */
/** Sites that want a key of the caller's own. */
const NEEDING = STARTERS.filter(({ document: { auth = [], endpoints } }) =>
    endpoints.some((endpoint) => needOf(readEndpoint(endpoint), auth) === 'required'),
);
const KEY = 'the-key-of-ada-4711';
const BASES = ['documentation sample', 'openapi document', 'documentation description'];

describe('the starter registry, as files', () => {
    it('has at least ten sites that need a key, and each links to an https page where to get it', () => {
        expect(NEEDING).to.have.length.of.at.least(10);
        for (const { document } of NEEDING) {
            for (const { id, description, obtain_url: url } of document.auth ?? []) {
                expect(description, `${document.site} ${id}`).to.be.a('string');
                expect(url ?? 'https://').to.match(/^https:/);
            }
        }
    });

    it('has each site in the table of its README, with its documentation and the basis of its responses', () => {
        expect([...README_ROWS.keys()].slice(1)).to.have.members(STARTERS.map(({ document }) => document.site));
        for (const { document, fixture } of STARTERS) {
            const row = README_ROWS.get(document.site);
            if (row === undefined) throw new Error(`schemas/README.md has no row for ${document.site}`);
            expect(fixture.documentation, document.site).to.not.be.empty;
            for (const page of fixture.documentation) expect(row, document.site).to.include(`<${page}>`);
            expect(BASES, document.site).to.include(fixture.basis);
            expect(row.endsWith(`| ${fixture.basis} |`), `${document.site}: basis of the README`).to.equal(true);
        }
    });

    it('has at least 60 sites, and two of every category', () => {
        expect(STARTERS).to.have.length.of.at.least(60);
        for (const { slug } of CATEGORIES) {
            const sites = STARTERS.filter(({ document }) => document.intent_category?.split('/')[0] === slug);
            expect(sites, slug).to.have.length.of.at.least(2);
        }
    });

    for (const { document, fixture } of STARTERS) {
        it(`${document.site} is valid for every publisher, and names its sources`, () => {
            // Like production, which allows only https on 443.
            const verdict = checkPackage(document, { isPortAllowed: () => false });
            expect(verdict, JSON.stringify(verdict)).to.deep.include({ ok: true, document });
            const [, origin = ''] = /Written from (https?:\/\/[^\s,]+)/.exec(document.description ?? '') ?? [];
            expect(URL.canParse(origin), `${document.site} names its documentation`).to.equal(true);
            expect(fixture.site).to.equal(document.site);
        });

        it(`${document.site} says for every endpoint when to use it, and describes every param, with examples`, () => {
            for (const { name, description = '', params = [], response, examples = [] } of document.endpoints) {
                expect(description.split(' '), `${name}: ${description}`).to.have.length.of.at.least(6);
                expect(response?.schema, name).to.be.an('object');
                expect(examples, name).to.not.be.empty;
                for (const param of params) expect(param, `${name}: ${param.name}`).to.include.keys('description', 'example');
            }
        });

        it(`${document.site} has a response to test every endpoint with`, () => {
            const tested = fixture.answers.map(({ endpoint }) => endpoint);
            expect([...new Set(tested)].sort()).to.deep.equal(document.endpoints.map(({ name }) => name).sort());
        });
    }
});

// The packages run unchanged, with their https URLs: EGRESS_PROXY_URL is a proxy on loopback that replaces the internet.
describe('the starter registry, published and fetched', () => {
    let internet: Internet;
    let world: World;
    let ada: Person;

    before(async () => {
        internet = await openInternet();
        world = await openWorld({ config: { egressAllow: [], egressProxyUrl: internet.proxyUrl } });
        await loadStarterRegistry(world.app);
        ada = await join(world, { plan: 'enterprise', overrides: { perMinute: 10_000, perHour: 10_000 } });
        for (const { document } of NEEDING) {
            const body = { site: document.site, secret: { value: KEY } };
            dataOf(await ada.call('POST', '/v1/connections?test=false', { body }));
        }
    });

    after(async () => {
        await world.close();
        await internet.close();
    });

    it('is in the catalog, every package like its file, unverified and maintained by Routebook', async () => {
        const visitor = stranger(world);
        for (const { document } of STARTERS) {
            const card = dataOf(await visitor.call('GET', `/v1/schemas/${document.site}`));
            expect(card, document.site).to.include({ verified: false, verified_at: null, version: 1, maintainer: 'Routebook' });
            const published = dataOf(await visitor.call('GET', `/v1/schemas/${document.site}/package`));
            expect(published, document.site).to.deep.include({ ...document });
            const name = normaliseSite(document.site);
            expect(name.ok && (await listMaintainers(world.app.db, name.registrable)), document.site).to.deep.equal([
                { workspaceId: ROUTEBOOK_WORKSPACE, name: 'Routebook', removalAt: null },
            ]);
        }
    });

    it('is not called automatically, nor for a look-up or a dry run, even days later', async () => {
        await world.clock.advance({ days: 2 });
        for (const { document, fixture } of STARTERS) {
            const path = `/v1/catalog/${document.site}?intent=${encodeURIComponent(INTENT)}`;
            expect((await ada.call('GET', path)).status, document.site).to.equal(200);
            const [sample] = fixture.answers;
            if (sample === undefined) continue;
            const planned = await ada.fetch(document.site, sample.endpoint, sample.params, { dry_run: true });
            expect(planned.status, document.site).to.equal(200);
        }
        expect(internet.tunnels()).to.equal(0);
    });

    for (const { document, fixture } of STARTERS) {
        for (const sample of fixture.answers) {
            const endpoint = endpointOf(document.endpoints.map(readEndpoint), sample);
            const title = `${document.site} ${sample.endpoint} ${JSON.stringify(sample.params)}`;

            it(`${title} sends the documented request, and reads the documented response`, async () => {
                const exchanges = [sample, ...(sample.then ?? [])];
                internet.willAnswer(exchanges.map(({ answer }) => answer));
                const answer = await ada.fetch(document.site, sample.endpoint, sample.params);
                const { host } = new URL(endpoint.url);
                const sent = credentialOf(document, endpoint);
                expect(internet.asked).to.deep.equal(
                    exchanges.map(({ request }) => ({ host, ...request, query: { ...request.query, ...sent.query } })),
                );
                for (const headers of internet.headers) expect(headers).to.deep.include(sent.headers);
                expect(dataOf(answer)).to.deep.equal(sample.expect);
                checkBill(endpoint, exchanges.length, answer);
            });
        }
    }
});

describe('the demo shop', () => {
    it('is called at its current port, also if it had another one meanwhile', async () => {
        const world = await openWorld({ config: { egressHosts: new Map([[DEMO_SITE, ['127.0.0.1']]]) } });
        const ada = await join(world);
        const one = await freePort(2);
        try {
            for (const port of [one, one + 1, one]) {
                const shop = await openDemoSite(port);
                await publishDemo(world.app, shop.port, ada.workspaceId);
                const answer = await ada.fetch(DEMO_SITE, 'search_products', { q: 'shoes' });
                await shop.close();
                const titles = dataOf<{ items: { title: string }[] }>(answer).items.map(({ title }) => title);
                expect(titles, `at ${port}`).to.include('Trail running shoes');
            }
        } finally {
            await world.close();
        }
    });
});

/** The credential of a request for an endpoint that needs a key. */
function credentialOf({ auth = [] }: PackageDocument, endpoint: Endpoint): Record<'query' | 'headers', Record<string, string>> {
    const [entry] = auth;
    if (entry === undefined || needOf(endpoint, auth) !== 'required') return { query: {}, headers: {} };
    const { type, name = '' } = entry;
    if (type === 'query') return { query: { [name]: KEY }, headers: {} };
    return { query: {}, headers: type === 'bearer' ? { authorization: `Bearer ${KEY}` } : { [name.toLowerCase()]: KEY } };
}

function endpointOf(endpoints: readonly Endpoint[], { endpoint: name }: Sample): Endpoint {
    const endpoint = endpoints.find((candidate) => candidate.name === name);
    if (endpoint === undefined) throw new Error(`a sample is of ${name}, which the package does not have`);
    return endpoint;
}

/** One credit for a result, a page or a request. Numbered pages end with an empty one, which is free; cursors may end without. */
function checkBill({ billing, pagination }: Endpoint, pages: number, { body }: Answer): void {
    const { results, credits_used: charged } = body['meta'] as { results: number; credits_used: number };
    if (billing.unit === 'result') expect(charged, 'one credit a result').to.equal(results);
    else if (pagination === undefined) expect(charged, 'one credit').to.equal(1);
    else if (pagination.style === 'cursor') expect(charged, 'one credit a page with results').to.be.oneOf([pages, pages - 1]);
    else expect(charged, 'one credit a page with results').to.equal(pagination.style === 'link' ? pages : pages - 1);
}
