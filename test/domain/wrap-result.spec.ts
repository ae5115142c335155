import { expect } from 'chai';
import { cutResults, resultsAt, wrapResult } from '../../shared/domain/fetch/wrap-result.ts';
import type { JsonObject } from '../../shared/domain/types.ts';

describe('the data of a response', () => {
    it('is always an object', () => {
        expect(wrapResult([1, 2])).to.deep.equal({ items: [1, 2] });
        expect(wrapResult('text')).to.deep.equal({ value: 'text' });
        expect(wrapResult(0)).to.deep.equal({ value: 0 });
        expect(wrapResult(false)).to.deep.equal({ value: false });
        expect(wrapResult(null)).to.deep.equal({ value: null });
        expect(wrapResult(undefined)).to.deep.equal({});
        expect(wrapResult({ a: 1 })).to.deep.equal({ a: 1 });
    });

    it('has its results at a dotted path, or none', () => {
        const data: JsonObject = { items: [1], page: { hits: [1, 2], total: 2 }, list: [{ hits: [1] }] };
        expect(resultsAt(data, 'items')).to.deep.equal([1]);
        expect(resultsAt(data, 'page.hits')).to.deep.equal([1, 2]);
        expect(resultsAt({ '@graph': [1] }, '@graph')).to.deep.equal([1]);
        expect(resultsAt({ data: { '2024': [2] } }, 'data.2024')).to.deep.equal([2]);
        for (const path of [
            'page',
            'page.total',
            'page.total.x',
            'list.hits',
            'list.0.hits',
            'absent.path',
            'constructor',
            '__proto__.x',
            '',
        ]) {
            expect(resultsAt(data, path), path).to.equal(undefined);
        }
    });

    it('is cut to the wanted results, and says so', () => {
        const data: JsonObject = { page: { hits: [1, 2, 3], total: 3 }, more: true };
        expect(cutResults(data, 'page.hits', 2)).to.deep.equal({
            data: { page: { hits: [1, 2], total: 3 }, more: true },
            results: 2,
            truncated: true,
        });
        expect(data).to.deep.equal({ page: { hits: [1, 2, 3], total: 3 }, more: true });
        expect(cutResults(data, 'page.hits', 3)).to.deep.equal({ data, results: 3, truncated: false });
    });

    it('counts as one result without an array', () => {
        expect(cutResults({ title: 'x' }, 'items', 1)).to.deep.equal({ data: { title: 'x' }, results: 1, truncated: false });
        expect(cutResults({ items: [] }, 'items', 1)).to.include({ results: 0, truncated: false });
    });
});
