import { expect } from 'chai';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { nextLink } from '../../workers/paging/next-link.ts';
import { nextPlace, type SeenPage } from '../../workers/paging/next-place.ts';
import { roomFor } from '../support/eventually.ts';
import { cpuMsOf } from '../support/stopwatch.ts';

const PAGE = 'https://shop.test/list?page=1';

function next(
    pagination: NonNullable<PackageEndpoint['pagination']>,
    at: number | string,
    seen: Partial<SeenPage>,
    more: Partial<PackageEndpoint> = {},
) {
    const endpoint = readEndpoint({ name: 'list', kind: 'paginate', method: 'GET', url: 'https://shop.test/list', ...more, pagination });
    return nextPlace(endpoint, { value: at }, { url: PAGE, link: undefined, found: undefined, items: 10, ...seen });
}

describe('the next page', () => {
    it('is one page on, or a step, as long as there are results', () => {
        expect(next({ param: 'page' }, 1, {})).to.deep.equal({ value: 2 });
        expect(next({ param: 'page', step: 10 }, 0, {})).to.deep.equal({ value: 10 });
        expect(next({ param: 'page' }, '3', {})).to.deep.equal({ value: '4' });
        expect(next({ param: 'page' }, 1, { items: 0 })).to.equal('none');
    });

    it('starts after the results of the last one, or a step later', () => {
        expect(next({ style: 'offset', param: 'from' }, 30, { items: 7 })).to.deep.equal({ value: 37 });
        expect(next({ style: 'offset', param: 'from', step: 20 }, 30, { items: 7 })).to.deep.equal({ value: 50 });
        expect(next({ style: 'offset', param: 'from' }, 30, { items: 0 })).to.equal('none');
    });

    it('is absent if no number can be counted on, or the param does not accept it', () => {
        expect(next({ param: 'page' }, 'first', {})).to.equal('none');
        expect(next({ param: 'page' }, Number.MAX_SAFE_INTEGER, {})).to.equal('none');
        const params: PackageEndpoint['params'] = [
            { name: 'page', source: 'query', required: false, schema: { type: 'integer', maximum: 3 } },
        ];
        expect(next({ param: 'page' }, 2, {}, { params })).to.deep.equal({ value: 3 });
        expect(next({ param: 'page' }, 3, {}, { params })).to.equal('none');
    });

    it('blocks no other calls, whatever the schema of the param is', () => {
        const schema = { oneOf: Array.from({ length: 400 }, (_, at) => ({ type: 'integer', minimum: at, not: { const: at } })) };
        const params: PackageEndpoint['params'] = [{ name: 'page', source: 'query', required: false, schema }];
        const before = process.threadCpuUsage();
        expect(next({ param: 'page' }, 1, {}, { params })).to.equal('none');
        const { user, system } = process.threadCpuUsage(before);
        expect((user + system) / 1000).to.be.below(roomFor(100));
    });

    const cursor = { style: 'cursor', param: 'after', next: 'x' } as const;
    const byCursor = (value: SeenPage['found'], more: Partial<PackageEndpoint> = {}) => next(cursor, '', { found: value, items: 0 }, more);

    it('follows the cursor of the page, with its type, whether or not there are results', () => {
        expect(byCursor({ value: 'abc' })).to.deep.equal({ value: 'abc' });
        expect(byCursor({ value: 7 })).to.deep.equal({ value: 7 });
        expect(byCursor({ value: 0 })).to.deep.equal({ value: 0 });
    });

    it('is absent if the cursor is no text or number that a request can contain', () => {
        for (const value of ['\ud800', Number.POSITIVE_INFINITY, { a: 1 }]) expect(byCursor({ value }), String(value)).to.equal('unusable');
        const params: NonNullable<PackageEndpoint['params']> = [{ name: 'after', source: 'path', required: true }];
        const url = 'https://shop.test/list/{after}';
        for (const value of ['.', '..']) expect(byCursor({ value }, { url, params }), value).to.equal('unusable');
        expect(byCursor({ value: '...' }, { url, params })).to.deep.equal({ value: '...' });
    });

    it('is absent if the cursor is empty', () => {
        for (const value of [null, false, '', [], {}]) expect(byCursor({ value }), JSON.stringify(value)).to.equal('none');
        expect(byCursor(undefined)).to.equal('none');
    });

    it('is on https like its page, where a site behind a proxy writes http', () => {
        expect(byCursor({ href: 'http://shop.test/page/2/' })).to.deep.equal({ url: 'https://shop.test/page/2/' });
        const link = '<http://shop.test/list?page=2>; rel="next"';
        expect(next({ style: 'link' }, '', { link })).to.deep.equal({ url: 'https://shop.test/list?page=2' });
        const onHttp = { link, url: 'http://shop.test/list' };
        expect(next({ style: 'link' }, '', onHttp)).to.deep.equal({ url: 'http://shop.test/list?page=2' });
        for (const url of ['http://api.shop.test/', 'http://shop.test:8080/']) expect(byCursor({ href: url })).to.deep.equal({ url });
    });

    it('is the cursor inside an address, or the link of a page', () => {
        expect(byCursor({ value: 'https://shop.test/list?after=a%20b&n=1' })).to.deep.equal({ value: 'a b' });
        expect(byCursor({ value: 'https://shop.test/other' })).to.deep.equal({ value: 'https://shop.test/other' });
        expect(byCursor({ href: 'https://shop.test/list?after=z' })).to.deep.equal({ value: 'z' });
        expect(byCursor({ href: 'https://shop.test/page/2/' })).to.deep.equal({ url: 'https://shop.test/page/2/' });
    });

    it('may be a list or an object only if the body is JSON', () => {
        const params: PackageEndpoint['params'] = [{ name: 'after', source: 'body', required: false }];
        expect(byCursor({ value: [1, 'a'] }, { method: 'POST', effect: 'read', params })).to.deep.equal({ value: [1, 'a'] });
        expect(byCursor({ value: [1, 'a'] }, { method: 'POST', effect: 'read', params, body_format: 'form' })).to.equal('unusable');
        expect(byCursor({ value: [1, 'a'] })).to.equal('unusable');
    });
});

