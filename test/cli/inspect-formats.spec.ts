import { expect } from 'chai';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import type { Endpoint, PackageEndpoint } from '../../shared/domain/types.ts';
import { parseMarkup } from '../../workers/select/markup.ts';
import type { RawPage } from '../../workers/select/parse-page.ts';
import { readPage } from '../../workers/select/read-page.ts';
import { type Call, endpointOf, inspectCalls, routesOf, SHOP } from './inspect/har.ts';

const FEED = (title: string) =>
    `<?xml version="1.0"?><rss version="2.0"><channel><title>Boats</title><item><title>${title}</title></item></channel></rss>`;

/** What the draft of one recorded call reads from its answer. */
async function dataOf(call: Call & { json: string; type: string }): Promise<{ response: PackageEndpoint['response']; data: unknown }> {
    const found = await inspectCalls([call]);
    expect(checkPackage(found.package, { isPortAllowed: () => false }).ok).to.equal(true);
    const { response = {} } = found.package.endpoints[0] ?? {};
    const { type = 'json' } = response;
    const body = new TextEncoder().encode(call.json);
    const raw: RawPage = { status: 200, contentType: call.type, body, url: call.url, method: 'GET', type };
    const markup = type === 'feed' || type === 'xml' ? parseMarkup : undefined;
    const { text } = readPage(raw, response as Endpoint['response'], { results: 'items', maxResults: 10 }, markup);
    return { response, data: JSON.parse(text) };
}

describe('routebook inspect drafts answers in every format, so that a fetch reads them', () => {
    for (const type of ['application/x-ndjson', 'application/jsonl', 'application/json'])
        it(`lines of JSON, called ${type}`, async () => {
            const { response, data } = await dataOf({ url: `${SHOP}/log`, type, json: '{"id":1,"note":"a"}\n\n{"id":2,"note":"b"}\n' });
            expect(response?.type).to.equal('ndjson');
            expect(JSON.stringify(response?.schema)).to.include('"note":{"type":"string"}');
            expect(data).to.deep.equal({
                items: [
                    { id: 1, note: 'a' },
                    { id: 2, note: 'b' },
                ],
            });
        });

    it('tables', async () => {
        const { response, data } = await dataOf({ url: `${SHOP}/boats.csv`, type: 'text/csv', json: 'id,name\n1,"A\nB"\n' });
        expect(response).to.deep.equal({ type: 'csv' });
        expect(data).to.deep.equal({ items: [{ id: '1', name: 'A\nB' }] });
    });

    for (const [what, type, json] of [
        ['RSS', 'application/rss+xml', FEED('Tug')],
        ['RSS that is called XML', 'text/xml', FEED('Tug')],
        [
            'Atom',
            'application/atom+xml',
            '<feed xmlns="http://www.w3.org/2005/Atom"><title>Boats</title><entry><id>1</id><title>Tug</title></entry></feed>',
        ],
        [
            'RDF',
            'application/rdf+xml',
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="/"><title>Boats</title></channel><item rdf:about="/1"><title>Tug</title></item></rdf:RDF>',
        ],
    ] as const)
        it(`feeds: ${what}`, async () => {
            const { response, data } = await dataOf({ url: `${SHOP}/news`, type, json });
            expect(response).to.deep.equal({ type: 'feed' });
            expect((data as { items: { title: string }[] }).items.map(({ title }) => title)).to.deep.equal(['Tug']);
        });

    it('pages of a feed', async () => {
        const pages = [1, 2].map((page) => ({ url: `${SHOP}/feed?page=${page}`, type: 'application/rss+xml', json: FEED(`Tug ${page}`) }));
        const { kind, description, pagination, billing } = endpointOf(await inspectCalls(pages), 'GET /feed');
        expect(description).to.match(/Each item has title, url, summary, content, authors and published_at\.$/);
        expect(kind).to.equal('paginate');
        expect(pagination).to.deep.equal({ style: 'page', param: 'page' });
        expect(billing).to.deep.equal({ unit: 'request', results: 'items' });
    });

    it('entries of OData and feeds with a document type as XML, which keeps what they have', async () => {
        const odata =
            '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="m" xmlns:d="d"><entry><content><m:properties><d:Name>Tug</d:Name></m:properties></content></entry></feed>';
        for (const json of [odata, `<!DOCTYPE rss>${FEED('Tug')}`])
            expect(
                (await dataOf({ url: `${SHOP}/odd`, type: 'application/xml', json }).catch(() => undefined))?.response?.type,
            ).to.not.equal('feed');
    });

    it('JSON in a call of a function, without the name that the page gave it', async () => {
        const found = await inspectCalls(
            ['tug', 'raft'].map((q, place) => ({
                url: `${SHOP}/suggest?q=${q}&callback=jQuery17_${place}23`,
                type: 'application/javascript',
                resource: 'script',
                json: `/**/ typeof jQuery17_${place}23 === 'function' && jQuery17_${place}23({"words":["${q} boat"]});`,
            })),
        );
        expect(routesOf(found)).to.deep.equal(['GET /suggest']);
        const { params = [], response } = endpointOf(found, 'GET /suggest');
        expect(params.map(({ name }) => name)).to.deep.equal(['q']);
        expect(response?.type).to.equal('json');
        expect(JSON.stringify(response?.schema)).to.include('words');
        expect(JSON.stringify(found)).to.not.include('jQuery17');
    });

    it('formats that a query asks for each by its own endpoint, whatever the param is called, if they are read in other ways', async () => {
        const feed = '<rss version="2.0"><channel><title>x</title><item><title>a</title></item></channel></rss>';
        const asked = (format: string) => ['fog', 'tides'].map((words) => `${SHOP}/search?q=${words}&f=${format}`);
        const found = await inspectCalls([
            ...['fog', 'tides'].map((words) => ({ url: `${SHOP}/search?q=${words}`, html: '<html><body><h1>Found</h1></body></html>' })),
            ...asked('json').map((url) => ({ url, json: { results: [{ title: 'a', at: 1 }] } })),
            ...asked('rss').map((url) => ({ url, json: feed, type: 'application/rss+xml' })),
            ...asked('csv').map((url) => ({ url, json: 'title,at\na,1\n', type: 'text/csv' })),
        ]);
        const types = found.package.endpoints.map(({ url, response }) => `${url.replace(SHOP, '')} ${response?.type}`);
        expect(types).to.have.members(['/search html', '/search?f=json json', '/search?f=rss feed', '/search?f=csv csv']);
    });

    it('a format as a param if all that are asked for are read in one way', async () => {
        const found = await inspectCalls(
            ['json', 'geojson'].flatMap((format) =>
                ['fog', 'tides'].map((words) => ({
                    url: `${SHOP}/api/search?q=${words}&f=${format}`,
                    json: { results: [{ title: 'a' }] },
                })),
            ),
        );
        expect(routesOf(found)).to.deep.equal(['GET /api/search']);
    });
});
