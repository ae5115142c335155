import { expect } from 'chai';
import { type Call, endpointOf, inspectCalls, paramsOf, routesOf, SHOP } from './inspect/har.ts';

/** Routes without the names of their placeholders. */
const templates = async (calls: readonly Call[]) => routesOf(await inspectCalls(calls)).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));

describe('routebook inspect tells names of things from words of the program', () => {
    it('reads numbered releases behind a kind of things, and the version of an API as a part of it', async () => {
        const release = { json: { notes: 'x', date: 'y' } };
        const found = await templates([
            ...['v2.8.2', 'v2.9.0'].map((version) => ({ url: `${SHOP}/releases/${version}`, ...release })),
            { url: `${SHOP}/api/v1.2.3/ropes`, json: [1] },
        ]);
        expect(found).to.have.members(['GET /releases/{}', 'GET /api/v1.2.3/ropes']);
    });

    it('takes a page, its data and what is thrown away for one thing, in the format that each is asked for in', async () => {
        const page = (name: string) => `<html><head><script src="a.js"></script></head><body><h1>${name}</h1></body></html>`;
        const data = (name: string) => ({ title: name, story: [{ type: 'text', id: 'x' }], journal: [{ type: 'add', date: 1 }] });
        const names = ['tides', 'fog-horn', 'green-lamp'];
        const found = await templates([
            { url: `${SHOP}/all/list.json`, json: names.slice(0, 2).map((slug) => ({ slug, title: 'x' })) },
            ...names.flatMap((name) => [
                { url: `${SHOP}/${name}.json`, json: data(name) },
                { url: `${SHOP}/${name}.html`, html: page(name) },
            ]),
            { method: 'DELETE', url: `${SHOP}/tides.json` },
        ]);
        expect(found).to.have.members(['GET /all/list.json', 'GET /{}.json', 'GET /{}.html', 'DELETE /{}.json']);
    });

    it('keeps kinds of things that answer with a list of their name, though a description of the API names them', async () => {
        const kinds = ['boats', 'quays'];
        const found = await templates([
            { url: `${SHOP}/api/spec`, json: { kinds: [...kinds, 'owners'].map((name) => ({ name })) } },
            ...kinds.flatMap((kind) => [
                { url: `${SHOP}/api/${kind}`, json: { [kind]: [{ id: 1, at: 'x' }], meta: {} } },
                ...[1, 2].map((id) => ({ url: `${SHOP}/api/${kind}/${id}/owners`, json: { owners: [{ id: 3 }] } })),
                { method: 'POST', url: `${SHOP}/api/${kind}/7`, body: { why: 'x' }, json: { done: 1 } },
            ]),
        ]);
        expect(found).to.have.members([
            'GET /api/spec',
            ...kinds.flatMap((kind) => [`GET /api/${kind}`, `GET /api/${kind}/{}/owners`, `POST /api/${kind}/{}`]),
        ]);
    });

    it('reads a name below three words that a program marks as its own as the name of a thing', async () => {
        const page = (view: string) =>
            `<html><body>${[...'abcdefghijklmnopqrstuvwx'].map((one) => `<p class="${view}-${one}">x</p>`).join('')}</body></html>`;
        const views = ['_history', '_diff', '_raw'];
        const found = await templates(
            ['Tides', 'Ropes'].flatMap((name) => [
                { url: `${SHOP}/${name}`, html: page('own') },
                ...[...views, '_kind'].map((view) => ({
                    url: `${SHOP}/${view}/${view === '_kind' ? `of-${name}` : name}`,
                    html: page(view),
                })),
            ]),
        );
        expect(found).to.have.members(['GET /{}', ...[...views, '_kind'].map((view) => `GET /${view}/{}`)]);
    });

    it('reads numbers behind the name of a kind of things as one value', async () => {
        const found = await inspectCalls([
            ...[3, 17].map((id) => ({ url: `${SHOP}/tracker/issue${id}`, json: { id, title: 'Lamp is dark', status: 'open' } })),
            { url: `${SHOP}/tracker/user4`, json: { id: 4, login: 'x' } },
            { url: `${SHOP}/tracker/issue`, json: [{ id: 3 }] },
            { url: `${SHOP}/api2/boats`, json: [{ id: 3 }] },
        ]);
        expect(routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'))).to.have.members([
            'GET /tracker/issue{}',
            'GET /tracker/user{}',
            'GET /tracker/issue',
            'GET /api2/boats',
        ]);
    });

    it('reads languages of pages as one value beside other pages of the root', async () => {
        const page = (language: string, words: string) =>
            `<!doctype html><html lang="${language}"><body><main><h1>${words}</h1><p>Long enough to be read by somebody.</p></main></body></html>`;
        const found = await inspectCalls([
            ...['imprint', 'boats', 'harbours'].map((name) => ({ url: `${SHOP}/${name}`, html: page('en', name) })),
            ...['de', 'pt-br'].flatMap((language) => [
                { url: `${SHOP}/${language}`, html: page(language, language) },
                { url: `${SHOP}/${language}/boats`, html: page(language, 'boats') },
            ]),
        ]);
        expect(routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'))).to.have.members([
            ...['imprint', 'boats', 'harbours'].map((name) => `GET /${name}`),
            'GET /{}',
            'GET /{}/boats',
        ]);
    });

    it('reads words that do not look like those of a program as values, and words of programs with digits as words', async () => {
        const found = await templates([
            { url: `${SHOP}/api/issues/PROJ-12`, json: { key: 'x', summary: 'y' } },
            { url: `${SHOP}/api/channels/C024BE91L/history`, json: { messages: [{ text: 'x' }] } },
            ...['yhmsqprgbtgchbqdfdnjkwxre', 'u4pruydq'].map((id) => ({ url: `${SHOP}/api/team/${id}`, json: { display: 'x', at: 3 } })),
            { url: `${SHOP}/catalogue/the-old-keepers-handbook_209`, json: { title: 'x', pages: 3 } },
            { url: `${SHOP}/texts/i18n`, json: { greeting: 'x' } },
            { url: `${SHOP}/settings/2fa`, json: { isOn: true } },
            { url: `${SHOP}/services/s3-files`, json: { isDone: true } },
        ]);
        expect(found).to.have.members([
            'GET /api/issues/{}',
            'GET /api/channels/{}/history',
            'GET /api/team/{}',
            'GET /catalogue/{}',
            'GET /texts/i18n',
            'GET /settings/2fa',
            'GET /services/s3-files',
        ]);
    });

    it('reads sections at the root by their pages, and keeps pages that look alike without things below them, or to which something is sent', async () => {
        const words = (text: string) =>
            Array.from({ length: 12 }, (_, place) => `<div class="part-${text}-${place}">${text}</div>`).join('');
        const page = (kind: string) =>
            `<!doctype html><html><body><main><h1>${kind}</h1>${words(kind)}${words('menu')}</main></body></html>`;
        const found = await templates([
            ...['science', 'culture', 'coast'].flatMap((section) => [
                { url: `${SHOP}/${section}`, html: page('section') },
                { url: `${SHOP}/${section}/how-the-tide-is-late-today`, html: page('article') },
            ]),
            ...['imprint', 'privacy', 'contact'].map((name) => ({ url: `${SHOP}/${name}`, html: page('words') })),
        ]);
        expect(found).to.have.members(['GET /{}', 'GET /{}/{}', 'GET /imprint', 'GET /privacy', 'GET /contact']);
        const lists = ['delayed', 'moored', 'lost'];
        const written = await templates(
            lists.flatMap((list) => [
                { url: `${SHOP}/${list}`, html: page('list') },
                { url: `${SHOP}/${list}/how-the-tide-is-late-today`, html: page('boat') },
                { method: 'POST', url: `${SHOP}/${list}/all/clear`, form: { sure: 'yes' }, html: page('list') },
            ]),
        );
        expect(written).to.have.members(lists.flatMap((list) => [`GET /${list}`, `GET /${list}/{}`, `POST /${list}/all/clear`]));
    });

    it('reads no word beside numbered things of a kind as one of them, though it answers with one', async () => {
        const boat = (id: number) => ({ id, name: 'x', length: 8, harbour: 'north' });
        const found = await templates([
            ...[3, 17].map((id) => ({ url: `${SHOP}/api/Boats/${id}`, json: boat(id) })),
            ...['nearest', 'longest'].map((name) => ({ url: `${SHOP}/api/Boats/${name}?lat=3`, json: boat(3) })),
        ]);
        expect(found).to.have.members(['GET /api/Boats/{}', 'GET /api/Boats/nearest', 'GET /api/Boats/longest']);
    });

    it('reads two names that a response has below the singular of a kind as values', async () => {
        const found = await templates([
            { url: `${SHOP}/tags.json`, json: { tags: ['rope', 'paint'].map((text) => ({ text })) } },
            ...['rope', 'paint'].map((name) => ({
                url: `${SHOP}/tag/${name}/l/latest.json`,
                json: { topics: [{ id: 1, title: 'x', views: 3 }] },
            })),
        ]);
        expect(found).to.have.members(['GET /tags.json', 'GET /tag/{}/l/latest.json']);
    });

    it('reads the month or day behind the root of an API as its version', async () => {
        const found = await templates([
            { method: 'POST', url: `${SHOP}/api/2026-04/search.json`, body: { filters: {} }, json: { hits: [] } },
        ]);
        expect(found).to.have.members(['POST /api/2026-04/search.json']);
    });

    it('keeps the names of files whole', async () => {
        const files = ['first.json', 'second.json'];
        const found = await templates([
            { url: `${SHOP}/library/flows`, json: files.map((name) => ({ name })) },
            ...files.map((name) => ({ url: `${SHOP}/library/flows/${name}`, json: [{ id: name }] })),
        ]);
        expect(found).to.have.members(['GET /library/flows', 'GET /library/flows/{}']);
    });

    it('keeps modules apart that a site lists by name, and folds things that have the same below them', async () => {
        const listed = (...names: string[]) => ({ url: `${SHOP}/api/all`, json: names.map((name) => ({ name, main: 'x' })) });
        const modules = ['keeping/store', 'keeping/history', 'winding/next', 'winding/stop'];
        expect(
            await templates([listed('keeping', 'winding'), ...modules.map((path) => ({ url: `${SHOP}/api/${path}`, json: { done: 1 } }))]),
        ).to.have.members(['GET /api/all', ...modules.map((path) => `GET /api/${path}`)]);
        const things = ['lamp/tides', 'lamp/rope', 'horn/tides'];
        expect(
            await templates([listed('lamp', 'horn'), ...things.map((path) => ({ url: `${SHOP}/api/${path}`, json: { done: 1 } }))]),
        ).to.have.members(['GET /api/all', 'GET /api/{}/tides', 'GET /api/{}/rope']);
    });

    it('keeps a view of each thing, though an answer has its word as a name', async () => {
        const found = await templates([
            { url: `${SHOP}/fields`, json: [{ name: 'content' }] },
            ...[17, 18].flatMap((id) => [
                { url: `${SHOP}/berths/${id}/content`, json: { text: 'x', size: 7 } },
                { url: `${SHOP}/berths/${id}/status`, json: { state: 'x' } },
            ]),
        ]);
        expect(found).to.have.members(['GET /fields', 'GET /berths/{}/content', 'GET /berths/{}/status']);
    });

    it('keeps kinds behind a thing that are removed, though they answer with the thing', async () => {
        const thing = { json: { port: 7, name: 'x', stubs: [{ is: 'y' }] } };
        const found = await templates(
            [17, 18].flatMap((id) =>
                ['savedRequests', 'savedAnswers'].map((kind) => ({ method: 'DELETE', url: `${SHOP}/doubles/${id}/${kind}`, ...thing })),
            ),
        );
        expect(found).to.have.members(['DELETE /doubles/{}/savedRequests', 'DELETE /doubles/{}/savedAnswers']);
    });

    it('reads a capitalised word after a lower-case one as a name, even if it is usual in routes', async () => {
        const found = await templates([
            { url: `${SHOP}/boards`, json: [{ name: 'Places' }] },
            { url: `${SHOP}/board/Places`, json: { graphs: [1] } },
        ]);
        expect(found).to.have.members(['GET /boards', 'GET /board/{}']);
    });

    it('takes a flag that is alone at each of its addresses for a param, unless it selects pages', async () => {
        const asked = ['ropes', 'anchors'].flatMap((things) => [
            { url: `${SHOP}/${things}`, json: [1] },
            { url: `${SHOP}/${things}?expand`, json: [{ id: 1 }] },
        ]);
        const found = await inspectCalls(asked);
        expect(routesOf(found)).to.have.members(['GET /ropes', 'GET /anchors']);
        expect(paramsOf(endpointOf(found, 'GET /ropes'), 'query')).to.deep.equal(['expand']);
        const page = (name: string) =>
            `<html><body><main><h1>${name}</h1>${`<p class="${name}">Words to read.</p>`.repeat(9)}</main></body></html>`;
        const pages = ['ropes', 'anchors'].flatMap((things) => [
            { url: `${SHOP}/${things}`, html: page(things) },
            { url: `${SHOP}/${things}?tree`, html: page('tree') },
        ]);
        expect(routesOf(await inspectCalls(pages))).to.include('GET /ropes?tree=');
    });

    it('takes a flag that only marks a page for a param, at addresses that were not seen without it, too', async () => {
        const page = (name: string) =>
            `<html><head><title>${name}</title></head><body><main><h1>${name}</h1>${'<p class="story">Words to read.</p>'.repeat(9)}</main></body></html>`;
        const found = await inspectCalls([
            { url: `${SHOP}/ropes/`, html: page('Ropes') },
            { url: `${SHOP}/ropes/?updated`, html: page('Ropes') },
            { url: `${SHOP}/new-anchors/?updated`, html: page('Anchors') },
        ]);
        expect(routesOf(found)).to.have.members(['GET /ropes/', 'GET /new-anchors/']);
        expect(paramsOf(endpointOf(found, 'GET /new-anchors/'), 'query')).to.deep.equal(['updated']);
    });

    it('keeps a word of several parts with a usual abbreviation, though its letters and digits change often', async () => {
        const calls = ['incoming_s2s_number', 'get_p2p_peers_now'].map((name) => ({ method: 'POST', url: `${SHOP}/api/${name}`, json: 1 }));
        expect(routesOf(await inspectCalls(calls))).to.have.members(['POST /api/incoming_s2s_number', 'POST /api/get_p2p_peers_now']);
    });

    it('drafts the posts of a script, even if the answer is a piece of a page at an address that ends in .html', async () => {
        const found = await templates(
            ['tides', 'ropes'].map((name) => ({
                method: 'POST',
                url: `${SHOP}/report/${name}.html`,
                body: { name },
                html: '<h1>x</h1>',
                resource: 'fetch',
            })),
        );
        expect(found).to.deep.equal(['POST /report/{}.html']);
    });

    it('reads words that a program marks as its own, two ids in capitals and small letters, and formats behind a hash', async () => {
        const text = { type: 'text/plain', json: 'ok' };
        const found = await templates([
            { url: `${SHOP}/+list`, json: [1] },
            ...['FYeowAuw', 'GPWYkEhH'].flatMap((id) => [
                { url: `${SHOP}/${id}`, json: { text: 'x' } },
                { method: 'POST', url: `${SHOP}/${id}/+lock`, json: {} },
            ]),
            ...['47d271fab960af21', '80d78e258359ba93'].flatMap((hash) =>
                ['.diff', '.patch'].map((format) => ({ url: `${SHOP}/change/${hash}${format}`, ...text })),
            ),
            { url: `${SHOP}/call/myURLs`, json: { urls: [1] } },
        ]);
        expect(found).to.have.members([
            'GET /+list',
            'GET /{}',
            'POST /{}/+lock',
            'GET /change/{}.diff',
            'GET /change/{}.patch',
            'GET /call/myURLs',
        ]);
    });

    it('reads names that pages list with more beside them, and those that a page of the thing lists in several of its views', async () => {
        const wide = (name: string) =>
            Array.from({ length: 24 }, (_, place) => `<p class="${name}-${'abcdefghijklmnopqrstuvwx'[place]}">x</p>`).join('');
        const page = (name: string, links: string) =>
            `<html><body><main><h1>Sources of the harbour, for everybody to read</h1>${links}${wide(name)}</main></body></html>`;
        const views = ['log', 'tree', 'blob', 'blame'];
        const things = ['harbour', 'lamp'];
        const listed = things.map((name) => `<li><a href="/${name}/">${name} <i>changed today</i></a></li>`).join('');
        const found = await templates([
            { url: `${SHOP}/`, html: page('all', `<ul>${listed}</ul>`) },
            ...things.flatMap((name) => [
                { url: `${SHOP}/${name}/`, html: page('thing', `<a href="/${name}/tree/main/">main</a>`) },
                ...views.map((view) => ({ url: `${SHOP}/${name}/${view}/main/`, html: page(view, '') })),
            ]),
        ]);
        expect(found).to.have.members(['GET /', 'GET /{}/', ...views.map((view) => `GET /{}/${view}/{}/`)]);
    });

    it('describes params by what responses show: names of fields, a format, a limit, or a text in each item', async () => {
        const rows = [1, 2, 3].map((id) => ({ ref: id, title: `Green rope ${id}` }));
        const found = await inspectCalls([
            { url: `${SHOP}/ropes?only=ref,title&as=json&limit=3&like=rope&odd=x`, json: rows },
            { url: `${SHOP}/ropes?only=title&as=json&limit=2&like=green&odd=y`, json: rows.slice(0, 2) },
        ]);
        const said = new Map(endpointOf(found, 'GET /ropes').params?.map(({ name, description }) => [name, description]));
        expect(said.get('only')).to.include('names fields of the response');
        expect(said.get('as')).to.include('sets the format of the response');
        expect(said.get('limit')).to.include('No response has more');
        expect(said.get('like')).to.include('Each item of the response contains it');
        expect(said.get('odd')).not.to.include('response');
    });
});
