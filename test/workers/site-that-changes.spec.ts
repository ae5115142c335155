import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import fc from 'fast-check';
import type { PackageEndpoint } from '../../shared/domain/types.ts';
import { done, type JobRunner, openJobRunner } from '../support/jobs.ts';
import { loopbackRules, openSite, type Site } from '../support/sites.ts';

const SITE = 'changing.test';
const PAGE_SIZE = 3;
const MAX_PAGES = 6;

/** How the site changes its list before it serves a page. */
type Change = 'nothing' | 'grows' | 'shrinks' | 'turns around' | 'takes one away in front';
/** The response beyond the last page. */
type Beyond = 'an empty page' | 'its last page' | 404;

interface Course {
    items: number;
    changes: readonly Change[];
    beyond: Beyond;
}

const COURSE: fc.Arbitrary<Course> = fc.record({
    items: fc.integer({ min: 0, max: 14 }),
    changes: fc.array(fc.constantFrom<Change>('nothing', 'nothing', 'grows', 'shrinks', 'turns around', 'takes one away in front'), {
        minLength: MAX_PAGES,
        maxLength: MAX_PAGES,
    }),
    beyond: fc.constantFrom<Beyond>('an empty page', 'its last page', 404),
});

/** How the pages of a list are followed, by the name of the endpoint. */
const STYLES: Readonly<Record<string, NonNullable<PackageEndpoint['pagination']>>> = {
    offset: { style: 'offset', param: 'offset' },
    cursor: { style: 'cursor', param: 'after', next: 'next' },
    link: { style: 'link' },
    total: { style: 'page', param: 'page', end: { total: 'total' } },
    more: { style: 'page', param: 'page', end: { has_more: 'more' } },
    short: { style: 'page', param: 'page', end: { short_page: true } },
};

