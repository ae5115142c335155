import { expect } from 'chai';
import type { JsonObject, PackageEndpoint } from '../../shared/domain/types.ts';
import { join, type Person } from '../support/people.ts';
import { openSite, type Site } from '../support/sites.ts';
import { openWorld, type World } from '../support/world.ts';

const SITE = 'walks.test';

/** The items of `/list`: 10 in pages of 3. */
const ALL = Array.from({ length: 10 }, (_, place) => place + 1);

describe('a paginated fetch that continues in another call', () => {
    let world: World;
    let site: Site;
    let caller: Person;
    /** Statuses of the site's next responses. */
    let failing: number[] = [];

    before(async () => {
        site = await openSite((request, response) => {
            const url = new URL(request.url ?? '/', 'http://site');
            const status = failing.shift() ?? 200;
            const page = Number(url.searchParams.get('page') ?? 1);
            const items = ALL.slice((page - 1) * 3, page * 3).map((id) => ({ id }));
            const next = page * 3 < ALL.length ? { link: `<${url.pathname}?page=${page + 1}>; rel=next` } : {};
            const body = url.pathname === '/long' ? { items, next: `${page + 1}${'x'.repeat(8000)}` } : { items, next: page + 1 };
            response.writeHead(status, { 'content-type': 'application/json', ...next }).end(JSON.stringify(body));
        });
        world = await openWorld({ config: { egressHosts: new Map([[SITE, ['127.0.0.1']]]) } });
        caller = await join(world, { plan: 'pro', credits: 10_000, overrides: { perMinute: 1000 } });
        await publish('first');
    });
    after(async () => {
        await world.close();
        await site.close();
    });
    beforeEach(() => {
        failing = [];
        site.seen.length = 0;
    });

    function publish(title: string) {
        const url = `http://${SITE}:${site.port}`;
        const paged = (name: string, more: Partial<PackageEndpoint>): PackageEndpoint => ({
            name,
            kind: 'paginate',
            method: 'GET',
            url: `${url}/list`,
            params: [{ name: 'q', source: 'query', required: false }],
            pagination: { style: 'page', param: 'page', max_pages: 2 },
            ...more,
        });
        return caller.publish({
            format: 'routebook/1',
            site: SITE,
            title,
            intent_category: 'commerce/product-search',
            endpoints: [
                paged('by_page', {}),
                paged('by_result', { billing: { unit: 'result' }, pagination: { style: 'page', param: 'page', max_pages: 20 } }),
                paged('by_link', { pagination: { style: 'link', max_pages: 1 } }),
                paged('unique', { pagination: { style: 'page', param: 'page', max_pages: 2, unique: 'id' } }),
                paged('searching', { kind: 'search' }),
                paged('long', { url: `${url}/long`, pagination: { style: 'cursor', param: 'page', next: 'next', max_pages: 1 } }),
                paged('once', { kind: 'api_call', pagination: null }),
            ],
        });
    }

    async function walk(endpoint: string, params: JsonObject = {}, more: JsonObject = {}) {
        const answer = await caller.fetch(SITE, endpoint, params, more);
        expect(answer.status, answer.text).to.equal(200);
        const { items } = answer.body['data'] as { items: { id: number }[] };
        return { ids: items.map(({ id }) => id), meta: answer.body['meta'] as JsonObject & { next_cursor?: string } };
    }

    async function walkAll(endpoint: string, more: JsonObject) {
        const ids: number[][] = [];
        let credits = 0;
        for (let cursor: string | undefined, calls = 0; calls < 20; calls++) {
            const one = await walk(endpoint, {}, cursor === undefined ? more : { ...more, cursor });
            ids.push(one.ids);
            credits += Number(one.meta['credits_used']);
            cursor = one.meta.next_cursor;
            if (cursor === undefined) return { ids, credits };
        }
        throw new Error('the walk has no end');
    }

    for (const endpoint of ['by_page', 'by_link', 'unique']) {
        it(`returns each item once, ${endpoint}, wherever the calls were cut`, async () => {
            for (const max_results of [1, 2, 3, 4, 7, 100]) {
                const { ids } = await walkAll(endpoint, { max_results });
                expect(ids.flat(), `${max_results} results`).to.deep.equal(ALL);
            }
        });
    }

    it('continues after the pages of the previous call, and bills the pages that it reads', async () => {
        const first = await walk('by_page');
        expect(first.ids).to.deep.equal([1, 2, 3, 4, 5, 6]);
        expect(first.meta).to.deep.include({ credits_used: 2, truncated: true, pagination_end: 'max_pages' });
        const second = await walk('by_page', {}, { cursor: first.meta.next_cursor ?? '' });
        expect(second.ids).to.deep.equal([7, 8, 9, 10]);
        // The fourth page may not be the last one.
        expect(second.meta).to.deep.include({ credits_used: 2, truncated: true });
        const third = await walk('by_page', {}, { cursor: second.meta.next_cursor ?? '' });
        expect(third).to.deep.include({ ids: [] });
        expect(third.meta).to.deep.include({ credits_used: 0, truncated: false, pagination_end: 'empty' });
        expect(third.meta).to.not.have.property('next_cursor');
        expect(site.seen.map(({ path }) => path)).to.deep.equal([1, 2, 3, 4, 5].map((page) => `/list?page=${page}`));
    });

    it('bills no result twice if a call ended within a page', async () => {
        const { ids, credits } = await walkAll('by_result', { max_results: 4 });
        expect(ids).to.deep.equal([
            [1, 2, 3, 4],
            [5, 6, 7, 8],
            [9, 10],
        ]);
        expect(credits).to.equal(10);
    });

    it('ends with no items if the site answers with an error beyond the last page', async () => {
        const first = await walk('by_page');
        failing = [404];
        const second = await walk('by_page', {}, { cursor: first.meta.next_cursor ?? '' });
        expect(second.ids).to.deep.equal([]);
        expect(second.meta).to.deep.include({ credits_used: 0, truncated: false, pagination_end: 'status' });
    });

    it('returns its items as partial, and continues at the page that failed', async () => {
        failing = [200, 410];
        const first = await walk('by_page', {}, { partial: true });
        expect(first.ids).to.deep.equal([1, 2, 3]);
        expect(first.meta).to.deep.include({ credits_used: 1, pagination_end: 'error', truncated: true });
        expect(first.meta['partial_error']).to.deep.include({ code: 'UPSTREAM_STATUS', retryable: false });
        failing = [410];
        const cursor = first.meta.next_cursor ?? '';
        const still = await walk('by_page', {}, { partial: true, cursor });
        expect(still.ids).to.deep.equal([]);
        expect(still.meta).to.deep.include({ credits_used: 0, pagination_end: 'error', truncated: true });
        const second = await walk('by_page', {}, { cursor: still.meta.next_cursor ?? '' });
        expect(second.ids).to.deep.equal([4, 5, 6, 7, 8, 9]);
    });

    it('bills nothing if an endpoint with one price continues and its page fails', async () => {
        const first = await walk('searching');
        expect(first.meta).to.deep.include({ credits_used: 1, truncated: true });
        failing = [410];
        const still = await walk('searching', {}, { partial: true, cursor: first.meta.next_cursor ?? '' });
        expect(still.meta).to.deep.include({ credits_used: 0, results: 0, pagination_end: 'error' });
    });

    it('fails without partial if a later page fails, free of charge', async () => {
        const first = await walk('by_page');
        failing = [410];
        const second = await caller.fetch(SITE, 'by_page', {}, { cursor: first.meta.next_cursor ?? '' });
        expect(second.body['error']).to.deep.include({ code: 'UPSTREAM_STATUS' });
    });

    it('takes a cursor only with the call that it came from, for 24 hours', async () => {
        const { meta } = await walk('by_page', { q: 'a' });
        const cursor = meta.next_cursor ?? '';
        const codeOf = async (who: Person, endpoint: string, params: JsonObject, more: JsonObject = {}) => {
            const answer = await who.fetch(SITE, endpoint, params, { cursor, ...more });
            return (answer.body['error'] as { code: string } | undefined)?.code;
        };
        expect(await codeOf(caller, 'by_page', { q: 'b' })).to.equal('INVALID_CURSOR');
        expect(await codeOf(caller, 'by_result', { q: 'a' })).to.equal('INVALID_CURSOR');
        expect(await codeOf(caller, 'by_page', { q: 'a' }, { version: 9 })).to.equal('INVALID_CURSOR');
        expect(await codeOf(caller, 'by_page', { q: 'a' }, { cursor: `${cursor.slice(0, -4)}AAAA` })).to.equal('INVALID_CURSOR');
        expect(await codeOf(caller, 'by_page', { q: 'a' }, { cursor: 'x' })).to.equal('INVALID_CURSOR');
        expect(await codeOf(caller, 'once', {}, { partial: true })).to.be.oneOf(['VALIDATION_ERROR', 'INVALID_CURSOR']);
        const other = await join(world, { plan: 'pro', credits: 100 });
        expect(await codeOf(other, 'by_page', { q: 'a' })).to.equal('INVALID_CURSOR');
        expect(await codeOf(caller, 'by_page', { q: 'a' }, { max_results: 1 })).to.equal(undefined);
        const { version_hash: version } = (await caller.call('GET', `/v1/schemas/${SITE}`)).body['data'] as { version_hash: string };
        const named = await walk('by_page', {}, { version });
        const next = await walk('by_page', {}, { version, cursor: named.meta.next_cursor ?? '' });
        expect(next.ids).to.deep.equal([7, 8, 9, 10]);
    });

    it('succeeds as a job with the items it has, and the next fetch continues', async () => {
        failing = [200, 410];
        const ordered = await caller.call('POST', '/v1/jobs', { body: { site: SITE, endpoint: 'by_page', params: {}, partial: true } });
        expect(ordered.status, ordered.text).to.equal(202);
        const { job_id: id } = ordered.body['data'] as { job_id: string };
        const job = await caller.call('GET', `/v1/jobs/${id}?wait=20`);
        const { status, result } = job.body['data'] as { status: string; result: { data: JsonObject; meta: JsonObject } };
        expect(status).to.equal('succeeded');
        expect(result.meta).to.deep.include({ credits_used: 1, pagination_end: 'error' });
        const next = await walk('by_page', {}, { cursor: result.meta['next_cursor'] ?? '' });
        expect(next.ids).to.deep.equal([4, 5, 6, 7, 8, 9]);
    });

    it('stores no response with a failed page for max_age', async () => {
        failing = [200, 410];
        const asked = { partial: true, max_age: 60 };
        expect((await walk('by_page', { q: 'kept' }, asked)).meta).to.deep.include({ cached: false });
        expect((await walk('by_page', { q: 'kept' }, asked)).meta).to.deep.include({ cached: false, results: 6 });
    });

    it('counts a failed page against the health of its endpoint', async () => {
        const cursor = (await walk('by_link', { q: 'health' })).meta.next_cursor ?? '';
        failing = [410];
        await walk('by_link', { q: 'health' }, { partial: true, cursor });
        await world.app.usage.flush();
        const [row] = await world.app.db('endpoint_days').where({ site: SITE, endpoint: 'by_link' }).sum('failures as failures');
        expect(Number((row as { failures: string }).failures)).to.equal(1);
    });

    it('shows in a dry run the page where it continues', async () => {
        const { meta } = await walk('by_page');
        const answer = await caller.fetch(SITE, 'by_page', {}, { cursor: meta.next_cursor ?? '', dry_run: true });
        expect((answer.body['data'] as { request: JsonObject }).request['url']).to.match(/\/list\?page=3$/);
    });

    it('gives no cursor longer than 8 KiB', async () => {
        const { meta } = await walk('long');
        expect(meta).to.deep.include({ truncated: true });
        expect(meta).to.not.have.property('next_cursor');
    });

    it('uses the version that it began with', async () => {
        const first = await walk('by_page');
        expect((await publish('second')).status).to.equal(201);
        const second = await walk('by_page', {}, { cursor: first.meta.next_cursor ?? '' });
        expect(second.meta['version']).to.equal(first.meta['version']);
        const latest = await walk('by_page');
        expect(latest.meta['version']).to.equal(Number(first.meta['version']) + 1);
        await world.clock.advance({ hours: 25 });
        const late = await caller.fetch(SITE, 'by_page', {}, { cursor: latest.meta.next_cursor ?? '' });
        expect(late.body['error']).to.deep.include({ code: 'INVALID_CURSOR' });
    });
});