describe('the next page of a Link header', () => {
    for (const [header, expected] of [
        ['<https://shop.test/list?page=2>; rel="next"', 'https://shop.test/list?page=2'],
        ['<?page=2>; rel=next', 'https://shop.test/list?page=2'],
        ['</a,b;c>; title="x, \\"y\\"; rel=next"; rel="prev", <two>; REL="last NEXT"', 'https://shop.test/two'],
        ['<https://shop.test/2#part>;rel=next', 'https://shop.test/2'],
        ['<//api.shop.test/2> ; rel = "next"', 'https://api.shop.test/2'],
        ['</caf\u00c3\u00a9>; rel=next', 'https://shop.test/caf%C3%A9'],
        ['<a>; rel="prev"; rel="next"', undefined],
        ['<a>; rel="nextish", <b>; rel="prev"', undefined],
        ['<a>; rel=next; anchor="#else"', undefined],
        ['<http://[>; rel=next, <b>; rel=next', 'https://shop.test/b'],
        ['https://shop.test/2; rel=next', undefined],
        ['<a>; title="open, <b>; rel=next', undefined],
        ['', undefined],
        [undefined, undefined],
    ] as const) {
        it(`is ${expected ?? 'none'} in ${header ?? 'no header'}`, () => expect(nextLink(header, PAGE)).to.equal(expected));
    }

    it('is found in hostile headers in linear time', () => {
        for (const text of [
            '<a>;'.repeat(16_000),
            `<a>; rel="${'\\"'.repeat(30_000)}`,
            '<'.repeat(64_000),
            `<>"${'<>\\"'.repeat(15_000)}`,
            `<a>${'; x='.repeat(20_000)}`,
        ]) {
            expect(cpuMsOf(() => nextLink(text, PAGE))).to.be.below(roomFor(250));
        }
    });
});