describe('a paginated call of a site that changes meanwhile', () => {
    let site: Site;
    let runner: JobRunner;
    let course: Course = { items: 0, changes: [], beyond: 404 };
    let list: number[] = [];
    /** The items of each served page; a status for a refused one. */
    let served: (number[] | 404)[] = [];
    /** Whether the next requests are refused, for any page. */
    let refusals: boolean[] = [];

    before(async () => {
        site = await openSite((request, response) => {
            const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
            if (pathname !== '/list') return void answerInStyle(pathname.slice(1), searchParams, response);
            if (refusals.shift() === true) return void response.writeHead(410).end();
            const page = Number(searchParams.get('page'));
            list = changed(list, course.changes[served.length] ?? 'nothing');
            const answer = pageOf(list, page, course.beyond);
            served.push(answer);
            const head = { 'content-type': 'application/json' };
            if (answer === 404) response.writeHead(404, head).end('{}');
            else response.writeHead(200, head).end(JSON.stringify({ page, items: answer.map((id) => ({ id })) }));
        });
        const walk: PackageEndpoint = {
            name: 'walk',
            kind: 'paginate',
            method: 'GET',
            url: `http://${SITE}:${site.port}/list`,
            pagination: { style: 'page', param: 'page', max_pages: MAX_PAGES },
        };
        const once: PackageEndpoint = { ...walk, name: 'once', pagination: { ...walk.pagination, unique: 'id' } };
        const styled = Object.entries(STYLES).flatMap(([name, pagination]) => [
            { ...walk, name, url: `http://${SITE}:${site.port}/${name}`, pagination: { max_pages: MAX_PAGES, ...pagination } },
            {
                ...walk,
                name: `${name}_once`,
                url: `http://${SITE}:${site.port}/${name}`,
                pagination: { max_pages: MAX_PAGES, ...pagination, unique: 'id' },
            },
        ]);
        runner = openJobRunner(SITE, loopbackRules(`127.0.0.1:${site.port}`, { [SITE]: '127.0.0.1' }), [walk, once, ...styled]);
    });

    /** Serves the next page of a style. The page tells all signs of its end; an endpoint reads those of its style. */
    function answerInStyle(style: string, query: URLSearchParams, response: ServerResponse): void {
        list = changed(list, course.changes[served.length] ?? 'nothing');
        const after = query.get('after');
        const from =
            style === 'offset'
                ? Number(query.get('offset'))
                : after === null
                  ? (Number(query.get('page') ?? 1) - 1) * PAGE_SIZE
                  : list.indexOf(Number(after)) + 1;
        const isBeyond = from > 0 && from >= list.length;
        const items =
            isBeyond && course.beyond === 'its last page'
                ? list.slice(Math.floor((list.length - 1) / PAGE_SIZE) * PAGE_SIZE)
                : list.slice(from, from + PAGE_SIZE);
        const answer = isBeyond && course.beyond === 404 ? 404 : items;
        served.push(answer);
        const hasMore = from + PAGE_SIZE < list.length;
        const next = hasMore ? String(items.at(-1)) : null;
        if (answer === 404) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
        response
            .writeHead(200, {
                'content-type': 'application/json',
                ...(hasMore ? { link: `</${style}?page=${from / PAGE_SIZE + 2}>; rel="next"` } : {}),
            })
            .end(JSON.stringify({ total: list.length, more: hasMore, next, items: items.map((id) => ({ id })) }));
    }
    after(async () => {
        await runner.close();
        await site.close();
    });

    async function run(next: Course, maxResults = 1000, endpoint = 'walk') {
        course = next;
        list = Array.from({ length: next.items }, (_, id) => id);
        served = [];
        return done(await runner.run(endpoint, {}, { maxResults }));
    }

    it('delivers and bills each result once if a site repeats its last page', async () => {
        for (const items of [1, 3, 4, 6]) {
            const outcome = await run({ items, changes: [], beyond: 'its last page' });
            expect(outcome.data['items']).to.deep.equal(Array.from({ length: items }, (_, id) => ({ id })));
            expect(outcome).to.include({
                results: items,
                requests: Math.ceil(items / PAGE_SIZE),
                paginationEnd: 'repeated',
                truncated: false,
            });
        }
    });

    it('ends if a site refuses a page beyond its last one', async () => {
        const outcome = await run({ items: 6, changes: [], beyond: 404 });
        expect(outcome).to.include({ results: 6, requests: 2, paginationEnd: 'status', truncated: false });
        expect(outcome.upstream).to.include({ status: 200, attempts: 3 });
    });

    it('bills what the site served, page by page and result by result, however the list changes', async () => {
        await fc.assert(
            fc.asyncProperty(COURSE, fc.integer({ min: 1, max: 20 }), async (next, maxResults) => {
                // A refused first page fails the call.
                fc.pre(next.beyond !== 404 || next.items > 3);
                const outcome = await run(next, maxResults);
                const { pages, end } = wholePages(served);
                const all = pages.flat();
                expect(outcome.results, 'results').to.equal(Math.min(all.length, maxResults));
                expect(outcome.data['items']).to.deep.equal(all.slice(0, maxResults).map((id) => ({ id })));
                expect(outcome.requests, 'billed pages').to.equal(pages.filter((page) => page.length > 0).length);
                const bound = all.length >= maxResults ? 'max_results' : 'max_pages';
                const isCut = all.length > maxResults || end === undefined;
                expect(outcome.paginationEnd, 'end').to.equal(isCut ? bound : end);
                expect(outcome.truncated, 'truncated').to.equal(isCut);
            }),
            { numRuns: 300 },
        );
    });

    it('delivers and bills an item once that comes again on another page, if the package names its id', async () => {
        await fc.assert(
            fc.asyncProperty(COURSE, fc.integer({ min: 1, max: 20 }), async (next, maxResults) => {
                fc.pre(next.beyond !== 404 || next.items > 3);
                const outcome = await run(next, maxResults, 'once');
                const ids = [...new Set(served.filter((page) => page !== 404).flat())];
                expect(outcome.data['items']).to.deep.equal(ids.slice(0, maxResults).map((id) => ({ id })));
                expect(outcome.results, 'results').to.equal(Math.min(ids.length, maxResults));
                expect(outcome.requests, 'billed pages').to.be.at.most(served.length);
            }),
            { numRuns: 300 },
        );
    });

    for (const style of Object.keys(STYLES)) {
        it(`bills each result of the pages that count, and those alone, in the style ${style}`, async () => {
            await fc.assert(
                fc.asyncProperty(COURSE, fc.integer({ min: 1, max: 20 }), async (next, maxResults) => {
                    const outcome = await run(next, maxResults, style);
                    const { pages } = wholePages(served);
                    const all = pages.flat();
                    expect(outcome.data['items']).to.deep.equal(all.slice(0, maxResults).map((id) => ({ id })));
                    expect(outcome.results, 'results').to.equal(Math.min(all.length, maxResults));
                    expect(outcome.requests, 'billed pages').to.equal(pages.filter((page) => page.length > 0).length);
                    expect(outcome.truncated, 'truncated').to.equal(['max_pages', 'max_results'].includes(outcome.paginationEnd ?? ''));
                }),
                { numRuns: 100 },
            );
        });

        it(`bills each item once that a package identifies, in the style ${style}`, async () => {
            await fc.assert(
                fc.asyncProperty(COURSE, fc.integer({ min: 1, max: 20 }), async (next, maxResults) => {
                    const outcome = await run(next, maxResults, `${style}_once`);
                    const ids = [...new Set(served.filter((page) => page !== 404).flat())];
                    expect(outcome.data['items']).to.deep.equal(ids.slice(0, maxResults).map((id) => ({ id })));
                    expect(outcome.results, 'results').to.equal(Math.min(ids.length, maxResults));
                    expect(outcome.requests, 'billed pages').to.be.at.most(served.length);
                }),
                { numRuns: 100 },
            );
        });
    }

    it('bills a whole list once whatever the style, if nothing changes', async () => {
        for (const style of Object.keys(STYLES))
            for (const items of [0, 1, 3, 4, 6, 14])
                for (const beyond of ['an empty page', 'its last page', 404] as const) {
                    const outcome = await run({ items, changes: [], beyond }, 1000, style);
                    const whole = Array.from({ length: items }, (_, id) => ({ id }));
                    expect(outcome.data['items'], `${style} ${items} ${beyond}`).to.deep.equal(whole);
                    expect(outcome).to.include({ results: items, requests: Math.ceil(items / PAGE_SIZE), truncated: false });
                }
    });

    it('returns each item once in as many calls as needed, even if pages fail in between', async () => {
        const call = fc.record({ maxResults: fc.integer({ min: 1, max: 8 }), maxPages: fc.integer({ min: 1, max: 3 }) });
        await fc.assert(
            fc.asyncProperty(COURSE, fc.array(call, { minLength: 1 }), fc.array(fc.boolean()), async (next, bounds, refused) => {
                course = { ...next, changes: [] };
                list = Array.from({ length: next.items }, (_, id) => id);
                served = [];
                refusals = [...refused];
                const answered: unknown[] = [];
                let from: string | undefined;
                for (let calls = 0; ; calls++) {
                    expect(calls, 'calls').to.be.below(100);
                    const more = { ...bounds[calls % bounds.length], partial: true as const, ...(from === undefined ? {} : { from }) };
                    const outcome = await runner.run('walk', {}, more);
                    // The first page must exist.
                    if (!outcome.ok) {
                        expect(from).to.equal(undefined);
                        continue;
                    }
                    const { items } = JSON.parse(outcome.text) as { items: unknown[] };
                    expect(outcome.results).to.equal(items.length);
                    expect(outcome.requests, 'no page without items is billed').to.be.at.most(items.length);
                    answered.push(...items);
                    from = outcome.next;
                    expect(outcome.truncated).to.equal(from !== undefined);
                    if (from === undefined) break;
                }
                expect(answered).to.deep.equal(list.map((id) => ({ id })));
            }),
            { numRuns: 200 },
        );
    });
});

