import { expect } from 'chai';
import { type Answer, join, type Person } from '../support/people.ts';
import { codeOf, dataOf } from '../support/routes.ts';
import { needs } from '../support/system-programs.ts';
import { openWorld, TOPOLOGIES, type World } from '../support/world.ts';
import { BOOKMARKS, bookmarksPackage } from './support/bookmarks-package.ts';
import { OWNER, PAGE_SIZE, type Shaarli, startShaarli } from './support/shaarli.ts';

const metaOf = ({ body }: Answer) =>
    body['meta'] as { credits_used: number; results: number; truncated: boolean; upstream: { attempts: number } };
const errorOf = ({ body }: Answer) => body['error'] as Record<string, unknown>;
const titlesOf = (answer: Answer) => dataOf<{ items: { title: string }[] }>(answer).items.map(({ title }) => title);

/** Added one after the other. The newest is shown first. */
const BOOKMARK_ROWS = [
    { url: 'https://tea.example/green', title: 'Green tea', tags: 'tea green', description: 'How to brew it.' },
    { url: 'https://tea.example/black?a=1&b=2', title: 'Black tea & milk', tags: 'tea' },
    { url: 'https://coffee.example/', title: 'Coffee', tags: 'coffee beans' },
    { url: 'https://cups.example/%C3%A9', title: 'Tassen für "Tee"', tags: 'cups' },
    { url: 'https://coffee.example/cold', title: 'Cold coffee', tags: 'coffee' },
];
/** A new Shaarli has these. */
const FIRST_ROWS = 3;
const NEWEST_FIRST = BOOKMARK_ROWS.map(({ title }) => title).toReversed();

