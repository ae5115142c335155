import { expect } from 'chai';
import { CannotImport, type Imported, importDocument } from '../../cli/import/import.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { faultsOf, requestFor } from './import/requests.ts';

/** A contributor's package of another registry, in the format 0.1. */
const HARBOUR = {
    site: 'harbour.example',
    intent_category: 'travel',
    schema_format_version: '0.1',
    name: 'harbour.example',
    description: 'Boats, berths and tides.',
    version: 3,
    requires_stealth: true,
    session: { bootstrap_url: 'https://harbour.example/', clearance_cookies: { cf_clearance: 'abcdefgh12345678' } },
    runtime: { signer_js: 'function sign() {}' },
    endpoints: [
        {
            name: 'get_boat',
            method: 'GET',
            url_template: 'https://api.harbour.example/boats/{{boat_id}}.json',
            purpose: 'One boat.',
            description: 'The id stands in every link.',
            headers: { Accept: 'application/json', 'X-Token': '{{token}}', 'X-Lang': '{{lang}}', 'X-Odd': 'a {{b}}', Cookie: 'sid=1' },
            variables: [
                { name: 'boat_id', source: 'path', pattern: '^[0-9]+$' },
                { name: 'lang', source: 'header', default: 'en' },
            ],
            query_params: [
                { key: 'lang', value: 'en', required: false },
                { key: 'fields', value: '{{fields}}', required: true },
                { key: 'q', required: false },
            ],
            response_schema: {
                type: 'object',
                fields: [
                    { name: 'id', type: 'integer' },
                    { name: 'owners', type: 'array', items: { type: 'object', fields: [{ name: 'name', type: 'string' }] } },
                ],
            },
            is_primary: true,
            confidence: 0.9,
        },
        {
            name: 'list',
            method: 'GET',
            url_template: 'https://harbour.example/berths?free={free}',
            response_schema: { type: 'array', items: { fields: [{ name: 'n', type: 'number' }] } },
        },
        {
            name: 'reviews',
            method: 'GET',
            url_template: 'https://harbour.example/reviews',
            response_schema: {
                html_list: {
                    item_selector: 'li.review',
                    output_key: 'reviews',
                    fields: { id: '[data-id]@data-id', title: '.title', own: '@data-own' },
                },
            },
        },
        {
            name: 'search',
            method: 'POST',
            url_template: 'https://harbour.example/graphql',
            headers: { 'Content-Type': 'application/json' },
            body_template: '{"operationName":"Search","variables":{"q":"{{words}}","first":{{count}},"fixed":true}}',
            variables: [
                { name: 'words', source: 'body' },
                { name: 'count', source: 'body', type: 'integer' },
            ],
        },
        {
            name: 'mapped',
            method: 'GET',
            url_template: 'https://harbour.example/m',
            response_mapping: { name: '$.boat.name', odd: 'a | b' },
        },
        {
            name: 'tide',
            method: 'POST',
            url_template: 'https://harbour.example/soap',
            headers: { 'Content-Type': 'text/xml; charset=utf-8' },
            body_template: '<tide port="{{ port }}"><day>{{day}}</day></tide>',
        },
        { name: 'spliced', method: 'POST', url_template: 'https://harbour.example/s', body_template: '{"q":"name:{{name}}"}' },
        { name: 'elsewhere', method: 'GET', url_template: 'https://other.example/x' },
        { name: 'anywhere', method: 'GET', url_template: 'https://{{host}}/x' },
        { name: 'read_with_body', method: 'GET', url_template: 'https://harbour.example/r', body_template: '{"a":"{{a}}"}' },
        'not an endpoint',
    ],
    actions: [
        {
            name: 'Book a Berth',
            method: 'POST',
            url_template: 'https://harbour.example/berths/{{berth}}/bookings',
            kind: 'api_call',
            transport: 'api_call',
            headers: { 'Content-Type': 'application/json' },
            params: [
                { name: 'berth', in: 'path', type: 'integer', required: true, description: 'Number of the berth' },
                { name: 'nights', in: 'body', type: 'integer', required: true },
                { name: 'power', in: 'body', type: 'boolean', default: 'true' },
                { name: 'lang', in: 'query', type: 'string', default: 'en' },
            ],
            requirements: { auth: 'login', session: 'cookie_jar', js: 'not_required' },
        },
        {
            name: 'contact',
            kind: 'submit_form',
            transport: 'http_post_form',
            url_template: 'https://harbour.example/contact',
            body_template: 'topic={{topic}}&tags=a&tags={{tag}}&kind=form',
            params: [{ name: 'topic', in: 'form', required: true }],
        },
        {
            name: 'open',
            kind: 'navigate',
            transport: 'http_get',
            url_template: 'https://harbour.example/',
            params: [{ name: 'url', in: 'url' }],
        },
        {
            name: 'next',
            kind: 'paginate',
            transport: 'http_get',
            url_template: 'https://harbour.example/berths',
            params: [{ name: 'page', in: 'query', type: 'integer' }],
        },
    ],
};