function changed(list: readonly number[], change: Change): number[] {
    if (change === 'grows') return [100 + list.length, ...list];
    if (change === 'shrinks') return list.slice(0, -1);
    if (change === 'takes one away in front') return list.slice(1);
    return change === 'turns around' ? list.toReversed() : [...list];
}

function pageOf(list: readonly number[], page: number, beyond: Beyond): number[] | 404 {
    const last = Math.max(1, Math.ceil(list.length / PAGE_SIZE));
    if (page <= last) return list.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    if (beyond === 'its last page') return list.slice((last - 1) * PAGE_SIZE, last * PAGE_SIZE);
    return beyond === 404 ? 404 : [];
}

/** The pages that count: all served ones except refused ones and repetitions of the previous page, and why the last one ended the call. */
function wholePages(served: readonly (number[] | 404)[]): { pages: number[][]; end: string | undefined } {
    const pages = served.filter((page) => page !== 404);
    if (served.at(-1) === 404) return { pages, end: 'status' };
    const [before, last] = [pages.at(-2), pages.at(-1) ?? []];
    if (last.length === 0) return { pages, end: 'empty' };
    const isRepeated = JSON.stringify(before) === JSON.stringify(last);
    return isRepeated ? { pages: pages.slice(0, -1), end: 'repeated' } : { pages, end: undefined };
}
