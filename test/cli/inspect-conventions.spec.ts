import { expect } from 'chai';
import { endpointOf, inspectCalls, paramsOf, routesOf, SHOP } from './inspect/har.ts';

/** Routes without the names of their placeholders. */
const templates = (found: Parameters<typeof routesOf>[0]) => routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));

describe('routebook inspect reads the conventions of frameworks', () => {
    it('OData: keys in parentheses, and kinds and parts of things as words though answers name them', async () => {
        const service = `${SHOP}/odata/v4/shop`;
        const kinds = { value: ['Boats', 'Quays'].map((name) => ({ name, url: name })) };
        const found = await inspectCalls([
            { url: service, json: kinds },
            { url: `${service}/$metadata`, type: 'application/xml', json: '<Edmx/>' },
            ...['Boats', 'Quays'].map((name) => ({ url: `${service}/${name}?$top=2`, json: { value: [{ ID: 7, name, owner: 'x' }] } })),
            { url: `${service}/Boats/$count`, type: 'text/plain', json: '7' },
            ...[201, 207].flatMap((id) => [
                { url: `${service}/Boats(${id})`, json: { ID: id, name: 'owner', rope: 'text' } },
                { url: `${service}/Boats(${id})/owner`, json: { name: 'Ada', rope: 'x' } },
                { url: `${service}/Drafts(ID=${id},IsActive=false)`, json: { ID: id } },
            ]),
            ...['EUR', 'NOK'].map((code) => ({ url: `${service}/Currencies('${code}')`, json: { code } })),
        ]);
        expect(templates(found)).to.have.members([
            'GET /odata/v4/shop',
            'GET /odata/v4/shop/$metadata',
            'GET /odata/v4/shop/Boats',
            'GET /odata/v4/shop/Quays',
            'GET /odata/v4/shop/Boats/$count',
            'GET /odata/v4/shop/Boats({})',
            'GET /odata/v4/shop/Boats({})/owner',
            'GET /odata/v4/shop/Drafts(ID={},IsActive=false)',
            "GET /odata/v4/shop/Currencies('{}')",
        ]);
    });

    it('the data of a page at its address with .data, and no list of the pages of one build', async () => {
        const data = { type: 'text/x-script', json: '[{"_1":2},"routes"]' };
        const found = await inspectCalls([
            { url: `${SHOP}/_root.data`, ...data },
            { url: `${SHOP}/guide.data`, ...data },
            { url: `${SHOP}/tours.data`, ...data },
            ...[1, 2].map((id) => ({ url: `${SHOP}/tours/${id}.data`, ...data })),
            {
                url: `${SHOP}/kinds`,
                json: {
                    items: [
                        { kind: 'long', name: 'x' },
                        { kind: 'short', name: 'y' },
                    ],
                },
            },
            ...['long', 'short'].flatMap((kind) => [
                { url: `${SHOP}/tours/1/2/${kind}`, json: { kind, steps: [] } },
                { url: `${SHOP}/tours/1/2/${kind}.data`, ...data },
            ]),
            { url: `${SHOP}/__manifest?paths=%2Ftours&version=10ca8ef4`, json: { tours: {} } },
        ]);
        expect(templates(found)).to.have.members([
            'GET /_root.data',
            'GET /guide.data',
            'GET /tours.data',
            'GET /tours/{}.data',
            'GET /kinds',
            'GET /tours/{}/{}/{}',
            'GET /tours/{}/{}/{}.data',
        ]);
    });

    it('an id before a title as one value', async () => {
        const found = await inspectCalls(
            ['12-green-tea', '7-old-ropes'].map((topic) => ({ url: `${SHOP}/topic/${topic}`, json: { topic } })),
        );
        expect(templates(found)).to.deep.equal(['GET /topic/{}']);
    });

    it('a method in a field of JSON, even if that is sent as text', async () => {
        const client = { _ApplicationId: 'harbour' };
        const found = await inspectCalls(
            ['a1b2c3d4', 'e5f6a7b8'].flatMap((id) => [
                {
                    method: 'POST',
                    url: `${SHOP}/boats/${id}`,
                    text: JSON.stringify({ _method: 'GET', ...client }),
                    json: { id, name: 'x' },
                },
                { method: 'POST', url: `${SHOP}/boats/${id}`, text: JSON.stringify({ name: 'Gull', _method: 'PUT', ...client }) },
            ]),
        );
        const bodies = found.package.endpoints.map(({ url, body, kind }) => [url.replaceAll(/\{\w+\}/g, '{}'), JSON.stringify(body), kind]);
        expect(bodies.map(([url]) => url)).to.deep.equal([`${SHOP}/boats/{}`, `${SHOP}/boats/{}`]);
        expect(bodies[0]?.[1]).to.include('"_method":"GET"');
        expect(bodies[1]?.[1]).to.include('"_method":"PUT"');
    });

    it('verbs after a kind of people as calls, and lists of the user’s own profile not as people', async () => {
        const calls = ['grant', 'revoke', 'get'].map((verb) => ({
            method: 'POST',
            url: `${SHOP}/v3/auth/user/${verb}`,
            body: { user: 'x' },
        }));
        const lists = ['subscriptions', 'last_views'].map((list) => ({ url: `${SHOP}/profile/${list}`, json: { items: [] } }));
        const found = await inspectCalls([...calls, ...lists, { url: `${SHOP}/users/james`, json: { id: 7 } }]);
        expect(templates(found)).to.have.members([
            ...['grant', 'revoke', 'get'].map((verb) => `POST /v3/auth/user/${verb}`),
            'GET /profile/subscriptions',
            'GET /profile/last_views',
            'GET /users/{}',
        ]);
    });

    it('a word that alone ends the addresses behind several things as a view, whatever answers say', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/tours`, json: { items: [{ id: 1, status: 'finished', rope: 'gull' }] } },
            ...[1, 2].flatMap((id) => [
                { url: `${SHOP}/tours/${id}/finished`, json: { done: true } },
                { url: `${SHOP}/tours/${id}/3/steps`, json: { steps: [] } },
            ]),
        ]);
        expect(templates(found)).to.include('GET /tours/{}/finished');
    });

    it('several words behind a thing as names if each is written and they answer alike', async () => {
        const node = (value: string) => ({ action: 'get', node: { value, modified: 7, created: 7 } });
        const found = await inspectCalls(
            ['gull', 'tern'].flatMap((name) => [
                { method: 'PUT', url: `${SHOP}/v2/keys/7/${name}`, form: { value: 'x' }, json: node('x') },
                { url: `${SHOP}/v2/keys/7/${name}`, json: node('x') },
            ]),
        );
        expect(templates(found)).to.have.members(['PUT /v2/keys/{}/{}', 'GET /v2/keys/{}/{}']);
        const settings = ['avatar', 'colours'].map((part) => ({
            method: 'PUT',
            url: `${SHOP}/boats/7/${part}`,
            body: { [part]: 'x' },
            json: { [part]: 'x', [`${part}_changed`]: 7, [`${part}_by`]: 'x' },
        }));
        expect(templates(await inspectCalls(settings))).to.have.members(['PUT /boats/{}/avatar', 'PUT /boats/{}/colours']);
    });

    it('a word that is posted to behind a thing as a name if queries have it as a value', async () => {
        const found = await inspectCalls(
            ['harbour', 'quay'].flatMap((library) => [
                { url: `${SHOP}/books?library=${library}`, json: { library } },
                { method: 'POST', url: `${SHOP}/set-fields/7/${library}`, body: { title: 'x' }, json: { library } },
            ]),
        );
        expect(templates(found)).to.have.members(['GET /books', 'POST /set-fields/{}/{}']);
    });

    it('reports of errors to an address of the site as analytics', async () => {
        const report = `${JSON.stringify({ sent_at: '2026-11-21T08:00:00.000Z', sdk: { name: 'x' }, dsn: 'https://k@o.example/1' })}\n{"type":"event"}\n{}`;
        const found = await inspectCalls([
            { url: `${SHOP}/boats`, json: [] },
            { method: 'POST', url: `${SHOP}/resources/lookout`, text: report },
        ]);
        expect(routesOf(found)).to.deep.equal(['GET /boats']);
        expect(found.report.dropped.map(({ what }) => what)).to.deep.equal(['Analytics and advertising']);
    });

    it('requests that only report the visit not as routes, and those whose data the site keeps as routes', async () => {
        const [at, day] = [Date.parse('2026-11-21T08:00:00.250Z'), '2026-11-21T08:00:00.250Z'];
        const found = await inspectCalls([
            { url: `${SHOP}/boats/3`, json: { id: 3, name: 'Tide' } },
            ...[1, 2].map((place) => ({
                method: 'POST',
                url: `${SHOP}/api/e`,
                body: { event: 'view', at: at + place },
                json: { result: [200] },
            })),
            { method: 'POST', url: `${SHOP}/api/beat`, body: { session: 'x', events: [{ name: 'click', at: day }] }, status: 204 },
            ...[1, 2].map((id) => ({ method: 'POST', url: `${SHOP}/voyages`, body: { boat: id, leftAt: at }, json: { id, boat: id } })),
            { method: 'POST', url: `${SHOP}/boats/3/like`, body: { like: true }, status: 204 },
            { url: `${SHOP}/stats/watched?boat=3&seconds=10`, status: 204, type: '' },
        ]);
        expect(routesOf(found)).to.have.members(['GET /boats/{boat_id}', 'POST /voyages', 'POST /boats/{boat_id}/like']);
        expect(found.report.dropped.map(({ what }) => what)).to.include.members([
            'Reports of the visit (2 times)',
            'Requests that return nothing',
        ]);
    });

    it('requests that always name their page, and substitutes for WebSockets, not as routes', async () => {
        const headers = { referer: `${SHOP}/boats` };
        const found = await inspectCalls([
            { url: `${SHOP}/api/boats`, json: [{ id: 3 }] },
            ...[1, 2].map(() => ({ method: 'POST', url: `${SHOP}/srv/seen`, headers, form: { url: `${SHOP}/boats` }, status: 204 })),
            { method: 'POST', url: `${SHOP}/links`, headers, body: { link: `${SHOP}/boats` }, json: { ok: true } },
            { url: `${SHOP}/signalr/negotiate?clientProtocol=2.1`, json: { ConnectionId: 'x' } },
            { url: `${SHOP}/live/?EIO=4&transport=polling&t=x`, type: 'text/plain', html: '0{}' },
        ]);
        expect(routesOf(found)).to.have.members(['GET /api/boats', 'POST /links']);
    });

    it('no form without a field and a button', async () => {
        const page = (form: string) =>
            `<!doctype html><html><body><h1>Boats</h1><p>Long enough to be read by somebody.</p><form method="post" action="${form}</form></body></html>`;
        const state = '<input type="hidden" name="__VIEWSTATE" value="x">';
        const found = await inspectCalls([
            { url: `${SHOP}/Default.aspx`, html: page(`Default.aspx">${state}`) },
            { url: `${SHOP}/Clear.aspx`, html: page(`Clear.aspx">${state}<button>Clear the list</button>`) },
        ]);
        expect(routesOf(found)).to.have.members(['GET /Default.aspx', 'GET /Clear.aspx', 'POST /Clear.aspx']);
    });

    it('page data for a framework, and requests about the session, not as routes', async () => {
        const piece = { type: 'text/x-component', html: '0:["$","div"]' };
        const found = await inspectCalls([
            { url: `${SHOP}/api/boats`, json: [{ id: 3 }] },
            { url: `${SHOP}/boats/3?_rsc=1r4yk`, ...piece },
            { method: 'POST', url: `${SHOP}/boats/3`, headers: { 'next-action': '40e1f2' }, text: '[{"id":3}]', ...piece },
            { url: `${SHOP}/api/auth/session`, json: {} },
            { url: `${SHOP}/tokens/new`, json: { csrfToken: '0c1d2e3f4a5b6c7d' } },
        ]);
        expect(routesOf(found)).to.have.members(['GET /api/boats']);
    });

    it('JSON as data, though its address ends like that of a script', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/cart.js`, json: { items: [] } },
            { method: 'POST', url: `${SHOP}/cart/add.js`, body: { id: 3, quantity: 1 }, json: { id: 3 } },
            ...['brass-lamp', 'red-rope'].map((name) => ({
                url: `${SHOP}/products/${name}.js`,
                json: { title: name, price: 3, tags: [] },
            })),
            { url: `${SHOP}/menu.js`, type: 'text/javascript', html: 'open()' },
        ]);
        expect(routesOf(found)).to.have.members(['GET /cart.js', 'POST /cart/add.js', 'GET /products/{product}.js']);
    });

    it('describes a param of a call by what the calls beside it answer with', async () => {
        const found = await inspectCalls([
            { method: 'POST', url: `${SHOP}/v3/kv/put`, body: { key: 'a2V5', lease: 'x' }, json: { header: { revision: 7 } } },
            { method: 'POST', url: `${SHOP}/v3/kv/range`, body: { key: 'a2V5' }, json: { kvs: [{ key: 'x', lease: 'y' }] } },
        ]);
        const lease = endpointOf(found, 'POST /v3/kv/put').params?.find(({ name }) => name === 'lease');
        expect(lease?.description).to.match(/the field “lease” in the answer of \w*kv_range/);
    });

    it('describes a name in a path by a field that has it with a slash', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/tree`, json: { top: { path: '/lighthouses' } } },
            ...['lighthouses', 'moorings'].map((name) => ({ method: 'DELETE', url: `${SHOP}/files/${name}`, json: { done: true } })),
        ]);
        const [param] = found.package.endpoints.find(({ method }) => method === 'DELETE')?.params ?? [];
        expect(param?.description).to.include('the field “path”');
    });

    it('repeats no key of a map that is a name of the site’s users', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/init`, json: { library_map: { lighthouse: 'lighthouse' } } },
            { url: `${SHOP}/books?library=lighthouse`, json: { title: 'x' } },
        ]);
        expect(paramsOf(endpointOf(found, 'GET /books'), 'query')).to.deep.equal(['library']);
        const { description } = endpointOf(found, 'GET /books').params?.[0] ?? {};
        expect(description).to.include('the field “library_map”');
        expect(description).not.to.include('lighthouse');
    });

    describe('reads the description that a site has of its API', () => {
        const thing = (name: string) => ({ name, length: 3, feature: { type: 'Point' } });
        const kinds = ['buoy', 'shoal'];
        const described = (path: string, extra: object = {}) => ({
            [path]: {
                get: { summary: 'All things of one kind on a chart', tags: [{ name: 'buoy' }, { name: 'shoal' }, { name: 'course' }] },
            },
            [`${path}/{id}`]: { put: { description: 'Changes a thing. Its id stays.', parameters: [], ...extra } },
        });
        const api = {
            openapi: '3.0.0',
            info: { title: 'x', version: '1' },
            paths: {
                ...described('/chart/buoy', {
                    requestBody: { schema: { properties: { length: { description: 'How long it is, in metres' } } } },
                }),
                ...described('/chart/shoal'),
                '/course': { get: { parameters: [{ name: 'until', in: 'query', description: 'The last harbour\nof the way' }] } },
            },
        };
        const calls = [
            ...kinds.flatMap((kind) => [
                { url: `${SHOP}/api/chart/${kind}`, json: { a1b2c3d4e5: thing('x'), b1b2c3d4e5: thing('y') } },
                ...['a1b2c3d4e5', 'latest'].map((id) => ({ method: 'PUT', url: `${SHOP}/api/chart/${kind}/${id}`, body: thing('z') })),
            ]),
            { url: `${SHOP}/api/course?until=kiel`, json: { legs: [1] } },
            { url: `${SHOP}/api/course?until=riga`, json: { legs: [2] } },
        ];

        it('takes what it names for words, and its placeholders for values', async () => {
            const found = await inspectCalls([...calls, { url: `${SHOP}/openapi.json`, json: api }]);
            expect(routesOf(found)).to.have.members([
                'GET /openapi.json',
                ...kinds.flatMap((kind) => [`GET /api/chart/${kind}`, `PUT /api/chart/${kind}/{${kind}_id}`]),
                'GET /api/course',
            ]);
        });

        it('describes calls and params as it does, in one sentence', async () => {
            const found = await inspectCalls([...calls, { url: `${SHOP}/openapi.json`, json: api }]);
            const change = endpointOf(found, 'PUT /api/chart/buoy/{buoy_id}');
            expect(endpointOf(found, 'GET /api/chart/buoy').description).to.match(/^All things of one kind on a chart\./);
            expect(change.description).to.match(/^Changes a thing\./);
            expect(change.params?.find(({ name }) => name === 'length')?.description).to.equal('How long it is, in metres.');
            expect(endpointOf(found, 'GET /api/course').params?.[0]?.description).to.equal('The last harbour.');
        });

        it('repeats nothing of it that holds an address, a secret or a name that people have, and takes no data for it', async () => {
            const until = (description: string) => ({
                ...api,
                paths: { '/course': { get: { parameters: [{ name: 'until', description }] } } },
            });
            for (const text of [
                'Ask ada@people.example for it',
                'Use the key sk_live_4eC39HqLyjWDarjtT1zdp7dc here',
                'Where Ada lives now',
            ])
                expect(
                    JSON.stringify(
                        await inspectCalls([
                            ...calls,
                            { url: `${SHOP}/people`, json: [{ name: 'Ada' }] },
                            { url: `${SHOP}/openapi.json`, json: until(text) },
                        ]),
                    ),
                ).not.to.include(text);
            const notes = [{ name: 'until', description: 'A note that somebody wrote' }];
            expect(JSON.stringify(await inspectCalls([...calls, { url: `${SHOP}/notes`, json: { notes } }]))).not.to.include('A note that');
        });
    });
});
