import { expect } from 'chai';
import { buildRequest } from '../../shared/domain/fetch/build-request.ts';
import { atFirstPage, atPage } from '../../shared/domain/fetch/pages.ts';
import type { Json, JsonObject, PackageEndpoint } from '../../shared/domain/types.ts';
import { anEndpoint, bodyParam, queryParam } from './an-endpoint.ts';

const userAgent = 'Routebook/test';

function first(said: Partial<PackageEndpoint>, values: JsonObject = {}) {
    const at = atFirstPage(anEndpoint(said), values);
    return buildRequest(at.endpoint, at.values, userAgent);
}

function page(said: Partial<PackageEndpoint>, value: Json, values: JsonObject = {}) {
    const at = atPage(anEndpoint(said), values, value);
    return buildRequest(at.endpoint, at.values, userAgent);
}

describe('the request of a page', () => {
    it('starts at the caller’s page, otherwise at the package’s', () => {
        const said: Partial<PackageEndpoint> = { params: [queryParam('page')], pagination: { param: 'page' } };
        expect(first(said).url).to.equal('https://shop.example/products?page=1');
        expect(first(said, { page: 4 }).url).to.equal('https://shop.example/products?page=4');
        expect(first({ ...said, pagination: { param: 'page', start: 0 } }).url).to.equal('https://shop.example/products?page=0');
        expect(first({ ...said, pagination: { param: 'page', style: 'offset' } }).url).to.equal('https://shop.example/products?page=0');
    });

    it('has no cursor before there is one, and no param at all with links', () => {
        const cursor: Partial<PackageEndpoint> = { params: [queryParam('c')], pagination: { style: 'cursor', param: 'c', next: 'n' } };
        expect(first(cursor).url).to.equal('https://shop.example/products');
        expect(first(cursor, { c: '*' }).url).to.equal('https://shop.example/products?c=%2A');
        expect(first({ pagination: { style: 'link', param: 'page' } }).url).to.equal('https://shop.example/products');
    });

    it('is unchanged if no pages are followed', () => {
        expect(first({ params: [queryParam('page')] }).url).to.equal('https://shop.example/products');
    });

    it('has a param that only the pagination names in the query, in place of the template’s', () => {
        const said: Partial<PackageEndpoint> = { url: 'https://shop.example/list?a=1&page%5B%5D=1&b=2', pagination: { param: 'page[]' } };
        expect(page(said, 3).url).to.equal('https://shop.example/list?a=1&b=2&page%5B%5D=3');
        expect(page({ url: 'https://shop.example/list?p=1', pagination: { param: 'p' } }, 2).url).to.equal('https://shop.example/list?p=2');
    });

    it('has a declared param at its declared place, also inside a template', () => {
        const said: Partial<PackageEndpoint> = {
            method: 'POST',
            effect: 'read',
            params: [bodyParam('q'), bodyParam('after')],
            body: { query: '{q}', page: { after: '{after}' } },
            pagination: { style: 'cursor', param: 'after', next: 'n' },
        };
        expect(first(said, { q: 'tea' }).body).to.equal('{"query":"tea","page":{}}');
        expect(page(said, 'x', { q: 'tea' }).body).to.equal('{"query":"tea","page":{"after":"x"}}');
    });
});
