import { expect } from 'chai';
import fc from 'fast-check';
import { costOf, greatestUnits, limitsFor, type Order, type Price, priceOrder } from '../../shared/domain/package/pricing.ts';
import type { Endpoint, PackageEndpoint } from '../../shared/domain/types.ts';
import { anEndpoint, queryParam } from './an-endpoint.ts';

const plain = anEndpoint();
const perResult = anEndpoint({ billing: { unit: 'result', max_results: 50 } });
const PAGED: Partial<PackageEndpoint> = { kind: 'paginate', params: [queryParam('page')], pagination: { param: 'page', max_pages: 5 } };
const paged = anEndpoint(PAGED);
const pagedResults = anEndpoint({ ...PAGED, billing: { unit: 'result', max_results: 50 } });

function priced(endpoint: Endpoint, said: Partial<Order> = {}): Price {
    const price = priceOrder({ endpoint, siteCredits: 1, ...said });
    if (!price.ok) throw new Error(price.problem.message);
    return price;
}

describe('what a call can cost', () => {
    it('is one unit for a request', () => {
        expect(priced(plain)).to.include({ unit: 1, maxUnits: 1 });
        expect(priced(plain, { siteCredits: 5 })).to.include({ unit: 5, maxUnits: 1 });
        expect(priced(plain, { maxResults: 500 })).to.include({ maxUnits: 1 });
    });

    it('is a unit for each result if results are billed, at most the package’s', () => {
        expect(priced(perResult)).to.include({ maxUnits: 50 });
        expect(priced(perResult, { maxResults: 10 })).to.include({ maxUnits: 10 });
        expect(priced(perResult, { maxResults: 1000 })).to.include({ maxUnits: 50 });
        expect(priced(anEndpoint({ billing: { unit: 'result' } }))).to.include({ maxUnits: 100 });
    });

    it('is a unit for each page, and pages are free if results are billed', () => {
        expect(priced(paged)).to.include({ maxUnits: 5 });
        expect(priced(pagedResults)).to.include({ maxUnits: 50 });
        expect(priced(anEndpoint({ ...PAGED, kind: 'api_call' }))).to.include({ maxUnits: 1 });
    });

    it('counts no more pages than results, since an empty page is not billed', () => {
        expect(priced(paged, { maxResults: 2 })).to.include({ maxUnits: 2 });
    });

    it('stays within the caller’s cap, in complete units', () => {
        expect(priced(perResult, { siteCredits: 5, maxCredits: 23 })).to.include({ unit: 5, maxUnits: 4 });
        expect(priced(perResult, { maxCredits: 1_000_000 })).to.include({ maxUnits: 50 });
        expect(priced(plain, { maxCredits: 1 })).to.include({ maxUnits: 1 });
    });

    it('refuses a cap below one unit, at /max_credits', () => {
        const refused = priceOrder({ endpoint: perResult, siteCredits: 5, maxCredits: 4 });
        expect(refused.ok).to.equal(false);
        if (!refused.ok) expect(refused.problem).to.include({ path: '/max_credits', code: 'INVALID_VALUE' });
    });

    it('is shown in the catalog without a caller’s options', () => {
        expect([plain, perResult, paged, pagedResults].map((endpoint) => greatestUnits(endpoint))).to.deep.equal([1, 50, 5, 50]);
    });
});

describe('the last page of a worker', () => {
    it('is the last one if everything was held', () => {
        expect(limitsFor({ endpoint: plain }, priced(plain), 1)).to.deep.equal({ maxResults: 100, maxPages: 1 });
        expect(limitsFor({ endpoint: perResult }, priced(perResult), 50)).to.deep.equal({ maxResults: 50, maxPages: 1 });
        expect(limitsFor({ endpoint: paged }, priced(paged), 5)).to.deep.equal({ maxResults: 100, maxPages: 5 });
        expect(limitsFor({ endpoint: pagedResults }, priced(pagedResults), 50)).to.deep.equal({ maxResults: 50, maxPages: 5 });
    });

    it('is the last one if following pages is one request to the caller', () => {
        const followed = anEndpoint({ ...PAGED, kind: 'api_call' });
        expect(limitsFor({ endpoint: followed }, priced(followed), 1)).to.deep.equal({ maxResults: 100, maxPages: 5 });
    });

    it('is where a short balance ends: by results or by pages', () => {
        expect(limitsFor({ endpoint: perResult }, priced(perResult), 7)).to.deep.equal({ maxResults: 7, maxPages: 1 });
        expect(limitsFor({ endpoint: pagedResults }, priced(pagedResults), 7)).to.deep.equal({ maxResults: 7, maxPages: 5 });
        expect(limitsFor({ endpoint: paged }, priced(paged), 3)).to.deep.equal({ maxResults: 100, maxPages: 3 });
    });

    it('is where the caller’s cap ends', () => {
        const capped = priced(paged, { maxCredits: 2 });
        expect(limitsFor({ endpoint: paged }, capped, 2)).to.deep.equal({ maxResults: 100, maxPages: 2 });
    });

    it('depends on the caller’s max_results, whatever is billed', () => {
        expect(limitsFor({ endpoint: plain, maxResults: 3 }, priced(plain, { maxResults: 3 }), 1).maxResults).to.equal(3);
        expect(limitsFor({ endpoint: plain, maxResults: 900 }, priced(plain, { maxResults: 900 }), 1).maxResults).to.equal(100);
    });

    it('skips empty pages if few results are wanted and paid', () => {
        const few = { endpoint: paged, maxResults: 2 };
        expect(limitsFor(few, priced(paged, few), 2)).to.deep.equal({ maxResults: 2, maxPages: 5 });
        expect(limitsFor(few, priced(paged, few), 1)).to.deep.equal({ maxResults: 2, maxPages: 1 });
    });
});

