import { expect } from 'chai';
import { comparePackages } from '../../shared/domain/package/diff.ts';
import { readEndpoint } from '../../shared/domain/package/endpoint.ts';
import { greatestUnits } from '../../shared/domain/package/pricing.ts';
import type { PackageDocument, PackageEndpoint } from '../../shared/domain/types.ts';

const search: PackageEndpoint = {
    name: 'search',
    method: 'GET',
    url: 'https://shop.example.com/search',
    params: [
        { name: 'q', source: 'query', required: true },
        { name: 'lang', source: 'query', required: false },
    ],
};
const order: PackageEndpoint = { name: 'order', method: 'POST', url: 'https://shop.example.com/order' };
const walk: PackageEndpoint = {
    name: 'walk',
    kind: 'paginate',
    method: 'GET',
    url: 'https://shop.example.com/all',
    pagination: { param: 'page', max_pages: 5 },
};

function site(...endpoints: PackageEndpoint[]): PackageDocument {
    return { format: 'routebook/1', site: 'shop.example.com', title: 'Shop', intent_category: 'commerce/reviews', endpoints };
}

/** The change of one endpoint. */
const change = (before: PackageEndpoint, after: PackageEndpoint) => comparePackages(site(before), site(after)).change;

describe('a new version', () => {
    it('is major with everything added if it is the first', () => {
        expect(comparePackages(undefined, site(search, order))).to.deep.equal({
            change: 'major',
            changes: { added: ['search', 'order'], removed: [], changed: [], hosts_added: ['shop.example.com'] },
        });
    });

    it('is major if an endpoint is gone or renamed', () => {
        expect(comparePackages(site(search, order), site(search))).to.deep.equal({
            change: 'major',
            changes: { added: [], removed: ['order'], changed: [], hosts_added: [] },
        });
        expect(comparePackages(site(order), site({ ...order, name: 'buy' }))).to.deep.equal({
            change: 'major',
            changes: { added: ['buy'], removed: ['order'], changed: [], hosts_added: [] },
        });
    });

    it('is major if it calls a new host, in a first step too, and names the host', () => {
        const elsewhere = { ...order, url: 'https://api.shop.example.com/order' };
        expect(comparePackages(site(search), site(search, elsewhere))).to.deep.equal({
            change: 'major',
            changes: { added: ['order'], removed: [], changed: [], hosts_added: ['api.shop.example.com'] },
        });
        const prepared = { ...search, prepare: { url: 'https://www.shop.example.com/' } };
        expect(comparePackages(site(search), site(prepared))).to.deep.equal({
            change: 'major',
            changes: { added: [], removed: [], changed: ['search'], hosts_added: ['www.shop.example.com'] },
        });
        expect(comparePackages(site(prepared), site(search)).changes.hosts_added).to.deep.equal([]);
    });

    it('is minor if there is more to call', () => {
        expect(comparePackages(site(search), site(order, search))).to.deep.equal({
            change: 'minor',
            changes: { added: ['order'], removed: [], changed: [], hosts_added: [] },
        });
    });

    it('is a patch if only texts change', () => {
        expect(comparePackages(site(search), { ...site(search), title: 'The Shop' })).to.deep.equal({
            change: 'patch',
            changes: { added: [], removed: [], changed: [], hosts_added: [] },
        });
        expect(comparePackages(site(search), site({ ...search, description: 'Words.' }))).to.deep.equal({
            change: 'patch',
            changes: { added: [], removed: [], changed: ['search'], hosts_added: [] },
        });
    });

    it('has not changed if a default is written out or fields are in another order', () => {
        const same = comparePackages(site(search), site({ kind: 'api_call', hosted: true, effect: 'read', ...search }));
        expect(same).to.deep.equal({ change: 'patch', changes: { added: [], removed: [], changed: [], hosts_added: [] } });
    });

    it('is major if an optional param becomes required', () => {
        const [q, lang] = search.params ?? [];
        expect(q && lang && change(search, { ...search, params: [q, { ...lang, required: true }] })).to.equal('major');
        expect(q && change(search, { ...search, params: [q, { name: 'zip', source: 'query', required: true }] })).to.equal('major');
        expect(q && change({ ...search, params: [{ ...q, default: 'all' }] }, { ...search, params: [q] })).to.equal('major');
        expect(q && change(search, { ...search, params: [q, { name: 'zip', source: 'query', required: true, default: '1' }] })).to.equal(
            'patch',
        );
        expect(q && change(search, { ...search, params: [{ ...q, required: false }] })).to.equal('patch');
    });

    it('is major if the effect changes, declared or by the method', () => {
        expect(change(order, { ...order, effect: 'read' })).to.equal('major');
        expect(change(search, { ...search, method: 'POST' })).to.equal('major');
    });

    it('is major if a call can cost more', () => {
        expect(change(search, { ...search, billing: { unit: 'result', max_results: 10 } })).to.equal('major');
        const perResult: PackageEndpoint = { ...search, billing: { unit: 'result', max_results: 10 } };
        expect(change(perResult, { ...search, billing: { unit: 'result', max_results: 11 } })).to.equal('major');
        expect(change(perResult, { ...search, billing: { unit: 'result', max_results: 9 } })).to.equal('patch');
        expect(change(walk, { ...walk, pagination: { param: 'page', max_pages: 6 } })).to.equal('major');
        expect(change(walk, { ...walk, pagination: { param: 'page', max_pages: 4 } })).to.equal('patch');
        expect(change(perResult, { ...walk, name: 'search' })).to.equal('major');
        const oneResult: PackageEndpoint = { ...search, billing: { unit: 'result', max_results: 1 } };
        expect(change(search, oneResult), 'a request without a result is free now').to.equal('patch');
        expect(change(oneResult, search), 'a request without a result costs one now').to.equal('major');
    });

    it('compares endpoints whatever they are called', () => {
        const odd = { ...search, name: 'constructor' };
        expect(comparePackages(site(search), site(search, odd)).changes).to.deep.equal({
            added: ['constructor'],
            removed: [],
            changed: [],
            hosts_added: [],
        });
    });
});

describe('the maximum bill of a call', () => {
    it('is one unit, the pages or the results', () => {
        expect(greatestUnits(readEndpoint(search))).to.equal(1);
        expect(greatestUnits(readEndpoint(walk))).to.equal(5);
        expect(greatestUnits(readEndpoint({ ...walk, billing: { unit: 'result', max_results: 50 } }))).to.equal(50);
    });
});
