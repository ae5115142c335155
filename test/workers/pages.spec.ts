import { expect } from 'chai';
import { eventually, roomFor } from '../support/eventually.ts';
import { done, type JobRunner, openJobRunner } from '../support/jobs.ts';
import { LIBRARY, LIBRARY_HOSTS, libraryEndpoints, openLibrary } from '../support/library.ts';
import { loopbackRules, type Site } from '../support/sites.ts';

const SEVEN = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id }));

describe('a paginated call', () => {
    let library: Site;
    let runner: JobRunner;

    before(async () => {
        library = await openLibrary();
        runner = openJobRunner(LIBRARY, loopbackRules(`127.0.0.1:${library.port}`, LIBRARY_HOSTS), libraryEndpoints(library.port));
    });
    after(async () => {
        await runner.close();
        await library.close();
    });
    // No memory is reserved after any call.
    afterEach(() => expect(runner.held()).to.equal(0));
    beforeEach(() => {
        library.seen.length = 0;
    });

    const run: JobRunner['run'] = (...args) => runner.run(...args);
    const asked = () => library.seen.map(({ path }) => path);

    it('counts pages until one is empty, which is not billed', async () => {
        const outcome = done(await run('pages'));
        expect(outcome.data).to.deep.equal({ items: SEVEN, total: 7 });
        expect(outcome).to.include({ results: 7, requests: 3, truncated: false });
        expect(asked()).to.deep.equal(['/pages?page=1', '/pages?page=2', '/pages?page=3', '/pages?page=4']);
    });

    it('sums up the times of its pages', async () => {
        const { upstream } = done(await run('pages'));
        expect(upstream).to.include({ status: 200, attempts: 4 });
        const bodies = ['{"books":[{"id":1},{"id":2},{"id":3}],"total":7}', '{"books":[],"total":7}'];
        expect(upstream.bytes).to.equal((bodies[0]?.length ?? 0) * 3 - 2 * '{"id":1},'.length + (bodies[1]?.length ?? 0));
        expect(upstream.durationMs).to.be.at.least(0);
    });

    it('advances by the number of results of each page if it counts results', async () => {
        const outcome = done(await run('offsets', { from: 2 }));
        expect(outcome.data['items']).to.deep.equal(SEVEN.slice(2));
        expect(outcome).to.include({ requests: 2, truncated: false });
        expect(asked()).to.deep.equal(['/offsets?from=2', '/offsets?from=5', '/offsets?from=7']);
    });

    it('follows cursors until there is none', async () => {
        const outcome = done(await run('cursors'));
        expect(outcome.data['items']).to.deep.equal(SEVEN);
        expect(outcome).to.include({ requests: 3, truncated: false });
        expect(asked()).to.deep.equal(['/cursors', '/cursors?after=3', '/cursors?after=6']);
    });

    it('skips a page without results if the site names a next one, and does not bill it', async () => {
        const outcome = done(await run('gaps', { books: 9 }));
        expect(outcome).to.include({ requests: 3, truncated: false });
        expect(library.seen.map(({ body }) => body)).to.deep.equal(['{}', '{"after":1}', '{"after":2}', '{"after":3}']);
    });

    it('follows Link headers, with the method and headers of the first page', async () => {
        const outcome = done(await run('links', { books: 7 }));
        expect(outcome.data['items']).to.deep.equal(SEVEN);
        expect(outcome).to.include({ requests: 3, truncated: false });
        expect(asked()).to.deep.equal(['/links?books=7', '/links?books=7&page=2', '/links?books=7&page=3']);
        const sent = new Set(library.seen.map(({ headers: { host: _, ...headers } }) => JSON.stringify(headers)));
        expect(sent.size).to.equal(1);
    });

    it('follows the links of HTML, by the cursor in them or as they are', async () => {
        for (const endpoint of ['html', 'html_by_link']) {
            library.seen.length = 0;
            const outcome = done(await run(endpoint));
            expect(outcome.data['items'], endpoint).to.deep.equal(SEVEN.map(({ id }) => `Book ${id}`));
            expect(outcome, endpoint).to.include({ requests: 3, truncated: false });
            expect(asked(), endpoint).to.deep.equal(['/html', '/html?from=3', '/html?from=6']);
        }
    });

    it('ends when the same next page comes again', async () => {
        expect(done(await run('circle', {}, { maxPages: 20 }))).to.include({ requests: 3, truncated: false });
        expect(asked()).to.deep.equal(['/circle', '/circle?page=2', '/circle?page=1']);
    });

    it('is marked as truncated wherever something was cut off or left unread', async () => {
        const by = async (more: object, endpoint = 'pages') => {
            const { results, requests, truncated } = done(await run(endpoint, {}, more));
            return [results, requests, truncated];
        };
        expect(await by({ maxPages: 2 }), 'by pages').to.deep.equal([6, 2, true]);
        expect(await by({ maxResults: 3 }), 'exactly at a page').to.deep.equal([3, 1, true]);
        expect(await by({ maxResults: 4 }), 'inside a page').to.deep.equal([4, 2, true]);
        expect(await by({ maxPages: 3 }, 'cursors'), 'to the last of the last').to.deep.equal([7, 3, false]);
        expect(await by({ maxResults: 7 }, 'links'), 'to the last result').to.deep.equal([7, 3, false]);
        expect(await by({ maxResults: 6 }, 'links'), 'before the last page').to.deep.equal([6, 2, true]);
    });

    it('is also marked as truncated if it ends at a full page without a request for the next', async () => {
        expect(done(await run('pages', { books: 6 }, { maxPages: 2 }))).to.include({ results: 6, requests: 2, truncated: true });
        expect(done(await run('pages', { books: 6 }))).to.include({ results: 6, requests: 2, truncated: false });
    });

    it('bills nothing if there are no results', async () => {
        const outcome = done(await run('pages', { books: 0 }));
        expect(outcome.data).to.deep.equal({ items: [], total: 0 });
        expect(outcome).to.include({ results: 0, requests: 0, truncated: false });
        expect(asked()).to.deep.equal(['/pages?books=0&page=1']);
    });

    it('is one request to the caller for any other kind', async () => {
        expect(done(await run('pages_of_api_call'))).to.include({ results: 7, requests: 1, truncated: false });
    });

    it('fails completely with the page that fails, and retries that page like any read', async () => {
        const outcome = await run('breaks', { at: 2, status: 500 });
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_STATUS', attempts: 2 });
        library.seen.length = 0;
        expect(await run('breaks', { at: 3, status: 503 })).to.include({ ok: false, code: 'UPSTREAM_STATUS', attempts: 5 });
    });

    it('is validated when all pages are joined, before anything is cut off', async () => {
        const joined = await run('at_most_four', {}, { maxResults: 4 });
        expect(joined).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
        expect(!joined.ok && joined.details?.[0]?.path).to.equal('/items');
        const mixed = await run('mixed');
        expect(!mixed.ok && mixed.details?.[0]?.path).to.equal('/items/2/id');
        expect(done(await run('at_most_four', {}, { maxPages: 1 }))).to.include({ results: 3 });
    });

    it('stays on the site, with the same name, scheme and port', async () => {
        const leadTo = (to: string) => run('leads', { to });
        expect(await leadTo(`http://elsewhere.test:${library.port}/links`)).to.include({ ok: false, code: 'UPSTREAM_REDIRECT' });
        expect(await leadTo(`http://user:secret@${LIBRARY}:${library.port}/links`)).to.include({ ok: false, code: 'UPSTREAM_REDIRECT' });
        expect(await leadTo('file:///etc/passwd')).to.include({ ok: false, code: 'UPSTREAM_REDIRECT' });
        expect(await leadTo(`http://${LIBRARY}:1/links`)).to.include({ ok: false, code: 'EGRESS_DENIED' });
        expect(await leadTo(`ftp://${LIBRARY}/links`)).to.include({ ok: false, code: 'EGRESS_DENIED' });
        expect(await leadTo('http://127.0.0.1/links')).to.include({ ok: false, code: 'UPSTREAM_REDIRECT' });
        expect(asked().every((path) => path.startsWith('/leads'))).to.equal(true);
        expect(done(await leadTo(`http://branch.${LIBRARY}:${library.port}/links?books=2`))).to.include({ results: 3, requests: 2 });
    });

    it('has one deadline for all pages', async () => {
        const began = Date.now();
        const outcome = await run('slow', {}, { deadlineAt: began + 400 });
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_TIMEOUT' });
        expect(Date.now() - began).to.be.within(390, roomFor(1000));
    });

    it('ends when its caller disconnects', async () => {
        const caller = new AbortController();
        const walk = run('slow', {}, {}, caller.signal);
        await eventually(
            async () => library.seen.length,
            (count) => count === 2,
        );
        caller.abort();
        expect(await walk).to.include({ ok: false, code: 'UPSTREAM_TIMEOUT' });
        expect(asked()).to.deep.equal(['/slow?page=1', '/slow?page=2']);
    });

    it('requests no more once its pages exceed 10 MiB', async () => {
        expect(await run('huge')).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE', attempts: 4 });
        expect(asked()).to.have.length(4);
    });

    it('refuses a page without a list at the declared place', async () => {
        const outcome = await run('listless');
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE' });
        expect(!outcome.ok && outcome.details?.[0]?.path).to.equal('/items');
    });

    it('refuses a cursor that cannot be sent back', async () => {
        const outcome = await run('bad_cursor');
        expect(outcome).to.include({ ok: false, code: 'UPSTREAM_INVALID_RESPONSE', attempts: 1 });
        expect(!outcome.ok && outcome.details?.[0]?.path).to.equal('/pagination/next');
    });
});
