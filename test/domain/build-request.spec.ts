import { expect } from 'chai';
import { ACCEPT_ENCODING, buildPrepareRequest, buildRequest, buildUrl, encodeSegment } from '../../shared/domain/fetch/build-request.ts';
import type { JsonObject, PackageEndpoint, UpstreamRequest } from '../../shared/domain/types.ts';
import { anEndpoint, bodyParam, pathParam, queryParam } from './an-endpoint.ts';
import { checkBuiltUrls } from './built-urls.ts';

const userAgent = 'Routebook/0.1.0 (+http://localhost:8080/abuse)';

function built(said: Partial<PackageEndpoint>, values: JsonObject = {}): UpstreamRequest {
    return buildRequest(anEndpoint(said), values, userAgent);
}

describe('the URL of a request', () => {
    it('has the path filled, then the template’s own query, then the params in the package’s order', () => {
        const said: Partial<PackageEndpoint> = {
            url: 'https://shop.example/v2/{section}/items?sort=new&lang=en',
            params: [queryParam('b'), pathParam('section'), queryParam('a'), queryParam('absent')],
        };
        expect(built(said, { a: 1, b: 2, section: 'shoes' }).url).to.equal('https://shop.example/v2/shoes/items?sort=new&lang=en&b=2&a=1');
    });

    it('percent-encodes everything but unreserved characters', () => {
        expect(encodeSegment("AZaz09-._~ !'()*/?#[]@:&=+$,;%é€𝒳")).to.equal(
            'AZaz09-._~%20%21%27%28%29%2A%2F%3F%23%5B%5D%40%3A%26%3D%2B%24%2C%3B%25%C3%A9%E2%82%AC%F0%9D%92%B3',
        );
        const said = { url: 'https://shop.example/{p}', params: [pathParam('p'), queryParam('q[]')] };
        expect(built(said, { p: '../a b', 'q[]': '$& $1' }).url).to.equal('https://shop.example/..%2Fa%20b?q%5B%5D=%24%26%20%241');
    });

    it('has numbers and booleans in their JSON form', () => {
        const values = { n: -0, big: 1e21, small: 1e-7, dec: 1.5, yes: true, no: false };
        const said = { params: Object.keys(values).map((name) => queryParam(name)) };
        expect(built(said, values).url).to.equal('https://shop.example/products?n=0&big=1e%2B21&small=1e-7&dec=1.5&yes=true&no=false');
    });

    it('repeats the name for each item of a list, and leaves out an empty list', () => {
        const said = { params: [queryParam('tag'), queryParam('none')] };
        expect(built(said, { tag: ['a', 2, true], none: [] }).url).to.equal('https://shop.example/products?tag=a&tag=2&tag=true');
    });

    it('has nothing of an absent param, whatever its name', () => {
        const names = ['toString', 'valueOf', 'hasOwnProperty'];
        expect(built({ params: names.map((name) => queryParam(name)) }).url).to.equal('https://shop.example/products');
        const form: Partial<PackageEndpoint> = {
            method: 'POST',
            body_format: 'form',
            params: [...names, 'a'].map((name) => bodyParam(name)),
        };
        expect(built(form, { a: 1 }).body).to.equal('a=1');
    });

    it('may have placeholders in its own query; a pair without a value is left out', () => {
        const said = { url: 'https://shop.example/p?x={a}&y=1-{b}&z=3', params: [pathParam('a'), pathParam('b')] };
        expect(built(said, { a: 'one&two', b: 7 }).url).to.equal('https://shop.example/p?x=one%26two&y=1-7&z=3');
        expect(built(said, { b: 7 }).url).to.equal('https://shop.example/p?y=1-7&z=3');
        expect(built({ ...said, url: 'https://shop.example/p?x={a}' }, {}).url).to.equal('https://shop.example/p');
    });

    it('does not read a value again: a placeholder in it remains text', () => {
        const said = { url: 'https://shop.example/{a}/{b}', params: [pathParam('a'), pathParam('b')] };
        expect(built(said, { a: '{b}', b: '$&' }).url).to.equal('https://shop.example/%7Bb%7D/%24%26');
    });

    it('throws for values that were never bound', () => {
        const endpoint = anEndpoint({ url: 'https://shop.example/{a}', params: [pathParam('a'), queryParam('q')] });
        for (const values of [
            {},
            { a: '' },
            { a: '.' },
            { a: '..' },
            { a: null },
            { a: {} },
            { a: ['x'] },
            { a: 'x', q: {} },
            { a: 'x', q: null },
        ]) {
            expect(() => buildUrl(endpoint, values as JsonObject), JSON.stringify(values)).to.throw();
        }
    });

    it('keeps scheme, user info, host, port and the number of path segments of its template, whatever the params are (E5)', () => {
        checkBuiltUrls(6000);
    });
});

