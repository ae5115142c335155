import { expect } from 'chai';
import { bindParams } from '../../shared/domain/fetch/bind-params.ts';
import { createParamValidator } from '../../shared/domain/fetch/validate-params.ts';
import type { Endpoint, JsonObject, PackageEndpoint, Values } from '../../shared/domain/types.ts';
import { anEndpoint, bodyParam, pathParam, queryParam } from './an-endpoint.ts';

function bound(endpoint: Endpoint, params: JsonObject): Values {
    const binding = bindParams(endpoint, params, createParamValidator());
    if (!binding.ok) throw new Error(JSON.stringify(binding.problems));
    return binding.values;
}

function problems(endpoint: Endpoint, params: JsonObject): string[] {
    const binding = bindParams(endpoint, params, createParamValidator());
    return binding.ok ? [] : binding.problems.map(({ path, code }) => `${path} ${code}`);
}

const search: Partial<PackageEndpoint> = {
    url: 'https://shop.example/{section}/items',
    params: [
        pathParam('section', { required: true, default: 'all' }),
        queryParam('query', { required: true, schema: { type: 'string', maxLength: 10 } }),
        queryParam('page', { schema: { type: 'integer', minimum: 1 } }),
        queryParam('tags', { schema: { type: 'array', items: { type: 'string' } } }),
        queryParam('free'),
    ],
};

