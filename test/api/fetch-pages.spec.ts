import { expect } from 'chai';
import { balanceOf } from '../support/credits.ts';
import { LIBRARY, LIBRARY_HOSTS, libraryPackage, openLibrary } from '../support/library.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import type { Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

const HOSTS = new Map(Object.entries(LIBRARY_HOSTS).map(([name, address]) => [name, [address]]));

describe('a hosted fetch of a paginated endpoint', () => {
    let world: World;
    let library: Site;
    let ada: Person;

    before(async () => {
        library = await openLibrary();
        world = await openWorld({ config: { egressHosts: HOSTS } });
        ada = await join(world, { plan: 'pro' });
        const published = await ada.publish(libraryPackage(library.port));
        expect(published.status, JSON.stringify(published.body)).to.equal(201);
        // The first charged fetch of a person earns 50 credits, which would disturb the bills below.
        expect((await ada.fetch(LIBRARY, 'pages', { books: 1 })).status).to.equal(200);
    });
    after(async () => {
        await world.close();
        await library.close();
    });
    beforeEach(() => {
        library.seen.length = 0;
    });

    /** The charge of a call by its own `meta` and by the balance, and the rest of its `meta`. */
    async function bill(person: Person, endpoint: string, params: object = {}, more: object = {}) {
        const before = await balanceOf(person);
        const answer = await person.fetch(LIBRARY, endpoint, { ...params }, { ...more });
        const { credits_used, results, truncated } = metaOf(answer);
        expect(before - (await balanceOf(person)), 'the balance agrees').to.equal(credits_used);
        return { credits_used, results, truncated };
    }

    it('is billed by the pages that had results, and joins them', async () => {
        const answer = await ada.fetch(LIBRARY, 'pages');
        expect(dataOf(answer)).to.deep.equal({ items: [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id })), total: 7 });
        expect(await bill(ada, 'pages')).to.deep.equal({ credits_used: 3, results: 7, truncated: false });
        expect(await bill(ada, 'links', { books: 4 })).to.deep.equal({ credits_used: 2, results: 4, truncated: false });
        expect(await bill(ada, 'gaps', { books: 9 })).to.deep.equal({ credits_used: 3, results: 9, truncated: false });
        expect(metaOf(answer).upstream).to.include({ status: 200, attempts: 4 });
    });

    it('costs nothing without results', async () => {
        expect(await bill(ada, 'pages', { books: 0 })).to.deep.equal({ credits_used: 0, results: 0, truncated: false });
    });

    it('is billed by the result if the schema says so, without a charge for pages', async () => {
        expect(await bill(ada, 'pages_by_result')).to.deep.equal({ credits_used: 7, results: 7, truncated: false });
        expect(await bill(ada, 'pages_by_result', {}, { max_results: 5 })).to.deep.equal({ credits_used: 5, results: 5, truncated: true });
        expect(await bill(ada, 'pages_by_result', { books: 0 })).to.deep.equal({ credits_used: 0, results: 0, truncated: false });
    });

    it('is one request for any other kind, however many pages it takes', async () => {
        expect(await bill(ada, 'pages_of_api_call')).to.deep.equal({ credits_used: 1, results: 7, truncated: false });
        expect(await bill(ada, 'pages_of_api_call', { books: 0 })).to.deep.equal({ credits_used: 1, results: 0, truncated: false });
    });

    it('ends at max_pages, at max_results and at max_credits, and says that there is more', async () => {
        expect(await bill(ada, 'few_pages')).to.deep.equal({ credits_used: 2, results: 6, truncated: true });
        expect(library.seen).to.have.length(2);
        expect(await bill(ada, 'pages', {}, { max_results: 4 })).to.deep.equal({ credits_used: 2, results: 4, truncated: true });
        expect(await bill(ada, 'pages', {}, { max_results: 1 })).to.deep.equal({ credits_used: 1, results: 1, truncated: true });
        expect(await bill(ada, 'pages', {}, { max_credits: 1 })).to.deep.equal({ credits_used: 1, results: 3, truncated: true });
        expect(await bill(ada, 'pages_by_result', {}, { max_credits: 2 })).to.deep.equal({ credits_used: 2, results: 2, truncated: true });
    });

    it('ends when the balance is used up, which is never negative', async () => {
        const poor = await join(world, { overrides: { allowance: 2 } });
        const answer = await poor.fetch(LIBRARY, 'pages', { books: 9 });
        // 2 of 2 credits are spent on pages. The first charged fetch earns 50.
        expect(metaOf(answer)).to.include({ credits_used: 2, results: 6, truncated: true, credits_remaining: 50 });
        expect(library.seen).to.have.length(2);
    });

    it('is free if one of its pages fails', async () => {
        const before = await balanceOf(ada);
        for (const [endpoint, params, code] of [
            ['breaks', { at: 2, status: 403 }, 'UPSTREAM_STATUS'],
            ['breaks', { at: 3, status: 500 }, 'UPSTREAM_STATUS'],
            ['leads', { to: `http://elsewhere.test:${library.port}/links` }, 'UPSTREAM_REDIRECT'],
            ['leads', { to: `ftp://${LIBRARY}/links` }, 'EGRESS_DENIED'],
            ['mixed', {}, 'UPSTREAM_INVALID_RESPONSE'],
            ['at_most_four', {}, 'UPSTREAM_INVALID_RESPONSE'],
            ['listless', {}, 'UPSTREAM_INVALID_RESPONSE'],
        ] as const) {
            const answer = await ada.fetch(LIBRARY, endpoint, params);
            expect(codeOf(answer), endpoint).to.equal(code);
            expect(answer.body['meta'], endpoint).to.include({ credits_used: 0, credits_remaining: before });
        }
        expect(await balanceOf(ada)).to.equal(before);
    });

    it('is free if it times out on a later page', async () => {
        const before = await balanceOf(ada);
        const answer = await ada.fetch(LIBRARY, 'slow', {}, { timeout_ms: 1000 });
        expect(['UPSTREAM_TIMEOUT', 'DEADLINE_EXCEEDED']).to.include(codeOf(answer));
        expect(await balanceOf(ada)).to.equal(before);
    });

    it('shows its first page and its maximum price in a dry run', async () => {
        const before = await balanceOf(ada);
        const planned = async (endpoint: string, params: object = {}, more: object = {}) => {
            const { request, credits_max: most } = dataOf<{ request: { method: string; url: string; body: unknown }; credits_max: number }>(
                await ada.fetch(LIBRARY, endpoint, { ...params }, { dry_run: true, ...more }),
            );
            return [request.method, request.url.replace(/^http:\/\/[^/]+/, ''), request.body, most];
        };
        expect(await planned('pages', { books: 4 })).to.deep.equal(['GET', '/pages?books=4&page=1', null, 5]);
        expect(await planned('pages', {}, { max_credits: 2 })).to.deep.equal(['GET', '/pages?page=1', null, 2]);
        expect(await planned('offsets')).to.deep.equal(['GET', '/offsets?from=0', null, 5]);
        expect(await planned('cursors')).to.deep.equal(['GET', '/cursors', null, 5]);
        expect(await planned('gaps')).to.deep.equal(['POST', '/gaps', {}, 5]);
        expect(await planned('links')).to.deep.equal(['GET', '/links', null, 5]);
        expect(await planned('pages_by_result')).to.deep.equal(['GET', '/pages?page=1', null, 50]);
        expect(await planned('pages_of_api_call')).to.deep.equal(['GET', '/pages?page=1', null, 1]);
        expect(library.seen).to.deep.equal([]);
        expect(await balanceOf(ada)).to.equal(before);
    });

    it('costs the operator’s price for each of its pages', async () => {
        await world.app.db('domains').where({ registrable: LIBRARY }).update({ credits: 5 });
        const dear = await bill(ada, 'links', { books: 4 });
        expect(dear).to.deep.equal({ credits_used: 10, results: 4, truncated: false });
        const capped = await bill(ada, 'links', { books: 9 }, { max_credits: 14 });
        expect(capped).to.deep.equal({ credits_used: 10, results: 6, truncated: true });
    });
});

interface Meta {
    credits_used: number;
    results: number;
    truncated: boolean;
    upstream: object;
}

function metaOf(answer: Answer): Meta {
    dataOf(answer);
    return answer.body['meta'] as Meta;
}
