import { expect } from 'chai';
import { balanceOf } from '../support/credits.ts';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';
import { COMMENT_ROWS, POST_ROWS, POSTS, postsDatabase, postsPackage } from './support/posts-package.ts';
import { type RealServer, startJsonServer } from './support/real-server.ts';

const metaOf = ({ body }: Answer) => body['meta'] as { credits_used: number; results: number; truncated: boolean };
const errorOf = ({ body }: Answer) => body['error'] as Record<string, unknown>;

for (const topology of TOPOLOGIES) {
    describe(`json-server behind a hosted fetch, with queue and limits in ${topology}`, () => {
        let server: RealServer;
        let world: World;
        let ada: Person;

        before(async () => {
            [server, world] = await Promise.all([
                startJsonServer(postsDatabase()),
                openWorld({ topology, config: { egressHosts: new Map([[POSTS, ['127.0.0.1']]]) } }),
            ]);
            ada = await join(world, { plan: 'pro' });
            const published = await ada.publish(postsPackage(server.port));
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
            expect(await server.logged('GET /posts'), 'publishing calls nobody').to.equal(0);
        });

        after(async () => {
            await world.close();
            await server.stop();
        });

        const call = (endpoint: string, params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
            ada.fetch(POSTS, endpoint, params, more);

        describe('reading', () => {
            it('reads one post for one credit', async () => {
                const answer = await call('read_post', { id: 2 });
                expect(dataOf(answer)).to.deep.equal(POST_ROWS[1]);
                expect(metaOf(answer)).to.include({ credits_used: 1, results: 1, truncated: false });
            });

            it('lists a page of posts, sorted and filtered as asked', async () => {
                const page = await call('list_posts', { _page: 2, _limit: 3 });
                expect(idsOf(page)).to.deep.equal([4, 5, 6]);
                expect(metaOf(page)).to.include({ credits_used: 1, results: 3 });
                expect(idsOf(await call('list_posts', { _sort: 'views', _order: 'desc', _limit: 2 }))).to.deep.equal([7, 6]);
                expect(idsOf(await call('list_posts', { author: ['Bo & Co', 'Zoë'] }))).to.deep.equal([2, 4, 6]);
                expect(idsOf(await call('list_posts', { author: ['Ada'], views_gte: 50 }))).to.deep.equal([5, 7]);
                expect(idsOf(await call('list_posts', { author: ['nobody'] }))).to.deep.equal([]);
            });

            it('bills a search by its results, cut by the schema or the caller, and nothing without results', async () => {
                const two = await call('search_posts', { words: 'Tea' });
                expect(dataOf(two)).to.deep.equal({
                    items: [
                        { id: 1, title: 'Green tea' },
                        { id: 5, title: 'Tea & toast?' },
                    ],
                });
                expect(metaOf(two)).to.include({ credits_used: 2, results: 2, truncated: false });
                const punctuated = await call('search_posts', { words: 'tea & toast?' });
                expect(idsOf(punctuated)).to.deep.equal([5]);
                const all = await call('search_posts', { words: 'a' });
                expect(metaOf(all)).to.include({ credits_used: 3, results: 3, truncated: true });
                const first = await call('search_posts', { words: 'a' }, { max_results: 1 });
                expect(idsOf(first)).to.deep.equal([1]);
                expect(metaOf(first)).to.include({ credits_used: 1, results: 1, truncated: true });
                const none = await call('search_posts', { words: 'nothing like it' });
                expect(metaOf(none)).to.include({ credits_used: 0, results: 0, truncated: false });
            });

            it('follows nested routes and embedded resources', async () => {
                expect(dataOf(await call('list_comments', { id: 1 }))).to.deep.equal({ items: ['First!', 'Good – very good'] });
                expect(dataOf(await call('read_whole_post', { id: 1 }))).to.deep.equal({
                    ...POST_ROWS[0],
                    comments: COMMENT_ROWS.slice(0, 2),
                });
                expect(dataOf(await call('read_profile'))).to.deep.equal({ name: 'typicode' });
                expect(dataOf(await call('list_titles'))).to.deep.equal({ items: POST_ROWS.map(({ title }) => title) });
            });

            it('reads its home page, as a page and as fields', async () => {
                const page = dataOf<{ title: string; markdown: string; links: { href: string; text: string }[] }>(await call('open_home'));
                expect(page.title).to.equal('JSON Server');
                expect(page.markdown).to.include('Congrats!');
                expect(page.links).to.deep.include({ href: 'https://my-json-server.typicode.com/', text: 'My JSON Server' });
                const fields = dataOf<{ heading: string; links: string[] }>(await call('read_heading'));
                expect(fields.heading).to.equal('Congrats!');
                expect(fields.links[0]).to.equal('https://github.com/users/typicode/sponsorship');
            });

            it('answers a HEAD with an empty object, for a credit', async () => {
                const answer = await call('touch_posts');
                expect(dataOf(answer)).to.deep.equal({});
                expect(metaOf(answer)).to.include({ credits_used: 1 });
            });

            it('follows its Link headers from page to page, a credit each', async () => {
                const answer = await call('every_post');
                expect(idsOf(answer)).to.deep.equal([1, 2, 3, 4, 5, 6, 7]);
                expect(metaOf(answer)).to.include({ credits_used: 3, results: 7, truncated: false });
            });
        });

        describe('what goes wrong', () => {
            it('reports a missing post with the server’s response, free of charge', async () => {
                const before = await balanceOf(ada);
                const answer = await call('read_post', { id: 77 });
                expect(errorOf(answer)).to.deep.include({
                    code: 'UPSTREAM_STATUS',
                    upstream: { status: 404, snippet: '{}' },
                    retryable: false,
                });
                expect(await balanceOf(ada)).to.equal(before);
                expect(await server.logged('GET /posts/77'), 'a 404 is no reason to ask again').to.equal(1);
            });

            it('reports that a schema does not match the response, free of charge', async () => {
                const before = await balanceOf(ada);
                const answer = await call('wrongly_described', { id: 1 });
                expect(errorOf(answer)).to.include({ code: 'UPSTREAM_INVALID_RESPONSE', fault: 'schema' });
                expect(errorOf(answer)['details']).to.have.nested.property('[0].path', '/title');
                expect(await balanceOf(ada)).to.equal(before);
            });

            it('sends nothing for invalid params, nor for a dry run', async () => {
                const held = await server.ask('/db');
                expect(codeOf(await call('add_post', { title: 5 }))).to.equal('INVALID_PARAMS');
                expect(codeOf(await call('remove_post', { id: '1' }))).to.equal('INVALID_PARAMS');
                const planned = dataOf<{ request: object }>(await call('add_post', { title: 'not yet' }, { dry_run: true }));
                expect(planned.request).to.include({ method: 'POST', url: `http://${POSTS}:${server.port}/posts` });
                expect(planned.request).to.deep.include({ body: { title: 'not yet' } });
                expect(await server.ask('/db')).to.deep.equal(held);
                expect(await server.logged('POST /posts')).to.equal(0);
                expect(await server.logged('DELETE /posts/1')).to.equal(0);
            });
        });

        describe('writing', () => {
            it('adds a post once, and the server has it', async () => {
                const answer = await call('add_post', { title: 'Zwölf "Uhr" – 12 \\ noon', author: 'Ada', views: 0 });
                const added = { title: 'Zwölf "Uhr" – 12 \\ noon', author: 'Ada', views: 0, id: 8 };
                expect(dataOf(answer)).to.deep.equal(added);
                expect(metaOf(answer)).to.include({ credits_used: 1 });
                expect(await server.ask('/posts')).to.deep.equal([...POST_ROWS, added]);
                expect(await server.logged('POST /posts')).to.equal(1);
            });

            it('adds a post as a form', async () => {
                const answer = await call('add_post_by_form', { title: 'a=b&c d+é', views: 3 });
                // All values of a form are text.
                expect(dataOf(answer)).to.deep.equal({ title: 'a=b&c d+é', views: '3', id: 9 });
                expect(await server.ask('/posts/9')).to.deep.equal({ title: 'a=b&c d+é', views: '3', id: 9 });
            });

            it('adds a comment below a post, in the shape of its template', async () => {
                await call('add_comment', { id: 3, said: '{"body":"not a template"} {said}' });
                expect(await server.ask('/posts/3/comments')).to.deep.equal([
                    { id: 4, body: '{"body":"not a template"} {said}', from: { kind: 'reader' }, postId: '3' },
                ]);
                expect(await server.logged('POST /posts/3/comments')).to.equal(1);
            });

            it('replaces, changes and removes a post, each once', async () => {
                expect(dataOf(await call('replace_post', { id: 4, title: 'New' }))).to.deep.equal({ id: 4, title: 'New' });
                expect(await server.ask('/posts/4')).to.deep.equal({ id: 4, title: 'New' });
                await call('change_post', { id: 5, views: 51 });
                expect(await server.ask('/posts/5')).to.deep.equal({ ...POST_ROWS[4], views: 51 });
                expect(dataOf(await call('remove_post', { id: 6 }))).to.deep.equal({});
                expect(errorOf(await call('remove_post', { id: 6 }))).to.deep.include({ code: 'UPSTREAM_STATUS', retryable: false });
                const left = (await server.ask('/posts')) as { id: number }[];
                expect(left.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5, 7, 8, 9]);
                for (const request of ['PUT /posts/4', 'PATCH /posts/5']) expect(await server.logged(request), request).to.equal(1);
                expect(await server.logged('DELETE /posts/6')).to.equal(2);
            });

            it('does not repeat a write that fails at the server, nor bill it', async () => {
                const before = await balanceOf(ada);
                const sent = await server.logged('POST /posts');
                const answer = await call('add_post', { id: 1, title: 'taken' });
                expect(errorOf(answer)).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
                expect(errorOf(answer)['upstream']).to.include({ status: 500 });
                expect((await server.logged('POST /posts')) - sent).to.equal(1);
                expect(await balanceOf(ada)).to.equal(before);
                expect(await server.ask('/posts/1')).to.deep.equal(POST_ROWS[0]);
            });
        });
    });
}

describe('a server that is down', () => {
    it('cannot be reached, for reads and writes, free of charge', async () => {
        const server = await startJsonServer(postsDatabase());
        const world = await openWorld({ config: { egressHosts: new Map([[POSTS, ['127.0.0.1']]]) } });
        const ada = await join(world);
        await ada.publish(postsPackage(server.port));
        expect((await ada.fetch(POSTS, 'read_post', { id: 1 })).status).to.equal(200);
        const before = await balanceOf(ada);
        await server.stop();
        for (const [endpoint, params] of [
            ['read_post', { id: 1 }],
            ['add_post', { title: 'too late' }],
        ] as const) {
            expect(errorOf(await ada.fetch(POSTS, endpoint, params, { timeout_ms: 2000 })), endpoint).to.include({
                code: 'UPSTREAM_UNREACHABLE',
                retryable: endpoint === 'read_post',
            });
        }
        expect(await balanceOf(ada)).to.equal(before);
        await world.close();
    });
});

function idsOf(answer: Answer): number[] {
    return dataOf<{ items: { id: number }[] }>(answer).items.map(({ id }) => id);
}