for (const topology of TOPOLOGIES) {
    describe(`Shaarli behind a hosted fetch, with queue and limits in ${topology}`, () => {
        let shaarli: Shaarli;
        let world: World;
        let ada: Person;

        before(async function () {
            needs(this, 'php', 'shaarli');
            [shaarli, world] = await Promise.all([
                startShaarli(),
                openWorld({ topology, config: { egressHosts: new Map([[BOOKMARKS, ['127.0.0.1']]]) } }),
            ]);
            for (const row of BOOKMARK_ROWS) await shaarli.add(row);
            ada = await join(world, { plan: 'pro' });
            const published = await ada.publish(bookmarksPackage(shaarli.port));
            expect(published.status, JSON.stringify(published.body)).to.equal(201);
        });

        after(async () => {
            await world?.close();
            await shaarli?.stop();
        });

        const call = (endpoint: string, params: Record<string, unknown> = {}, more: Record<string, unknown> = {}) =>
            ada.fetch(BOOKMARKS, endpoint, params, more);

        describe('its pages', () => {
            it('are read as text with absolute links', async () => {
                const page = dataOf<{ url: string; title: string; markdown: string; links: { href: string; text: string | null }[] }>(
                    await call('open_home'),
                );
                expect(page).to.include({ url: `http://${BOOKMARKS}:${shaarli.port}/`, title: 'Bookmarks' });
                expect(page.markdown).to.include('Tassen für "Tee"');
                expect(page.links.map(({ href }) => href)).to.include.members([
                    'https://coffee.example/cold',
                    `http://${BOOKMARKS}:${shaarli.port}/tags/cloud`,
                    `http://${BOOKMARKS}:${shaarli.port}/?page=2`,
                ]);
            });

            it('are read by selectors, one bookmark by its name in the path', async () => {
                const home = dataOf<{ links: { href: string }[] }>(await call('open_home'));
                const hash = home.links.map(({ href }) => /\/shaare\/([\w-]{6})$/.exec(href)?.[1]).find((found) => found !== undefined);
                expect(dataOf(await call('read_bookmark', { hash }))).to.deep.equal({ title: 'Cold coffee', text: null, tags: ['coffee'] });
                expect(codeOf(await call('read_bookmark', { hash: '../x' }))).to.equal('INVALID_PARAMS');
            });

            it('list tags, and a feed in XML is text', async () => {
                expect(dataOf<{ items: string[] }>(await call('list_tags')).items).to.include.members(['tea', 'coffee', 'cups']);
                expect(dataOf<{ value: string }>(await call('read_feed')).value).to.match(/^<\?xml[\s\S]*<title>Cold coffee<\/title>/);
            });
        });

        describe('its search', () => {
            it('finds by words and by tags, over several pages, and bills each result', async () => {
                const tea = await call('search_bookmarks', { searchterm: 'tea' });
                expect(titlesOf(tea)).to.deep.equal(['Black tea & milk', 'Green tea']);
                expect(metaOf(tea)).to.include({ credits_used: 2, results: 2, truncated: false });
                const { items } = dataOf<{ items: { url: string }[] }>(await call('search_bookmarks', { searchterm: '"tea & milk"' }));
                expect(items.map(({ url }) => url)).to.deep.equal(['https://tea.example/black?a=1&b=2']);
                const coffee = await call('search_bookmarks', { searchtags: 'coffee' });
                expect(titlesOf(coffee)).to.deep.equal(['Cold coffee', 'Coffee']);
                const many = await call('search_bookmarks', { searchterm: 'example' });
                expect(titlesOf(many)).to.deep.equal(NEWEST_FIRST);
                expect(metaOf(many).upstream.attempts).to.equal(2);
                const some = await call('search_bookmarks', { searchterm: 'example' }, { max_results: 4 });
                expect(titlesOf(some)).to.deep.equal(NEWEST_FIRST.slice(0, 4));
                expect(metaOf(some)).to.include({ credits_used: 4, truncated: true });
            });

            it('costs nothing if nothing is found', async () => {
                const none = await call('search_bookmarks', { searchterm: 'chocolate' });
                expect(titlesOf(none)).to.deep.equal([]);
                expect(metaOf(none)).to.include({ credits_used: 0, results: 0 });
            });
        });

        describe('its list', () => {
            it('is followed by its links to older pages, a credit each', async () => {
                const all = await call('every_bookmark');
                expect(titlesOf(all).slice(0, BOOKMARK_ROWS.length)).to.deep.equal(NEWEST_FIRST);
                expect(titlesOf(all)).to.have.length(BOOKMARK_ROWS.length + FIRST_ROWS);
                expect(dataOf(all)).to.include({ said: '1 / 3' });
                expect(metaOf(all)).to.include({
                    credits_used: Math.ceil((BOOKMARK_ROWS.length + FIRST_ROWS) / PAGE_SIZE),
                    truncated: false,
                });
                const two = await call('every_bookmark', {}, { max_credits: 2 });
                expect(titlesOf(two)).to.have.length(2 * PAGE_SIZE);
                expect(metaOf(two)).to.include({ credits_used: 2, truncated: true });
            });
        });

        describe('its forms, which take a token of their session alone', () => {
            it('are filled in once, with token and session, and lead to the page behind them', async () => {
                const fields = {
                    lf_url: 'https://new.example/?q=1&r=2#part',
                    lf_title: 'Neu & "schön"',
                    lf_tags: 'new été',
                    lf_description: 'so *schön*',
                };
                const answer = await call('add_bookmark', fields);
                expect(dataOf(answer)).to.deep.equal({ newest: 'Neu & "schön"' });
                expect(metaOf(answer)).to.include({ credits_used: 1 });
                expect(metaOf(answer).upstream.attempts, 'form, submission, and the page that it leads to').to.equal(3);
                expect(await shaarli.logged('POST /admin/shaare')).to.equal(BOOKMARK_ROWS.length + 1);
                const { items } = dataOf<{ items: object[] }>(await call('search_bookmarks', { searchtags: 'été' }));
                expect(items).to.deep.equal([{ title: 'Neu & "schön"', url: fields.lf_url }]);
            });

            it('change an existing bookmark by the number in a hidden input', async () => {
                await call('change_bookmark_3', { lf_url: 'https://tea.example/green', lf_title: 'Green tea, warm', lf_tags: 'tea' });
                expect(titlesOf(await call('search_bookmarks', { searchterm: 'green' }))).to.deep.equal(['Green tea, warm']);
            });

            it('refuse a caller without a token, or with another session, and nothing is added or billed', async () => {
                const before = titlesOf(await call('every_bookmark'));
                const { credits } = dataOf<{ credits: object }>(await ada.call('GET', '/v1/account'));
                for (const endpoint of ['add_without_token', 'add_without_form']) {
                    const answer = await call(endpoint, { lf_url: 'https://forged.example/', lf_title: 'Forged' });
                    expect(errorOf(answer), endpoint).to.deep.include({ code: 'UPSTREAM_STATUS', retryable: false });
                }
                const absent = await call('add_by_no_form', { lf_url: 'https://forged.example/', lf_title: 'Forged' });
                expect(errorOf(absent)).to.include({ code: 'UPSTREAM_INVALID_RESPONSE' });
                expect(dataOf<{ credits: object }>(await ada.call('GET', '/v1/account')).credits).to.deep.equal(credits);
                expect(titlesOf(await call('every_bookmark'))).to.deep.equal(before);
            });
        });

        describe('its login', () => {
            before(() => shaarli.open(false));

            it('prevents strangers from changes', async () => {
                const refused = await call('add_bookmark', { lf_url: 'https://forged.example/', lf_title: 'Forged' });
                expect(errorOf(refused)).to.include({ code: 'UPSTREAM_INVALID_RESPONSE' });
                expect(titlesOf(await call('every_bookmark'))).not.to.include('Forged');
            });

            it('signs the owner in, to the requested page, within one call', async () => {
                const answer = await call('log_in', OWNER);
                const page = dataOf<{ title: string; tools: string[]; refused: string | null }>(answer);
                expect(page).to.deep.include({ title: 'Tools - Bookmarks', refused: null });
                expect(page.tools).to.include('Change password');
                expect(metaOf(answer)).to.include({ credits_used: 1 });
                expect(shaarli.journal()).to.include('Login successful');
            });

            it('leaves nothing behind for the next call, also of the same account', async () => {
                expect(dataOf<{ links: { text: string | null }[] }>(await call('open_home')).links.map(({ text }) => text)).to.include(
                    'Login',
                );
            });

            it('shows its error page for a wrong password, which a schema may treat as a failure', async () => {
                const wrong = { ...OWNER, password: 'wrong' };
                const page = dataOf<{ title: string; refused: string }>(await call('log_in', wrong));
                expect(page.title).to.equal('Login - Bookmarks');
                expect(page.refused).to.include('Wrong login/password');
                const { credits } = dataOf<{ credits: object }>(await ada.call('GET', '/v1/account'));
                const checked = await call('log_in_or_fail', wrong);
                expect(errorOf(checked)).to.include({ code: 'UPSTREAM_INVALID_RESPONSE', fault: 'schema' });
                expect(dataOf<{ credits: object }>(await ada.call('GET', '/v1/account')).credits).to.deep.equal(credits);
                expect(dataOf(await call('log_in_or_fail', OWNER))).to.include({ title: 'Tools - Bookmarks' });
            });

            it('refuses the right password without the token of the session', async () => {
                expect(errorOf(await call('log_in_without_session', OWNER))).to.include({ code: 'UPSTREAM_STATUS', retryable: false });
            });

            it('never shows a password in a log', () => {
                expect(JSON.stringify(world.logged)).not.to.include(OWNER.password);
            });
        });
    });
}
