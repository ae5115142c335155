import { expect } from 'chai';
import fc from 'fast-check';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { type Call, endpointOf, inspectCalls, paramsOf, routesOf, SHOP } from './inspect/har.ts';

const page = (body: string) =>
    `<!doctype html><html><head><title>Shop</title></head><body><main><h1>A page with content</h1><p>Long enough to be read by somebody.</p>${body}</main></body></html>`;

describe('routebook inspect finds routes', () => {
    it('makes templates of varying segments, and names params after the segment before them', async () => {
        const product = (id: unknown) => ({ id, title: 'x', price: 1.5, tags: ['y'] });
        const found = await inspectCalls([
            { url: `${SHOP}/v2/products/17`, json: product(17) },
            { url: `${SHOP}/v2/products/18`, json: product(18) },
            { url: `${SHOP}/v2/products/17/reviews`, json: [] },
            { url: `${SHOP}/orders/3f2504e0-4f89-11d3-9a0c-0305e82c3301`, json: { total: 1 } },
            { url: `${SHOP}/rates/2026-11-21`, json: { EUR: 1 } },
            { url: `${SHOP}/rates/2026-11-22`, json: { EUR: 2 } },
            { url: `${SHOP}/feeds/77.json`, json: [] },
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /v2/products/{product_id}',
            'GET /v2/products/{product_id}/reviews',
            'GET /orders/{order_id}',
            'GET /rates/{date}',
            'GET /feeds/{feed_id}.json',
        ]);
        const { schema } = endpointOf(found, 'GET /v2/products/{product_id}').params?.[0] ?? {};
        expect(schema).to.deep.equal({ type: 'integer' });
    });

    it('takes a number behind the root of an API for its version, and behind the name of a thing for a value', async () => {
        const json = { code: 0, message: 'ok', data: { text: 'x' } };
        const found = await inspectCalls([
            ...['getText', 'getHTML', 'getAuthors'].map((name) => ({ url: `${SHOP}/api/1.2.15/${name}?pad=ropes`, json })),
            ...['1.2.15', '1.3.0'].map((version) => ({ url: `${SHOP}/packages/${version}`, json: { version } })),
            ...['1.2.15', '1.3.0'].map((version) => ({ url: `${SHOP}/packages/${version}/files`, json: { files: [] } })),
            ...['/status', '/load'].map((path) => ({ url: `${SHOP}/rest/3${path}`, json: { [path.slice(1)]: 1 } })),
            { url: `${SHOP}/wmts/1.0.0/capabilities`, json: { maps: [] } },
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /api/1.2.15/getText',
            'GET /api/1.2.15/getHTML',
            'GET /api/1.2.15/getAuthors',
            'GET /packages/{version}',
            'GET /packages/{version}/files',
            'GET /rest/3/status',
            'GET /rest/3/load',
            'GET /wmts/1.0.0/capabilities',
        ]);
    });

    it('takes ids with a dot or in capitals for values, and parts of settings for words', async () => {
        const html = page('<table><tr><td class="name">x</td><td class="value">1</td></tr></table>'.repeat(4));
        const found = await inspectCalls([
            ...['28.4AEC29CDBAAB', '10.67C6697351FF'].map((id) => ({ url: `${SHOP}/${id}`, html })),
            ...['00A0B1C2', '4AEC29CD'].map((id) => ({ url: `${SHOP}/bus/${id}`, json: { id } })),
            ...['timeout', 'units'].map((part) => ({ url: `${SHOP}/settings/${part}`, html })),
            ...['timeout', 'units'].map((part) => ({ url: `${SHOP}/ropes/${part}`, html })),
        ]);
        const routes = routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));
        expect(routes).to.have.members(['GET /{}', 'GET /bus/{}', 'GET /settings/timeout', 'GET /settings/units', 'GET /ropes/{}']);
    });

    it('takes a word before a version for the name of an API, though a response has it as a value', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/wp-json/`, json: { name: 'wp', namespaces: ['wp/v2', 'oembed/1.0'], route: 'v2' } },
            { url: `${SHOP}/wp-json/wp/v2/posts?page=2`, json: [{ id: 1 }] },
            { url: `${SHOP}/wp-json/oembed/1.0/embed?width=3`, json: { html: 'x' } },
            { url: `${SHOP}/repositories`, json: { names: ['harbour/tides'] } },
            { url: `${SHOP}/repositories/harbour/tides/files`, json: { files: [] } },
        ]);
        expect(routesOf(found)).to.include.members(['GET /wp-json/wp/v2/posts', 'GET /repositories/{repository}/{name}/files']);
    });

    it('takes a word before a version for a value outside an API: packages of a registry, and projects', async () => {
        const names = ['react', 'lodash', 'express'];
        const found = await inspectCalls([
            { url: `${SHOP}/popular`, json: names.map((name) => ({ name })) },
            ...names.flatMap((name) =>
                ['4.17.21', '18.2.0'].map((version) => ({
                    url: `${SHOP}/npm/${name}/${version}/files`,
                    json: { files: [{ path: 'a', size: 1 }] },
                })),
            ),
            { url: `${SHOP}/projects`, json: [{ name: 'harbour' }, { name: 'tides' }] },
            ...['harbour', 'tides'].map((name) => ({ url: `${SHOP}/projects/${name}/v1/files`, json: { files: [] } })),
        ]);
        expect(routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'))).to.have.members([
            'GET /popular',
            'GET /npm/{}/{}/files',
            'GET /projects',
            'GET /projects/{}/v1/files',
        ]);
    });

    it('recognises varying words by earlier responses, by their place, and by similar responses', async () => {
        const recipe = (name: string) => ({ name, steps: [{ text: 'stir' }], minutes: 3 });
        const found = await inspectCalls([
            { url: `${SHOP}/api/library`, json: { names: ['lodash', 'express'] } },
            { url: `${SHOP}/api/module/lodash`, json: { version: '1' } },
            { url: `${SHOP}/api/recipes/soup`, json: recipe('soup') },
            { url: `${SHOP}/api/recipes/bread`, json: recipe('bread') },
            { url: `${SHOP}/api/users/wilhelmina`, json: { city: 'x' } },
            { url: `${SHOP}/api/search/teapots`, json: [] },
            { url: `${SHOP}/api/status/config`, json: { a: 1 } },
            { url: `${SHOP}/api/status/flags`, json: { a: 2 } },
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /api/library',
            'GET /api/module/{module}',
            'GET /api/recipes/{recipe}',
            'GET /api/users/{user}',
            'GET /api/search/{text}',
            'GET /api/status/config',
            'GET /api/status/flags',
        ]);
    });

    it('recognises random ids by their letters and digits: one alone, and several with similar pages', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/links/q7RtZ2`, html: page('') },
            ...['v6c3mA', 'aOkdBw', 'jQyxbQ'].map((id) => ({ url: `${SHOP}/shaare/${id}`, json: { id: 1, title: 'x' } })),
            ...['bblaGQ', 'HoJ7rw'].map((id) => ({ url: `${SHOP}/note/${id}`, json: { text: 'x', tags: ['y'] } })),
            ...['getItem', 'DevOps', 'v2Beta'].map((word) => ({ url: `${SHOP}/call/${word}`, json: { [word]: 1 } })),
            ...['buyNow', 'isOpen'].map((word) => ({ url: `${SHOP}/auction/${word}`, json: { id: 1, title: 'x' } })),
            ...['getById', 'getBySku'].map((word) => ({ url: `${SHOP}/stock/${word}`, json: { id: 1, left: 2 } })),
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /links/{link}',
            'GET /shaare/{shaare}',
            'GET /note/{note}',
            'GET /call/getItem',
            'GET /call/DevOps',
            'GET /call/v2Beta',
            'GET /auction/buyNow',
            'GET /auction/isOpen',
            'GET /stock/getById',
            'GET /stock/getBySku',
        ]);
    });

    it('takes capitals that begin an API, and names with the suffix of a program, for words', async () => {
        const answer = (name: string) => ({ status: 'ok', version: '1', data: { [name]: [] } });
        const found = await inspectCalls([
            ...['boat', 'quay'].flatMap((thing) => [3, 4].map((id) => ({ url: `${SHOP}/REST/2.0/${thing}/${id}`, json: { [thing]: id } }))),
            ...['getBoatList2', 'getQuays', 'deleteBoat', 'unstarBoat', 'createHarbourRadioStation'].map((name) => ({
                url: `${SHOP}/song/${name}.view`,
                json: answer(name),
            })),
            ...['boats', 'quays', 'ropes'].map((name) => ({ url: `${SHOP}/bin/${name}/status.cgi?rope=${name}`, json: answer('list') })),
            ...['boats', 'quays', 'ropes'].map((name) => ({ url: `${SHOP}/bin/dock/${name}json.cgi?id=1`, json: answer('list') })),
        ]);
        expect(routesOf(found)).to.include.members([
            'GET /REST/2.0/boat/{boat_id}',
            'GET /REST/2.0/quay/{quay_id}',
            'GET /song/getBoatList2.view',
            'GET /song/getQuays.view',
            'GET /song/deleteBoat.view',
            'GET /song/createHarbourRadioStation.view',
            'GET /bin/dock/boatsjson.cgi',
            'GET /bin/dock/quaysjson.cgi',
            'GET /bin/dock/ropesjson.cgi',
        ]);
        const reads = endpointOf(found, 'GET /song/getQuays.view');
        const writes = ['deleteBoat', 'unstarBoat'].map((name) => endpointOf(found, `GET /song/${name}.view`).effect);
        expect([reads.name, reads.effect, ...writes]).to.deep.equal(['song_get_quays', undefined, 'write', 'write']);
    });

    it('takes domains that end like programs for values, and programs at the root or in their folder for words', async () => {
        const json = { expires: '2027-01-01' };
        const found = await inspectCalls(
            ['domains/harbour.pl', 'domains/quay.pl', 'domains/pier.com', 'cgi-bin/boats/tides.pl', 'winds.pl'].map((path) => ({
                url: `${SHOP}/${path}`,
                json,
            })),
        );
        expect(routesOf(found)).to.have.members(['GET /domains/{file}', 'GET /cgi-bin/boats/tides.pl', 'GET /winds.pl']);
    });

    it('takes an action on one or all things for a word, even if answers contain it', async () => {
        const found = await inspectCalls([
            ...['mails', 'tides'].flatMap((name) => [
                { method: 'PUT', url: `${SHOP}/queues/${name}/pause`, json: {} },
                { method: 'PUT', url: `${SHOP}/queues/${name}`, body: { size: 1 }, json: {} },
            ]),
            { method: 'PUT', url: `${SHOP}/queues/pause`, json: {} },
            ...[7, 8].flatMap((id) => [
                { url: `${SHOP}/tickets/${id}`, json: { id, kinds: ['praise', 'reproach'] } },
                ...['praise', 'reproach'].map((deed) => ({
                    method: 'POST',
                    url: `${SHOP}/tickets/${id}/${deed}`,
                    body: { text: 'x' },
                    json: [],
                })),
            ]),
        ]);
        expect(routesOf(found)).to.have.members([
            'PUT /queues/{queue}/pause',
            'PUT /queues/{queue}',
            'PUT /queues/pause',
            'GET /tickets/{ticket_id}',
            'POST /tickets/{ticket_id}/praise',
            'POST /tickets/{ticket_id}/reproach',
        ]);
    });

    it('takes words that are read and written in the same ways for values, unless they name kinds of things', async () => {
        const both = (path: string, fields: object, json: object): Call[] => [
            { url: `${SHOP}/${path}`, json },
            { method: 'POST', url: `${SHOP}/${path}`, body: fields, json: {} },
        ];
        const limit = (name: string): Call[] => [
            { method: 'PUT', url: `${SHOP}/limits/7/${name}`, body: { value: 3 }, json: '', type: '' },
            { method: 'DELETE', url: `${SHOP}/limits/7/${name}`, json: '', type: '' },
        ];
        const found = await inspectCalls([
            ...['gull', 'tern'].flatMap((name) => both(name, { action: 3, after: 4 }, { state: 1, since: 2 })),
            ...['ropes', 'anchors'].flatMap((kind) => both(kind, { weight: 3 }, { count: 1, next: 2 })),
            ...both('weather', { wind: 3 }, { wind: 1, rain: 2 }),
            ...['depth', 'width'].flatMap(limit),
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /{name}',
            'POST /{name}',
            ...['ropes', 'anchors', 'weather'].flatMap((word) => [`GET /${word}`, `POST /${word}`]),
            'PUT /limits/{limit_id}/{name}',
            'DELETE /limits/{limit_id}/{name}',
        ]);
    });

    it('takes words that are only posted to, with other fields each, for methods, though all answers are alike', async () => {
        const json = { header: { id: '7', term: '2' } };
        const fields = { attach: { name: 'x', rope: 'y' }, show: { name: 'x' }, relieve: { boat: 'x' } };
        const found = await inspectCalls(
            ['user', 'crew'].flatMap((thing) =>
                Object.entries(fields).map(([name, body]) => ({ method: 'POST', url: `${SHOP}/auth/${thing}/${name}`, body, json })),
            ),
        );
        expect(routesOf(found)).to.have.members(
            ['user', 'crew'].flatMap((thing) => Object.keys(fields).map((name) => `POST /auth/${thing}/${name}`)),
        );
    });

    it('takes a word before everything else of an API for a part of it, though somebody is called so', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/api/harbour/me`, json: { username: 'harbour' } },
            { url: `${SHOP}/api/harbour/boats?page=2`, json: [{ length: 7 }] },
        ]);
        expect(routesOf(found)).to.include('GET /api/harbour/boats');
    });

    it('takes words beside values for values if their small pages have the same layout', async () => {
        const html = (link: string) =>
            `<html><head><title>Diary</title></head><body><h1>Days</h1><div class="day"><h2>Monday</h2><p>What the <b>keeper</b> wrote.</p><ul><li><a href="/">Back</a></li></ul></div>${link}</body></html>`;
        const found = await inspectCalls([
            ...['2025', '2026', 'harbour', 'lights'].map((name) => ({ url: `${SHOP}/diary/${name}`, html: html('') })),
            { url: `${SHOP}/diary/weather`, html: html('<form action="/find"><input name="day"></form>') },
        ]);
        expect(routesOf(found).filter((route) => route.startsWith('GET /diary'))).to.deep.equal([
            'GET /diary/{diary_id}',
            'GET /diary/weather',
        ]);
    });

    it('reads queries with a semicolon between pairs, and leaves one in a value alone', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/?p=harbour.git;a=log`, html: page('') },
            { url: `${SHOP}/?p=tides.git;a=log`, html: page('') },
            { url: `${SHOP}/?p=ropes.git;a=log;pg=1`, html: page('') },
            { url: `${SHOP}/parts?sizes=1;2;3`, json: [] },
        ]);
        expect(routesOf(found)).to.have.members(['GET /', 'GET /parts']);
        expect(paramsOf(endpointOf(found, 'GET /'), 'query')).to.have.members(['p', 'a', 'pg']);
        expect(paramsOf(endpointOf(found, 'GET /parts'), 'query')).to.deep.equal(['sizes']);
    });

    it('treats a short param as the choice of a route if its pages differ, and as a param if they are similar', async () => {
        const list = (items: number) => page(`<ul>${'<li class="item"><a href="/x">x</a></li>'.repeat(items)}</ul>`);
        const different: Record<string, string> = {
            summary: list(3),
            tree: page('<table class="tree"><tr><th>Mode</th><td class="name"><a href="/t">t</a></td></tr></table>'),
            blob: page('<pre class="source"><code><span class="line">x</span></code></pre><div id="lines"><b>1</b></div>'),
        };
        const found = await inspectCalls([
            ...Object.keys(different).flatMap((word) =>
                ['harbour', 'tides'].map((name) => ({ url: `${SHOP}/?p=${name}.git;a=${word}`, html: different[word] ?? '' })),
            ),
            ...['age', 'owner', 'size', 'title'].map((word) => ({ url: `${SHOP}/boats/?o=${word}`, html: list(4) })),
            ...['rope', 'sail', 'oar', 'keel'].map((word) => ({
                url: `${SHOP}/parts/?t=${word}`,
                json: { items: [{ id: 1, made: 'x' }] },
            })),
        ]);
        expect(routesOf(found)).to.have.members(['GET /?a=summary', 'GET /?a=tree', 'GET /?a=blob', 'GET /boats/', 'GET /parts/']);
        expect(paramsOf(endpointOf(found, 'GET /?a=tree'), 'query')).to.deep.equal(['p']);
        expect(paramsOf(endpointOf(found, 'GET /boats/'), 'query')).to.deep.equal(['o']);
    });

    it('takes words that the menu of each page offers for the choice of a route, though the pages look alike', async () => {
        const words = ['tunnels', 'transports', 'commands', 'p2p_peers'];
        const menu = words.map((word) => `<a href="/?page=${word}">${word}</a>`).join('');
        const list = '<ul><li class="item"><a href="/boats/?page=rope">rope</a></li></ul>';
        const found = await inspectCalls([
            ...words.map((word) => ({ url: `${SHOP}/?page=${word}`, html: page(`${menu}<div class="content">x</div>`) })),
            { url: `${SHOP}/`, html: page(`${menu}<div class="content">x</div>${list}`) },
            ...['rope', 'sail', 'oar', 'keel'].map((word) => ({ url: `${SHOP}/boats/?page=${word}`, html: page(`${menu}${list}`) })),
        ]);
        expect(routesOf(found)).to.have.members(['GET /', ...words.map((word) => `GET /?page=${word}`), 'GET /boats/']);
    });

    it('takes the special pages of a wiki for routes of their own, and other titles for values', async () => {
        const search = '<form action="/index.php"><input type="hidden" name="title" value="Special:Search"><input name="search"></form>';
        const found = await inspectCalls([
            ...['Old_crane%2C_north', 'Caf%C3%A9'].map((title) => ({ url: `${SHOP}/index.php/${title}`, html: page(search) })),
            ...['RecentChanges', 'Version'].map((name) => ({ url: `${SHOP}/index.php/Special:${name}`, html: page(search) })),
            ...[7, 9].map((id) => ({ url: `${SHOP}/index.php?title=Old_Crane&oldid=${id}`, html: page(search) })),
        ]);
        expect(routesOf(found).map((route) => route.replace(/\{\w+\}/, '{}'))).to.have.members([
            'GET /index.php/{}',
            'GET /index.php/Special:RecentChanges',
            'GET /index.php/Special:Version',
            'GET /index.php?title=Special%3ASearch',
            'GET /index.php',
        ]);
        expect(paramsOf(endpointOf(found, 'GET /index.php?title=Special%3ASearch'), 'query')).to.deep.equal(['search']);
    });

    it('takes several flags of one address for its pages, though they look alike', async () => {
        const html = page('<pre class="capabilities">x</pre>');
        const found = await inspectCalls(['maps', 'tiles', 'layers'].map((flag) => ({ url: `${SHOP}/demo/?${flag}`, html })));
        expect(routesOf(found)).to.have.members(['GET /demo/?maps=', 'GET /demo/?tiles=', 'GET /demo/?layers=']);
    });

    it('does not make a route of each word of a param that has a hundred of them', async () => {
        const words = Array.from({ length: 100 }, (_, place) => `word${'abcdefghij'[place % 10]}${'klmnopqrst'[Math.floor(place / 10)]}`);
        const found = await inspectCalls(words.map((word, place) => ({ url: `${SHOP}/?v=${word}`, json: { [`k${place % 9}`]: 1 } })));
        expect(routesOf(found)).to.deep.equal(['GET /']);
        expect(paramsOf(endpointOf(found, 'GET /'), 'query')).to.deep.equal(['v']);
    });

    it('applies what is found for one method to all methods', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/boards/spring`, json: { name: 'x', cards: [{ t: 1 }] } },
            { url: `${SHOP}/boards/autumn`, json: { name: 'y', cards: [{ t: 1 }] } },
            { method: 'POST', url: `${SHOP}/boards/winter/cards`, body: { text: 'a' }, status: 201, json: {} },
            { method: 'DELETE', url: `${SHOP}/boards/winter`, status: 204 },
        ]);
        expect(routesOf(found)).to.have.members(['GET /boards/{board}', 'POST /boards/{board}/cards', 'DELETE /boards/{board}']);
        expect(endpointOf(found, 'DELETE /boards/{board}').effect, 'the method says it').to.equal(undefined);
    });

    it('finds every template from its calls, whatever their ids, and stores none of the ids', async () => {
        const noun = fc.constantFrom('posts', 'books', 'cities', 'boxes', 'invoices', 'trips');
        const id = fc.oneof(
            fc.integer({ min: 1000, max: 10_000_000 }).map(String),
            fc.uuid(),
            fc.stringMatching(/^[0-9a-f]{24}$/).filter((text) => /[a-f]/.test(text) && /\d/.test(text)),
        );
        const route = fc.record({ nouns: fc.uniqueArray(noun, { minLength: 1, maxLength: 3 }), endsWithId: fc.boolean() });
        await fc.assert(
            fc.asyncProperty(
                fc.uniqueArray(route, { minLength: 1, maxLength: 5, selector: ({ nouns, endsWithId }) => `${nouns.join()} ${endsWithId}` }),
                fc.infiniteStream(id),
                async (routes, ids) => {
                    const used: string[] = [];
                    const next = () => {
                        const value = ids.next().value ?? '1000';
                        used.push(value);
                        return value;
                    };
                    const calls: Call[] = [];
                    const truth = new Set<string>();
                    for (const { nouns, endsWithId } of routes) {
                        const path = (fill: () => string) =>
                            nouns.map((one, place) => (place < nouns.length - 1 || endsWithId ? `/${one}/${fill()}` : `/${one}`)).join('');
                        truth.add(`GET ${path(() => '{}')}`);
                        for (let time = 0; time < 3; time++) calls.push({ url: `${SHOP}${path(next)}`, json: { ok: true } });
                    }
                    const found = await inspectCalls(calls);
                    expect(new Set(routesOf(found).map((one) => one.replaceAll(/\{\w+\}/g, '{}')))).to.deep.equal(truth);
                    const names = found.package.endpoints.map(({ params = [] }) => params.map(({ name }) => name));
                    for (const own of names) expect(new Set(own).size).to.equal(own.length);
                    const output = JSON.stringify(found);
                    for (const value of used) expect(output).not.to.include(value);
                    expect(checkPackage(found.package, { isPortAllowed: () => false }).ok).to.equal(true);
                },
            ),
            { numRuns: 60 },
        );
    });

    it('takes no word after a search for its term if the query holds the term', async () => {
        const item = (name: string) => ({ [name]: 1, [`${name}_at`]: 2, [`${name}_by`]: 3 });
        const found = await inspectCalls([
            { url: `${SHOP}/search/boats?q=tide`, json: [item('boat')] },
            { url: `${SHOP}/search/skippers?q=ada&page=2`, json: [item('skipper')] },
            { url: `${SHOP}/api/search/teapots?page=1`, json: [item('pot')] },
        ]);
        expect(routesOf(found)).to.have.members(['GET /search/boats', 'GET /search/skippers', 'GET /api/search/{text}']);
    });

    it('makes a default of the word that all requests had and an enum of frequent choices, and guesses types and required fields', async () => {
        const calls: Call[] = [];
        for (let time = 0; time < 4; time++) {
            for (const sort of ['newest', 'cheapest'])
                calls.push({
                    url: `${SHOP}/offers?format=json&sort=${sort}&max=${time}.5&from=2026-01-0${time + 1}${time > 1 ? '&sold=true' : ''}`,
                    json: [],
                });
        }
        const found = await inspectCalls(calls);
        const offers = endpointOf(found, 'GET /offers');
        expect(offers.params?.map(({ description: _, ...param }) => param)).to.deep.equal([
            { name: 'format', source: 'query', required: false, schema: { type: 'string' }, default: 'json' },
            { name: 'sort', source: 'query', required: false, schema: { type: 'string', enum: ['cheapest', 'newest'] } },
            { name: 'max', source: 'query', required: true, schema: { type: 'number' } },
            { name: 'from', source: 'query', required: true, schema: { type: 'string', format: 'date' } },
            { name: 'sold', source: 'query', required: false, schema: { type: 'boolean' } },
        ]);
    });

    it('reads one address with several actions as several routes, and lists as lists', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/index.php?action=list&page=1`, html: page('') },
            { url: `${SHOP}/index.php?action=show&id=17`, html: page('') },
            { url: `${SHOP}/index.php?action=show&id=18`, html: page('') },
            { url: `${SHOP}/filter?tag=a&tag=b`, json: [] },
        ]);
        expect(routesOf(found)).to.have.members(['GET /index.php?action=list', 'GET /index.php?action=show', 'GET /filter']);
        expect(endpointOf(found, 'GET /filter').params?.[0]?.schema).to.deep.equal({
            type: ['array', 'string'],
            items: { type: 'string' },
        });
    });

    it('distinguishes the names of similar endpoints, and ignores the name of a script with many addresses', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/archive/`, html: page('') },
            { url: `${SHOP}/archive/2025/`, html: page('') },
            { url: `${SHOP}/archive/2026/`, html: page('') },
            { url: `${SHOP}/nodes/17`, json: { name: 'x' } },
            { url: `${SHOP}/nodes/18`, json: { name: 'y' } },
            { url: `${SHOP}/nodes/17/2025-01-01`, json: { on: true } },
            { url: `${SHOP}/nodes/18/2025-01-02`, json: { on: true } },
            { url: `${SHOP}/?s=piers`, html: page('') },
            { url: `${SHOP}/?action=projects&s=piers`, html: page('') },
            { url: `${SHOP}/wiki.php?do=backlinks&id=17`, html: page('') },
        ]);
        expect(found.package.endpoints.map(({ name }) => name)).to.have.members([
            'open_archive',
            'open_archive_by_archive_id',
            'get_node',
            'get_node_by_date',
            'search_site',
            'search_projects',
            'open_backlinks',
        ]);
    });

    it('names an action once, and leaves out the folder of programs', async () => {
        const answer = { json: { size: 1 } };
        const found = await inspectCalls([
            { url: `${SHOP}/getmap`, ...answer },
            { url: `${SHOP}/listings`, json: [1] },
            { url: `${SHOP}/cgi-bin/boats.cgi`, ...answer },
            { url: `${SHOP}/cgi-bin/wiki.cgi?action=list_all_versions&id=fog`, ...answer },
        ]);
        expect(found.package.endpoints.map(({ name }) => name)).to.have.members([
            'getmap',
            'list_listings',
            'list_boats',
            'list_all_versions',
        ]);
    });

    it('names the parts of a date', async () => {
        const days = ['2026/11/30', '2025/02/09'].map((day) => ({ url: `${SHOP}/journal/${day}`, json: { notes: [1] } }));
        const found = await inspectCalls(days);
        expect(routesOf(found)).to.deep.equal(['GET /journal/{year}/{month}/{day}']);
    });

    it('names endpoints after headings, links, labels and buttons if their path names nothing, in any order', async () => {
        const search =
            '<form action="/index.php"><input type="hidden" name="title" value="Special"><input name="search" aria-label="Search articles"></form>';
        const titled = (title: string, body: string) =>
            `<!doctype html><html><head><title>${title}</title></head><body>${body}<p>Long enough to be read by somebody.</p>${search}</body></html>`;
        const calls: Call[] = [
            { url: `${SHOP}/index.php?search=tea`, html: titled('tea', '<h1>Results</h1>') },
            { url: `${SHOP}/index.php?search=piers`, html: titled('piers', '<h1>Results</h1>') },
            { url: `${SHOP}/brlist`, html: titled('List', '<h1>View branches</h1>') },
            {
                url: `${SHOP}/tktnew`,
                html: titled(
                    'Form',
                    '<h1>New ticket</h1><form method="post" action="/tktnew"><input name="about"><button>Save</button></form>',
                ),
            },
            { url: `${SHOP}/wfold?n=1`, html: titled('Same', '<h1>Folders</h1>') },
            { url: `${SHOP}/wfold2?n=1`, html: titled('Same', '<h1>Folders</h1>') },
            { url: `${SHOP}/uebrs`, html: titled('Straßen', '<h1>Straßen</h1>') },
            { url: `${SHOP}/sgdlst`, html: titled('Søgninger', '<h1>Ærø og Łódź</h1>') },
            { url: `${SHOP}/rzdl`, html: titled('Размер', '<h1>Размер</h1>') },
            { url: `${SHOP}/obya`, html: titled('Доска', '<h1>Все объявления</h1>') },
            { url: `${SHOP}/prodel`, html: titled('Η αγορά', '<h1>Προϊόντα</h1>') },
            { url: `${SHOP}/shplst`, html: titled('商品', '<h1>商品一覧</h1>') },
            { url: `${SHOP}/mklk`, html: titled('상품', '<h1>상품 목록</h1>') },
            { url: `${SHOP}/mntj`, html: titled('منتجات', '<h1>منتجات</h1>') },
            { url: `${SHOP}/ordlst`, html: titled('Orders 1234', '<h1>Order 1234</h1>') },
            { url: `${SHOP}/about`, html: titled('Who', '<h1>Who we are</h1>') },
            { url: `${SHOP}/piers`, html: titled('Landing', `<h1>Where to land</h1>${'<a href="/piers">All piers</a>'}`) },
        ];
        const names = async (recorded: Call[]) =>
            Object.fromEntries(
                (await inspectCalls(recorded)).package.endpoints.map(({ name, method, url }) => [
                    `${method} ${url.replace(SHOP, '')}`,
                    name,
                ]),
            );
        const named = await names(calls);
        expect(named).to.include({
            'GET /index.php': 'search_articles',
            'GET /brlist': 'open_branches',
            'GET /tktnew': 'open_new_ticket',
            'GET /wfold': 'open_wfold',
            'GET /uebrs': 'open_strassen',
            'GET /sgdlst': 'open_aero_og_lodz',
            'GET /rzdl': 'open_razmer',
            'GET /obya': 'open_vse_obyavleniya',
            'GET /prodel': 'open_proionta',
            'GET /shplst': 'open_shplst',
            'GET /mklk': 'open_sangpum_mokrok',
            'GET /mntj': 'open_mntj',
            'GET /ordlst': 'open_ordlst',
            'GET /about': 'open_about',
            'GET /piers': 'open_piers',
        });
        expect(await names(calls.toReversed())).to.deep.equal(named);
    });

    it('makes templates of GraphQL and JSON-RPC, and distinguishes reads from writes', async () => {
        const graphql = (operationName: string, query: string, variables: object): Call => ({
            method: 'POST',
            url: `${SHOP}/graphql`,
            body: { operationName, query, variables },
            json: { data: { ok: true } },
        });
        const found = await inspectCalls([
            graphql('Search', 'query Search($q: String!, $n: Int) { search(q: $q, first: $n) { id } }', { q: 'tea', n: 3 }),
            graphql('Search', 'query Search($q: String!, $n: Int) { search(q: $q, first: $n) { id } }', { q: 'pot', n: 4 }),
            graphql('Add', 'mutation Add($id: ID!) { add(id: $id) { ok } }', { id: 'x1' }),
            {
                method: 'POST',
                url: `${SHOP}/rpc`,
                body: { jsonrpc: '2.0', id: 7, method: 'cart.add', params: { sku: 'a', count: 1 } },
                json: { result: 1 },
            },
            graphql('Leaky', 'query Leaky { user(mail: "ada@people.example") { id } }', {}),
        ]);
        expect(found.package.endpoints.map(({ name }) => name)).to.have.members(['search', 'add', 'cart_add']);
        const search = found.package.endpoints.find(({ name }) => name === 'search');
        expect(search).to.deep.include({
            effect: 'read',
            body: {
                operationName: 'Search',
                query: 'query Search($q: String!, $n: Int) { search(q: $q, first: $n) { id } }',
                variables: { q: '{q}', n: '{n}' },
            },
        });
        expect(search?.params?.map(({ name, schema }) => [name, schema])).to.deep.equal([
            ['q', { type: 'string' }],
            ['n', { type: 'integer' }],
        ]);
        expect(found.package.endpoints.find(({ name }) => name === 'add')).not.to.have.property('effect');
        expect(found.package.endpoints.find(({ name }) => name === 'cart_add')?.body).to.deep.equal({
            jsonrpc: '2.0',
            id: 1,
            method: 'cart.add',
            params: { sku: '{sku}', count: '{count}' },
        });
        expect(found.report.dropped.map(({ why }) => why)).to.include('the GraphQL query has literal values instead of variables');
    });

    it('recognises pagination: by page, by offset, by cursor, by Link headers', async () => {
        const items = [{ id: 1 }, { id: 2 }];
        const found = await inspectCalls([
            { url: `${SHOP}/a?page=1`, json: { products: items, total: 9 } },
            { url: `${SHOP}/a?page=2`, json: { products: items, total: 9 } },
            { url: `${SHOP}/b?offset=0&limit=2`, json: items },
            { url: `${SHOP}/b?offset=2&limit=2`, json: items },
            { url: `${SHOP}/c`, json: { page: { rows: items, next_cursor: 'abc' } } },
            { url: `${SHOP}/c?cursor=abc`, json: { page: { rows: items, next_cursor: null } } },
            { url: `${SHOP}/d`, json: items, answerHeaders: { Link: `<${SHOP}/d?after=2>; rel="next"` } },
            { url: `${SHOP}/e?page=1`, json: items },
            { url: `${SHOP}/g?page=1`, json: { '@id': '/g', 'hydra:member': items } },
            { url: `${SHOP}/g?page=2`, json: { '@id': '/g', 'hydra:member': items } },
            ...['?page=1', '?page=2', '?page=all', ''].map((query) => ({ url: `${SHOP}/f${query}`, json: items })),
        ]);
        const paging = (route: string) => {
            const { kind, pagination, billing } = endpointOf(found, route);
            return { kind, pagination, results: billing?.results };
        };
        expect(paging('GET /a')).to.deep.equal({ kind: 'paginate', pagination: { style: 'page', param: 'page' }, results: 'products' });
        expect(paging('GET /b')).to.deep.equal({ kind: 'paginate', pagination: { style: 'offset', param: 'offset' }, results: 'items' });
        expect(paging('GET /c')).to.deep.equal({
            kind: 'paginate',
            pagination: { style: 'cursor', param: 'cursor', next: 'page.next_cursor' },
            results: 'page.rows',
        });
        expect(paging('GET /d')).to.deep.equal({ kind: 'paginate', pagination: { style: 'link' }, results: 'items' });
        expect(paging('GET /g').results).to.equal('hydra:member');
        expect(paging('GET /f'), 'pages that start with a word').to.deep.equal({
            kind: 'api_call',
            pagination: undefined,
            results: undefined,
        });
        expect(paging('GET /e')).to.deep.equal({ kind: 'api_call', pagination: undefined, results: undefined });
        expect(found.report.noticed.map(({ what }) => what)).to.include(
            'only one page of a list was recorded; record a second one so that a call can follow the pages',
        );
    });

    it('reads the forms of pages: searches, and forms with tokens, which the page issues for each call', async () => {
        const found = await inspectCalls([
            {
                url: `${SHOP}/contact`,
                html: page(`
                    <form role="search" action="/find"><input type="search" name="q" required><select name="in"><option value="all"><option value="books"></select></form>
                    <form method="post" action="/contact" id="contact"><input type="hidden" name="csrf_token" value="9f8e7d6c5b4a"><input name="topic" required><textarea name="text"></textarea><button name="go">Go</button></form>
                    <form method="post" action="/login"><input name="user"><input type="password" name="pass"></form>
                    <form method="post" action="/photos" enctype="multipart/form-data"><input type="file" name="photo"></form>
                    <form class="app"><input name="typed"></form>
                    <form method="post" action="https://elsewhere.example/subscribe"><input name="mail"></form>`),
            },
        ]);
        expect(routesOf(found)).to.have.members(['GET /contact', 'GET /find', 'POST /contact']);
        expect(endpointOf(found, 'GET /find')).to.include({ kind: 'search' });
        expect(endpointOf(found, 'GET /find').params?.map(({ name, required }) => [name, required])).to.deep.equal([
            ['q', true],
            ['in', false],
        ]);
        const contact = endpointOf(found, 'POST /contact');
        expect(contact).to.deep.include({ kind: 'submit_form', prepare: { url: `${SHOP}/contact`, form: 'form#contact' } });
        expect(paramsOf(contact, 'body')).to.deep.equal(['topic', 'text']);
        expect(found.report.dropped.filter(({ what }) => what.startsWith('Forms')).map(({ why }) => why)).to.have.members([
            'they ask for a password, and a package contains no credentials',
            'they send files, which are not drafted',
            'they have neither an action nor a method: a script sends them',
            'they are sent to another site',
        ]);
    });

    it('notices data in pages, and leaves out pages that a script fills', async () => {
        const found = await inspectCalls([
            {
                url: `${SHOP}/article`,
                html: page(
                    '<script type="application/ld+json">{"@type":"Article"}</script><script id="__NEXT_DATA__" type="application/json">{"a":1}</script>',
                ),
            },
            { url: `${SHOP}/app`, html: '<!doctype html><html><body><div id="root"></div><script src="/app.js"></script></body></html>' },
        ]);
        expect(routesOf(found)).to.deep.equal(['GET /article']);
        expect(found.report.noticed[0]?.what).to.include('script#__NEXT_DATA__').and.to.include('ld+json');
        expect(found.report.dropped.map(({ what }) => what)).to.include('Pages without content');
    });

    it('drops what is not a route of the site, each kind with its reason', async () => {
        const noise: Call[] = [
            { method: 'OPTIONS', url: `${SHOP}/api/items` },
            { url: `${SHOP}/logo.png`, type: 'image/png' },
            { url: `${SHOP}/main.js`, type: 'text/javascript' },
            { url: `${SHOP}/favicon.ico`, type: 'image/x-icon' },
            { url: `${SHOP}/old`, status: 301 },
            { url: `${SHOP}/missing`, status: 404 },
            { url: `${SHOP}/mine`, status: 401 },
            { url: `${SHOP}/blocked`, status: 0 },
            { url: `${SHOP}/stream`, type: 'text/event-stream', json: '' },
            { url: `${SHOP}/report.pdf`, type: 'application/pdf' },
            { method: 'POST', url: `${SHOP}/login`, form: { user: 'x', password: 'y' } },
            { method: 'POST', url: `${SHOP}/collect`, body: { e: 1 } },
            { url: `${SHOP}/_next/data/b1/x.json` },
            { url: `${SHOP}/assets/models/bit.stl`, type: 'application/vnd.ms-pki.stl' },
            { url: 'https://www.google-analytics.com/g/collect?v=2' },
            { url: 'https://cdn.elsewhere.example/data.json' },
        ];
        const found = await inspectCalls([{ url: `${SHOP}/`, html: page('') }, { url: `${SHOP}/api/items`, json: [] }, ...noise]);
        expect(routesOf(found)).to.have.members(['GET /', 'GET /api/items']);
        expect(found.report.read).to.equal(18);
        expect(found.report.dropped.length).to.be.at.least(12);
        expect(found.report.dropped.map(({ what }) => what)).to.include.members([
            'Preflights',
            'Redirects',
            'Signing in and out',
            'Downloads',
            'Requests to elsewhere.example',
        ]);
    });

    it('keeps the headers that matter to the site and that a package may contain', async () => {
        const headers = {
            Accept: 'application/vnd.shop+json',
            'X-Requested-With': 'XMLHttpRequest',
            'X-Api-Version': '2026-01-01',
            'X-Client': 'web',
            'User-Agent': 'Chromium',
            Referer: `${SHOP}/`,
            'X-Trace-Id': 'abc',
            Cookie: 'sid=1',
        };
        const found = await inspectCalls([1, 2, 3].map((id) => ({ url: `${SHOP}/things/${id}`, headers, json: { id } })));
        expect(endpointOf(found, 'GET /things/{thing_id}').headers).to.deep.equal({
            accept: 'application/vnd.shop+json',
            'x-requested-with': 'XMLHttpRequest',
            'x-api-version': '2026-01-01',
            'x-client': 'web',
        });
    });

    it('describes responses by their shape, with room for other fields', async () => {
        const found = await inspectCalls([
            {
                url: `${SHOP}/boats/1`,
                json: {
                    id: 1,
                    name: 'a',
                    length: 7,
                    sold: 0,
                    rating: 0,
                    tags: [],
                    owner: { name: 'x' },
                    by_port: { NLRTM: { n: 1, m: 1 }, DEHAM: { n: 2, m: 3 } },
                    gone: null,
                },
            },
            { url: `${SHOP}/boats/2`, json: { id: 2, name: null, length: 7.5, sold: 3, rating: 0, tags: ['t'], by_port: {}, gone: null } },
            { url: `${SHOP}/boats`, json: [{ id: 1 }, { id: 2, name: 'b' }] },
            { url: `${SHOP}/count`, json: 7 },
        ]);
        expect(endpointOf(found, 'GET /boats/{boat_id}').response?.schema).to.deep.equal({
            type: 'object',
            required: ['id', 'name', 'length', 'sold', 'rating', 'tags', 'by_port', 'gone'],
            properties: {
                id: { type: ['integer', 'string'] },
                name: { type: ['string', 'null'] },
                length: { type: 'number' },
                sold: { type: 'integer' },
                // Nothing shows that it is always an integer.
                rating: { type: 'number' },
                tags: { type: 'array', items: { type: 'string' } },
                owner: { type: 'object', properties: { name: { type: 'string' } } },
                by_port: {
                    type: 'object',
                    additionalProperties: {
                        type: 'object',
                        required: ['n', 'm'],
                        properties: { n: { type: 'integer' }, m: { type: 'integer' } },
                    },
                },
                gone: { type: 'null' },
            },
        });
        expect(endpointOf(found, 'GET /boats').response?.schema)
            .to.have.nested.property('properties.items.items.required')
            .that.deep.equals(['id']);
        expect(endpointOf(found, 'GET /count').response?.schema).to.deep.equal({
            type: 'object',
            required: ['value'],
            properties: { value: { type: 'integer' } },
        });
    });

    it('guesses site and category, and says if it could not', async () => {
        const found = await inspectCalls([
            { url: 'https://www.weather.example/', html: page('') },
            { url: 'https://api.weather.example/v1/forecast/berlin', json: { temperature: 3, wind: 4, rain: 0 } },
        ]);
        expect(found.package).to.include({ site: 'weather.example', intent_category: 'weather/forecast' });
        const bare = await inspectCalls([{ url: 'http://localhost:3000/x/1', json: { a: 1 } }]);
        expect(bare.package.endpoints).to.deep.equal([]);
        expect(bare.report.leftToDo.map(({ path }) => path)).to.include.members(['/site', '/intent_category']);
        expect(bare.report.dropped.length).to.be.greaterThan(0);
    });

    it('keeps the limits of a package: the 500 most called routes, and says how many more there were', async () => {
        const name = (place: number) => [...String(place)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
        const calls = Array.from({ length: 620 }, (_, place) => ({ url: `${SHOP}/api/${name(place)}`, json: { [name(place)]: 1 } }));
        const found = await inspectCalls([...calls, ...calls.slice(100, 600)]);
        expect(found.package.endpoints).to.have.length(500);
        expect(routesOf(found))
            .to.include(`GET /api/${name(599)}`)
            .and.not.include(`GET /api/${name(1)}`);
        expect(found.report.dropped).to.deep.include({
            what: '120 routes',
            why: 'a package has at most 500 endpoints; these were called least',
        });
        expect(checkPackage(found.package, { isPortAllowed: () => false }).ok).to.equal(true);
    });

    it('includes only what belongs to the named site', async () => {
        const found = await inspectCalls(
            [
                { url: `${SHOP}/a`, json: {} },
                { url: 'https://api.other.example/b', json: {} },
            ],
            { site: 'other.example', title: 'Other', category: 'finance/rates' },
        );
        expect(found.package).to.include({ site: 'other.example', title: 'Other', intent_category: 'finance/rates' });
        expect(routesOf(found)).to.deep.equal(['GET https://api.other.example/b']);
    });
});