describe('routebook import, of packages in the format 0.1', () => {
    const imported = importDocument(HARBOUR);

    it('imports each endpoint and action or says why not, and the counts add up', () => {
        expect(imported.counts).to.deep.equal({ operations: 15, carried: 9, notCarried: 6 });
        expect(imported.counts.operations).to.equal(HARBOUR.endpoints.length + HARBOUR.actions.length);
        expect(whys(imported, 'operation')).to.deep.equal({
            'endpoints[6] (spliced)': '{{name}} is part of a longer text in the body, but a package can only fill whole values.',
            'endpoints[7] (elsewhere)':
                'The host of this URL is not on harbour.example, the domain of the site; publish it under its own site.',
            'endpoints[8] (anywhere)': 'Its url_template is not an http(s) URL, or its host contains a placeholder.',
            'endpoints[9] (read_with_body)': 'A GET request has no body, but this one has a body template.',
            'endpoints[10]': 'It is not an object.',
            'actions[2] (open)': 'A param is the whole URL, but a package must contain its URLs.',
        });
        expect(faultsOf(imported.package)).to.deep.equal([]);
        expect(imported.package).to.include({
            site: 'harbour.example',
            title: 'harbour.example',
            intent_category: 'travel',
            description: 'Boats, berths and tides.',
        });
    });

    it('lists other fields that have no equivalent, and imports no cookie, script or bypass of a protection', () => {
        expect(Object.keys(whys(imported, 'document'))).to.have.members(['requires_stealth', 'session', 'runtime']);
        expect(whys(imported, 'part')).to.include({
            'endpoints[0] (get_boat), header X-Token': 'A package may not set the header "x-token": it carries a credential. Leave it out.',
            'endpoints[0] (get_boat), header X-Odd': 'Its value combines text and a placeholder.',
            'endpoints[2] (reviews), html_list field own': 'It reads the item itself, but select reads only what is inside an item.',
            'endpoints[4] (mapped), response_mapping odd': 'select cannot follow its path as written.',
        });
        expect(whys(imported, 'part')).to.include.keys(
            'endpoints[0] (get_boat), header cookie',
            'actions[0] (Book a Berth), requirements.auth',
            'actions[3] (next), kind',
        );
        expect(JSON.stringify(imported)).not.to.match(/abcdefgh12345678|sid=1|function sign/);
    });

    it('builds the intended requests', () => {
        const { package: harbour } = imported;
        const boat = requestFor(harbour, 'get_boat', { boat_id: '17', fields: 'a,b', 'x-lang': 'de' });
        expect(boat).to.include({ method: 'GET', url: 'https://api.harbour.example/boats/17.json?lang=en&fields=a%2Cb' });
        expect(boat.headers).to.include({ 'x-lang': 'de' });
        expect(requestFor(harbour, 'list', { free: 'yes & no' }).url).to.equal('https://harbour.example/berths?free=yes%20%26%20no');
        expect(requestFor(harbour, 'search', { words: 'say "hi"', count: 3 })).to.deep.include({
            method: 'POST',
            body: { operationName: 'Search', variables: { q: 'say "hi"', first: 3, fixed: true } },
        });
        expect(requestFor(harbour, 'tide', { port: 'A & B', day: 7 })).to.deep.include({
            body: '<tide port="A &amp; B"><day>7</day></tide>',
            type: 'text/xml; charset=utf-8',
        });
        expect(requestFor(harbour, 'book_a_berth', { berth: 7, nights: 2 })).to.deep.include({
            method: 'POST',
            url: 'https://harbour.example/berths/7/bookings?lang=en',
            body: { nights: 2, power: true },
            type: 'application/json',
        });
        expect(requestFor(harbour, 'contact', { topic: 'a&b', tag: 'x' })).to.deep.include({
            method: 'POST',
            body: 'topic=a%26b&tags=a&tags=x&kind=form',
            type: 'application/x-www-form-urlencoded',
        });
    });

    it('imports the extraction of response fields', () => {
        expect(endpoint(imported, 'get_boat').response).to.deep.equal({
            type: 'json',
            schema: {
                type: 'object',
                properties: {
                    id: { type: 'integer' },
                    owners: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
                },
            },
        });
        expect(endpoint(imported, 'list').response?.schema).to.have.nested.property('properties.items.type', 'array');
        expect(endpoint(imported, 'reviews').response).to.deep.equal({
            type: 'html',
            select: { reviews: [{ selector: 'li.review', value: { id: { selector: '[data-id]', value: 'data-id' }, title: '.title' } }] },
        });
        expect(endpoint(imported, 'mapped').response).to.deep.equal({ type: 'json', select: { name: 'boat.name' } });
        expect(endpoint(imported, 'book_a_berth').hosted, 'it needs signing in').to.equal(false);
        expect(endpoint(imported, 'get_boat').params?.[0]).to.deep.equal({
            name: 'boat_id',
            source: 'path',
            required: true,
            schema: { type: 'string', pattern: '^[0-9]+$' },
        });
    });

    it('imports or lists extraction rules, data of Next.js, values of other endpoints, credentials and another domain', () => {
        const url_template = 'https://harbour.example/boats/{{slug}}';
        const found = importDocument({
            ...HARBOUR,
            domain: 'boats.example',
            extraction_rules: [{ selector: 'h1' }],
            actions: [],
            endpoints: [
                {
                    name: 'list_boats',
                    url_template: 'https://harbour.example/boats',
                    extraction_rules: { title: 'h1', link: { selector: 'a.boat', attr: 'href' }, odd: { script: 'x()' } },
                },
                {
                    name: 'open_boat',
                    url_template,
                    variables: [{ name: 'slug', source: { from_endpoint: 'list_boats', selector: 'a.boat@href' } }],
                    response_schema: { next_data: { name: 'props.pageProps.boat.name', odd: 'a | b' } },
                },
                { name: 'own_boat', url_template, variables: [{ name: 'slug' }, { name: 'key', source: 'credential' }] },
            ],
        });
        expect(faultsOf(found.package)).to.deep.equal([]);
        expect(endpoint(found, 'list_boats').response).to.deep.equal({
            type: 'html',
            select: { title: 'h1', link: { selector: 'a.boat', value: 'href' } },
        });
        expect(endpoint(found, 'open_boat').response).to.deep.equal({
            type: 'html',
            select: { name: { selector: 'script#__NEXT_DATA__', json: 'props.pageProps.boat.name' } },
        });
        expect(endpoint(found, 'open_boat').params?.[0]?.description).to.equal('The answer of list_boats has it at a.boat@href.');
        expect(endpoint(found, 'own_boat')).to.include({ hosted: false });
        expect(endpoint(found, 'own_boat').params?.map(({ name }) => name)).to.deep.equal(['slug']);
        expect(whys(found, 'document')).to.include.keys('domain', 'extraction_rules');
        expect(whys(found, 'part')).to.include.keys(
            'endpoints[0] (list_boats), extraction_rules odd',
            'endpoints[1] (open_boat), param slug',
            'endpoints[1] (open_boat), next_data odd',
            'endpoints[2] (own_boat), param key',
        );
    });

    it('keeps numbers as defaults of texts, and selectors that are marked as CSS', () => {
        const found = importDocument({
            ...HARBOUR,
            endpoints: [
                {
                    name: 'boats',
                    method: 'GET',
                    url_template: 'https://harbour.example/boats?page={page}',
                    variables: [{ name: 'page', source: 'query', default: 1 }],
                    extraction_rules: [{ name: 'title', type: 'css', selector: 'h1' }],
                },
            ],
        });
        const { params, response } = endpoint(found, 'boats');
        expect(params?.[0]).to.include({ name: 'page', default: '1' });
        expect(response?.select).to.deep.equal({ title: 'h1' });
        expect(Object.keys(whys(found, 'part')).filter((where) => where.includes('(boats)'))).to.deep.equal([]);
    });

    it('imports only the operations of a path or a method on request', () => {
        const get = (name: string, path: string) => ({ name, method: 'GET', url_template: `https://harbour.example${path}` });
        const document = {
            schema_format_version: '0.1',
            site: 'harbour.example',
            endpoints: [get('boats', '/boats?q={{q}}'), get('boat', '/boats/{{id}}'), { ...get('berths', '/berths'), tags: ['Berths'] }],
            actions: [{ name: 'moor', url_template: 'https://harbour.example/boats/{id}/moor', body_template: '{}' }],
        };
        const named = (...only: string[]) => importDocument(document, { only }).package.endpoints.map(({ name }) => name);
        expect(named()).to.deep.equal(['boats', 'boat', 'berths', 'moor']);
        expect(named('/boats')).to.deep.equal(['boats', 'boat', 'moor']);
        expect(named('/boats/{id}', 'get')).to.deep.equal(['boat']);
        expect(named('POST')).to.deep.equal(['moor']);
        expect(named('berths')).to.deep.equal(['berths']);
        expect(() => named('/boat')).to.throw(CannotImport, /No operation has the tag, path or method \/boat/);
        expect(whys(importDocument(document, { only: ['POST'] }), 'document')).to.deep.equal({ '--only': 'Left 3 of 4 operations out.' });
    });

    it('imports a title, a version that YAML reads as a number, and the site of its URLs if it names none', () => {
        const { site: _site, name: _name, ...rest } = HARBOUR;
        const found = importDocument({ ...rest, title: 'Harbour', schema_format_version: 0.1 });
        expect(found.package).to.include({ site: 'harbour.example', title: 'Harbour' });
        expect(whys(found, 'document')).not.to.include.keys('title');
    });

    it('names other errors, and refuses another version', () => {
        expect(() => importDocument({ ...HARBOUR, schema_format_version: '0.2' })).to.throw(CannotImport, /0\.1/);
        const odd = importDocument({ ...HARBOUR, intent_category: 'boats', surprise: 1 });
        expect(whys(odd, 'document')).to.include.keys('intent_category', 'surprise');
        expect(faultsOf(odd.package)).to.deep.equal([]);
        const empty = importDocument({ schema_format_version: '0.1', site: 'harbour.example' });
        expect(empty.counts).to.deep.equal({ operations: 0, carried: 0, notCarried: 0 });
        expect(empty.leftToDo.map(({ path }) => path)).to.deep.equal(['/endpoints']);
    });
});

function whys({ notCarried }: Imported, scope: string): Record<string, string> {
    return Object.fromEntries(notCarried.filter((one) => one.scope === scope).map(({ where, why }) => [where, why]));
}

function endpoint({ package: { endpoints } }: Imported, name: string): PackageEndpoint {
    const found = endpoints.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no ${name} among ${endpoints.map((one) => one.name).join(', ')}`);
    return found;
}
