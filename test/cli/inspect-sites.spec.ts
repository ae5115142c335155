import { expect } from 'chai';
import { type Call, inspectCalls, routesOf, SHOP } from './inspect/har.ts';

/** Routes without the names of their placeholders. */
const templates = (found: Parameters<typeof routesOf>[0]) => routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));

/** A page of many elements, which has the layout of others with the same `kind`. */
const pageOf = (kind: string, more = ''): string =>
    `<html><body><h1>Tides</h1>${more}${Array.from({ length: 24 }, (_, place) => `<p class="${kind}-${String.fromCharCode(97 + place)}">Words of this page</p>`).join('')}</body></html>`;
const opened = (path: string, kind: string, more = ''): Call => ({ url: `${SHOP}${path}`, html: pageOf(kind, more) });

describe('routebook inspect reads public sites', () => {
    it('names with a capital behind the id of a place as values, though each has others below it', async () => {
        const places = ['1-72837/Norway/Oslo', '1-92416/Norway/Bergen', '2-26737/Sweden/Stockholm'];
        const found = await inspectCalls([
            ...places.map((place) => opened(`/forecast/day/${place}`, 'day')),
            ...places.slice(0, 2).map((place) => opened(`/forecast/hour/${place}?i=1`, 'hour')),
        ]);
        expect(templates(found)).to.have.members(['GET /forecast/day/{}/{}/{}', 'GET /forecast/hour/{}/{}/{}']);
    });

    it('words behind a tag, a brand or the date of a page as values, though each was read once', async () => {
        const found = await inspectCalls([
            opened('/tag/brass/', 'list'),
            opened('/brand/harbour-light', 'brand'),
            opened('/news/2026/a-storm', 'article'),
            opened('/2026/11/12/storm/', 'post'),
            opened('/tags/all', 'tags'),
        ]);
        expect(templates(found)).to.have.members([
            'GET /tag/{}/',
            'GET /brand/{}',
            'GET /news/{}/{}',
            'GET /{}/{}/{}/{}/',
            'GET /tags/all',
        ]);
    });

    it('names that are values at one address as values at another', async () => {
        const found = await inspectCalls([
            ...['Harbour', 'Market', 'Quay_and_Pier'].map((name) => opened(`/manual/${name}`, 'part')),
            ...['Harbour', 'Market'].map((name) => opened(`/manual/frames/${name}`, `frame-${name}`)),
        ]);
        expect(templates(found)).to.have.members(['GET /manual/{}', 'GET /manual/frames/{}']);
    });

    it('actions of Struts by their names', async () => {
        const found = await inspectCalls([
            opened('/secure/Dashboard.jspa', 'start'),
            ...[7, 8].map((id) => ({ method: 'POST', url: `${SHOP}/secure/EditBoat!default.jspa?id=${id}`, json: { fields: [] } })),
        ]);
        expect(templates(found)).to.have.members(['GET /secure/Dashboard.jspa', 'POST /secure/EditBoat!default.jspa']);
    });

    it('a word behind a search or a user as a part of the site if the query has what is looked for', async () => {
        const found = await inspectCalls([
            opened('/search/node?keys=rope', 'search'),
            ...['a', 'ad'].map((query) => ({ url: `${SHOP}/rest/user/picker?query=${query}`, json: { users: [{ name: 'ada' }] } })),
        ]);
        expect(templates(found)).to.have.members(['GET /search/node', 'GET /rest/user/picker']);
    });

    it('bot protection, counters and analytics not as routes', async () => {
        const sensor = (place: number): Call => ({
            method: 'POST',
            url: `${SHOP}/uQ7k/Zp3/x0aB`,
            body: { sensor_data: 'Vm9'.repeat(60 + place) },
            status: 201,
            json: { success: true },
        });
        const found = await inspectCalls([
            opened('/boats', 'list'),
            sensor(1),
            sensor(2),
            { method: 'POST', url: `${SHOP}/fJ8sPqLm/xhr/api/v2/collector`, form: { payload: 'x', seq: '0' }, json: { do: null } },
            { method: 'POST', url: `${SHOP}/rest/analytics/1.0/publish/bulk`, body: [{ name: 'view' }], json: '' },
            { method: 'POST', url: `${SHOP}/wp-cron.php?doing_wp_cron=1`, json: '', type: 'text/html' },
            { method: 'POST', url: `${SHOP}/wp-json/wp-statistics/v2/hit`, form: { id: '7' }, json: { status: true } },
            { method: 'POST', url: `${SHOP}/core/statistics.php`, form: { nid: '7' }, json: '', type: 'text/html' },
            { url: `${SHOP}/maps/base/4/9/4.mvt`, type: 'application/vnd.mapbox-vector-tile', json: 'x' },
        ]);
        expect(templates(found)).to.have.members(['GET /boats']);
    });

    it('the same words in addresses that answer a caller as routes', async () => {
        const answer = { id: 'a7', schedule: '0 4 * * *', next: '2026-12-01T04:00:00Z' };
        const found = await inspectCalls([
            { method: 'POST', url: `${SHOP}/api/cron`, body: { schedule: '0 4 * * *' }, json: answer },
            { url: `${SHOP}/api/collector`, json: [answer] },
        ]);
        expect(templates(found)).to.have.members(['POST /api/cron', 'GET /api/collector']);
    });

    it('no description that repeats what was typed, or the heading of an item', async () => {
        const items = ['How to tie this', 'Rate my knot'].map(
            (title, place) => `<article><h2><a href="/t/${place}">${title}</a></h2></article>`,
        );
        const part = (after: number): Call => ({ url: `${SHOP}/parts/feed?after=${after}&distance=${after}`, html: items.join('') });
        const found = await inspectCalls([
            part(25),
            part(50),
            { url: `${SHOP}/from?site=harbour.example`, html: `<title>From harbour.example</title><h1>Results for “harbour.example”</h1>` },
            { url: `${SHOP}/find?words=winter+tide`, html: '<title>Found: winter tide</title><h1>Search the almanac</h1>' },
        ]);
        const said = found.package.endpoints.map(({ description }) => description).join('\n');
        expect(said)
            .to.contain('Search the almanac')
            .and.not.match(/harbour\.example|winter tide|tie this/);
    });

    it('a number alone in a query as a cache breaker', async () => {
        const found = await inspectCalls([opened('/boats?1', 'list'), opened('/boats?20261130', 'list')]);
        expect(found.package.endpoints.map(({ params = [] }) => params)).to.deep.equal([[]]);
    });

    it('two words as choices of a route if their param has that meaning elsewhere on the site', async () => {
        const found = await inspectCalls([
            ...['reply', 'post', 'quote'].map((mode) => opened(`/posting.php?mode=${mode}&f=2`, mode)),
            opened('/members.php', 'all'),
            opened('/members.php?mode=profile&u=5', 'profile'),
            opened('/members.php?mode=team', 'team'),
        ]);
        expect(templates(found)).to.include.members(['GET /members.php', 'GET /members.php?mode=profile', 'GET /members.php?mode=team']);
    });

    it('operations of GraphQL whose text the site keeps by their names', async () => {
        const call = (operation: string, variables: object, data: object): Call => ({
            method: 'POST',
            url: `${SHOP}/svc/graphql`,
            body: { operation, variables, csrf_token: 'f00dfeed0123456789abcdef01234567' },
            json: { data },
        });
        const found = await inspectCalls([
            call('VotePost', { postId: 't3_1p3abcd', state: 'UP' }, { vote: { ok: true } }),
            call('BoatRules', { name: 'gull' }, { rules: [{ name: 'x' }] }),
        ]);
        const sent = found.package.endpoints.map(({ body, params = [] }) => [JSON.stringify(body), params.map(({ name }) => name).join()]);
        expect(sent.map(([, names]) => names)).to.have.members(['postId,state', 'name']);
        expect(JSON.stringify(sent)).to.contain('VotePost').and.contain('BoatRules').and.not.contain('f00dfeed');
    });

    it('a name that a list links to the first view of a thing as a value', async () => {
        const list = ['harbour', 'lights'].map((name) => `<a href="/${name}/changes">${name}</a>`).join(' ');
        const views = ['changes', 'files', 'atom', 'annotate'];
        const found = await inspectCalls([
            opened('/', 'start', list),
            ...['harbour', 'lights'].flatMap((name) => views.map((view) => opened(`/${name}/${view}`, view))),
        ]);
        expect(templates(found)).to.have.members(['GET /', ...views.map((view) => `GET /{}/${view}`)]);
    });

    it('articles of several sections as values, and the articles beside them', async () => {
        const paths = ['/install/first-steps', '/usage/new-pages', '/usage/page-titles', '/ropes/hemp', '/what-is-it', '/contributing'];
        const found = await inspectCalls([
            opened('/', 'start', '<h2>Welcome to the handbook of the harbour</h2>'),
            ...paths.map((path) => opened(path, 'article')),
            opened('/docs/old-ropes', 'manual'),
        ]);
        expect(templates(found)).to.have.members(['GET /', 'GET /{}', 'GET /{}/{}', 'GET /docs/old-ropes']);
    });

    it('pages of settings and usual parts of a site as words, though they look alike', async () => {
        const paths = ['/settings/edit-profile', '/settings/change-mail', '/docs/first-steps', '/blog/new-pages', '/news/big-storm'];
        const found = await inspectCalls(paths.map((path) => opened(path, 'page')));
        expect(templates(found)).to.include.members(paths.slice(0, 2).map((path) => `GET ${path}`));
        expect(templates(found).filter((route) => /GET \/\{/.test(route))).to.deep.equal([]);
    });

    it('parts of an API that have the name of something as words, and things that answer alike as values', async () => {
        const charts = { charts: { a: { name: 'registry', title: 'x' } }, memory: 7, os: 'x' };
        const user = (name: string) => ({ url: `${SHOP}/api/${name}`, json: { name, joined: 2020, boats: 3 } });
        const found = await inspectCalls([
            { url: `${SHOP}/api/v1/parts`, json: [{ name: 'charts' }, { name: 'registry' }] },
            { url: `${SHOP}/api/v1/charts`, json: charts },
            { url: `${SHOP}/api/v1/registry`, json: { machine: 'x', urls: [] } },
            user('ada'),
            user('bo'),
        ]);
        expect(templates(found)).to.have.members(['GET /api/v1/parts', 'GET /api/v1/charts', 'GET /api/v1/registry', 'GET /api/{}']);
    });

    it('the way in which something is done as a param, where the path says what is done', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/api/v1/weights?method=volume&after=-60`, json: { points: [1] } },
            { url: `${SHOP}/services/rest?method=listBoats&after=7`, json: { boats: [] } },
        ]);
        const asked = found.package.endpoints.map(({ url, params = [] }) => [
            url.replace(SHOP, '').split('&')[0],
            params.map(({ name }) => name).sort(),
        ]);
        expect(asked).to.deep.include(['/api/v1/weights', ['after', 'method']]);
        expect(JSON.stringify(asked)).to.contain('/services/rest?method=listBoats');
    });

    it('requests that only grant a token not as routes, whatever their address and method', async () => {
        const granted = { access_token: 'eyJhbGciOiJub25lIn0.planted.x', token_type: 'Bearer', expires_in: 28_800 };
        const found = await inspectCalls([
            { method: 'POST', url: `${SHOP}/api/auth/guest`, body: {}, json: granted },
            { url: `${SHOP}/api/setup/begin`, json: granted },
            { method: 'POST', url: `${SHOP}/api/boats`, body: { name: 'gull' }, json: { name: 'gull', token: 'planted-0123456789abcdef' } },
        ]);
        expect(templates(found)).to.deep.equal(['POST /api/boats']);
    });

    it('two slashes at the root as one', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}//api/v1/info`, json: { version: '1' } },
            { url: `${SHOP}/api/v1/info`, json: { version: '1' } },
        ]);
        expect(templates(found)).to.deep.equal(['GET /api/v1/info']);
    });

    it('the name of another machine for which the site answers as a value', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/api/v1/info`, json: { mirrored: ['harbour'] } },
            { url: `${SHOP}/api/v1/charts`, json: { charts: 3 } },
            { url: `${SHOP}/host/harbour/api/v1/info`, json: { mirrored: ['harbour'] } },
            { url: `${SHOP}/host/harbour/api/v1/charts`, json: { charts: 3 } },
        ]);
        expect(templates(found)).to.include.members(['GET /host/{}/api/v1/info', 'GET /host/{}/api/v1/charts']);
    });

    it('programs that send other fields to themselves as words, though their pages look alike', async () => {
        const fields = { RequestExample: ['first', 'last'], CookieExample: ['cookie', 'value'], SessionExample: ['data', 'kind'] };
        const found = await inspectCalls(
            Object.entries(fields).flatMap(([name, [one = '', other = '']]) => [
                opened(
                    `/servlet/${name}`,
                    'servlet',
                    `<form method="post"><input name="${one}"><input name="${other}"><button>Go</button></form>`,
                ),
                { method: 'POST', url: `${SHOP}/servlet/${name}`, form: { [one]: 'x', [other]: 'y' }, html: pageOf('servlet') },
            ]),
        );
        expect(templates(found)).to.have.members(Object.keys(fields).flatMap((name) => [`GET /servlet/${name}`, `POST /servlet/${name}`]));
    });

    it('what is done with a thing, or with all of them, by its verb', async () => {
        const found = await inspectCalls([
            ...[7, 8].flatMap((id) => ['kill', 'replay'].map((deed) => ({ method: 'POST', url: `${SHOP}/flows/${id}/${deed}` }))),
            { method: 'POST', url: `${SHOP}/flows/resume` },
            { method: 'POST', url: `${SHOP}/clear` },
        ]);
        expect(found.package.endpoints.map(({ name }) => name)).to.have.members(['kill_flow', 'replay_flow', 'resume_flow', 'clear']);
    });
});