describe('the body and the headers of a request', () => {
    const params = [bodyParam('q'), bodyParam('page'), queryParam('k')];

    it('are JSON with its content type, from the body params only', () => {
        const request = built({ method: 'POST', params }, { q: 'é "x"', page: 2, k: 'v' });
        expect(request.body).to.equal('{"q":"é \\"x\\"","page":2}');
        expect(request.bodyShown).to.deep.equal({ q: 'é "x"', page: 2 });
        expect(request.headers['content-type']).to.equal('application/json');
        expect(request.url).to.equal('https://shop.example/products?k=v');
    });

    it('are an empty object when all body params are absent', () => {
        expect(built({ method: 'POST', params })).to.include({ body: '{}' });
        expect(built({ method: 'POST', params, body: '{q}' })).to.include({ body: '{}' });
    });

    it('are a filled template if there is one', () => {
        const body = { query: 'query($q: String) { items(q: $q) }', variables: { q: '{q}', page: '{page}' } };
        expect(built({ method: 'POST', params, body }, { q: 'x' }).bodyShown).to.deep.equal({
            query: 'query($q: String) { items(q: $q) }',
            variables: { q: 'x' },
        });
        expect(built({ method: 'POST', body: { ping: true } }).body).to.equal('{"ping":true}');
    });

    it('are a form for forms', () => {
        const request = built({ kind: 'submit_form', method: 'POST', params }, { q: 'a b', page: ['1', '2'] });
        expect(request).to.include({ body: 'q=a+b&page=1&page=2', bodyShown: 'q=a+b&page=1&page=2' });
        expect(request.headers['content-type']).to.equal('application/x-www-form-urlencoded');
        expect(built({ kind: 'submit_form', method: 'POST', params })).to.include({ body: '' });
    });

    it('are no body and no content type without body params', () => {
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
            const request = built({ method, headers: { 'Content-Type': 'application/json' } });
            expect(request, method).not.to.have.property('body');
            expect(request.headers, method).not.to.have.property('content-type');
            expect(request.bodyShown, method).to.equal(null);
        }
    });

    it('are the schema’s headers in lower case, our user agent, and the encodings that we support', () => {
        const headers = { Accept: 'application/vnd.shop+json', 'X-Shop-Region': 'EU', 'User-Agent': 'other' };
        expect(built({ headers }).headers).to.deep.equal({
            accept: 'application/vnd.shop+json',
            'x-shop-region': 'EU',
            'user-agent': userAgent,
            'accept-encoding': ACCEPT_ENCODING,
        });
    });

    it('are header params after our own, which never replace a header of the endpoint, our user agent or accept-encoding', () => {
        const names = ['X-Region', 'Accept', 'User-Agent', 'Accept-Encoding', 'X-Page'];
        const said: Partial<PackageEndpoint> = {
            headers: { 'x-region': 'EU' },
            params: names.map((name) => ({ name, source: 'header', required: false })),
        };
        const values = { 'X-Region': 'US', Accept: 'text/csv', 'User-Agent': 'other', 'Accept-Encoding': 'zstd', 'X-Page': 2 };
        expect(built(said, values).headers).to.deep.equal({
            accept: 'text/csv',
            'x-region': 'EU',
            'x-page': '2',
            'user-agent': userAgent,
            'accept-encoding': ACCEPT_ENCODING,
        });
    });

    it('request the declared response type, and keep the schema’s more specific content type', () => {
        expect(built({}).headers['accept']).to.equal('*/*');
        expect(built({ response: { type: 'json' } }).headers['accept']).to.equal('application/json');
        expect(built({ response: { type: 'html' } }).headers['accept']).to.match(/^text\/html/);
        const sharper = { 'content-type': 'application/json; charset=utf-8' };
        expect(built({ method: 'POST', params, headers: sharper }).headers['content-type']).to.equal('application/json; charset=utf-8');
    });

    it('are for the page of prepare a plain GET with our user agent', () => {
        const step = { url: 'https://shop.example/form', form: '#f', extract: {} };
        expect(buildPrepareRequest(step, anEndpoint(), {}, userAgent)).to.deep.include({
            method: 'GET',
            url: 'https://shop.example/form',
            bodyShown: null,
        });
    });
});