describe('a call without a version', () => {
    it('is billed at most the lowest maximum of the last day, and gets all its results', () => {
        const price = priced(perResult, { unitsCap: 1, siteCredits: 5 });
        expect(price).to.include({ unit: 5, maxUnits: 1 });
        expect(limitsFor({ endpoint: perResult }, price, 1)).to.deep.equal({ maxResults: 50, maxPages: 1 });
        expect(costOf(perResult, 5, { results: 30, requests: 1 }, 5)).to.equal(5);
    });

    it('is not refused for a spending cap that the older price fits', () => {
        const price = priced(perResult, { unitsCap: 1, maxCredits: 1 });
        expect(limitsFor({ endpoint: perResult }, price, 1).maxResults).to.equal(50);
    });

    it('is cut if the spending cap or the balance is below even that', () => {
        const price = priced(perResult, { unitsCap: 20, maxCredits: 10 });
        expect(price.maxUnits).to.equal(10);
        expect(limitsFor({ endpoint: perResult }, price, 10).maxResults).to.equal(10);
        expect(limitsFor({ endpoint: perResult }, priced(perResult, { unitsCap: 20 }), 15).maxResults).to.equal(15);
    });
});

describe('the price of a success', () => {
    it('is its results or its requests times the price of the site', () => {
        expect(costOf(plain, 5, { results: 70, requests: 1 })).to.equal(5);
        expect(costOf(perResult, 5, { results: 12, requests: 1 })).to.equal(60);
        expect(costOf(paged, 1, { results: 40, requests: 4 })).to.equal(4);
        expect(costOf(pagedResults, 1, { results: 40, requests: 4 })).to.equal(40);
    });

    it('is nothing without results, and nothing for paginated calls without items', () => {
        expect(costOf(perResult, 5, { results: 0, requests: 1 })).to.equal(0);
        expect(costOf(paged, 5, { results: 0, requests: 0 })).to.equal(0);
    });

    it('is a unit for a request without any items', () => {
        expect(costOf(plain, 1, { results: 0, requests: 1 })).to.equal(1);
    });

    it('never exceeds the hold when the worker keeps its limits', () => {
        const endpoints = fc.record({
            unit: fc.constantFrom('request' as const, 'result' as const),
            pages: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
            results: fc.integer({ min: 1, max: 1000 }),
        });
        const wishes = fc.record({
            siteCredits: fc.integer({ min: 1, max: 9 }),
            maxCredits: fc.option(fc.integer({ min: 9, max: 500 }), { nil: undefined }),
            maxResults: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
        });
        fc.assert(
            fc.property(endpoints, wishes, fc.nat(), fc.nat(), ({ unit, pages, results }, wish, some, found) => {
                const billing = { unit, max_results: results };
                const endpoint = anEndpoint(
                    pages === undefined ? { billing } : { kind: 'paginate', billing, pagination: { param: 'page', max_pages: pages } },
                );
                const price = priced(endpoint, wish);
                expect(price.unit * price.maxUnits).to.be.at.most(wish.maxCredits ?? Number.POSITIVE_INFINITY);
                const units = 1 + (some % price.maxUnits);
                const limits = limitsFor({ endpoint, maxResults: wish.maxResults }, price, units);
                const delivered = found % (limits.maxResults + 1);
                const billedPages = pages === undefined ? 1 : Math.min(delivered, limits.maxPages);
                expect(costOf(endpoint, wish.siteCredits, { results: delivered, requests: billedPages })).to.be.at.most(price.unit * units);
                expect(limits.maxResults).to.be.within(1, results);
                expect(limits.maxPages).to.be.within(1, pages ?? 1);
            }),
            { numRuns: 2000, seed: 7 },
        );
    });
});