describe('the params of a call', () => {
    it('are used unchanged, with defaults for absent ones and nothing for the rest', () => {
        const values = bound(anEndpoint(search), { query: 'shoes', page: 2 });
        expect({ ...values }).to.deep.equal({ section: 'all', query: 'shoes', page: 2 });
        expect(Object.getPrototypeOf(values)).to.equal(null);
    });

    it('are refused if the templates of the endpoint repeat them until the request is large', () => {
        const long = { a: 'x'.repeat(60_000) };
        const inBody = (count: number) =>
            anEndpoint({ method: 'POST', body: Array.from({ length: count }, () => '{a}'), params: [bodyParam('a')] });
        const inText = (count: number) =>
            anEndpoint({ method: 'POST', body_format: 'text', body: '{a}'.repeat(count), params: [bodyParam('a')] });
        const inUrl = (count: number) => anEndpoint({ url: `https://shop.example/${'{a}'.repeat(count)}`, params: [pathParam('a')] });
        for (const endpoint of [inBody(100), inText(100), inUrl(10)]) {
            expect(problems(endpoint, long)).to.deep.equal(['/params TOO_COMPLEX']);
            expect(problems(endpoint, { a: 'x' })).to.deep.equal([]);
        }
        for (const endpoint of [inBody(20), inText(20), inUrl(2)]) expect(problems(endpoint, long)).to.deep.equal([]);
    });

    it('are all checked at once, each with its pointer', () => {
        expect(problems(anEndpoint(search), { page: '2', quary: 'x', tags: [1], section: '' })).to.deep.equal([
            '/params/quary UNKNOWN_FIELD',
            '/params/section INVALID_VALUE',
            '/params/query REQUIRED',
            '/params/page INVALID_TYPE',
            '/params/tags/0 INVALID_TYPE',
        ]);
    });

    it('get a suggestion for an unknown name', () => {
        const binding = bindParams(anEndpoint(search), { query: 'x', pages: 1 }, createParamValidator());
        expect(binding.ok ? '' : binding.problems[0]?.message).to.equal('The endpoint products has no such parameter; did you mean page?');
        const none = bindParams(anEndpoint(), { x: 1 }, createParamValidator());
        expect(none.ok ? '' : none.problems[0]?.message).to.equal('The endpoint products has no such parameter; it takes none.');
        const brief = bindParams(anEndpoint(search), { query: 'x', pages: 1 }, createParamValidator(), false);
        expect(brief.ok ? '' : brief.problems[0]?.message).to.equal('The endpoint products has no such parameter.');
    });

    it('are never converted to another type', () => {
        for (const page of ['2', true, 1.5, 0, [1]])
            expect(problems(anEndpoint(search), { query: 'x', page }), String(page)).to.have.length(1);
        expect(problems(anEndpoint(search), { query: 12 })).to.deep.equal(['/params/query INVALID_TYPE']);
        expect(problems(anEndpoint(search), { query: 'far too long' })).to.deep.equal(['/params/query INVALID_VALUE']);
    });

    it('accept a string, a number or a boolean without a schema', () => {
        for (const free of ['x', '', 1.5, -0, 1e300, true])
            expect(problems(anEndpoint(search), { query: 'x', free }), String(free)).to.deep.equal([]);
        for (const free of [null, {}, [], ['x']]) {
            expect(problems(anEndpoint(search), { query: 'x', free }), String(free)).to.deep.equal(['/params/free INVALID_TYPE']);
        }
    });

    it('accept no null and no objects in a URL, whatever a schema allows', () => {
        const any = anEndpoint({
            url: 'https://shop.example/{p}',
            params: [pathParam('p', { schema: true }), queryParam('q', { schema: true })],
        });
        for (const value of [null, {}, [[1]], [null], [{}]]) {
            expect(problems(any, { p: 'x', q: value }), JSON.stringify(value)).to.deep.equal(['/params/q INVALID_TYPE']);
        }
        for (const value of [null, {}, ['x'], []]) {
            expect(problems(any, { p: value }), JSON.stringify(value)).to.deep.equal(['/params/p INVALID_TYPE']);
        }
        expect(problems(any, { p: 'x', q: ['a', 1, true] })).to.deep.equal([]);
        expect(problems(any, { p: 'x', q: [] })).to.deep.equal([]);
    });

    it('cannot escape from their segment of the path', () => {
        const endpoint = anEndpoint({ url: 'https://shop.example/{p}', params: [pathParam('p')] });
        for (const p of ['', '.', '..']) expect(problems(endpoint, { p }), p).to.deep.equal(['/params/p INVALID_VALUE']);
        for (const p of ['...', '%2e%2e', '/', '../..', 'a/b', '?', '#', '@', '\\']) expect(problems(endpoint, { p }), p).to.deep.equal([]);
    });

    it('accept any JSON in a JSON body', () => {
        const endpoint = anEndpoint({
            method: 'POST',
            params: [bodyParam('filter'), bodyParam('size', { schema: { type: ['integer', 'null'] } })],
        });
        for (const filter of [null, [], {}, [{ a: [null] }], 'x', 0, false]) expect(problems(endpoint, { filter })).to.deep.equal([]);
        expect(bound(endpoint, { size: null })).to.have.property('size', null);
    });

    it('accept scalars and lists of them in a form', () => {
        const endpoint = anEndpoint({
            method: 'POST',
            body_format: 'form',
            params: [bodyParam('choice', { schema: true }), bodyParam('note')],
        });
        for (const choice of ['x', 1, true, ['a', 2], []]) expect(problems(endpoint, { choice }), String(choice)).to.deep.equal([]);
        for (const choice of [null, {}, [{}], [['a']]])
            expect(problems(endpoint, { choice }), String(choice)).to.deep.equal(['/params/choice INVALID_TYPE']);
        expect(problems(endpoint, { note: ['a', 'b'] })).to.deep.equal([]);
    });

    it('obey the text rule and the limits of JSON, in every value', () => {
        const endpoint = anEndpoint({ method: 'POST', params: [bodyParam('a'), bodyParam('b'), queryParam('must', { required: true })] });
        let deep: JsonObject = {};
        for (let i = 0; i < 40; i++) deep = { deep };
        expect(problems(endpoint, { a: 'nul\u0000', b: ['\ud800'] })).to.deep.equal([
            '/params/a INVALID_VALUE',
            '/params/b/0 INVALID_VALUE',
            '/params/must REQUIRED',
        ]);
        expect(problems(endpoint, { a: deep, must: 1 })[0]).to.match(/TOO_COMPLEX$/);
        expect(problems(endpoint, { a: Number.POSITIVE_INFINITY, must: 1 })).to.deep.equal(['/params/a INVALID_VALUE']);
        expect(problems(endpoint, { must: 'x'.repeat(65_537) })).to.deep.equal(['/params/must TOO_COMPLEX']);
    });

    it('cannot reach a prototype', () => {
        const endpoint = anEndpoint({ params: [queryParam('constructor'), queryParam('toString')] });
        expect({ ...bound(endpoint, {}) }).to.deep.equal({});
        expect(problems(endpoint, JSON.parse('{"__proto__": "x"}'))).to.include('/params/__proto__ UNKNOWN_FIELD');
        expect(problems(endpoint, { hasOwnProperty: 1 })).to.deep.equal(['/params/hasOwnProperty UNKNOWN_FIELD']);
        expect({ ...bound(endpoint, { constructor: 'a' }) }).to.deep.equal({ constructor: 'a' });
    });

    it('have pointers with escaped names', () => {
        const endpoint = anEndpoint({ params: [queryParam('a/b~c', { required: true, schema: { type: 'string' } })] });
        expect(problems(endpoint, {})).to.deep.equal(['/params/a~1b~0c REQUIRED']);
        expect(problems(endpoint, { 'a/b~c': 1 })).to.deep.equal(['/params/a~1b~0c INVALID_TYPE']);
        expect(problems(endpoint, { 'a/b~c': '\u0000' })).to.deep.equal(['/params/a~1b~0c INVALID_VALUE']);
    });
});
