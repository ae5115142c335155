import { expect } from 'chai';
import { type Call, endpointOf, inspectCalls, paramsOf, routesOf, SHOP } from './inspect/har.ts';

/** Routes without the names of their placeholders. */
const templates = async (calls: readonly Call[]) => routesOf(await inspectCalls(calls)).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));

describe('routebook inspect reads services of many kinds', () => {
    it('both ends of a range, and the direction in which a list is sorted', async () => {
        const list = { json: [{ id: 1, state: 'x' }] };
        const found = await inspectCalls(
            ['0..20', '20..40'].flatMap((range) => [
                { url: `${SHOP}/ropes/${range}`, ...list },
                ...['asc', 'desc'].map((order) => ({ url: `${SHOP}/ropes/${range}/${order}`, ...list })),
            ]),
            { confirmExample: () => true },
        );
        expect(routesOf(found)).to.have.members(['GET /ropes/{from}..{to}', 'GET /ropes/{from}..{to}/{name}']);
        const [example] = endpointOf(found, 'GET /ropes/{from}..{to}').examples ?? [];
        expect(example?.params).to.deep.equal({ from: 0, to: 20 });
    });

    it('a flag that adds to what is answered without it as a param, beside flags of other methods', async () => {
        const boat = { id: 7, name: 'x', length: 3 };
        expect(
            await templates([
                ...[7, 8].flatMap((id) => [
                    { url: `${SHOP}/boats/${id}`, json: boat },
                    { url: `${SHOP}/boats/${id}?expand`, json: { ...boat, ropes: [1] } },
                    { method: 'DELETE', url: `${SHOP}/boats/${id}`, json: { deleted: true, at: 1 } },
                    { method: 'DELETE', url: `${SHOP}/boats/${id}?files`, json: { deleted: true, at: 1 } },
                ]),
                { url: `${SHOP}/boats`, json: [boat] },
                { url: `${SHOP}/boats?expand`, json: [{ ...boat, ropes: [1] }] },
            ]),
        ).to.have.members(['GET /boats/{}', 'DELETE /boats/{}', 'GET /boats']);
    });

    it('buckets and objects at the root, which answers in XML list by name, with flags that select their parts', async () => {
        const xml = { type: 'application/xml' };
        const found = await templates([
            { url: `${SHOP}/`, json: '<All><Name>harbour</Name><Name>lights</Name></All>', ...xml },
            ...['harbour', 'lights'].flatMap((bucket) => [
                { url: `${SHOP}/${bucket}`, json: '<List><Key>tides</Key></List>', ...xml },
                { url: `${SHOP}/${bucket}?location`, json: '<Location/>', ...xml },
                { url: `${SHOP}/${bucket}?cors`, json: '<Cors/>', ...xml },
            ]),
        ]);
        expect(found).to.have.members(['GET /', 'GET /{}', 'GET /{}?location=', 'GET /{}?cors=']);
    });

    it('a usual word as a value that answers have, beside others that are read alike, and lists of plain values of any type', async () => {
        const list = { json: { items: [{ id: 1, state: 'active', size: 2 }] } };
        const states = ['active', 'wet', 'dry'];
        expect(
            await templates([
                { url: `${SHOP}/states`, json: states.map((state) => ({ state })) },
                ...states.map((state) => ({ url: `${SHOP}/ropes/${state}`, ...list })),
                ...['colours', 'owners'].map((field) => ({ url: `${SHOP}/values/${field}`, json: { values: ['x'] } })),
                { url: `${SHOP}/values/years`, json: { values: [1998] } },
            ]),
        ).to.have.members(['GET /states', 'GET /ropes/{}', 'GET /values/{}']);
    });

    it('one route that shows a browser as text what it gives a script as JSON', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/api/boats`, type: 'text/plain', json: '{ "boats": [] }', resource: 'document' },
            { url: `${SHOP}/api/boats`, json: { boats: [{ id: 1 }] } },
        ]);
        expect(routesOf(found)).to.deep.equal(['GET /api/boats']);
        expect(endpointOf(found, 'GET /api/boats').response?.type).to.equal('json');
    });

    it('a document of the program below the root of its API', async () => {
        const found = await templates([
            { url: `${SHOP}/api/v2/openapi.yaml`, type: 'application/yaml', json: 'openapi: 3' },
            { url: `${SHOP}/api/v2/boats`, json: [1] },
        ]);
        expect(found).to.have.members(['GET /api/v2/openapi.yaml', 'GET /api/v2/boats']);
    });

    it('methods of remote services by their dotted names', async () => {
        const found = await templates([
            { url: `${SHOP}/api/trpc/boat.list?input=%7B%7D`, json: { result: [1] } },
            { url: `${SHOP}/api/trpc/boat.byId?input=%7B%7D`, json: { result: { id: 1 } } },
            { url: `${SHOP}/api/trpc/boat.byId,boat.list?batch=1`, json: [{ result: [1] }] },
            { method: 'POST', url: `${SHOP}/harbour.v1.Boats/GetBoat`, body: { id: 1 }, json: { name: 'x' } },
            { method: 'POST', url: `${SHOP}/harbour.v1.Boats/ListBoats`, body: { limit: 1 }, json: { boats: [] } },
        ]);
        expect(found).to.have.members([
            'GET /api/trpc/boat.list',
            'GET /api/trpc/boat.byId',
            'POST /harbour.v1.Boats/GetBoat',
            'POST /harbour.v1.Boats/ListBoats',
        ]);
    });

    it('what is done with a thing behind a colon', async () => {
        const found = await templates([
            ...[7, 8].map((id) => ({ method: 'POST', url: `${SHOP}/v1/tides/${id}:cancel`, json: { done: 1 } })),
            { method: 'POST', url: `${SHOP}/v1/tides:batchGet`, body: { ids: [1] }, json: { tides: [] } },
            ...['harbour:start', 'harbour:tides'].map((page) => ({ url: `${SHOP}/wiki/${page}`, json: { text: 1 } })),
        ]);
        expect(found).to.have.members(['POST /v1/tides/{}:cancel', 'POST /v1/tides:batchGet', 'GET /wiki/{}']);
    });

    it('an address without the session that a Java program writes into it', async () => {
        const page = '<h1>Boats</h1><a href="/boats.do;jsessionid=9F3C2A?sort=name">by name</a>';
        const found = await inspectCalls([
            { url: `${SHOP}/boats.do;jsessionid=9F3C2A?page=1`, html: page },
            { url: `${SHOP}/boats.do?page=2`, html: page },
        ]);
        expect(routesOf(found)).to.deep.equal(['GET /boats.do']);
    });

    it('operations of GraphQL that the query of an address names', async () => {
        const found = await templates([
            { url: `${SHOP}/graphql?operationName=Boats&variables=%7B%7D`, json: { data: { boats: [1] } } },
            { url: `${SHOP}/graphql?operationName=Boat&variables=%7B%22id%22%3A1%7D`, json: { data: { boat: { id: 1 } } } },
        ]);
        expect(found).to.have.members(['GET /graphql?operationName=Boats', 'GET /graphql?operationName=Boat']);
    });

    it('ids and filters by the fields that they mean, though words are joined or an operator is beside them', async () => {
        const ropes = { ropes: [{ ropeid: 7, colour: 'red', ended: 3 }] };
        const found = await inspectCalls([
            { url: `${SHOP}/ropes?filter%5Bcolour%5D=red&ended__gt=2`, json: ropes },
            ...[7, 8].map((id) => ({ url: `${SHOP}/ropes/${id}/knots`, json: { knots: [] } })),
        ]);
        const descriptionOf = (route: string, param: string) =>
            endpointOf(found, route).params?.find(({ name }) => name === param)?.description;
        expect(descriptionOf('GET /ropes/{rope_id}/knots', 'rope_id')).to.contain('field “ropeid” in the answer of list_ropes');
        expect(descriptionOf('GET /ropes', 'filter[colour]')).to.contain('field “colour”');
        expect(descriptionOf('GET /ropes', 'ended__gt')).to.contain('field “ended”');
    });

    it('a method that a header names, with the header', async () => {
        const call = (method: string, body: object) => ({
            method: 'POST',
            url: `${SHOP}/`,
            headers: { 'x-amz-target': `Harbour_2026.${method}`, 'content-type': 'application/x-amz-json-1.0' },
            body,
            json: { done: method },
        });
        const { package: draft } = await inspectCalls([call('ListBoats', { Limit: 1 }), call('DeleteBoat', { Name: 'x' })]);
        expect(
            draft.endpoints.map(({ name, headers, params = [] }) => [name, headers?.['x-amz-target'], params.map((one) => one.name)]),
        ).to.deep.equal([
            ['list_boats', 'Harbour_2026.ListBoats', ['Limit']],
            ['delete_boat', 'Harbour_2026.DeleteBoat', ['Name']],
        ]);
    });
});

describe('routebook inspect drafts the XML that a site takes and gives', () => {
    it('with selectors for the items of a list, or for the texts of one thing', async () => {
        const answer = (url: string, text: string) => ({ url: `${SHOP}${url}`, json: text, type: 'text/xml' });
        const found = await inspectCalls([
            answer(
                '/boats',
                '<r:boats xmlns:r="urn:x"><r:all><r:boat><r:id>1</r:id><r:name>Gull</r:name></r:boat><r:boat><r:id>2</r:id></r:boat></r:all></r:boats>',
            ),
            answer('/tide', '<tide><height>3</height><at>noon</at></tide>'),
        ]);
        expect(endpointOf(found, 'GET /boats').response).to.deep.equal({
            type: 'xml',
            select: { items: [{ selector: 'r\\:boat', value: { id: 'r\\:id', name: 'r\\:name' } }] },
        });
        expect(endpointOf(found, 'GET /tide').response).to.deep.equal({ type: 'xml', select: { height: 'height', at: 'at' } });
    });

    const xml = (method: string, url: string, text: string): Call => ({
        method,
        url: `${SHOP}${url}`,
        xml: text,
        type: 'application/xml',
        json: '<done/>',
    });

    it('as a template with a param for each text and attribute', async () => {
        const found = await inspectCalls(
            ['tides', 'ropes'].map((name) =>
                xml(
                    'PUT',
                    '/labels',
                    `<?xml version="1.0"?><l:Labels xmlns:l="urn:harbour"><Label kind="${name}"><Key>${name}</Key></Label></l:Labels>`,
                ),
            ),
        );
        const endpoint = endpointOf(found, 'PUT /labels');
        expect(endpoint.body).to.equal('<l:Labels xmlns:l="urn:harbour"><Label kind="{kind}"><Key>{Key}</Key></Label></l:Labels>');
        expect(endpoint.body_format).to.equal('xml');
        expect(paramsOf(endpoint, 'body')).to.deep.equal(['kind', 'Key']);
        expect(JSON.stringify(found.package)).not.to.contain('tides');
    });

    it('one endpoint for each method of XML-RPC and each request of SOAP', async () => {
        const rpc = (name: string, value: string) =>
            xml(
                'POST',
                '/rpc',
                `<methodCall><methodName>${name}</methodName><params><param><value><int>${value}</int></value></param></params></methodCall>`,
            );
        const soap = (name: string) =>
            xml(
                'POST',
                '/soap',
                `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${name}><id>1</id></${name}></s:Body></s:Envelope>`,
            );
        const { package: draft } = await inspectCalls([rpc('boats.get', '1'), rpc('boats.remove', '2'), soap('GetTide'), soap('SetTide')]);
        expect(draft.endpoints.map(({ name, effect, params = [] }) => [name, effect, params.map((one) => one.name)])).to.deep.equal([
            ['boats_get', 'read', ['int']],
            ['boats_remove', undefined, ['int']],
            ['get_tide', 'read', ['id']],
            ['set_tide', undefined, ['id']],
        ]);
    });

    it('not if it has a credential, a name that is a value, or texts among elements', async () => {
        const bodies = [
            '<a><password>Leuchtfeuer-4471</password></a>',
            '<a><a1b2c3d4e5f60718293a4b5c6d7e8f90>x</a1b2c3d4e5f60718293a4b5c6d7e8f90></a>',
            '<a>see <b>this</b></a>',
            '<!DOCTYPE a><a/>',
        ];
        const { package: draft } = await inspectCalls([
            { url: `${SHOP}/boats`, json: [1] },
            ...bodies.map((body, place) => xml('POST', `/part/${place}`, body)),
        ]);
        expect(draft.endpoints.map(({ url }) => url)).to.deep.equal([`${SHOP}/boats`]);
    });
});
