import { expect } from 'chai';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';

const read = (fields: Partial<PackageEndpoint> = {}) =>
    readEndpoint({ name: 'a', method: 'GET', url: 'https://shop.example.com/', ...fields });

describe('a minimal endpoint', () => {
    it('has the documented defaults', () => {
        expect(read()).to.deep.equal({
            name: 'a',
            kind: 'api_call',
            description: '',
            method: 'GET',
            url: 'https://shop.example.com/',
            headers: {},
            params: [],
            body: undefined,
            bodyFormat: 'json',
            bodyRequired: true,
            prepare: undefined,
            hosted: true,
            effect: 'read',
            auth: undefined,
            scopes: [],
            response: { type: undefined, select: undefined, schema: undefined },
            billing: { unit: 'request', results: 'items', hasList: false, maxResults: 100 },
            pagination: undefined,
            examples: [],
        });
    });

    it('bills each request if its billing only has the place of the results', () => {
        expect(read({ billing: { results: 'rows', max_results: 5 } }).billing).to.deep.equal({
            unit: 'request',
            results: 'rows',
            hasList: true,
            maxResults: 5,
        });
        expect(read({ billing: {} })).to.deep.equal(read());
    });

    it('has the same meaning with null', () => {
        expect(read({ body: null, prepare: null, pagination: null })).to.deep.equal(read());
    });

    it('reads or writes by its method and kind', () => {
        const effect = (method: PackageEndpoint['method'], kind: PackageEndpoint['kind'] = 'api_call') => read({ method, kind }).effect;
        expect(effect('GET')).to.equal('read');
        expect(effect('HEAD')).to.equal('read');
        expect(effect('POST')).to.equal('write');
        expect(effect('POST', 'search')).to.equal('read');
        expect(effect('POST', 'paginate')).to.equal('write');
        for (const method of ['PUT', 'PATCH', 'DELETE'] as const) expect(effect(method, 'search')).to.equal('write');
        expect(read({ method: 'GET', effect: 'write' }).effect).to.equal('write');
        expect(read({ method: 'POST', effect: 'read' }).effect).to.equal('read');
    });

    it('sends a form when it submits one', () => {
        expect(read({ kind: 'submit_form', method: 'POST' }).bodyFormat).to.equal('form');
        expect(read({ kind: 'submit_form', method: 'POST', body_format: 'json' }).bodyFormat).to.equal('json');
    });

    it('counts pages from 1, and offsets from 0 by the number of results', () => {
        expect(read({ pagination: { param: 'p' } }).pagination).to.deep.equal({
            style: 'page',
            param: 'p',
            start: 1,
            step: 1,
            next: undefined,
            unique: undefined,
            end: { total: undefined, hasMore: undefined, isShort: false },
            maxPages: 5,
        });
        expect(read({ pagination: { style: 'offset', param: 'p' } }).pagination).to.include({ start: 0, step: undefined });
        expect(read({ pagination: { style: 'offset', param: 'p', start: 10, step: 20, max_pages: 2 } }).pagination).to.include({
            start: 10,
            step: 20,
            maxPages: 2,
        });
        expect(read({ pagination: { style: 'cursor', param: 'p', next: 'meta.next' } }).pagination).to.include({
            style: 'cursor',
            next: 'meta.next',
        });
    });

    it('keeps a default that is null, false, 0 or empty', () => {
        const params = [null, false, 0, ''].map((value, index) => ({
            name: `p${index}`,
            source: 'body' as const,
            required: false,
            default: value,
        }));
        expect(read({ method: 'POST', params }).params.map((param) => param.default)).to.deep.equal([null, false, 0, '']);
        expect(read({ params: [{ name: 'q', source: 'query', required: false }] }).params[0]?.default).to.equal(undefined);
    });
});
