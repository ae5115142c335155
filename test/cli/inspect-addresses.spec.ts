import { expect } from 'chai';
import { type Call, endpointOf, inspectCalls, paramsOf, routesOf, SHOP } from './inspect/har.ts';

const page = (body: string) =>
    `<!doctype html><html><head><title>Shop</title></head><body><main><h1>A page with content</h1><p>Long enough to be read by somebody.</p>${body}</main></body></html>`;

describe('routebook inspect reads addresses', () => {
    it('takes a query that is one name for a route if several addresses have it', async () => {
        const found = await inspectCalls(
            ['boats', 'quays'].flatMap((things) => [
                { url: `${SHOP}/${things}/7`, json: { [things]: 'x' } },
                { url: `${SHOP}/${things}/7?size`, json: 7 },
                { url: `${SHOP}/${things}/8?hash`, json: 'x' },
            ]),
        );
        expect(routesOf(found)).to.have.members(
            ['boat', 'quay'].flatMap((thing) => ['', '?hash=', '?size='].map((flag) => `GET /${thing}s/{${thing}_id}${flag}`)),
        );
        const once = await inspectCalls([
            { url: `${SHOP}/sums?exact`, json: { sum: 7 } },
            { url: `${SHOP}/sums`, json: { sum: 8 } },
        ]);
        expect(routesOf(once)).to.deep.equal(['GET /sums']);
        expect(paramsOf(endpointOf(once, 'GET /sums'), 'query')).to.deep.equal(['exact']);
    });

    it('makes no route of a query that is the name of a thing', async () => {
        const names = ['Old_Crane', 'Long_Pier', 'Fish_Market', 'Red_Lion'];
        const found = await inspectCalls([
            ...names.map((name) => ({ url: `${SHOP}/wiki.cgi?${name}`, html: page(`<p class="${name}">Words</p>`) })),
            ...names.slice(0, 2).map((name) => ({ url: `${SHOP}/wiki.cgi?action=edit;id=${name}`, html: page('<b>Edit</b>') })),
            ...names.slice(0, 2).map((name) => ({ url: `${SHOP}/wiki.cgi?id=${name};version=1`, html: page('<i>Old</i>') })),
        ]);
        expect(routesOf(found)).to.have.members(['GET /wiki.cgi', 'GET /wiki.cgi?action=edit']);
        expect(paramsOf(endpointOf(found, 'GET /wiki.cgi'), 'query')).to.have.members(['id', 'version']);
        expect(JSON.stringify(found)).not.to.include('Old_Crane');
    });

    it('makes a route of each format in which a program answers beside pages, and a param if all are read in one way', async () => {
        const xml = { type: 'application/rss+xml', json: '<rss/>' };
        const list = (program: string, plain: Partial<Call>, formatted: Partial<Call>) => [
            { url: `${SHOP}/${program}.cgi?action=index`, ...plain },
            ...['rss', 'atom'].map((format) => ({ url: `${SHOP}/${program}.cgi?action=index&format=${format}`, ...formatted })),
        ];
        const found = await inspectCalls([...list('wiki', { html: page('<b>All</b>') }, xml), ...list('data', xml, xml)]);
        const formats = ['', '&format=atom', '&format=rss'].map((format) => `GET /wiki.cgi?action=index${format}`);
        expect(routesOf(found).filter((route) => route.includes('wiki'))).to.have.members(formats);
        expect(routesOf(found).some((route) => route.includes('data.cgi') && route.includes('format'))).to.equal(false);
    });

    it('splits pages by a param of any name that has many words, though it may ask for a format elsewhere and one page does without', async () => {
        const own = (kind: string) =>
            page(Array.from({ length: 9 }, (_, place) => `<p class="${kind}-${'abcdefghi'[place]}">x</p>`).join(''));
        const parts = ['hosts', 'pages', 'systems', 'words', 'errors404', 'robots'];
        const found = await inspectCalls([
            { url: `${SHOP}/stats.cgi?config=shop`, html: own('all') },
            ...parts.map((part) => ({ url: `${SHOP}/stats.cgi?config=shop&output=${part}`, html: own(part) })),
        ]);
        expect(routesOf(found)).to.have.members(['', ...parts.map((part) => `?output=${part}`)].map((query) => `GET /stats.cgi${query}`));
        const rows = page('<ul><li class="row">x</li></ul>');
        const filtered = await inspectCalls([
            { url: `${SHOP}/list.cgi?config=shop`, html: rows },
            ...parts.map((part) => ({ url: `${SHOP}/list.cgi?config=shop&output=${part}`, html: rows })),
        ]);
        expect(routesOf(filtered)).to.deep.equal(['GET /list.cgi']);
    });

    it('splits pages by a numbered action if they ask for different things, though they look alike', async () => {
        const form = (fields: readonly string[]) =>
            page(`<form action="/else" method="post"><p>${fields.map((name) => `<input name="${name}">`).join('')}</p></form>`);
        const fields = [['pier', 'berth', 'day', 'hour'], ['text'], ['rope', 'length', 'colour']];
        const calls = (name: string, all: readonly (readonly string[])[]) =>
            all.map((some, place) => ({ url: `${SHOP}/desk.cgi?${name}=${3 + place}`, html: form(some) }));
        for (const name of ['op', 'cmd_typ'])
            expect(routesOf(await inspectCalls(calls(name, fields))).filter((route) => route.startsWith('GET'))).to.have.members(
                [3, 4, 5].map((at) => `GET /desk.cgi?${name}=${at}`),
            );
        const same = await inspectCalls(calls('op', [['text'], ['text'], ['text']]));
        expect(routesOf(same).filter((route) => route.startsWith('GET'))).to.deep.equal(['GET /desk.cgi']);
    });

    it('reads things that a description of the API names one by one as values, and kinds of things as words', async () => {
        const paths = ['/collections', '/collections/piers', '/collections/piers/items', '/collections/lamps', '/collections/lamps/items'];
        const kinds = ['ropes', 'sails'].flatMap((kind) => [`/stores/${kind}`, `/stores/${kind}/{id}`]);
        const openapi = { openapi: '3.0.0', paths: Object.fromEntries([...paths, ...kinds].map((path) => [path, { get: {} }])) };
        const found = await inspectCalls([
            { url: `${SHOP}/maps/api`, json: openapi },
            ...['piers', 'lamps'].flatMap((name) => [
                { url: `${SHOP}/maps/collections/${name}`, json: { id: name, title: 'x', extent: {}, links: [] } },
                { url: `${SHOP}/maps/collections/${name}/items`, json: { type: 'x', features: [], numberReturned: 0 } },
            ]),
            ...['ropes', 'sails'].flatMap((kind) => [
                { url: `${SHOP}/maps/stores/${kind}`, json: [{ id: 7, title: 'x', metres: 3 }] },
                { url: `${SHOP}/maps/stores/${kind}/7`, json: { id: 7, title: 'x', metres: 3 } },
            ]),
        ]);
        const routes = routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));
        expect(routes).to.include.members(['GET /maps/collections/{}', 'GET /maps/collections/{}/items']);
        expect(routes).to.include.members(
            ['ropes', 'sails'].flatMap((kind) => [`GET /maps/stores/${kind}`, `GET /maps/stores/${kind}/{}`]),
        );
    });

    it('reads words that name plain fields of the thing above them as values, and its parts as words', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/api/3/cpu`, json: { user: 3, system: 1, cores: [1, 2] } },
            { url: `${SHOP}/api/3/cpu/user`, json: { user: 3 } },
            { url: `${SHOP}/api/3/cpu/system`, json: { system: 1 } },
            { url: `${SHOP}/api/3/cpu/cores`, json: [{ number: 1, load: 2 }] },
        ]);
        const routes = routesOf(found).map((route) => route.replaceAll(/\{\w+\}/g, '{}'));
        expect(routes).to.have.members(['GET /api/3/cpu', 'GET /api/3/cpu/{}', 'GET /api/3/cpu/cores']);
    });

    it('reads a view of several things as a word, though answers have it as a value', async () => {
        const found = await inspectCalls([
            { url: `${SHOP}/kinds`, json: { roles: ['member', 'metric'] } },
            ...[7, 8].flatMap((id) => [
                { url: `${SHOP}/lists/${id}`, json: { id, title: 'x' } },
                { url: `${SHOP}/lists/${id}/bans`, json: { total: 0, entries: [] } },
                { url: `${SHOP}/lists/${id}/member`, json: { address: 'x', delivery: 'y', moderation: 'z' } },
            ]),
        ]);
        expect(routesOf(found)).to.include.members(['GET /lists/{list_id}/bans', 'GET /lists/{list_id}/member']);
    });

    it('reads what is posted to a search as the kind of things that it looks for', async () => {
        const found = await inspectCalls(
            ['berth', 'crane'].map((kind) => ({
                url: `${SHOP}/search/${kind}`,
                method: 'POST',
                body: { place: 'x' },
                json: { [kind]: [{ [`${kind}_id`]: 1 }] },
            })),
        );
        expect(routesOf(found)).to.have.members(['POST /search/berth', 'POST /search/crane']);
    });

    it('sends an object whose keys are ids or operators as one value', async () => {
        const found = await inspectCalls([
            ...[1, 2].map((at) => ({
                url: `${SHOP}/batch/measures`,
                method: 'POST',
                body: { [`3f2504e0-4f89-11d3-9a0c-0305e82c330${at}`]: [{ value: at }] },
                json: { ok: true },
            })),
            { url: `${SHOP}/filters`, method: 'POST', body: { '>=': 4 }, json: { ok: true } },
        ]);
        for (const path of ['/batch/measures', '/filters'])
            expect(paramsOf(endpointOf(found, `POST ${path}`), 'body'), path).to.have.length(1);
        expect(JSON.stringify(found)).not.to.include('3f2504e0');
    });

    it('splits pages by an action of several words with dots or slashes between them', async () => {
        const rows = page('<ul><li class="row">x</li></ul>');
        const actions = ['boat.list', 'boat.edit', 'widget.tides.view'];
        const found = await inspectCalls(actions.map((action) => ({ url: `${SHOP}/desk.php?action=${action}`, html: rows })));
        expect(routesOf(found)).to.have.members(actions.map((action) => `GET /desk.php?action=${action}`));
        const routes = ['/', '/boats/list', '/boats/edit'];
        const byPath = await inspectCalls(
            [...routes, '/boats/4711', '/boats/4712'].map((route) => ({ url: `${SHOP}/index.php?route=${route}&db=Tug`, html: rows })),
        );
        expect(routesOf(byPath)).to.have.members(
            ['', ...routes.map((route) => `?route=${encodeURIComponent(route)}`)].map((query) => `GET /index.php${query}`),
        );
    });

    it('lets no param of one action split another', async () => {
        const rows = (name: string) =>
            page(`<ul class="${name}">${`<li class="${name}-row"><b class="${name}-name">x</b></li>`.repeat(9)}</ul>`);
        const found = await inspectCalls([
            ...['pubs', 'piers'].map((cat) => ({ url: `${SHOP}/wiki.cgi?action=index&cat=${cat}`, html: rows('index') })),
            ...['north', 'south'].map((loc) => ({ url: `${SHOP}/wiki.cgi?action=index&loc=${loc}`, html: rows('index-of-place') })),
            ...['ada', 'mate'].map((user) => ({ url: `${SHOP}/wiki.cgi?action=stats&user=${user}`, html: rows('stats') })),
            ...['Pier', 'Crane'].map((id) => ({ url: `${SHOP}/wiki.cgi?action=edit&id=${id}`, html: rows('edit') })),
        ]);
        expect(routesOf(found)).to.have.members(['index', 'stats', 'edit'].map((action) => `GET /wiki.cgi?action=${action}`));
        expect(paramsOf(endpointOf(found, 'GET /wiki.cgi?action=index'), 'query')).to.have.members(['cat', 'loc']);
    });

    it('splits pages by the number of their kind, and by no number or name of a thing', async () => {
        const own = (kind: string) =>
            page(Array.from({ length: 9 }, (_, place) => `<p class="${kind}-${'abcdefghi'[place]}">x</p>`).join(''));
        const numbered = (name: string) => [1, 2, 3, 4].map((at) => ({ url: `${SHOP}/info.cgi?${name}=${at}`, html: own(`part${at}`) }));
        expect(routesOf(await inspectCalls(numbered('type')))).to.have.members([1, 2, 3, 4].map((at) => `GET /info.cgi?type=${at}`));
        expect(routesOf(await inspectCalls(numbered('id')))).to.deep.equal(['GET /info.cgi']);
        const lamps = ['Lamp', 'Horn'].map((service) => ({ url: `${SHOP}/info.cgi?host=mole&service=${service}`, html: own(service) }));
        const found = await inspectCalls(lamps);
        expect(routesOf(found)).to.deep.equal(['GET /info.cgi']);
        expect(JSON.stringify(found.package)).not.to.include('Lamp');
    });

    it('reads what is written beside values as a value, and what is done with a thing as a word', async () => {
        const text = { type: 'text/plain', json: 'ok' };
        const found = await inspectCalls([
            { url: `${SHOP}/fs/17`, ...text },
            { method: 'PUT', url: `${SHOP}/fs/anchors.txt`, text: 'Heavy ones', ...text },
            { url: `${SHOP}/fs/anchors.txt`, ...text },
            { method: 'DELETE', url: `${SHOP}/fs/old`, ...text },
            { method: 'PUT', url: `${SHOP}/fs/settings`, body: { keeps: 3 }, ...text },
            { url: `${SHOP}/queues/7/17`, json: { id: 17 } },
            { method: 'PUT', url: `${SHOP}/queues/7/pause`, json: {} },
            { method: 'PUT', url: `${SHOP}/queues/8/resume`, json: {} },
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /fs/{fs_id}',
            'PUT /fs/{fs}',
            'DELETE /fs/{fs}',
            'PUT /fs/settings',
            'GET /queues/{queue_id}/{id}',
            'PUT /queues/{queue_id}/pause',
            'PUT /queues/{queue_id}/resume',
        ]);
    });

    it('reads two words that queries have as values, with the same names below them, as names of things', async () => {
        const books = ['harbour', 'lamps'];
        const below = (words: readonly string[]): Call[] =>
            words.flatMap((word) => ['title', 'language'].map((name) => ({ url: `${SHOP}/raw/${word}/meta/${name}`, json: [name] })));
        const searches = books.map((book) => ({ url: `${SHOP}/search?content=${book}`, json: [1] }));
        const routes = routesOf(await inspectCalls([...searches, ...below(books)]));
        expect(routes.filter((route) => books.some((book) => route.includes(book)))).to.deep.equal([]);
        const unsaid = routesOf(await inspectCalls(below(books)));
        expect(unsaid.every((route) => books.some((book) => route.includes(book)))).to.equal(true);
    });

    it('reads XHTML as a page though it is called XML, and a program of any suffix by its name', async () => {
        const xhtml = `<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x">\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Stations</title></head><body><h1>Stations of the harbour</h1><p>Words for everybody to read.</p></body></html>`;
        const found = await inspectCalls([
            ...['status.xsl', 'list.cfm', 'find.ashx'].map((name) => ({ url: `${SHOP}/${name}?mount=a`, json: xhtml, type: 'text/xml' })),
            { url: `${SHOP}/feed`, json: '<rss><title>x</title></rss>', type: 'text/xml' },
        ]);
        expect(routesOf(found)).to.have.members(['GET /status.xsl', 'GET /list.cfm', 'GET /find.ashx', 'GET /feed']);
        expect(found.package.endpoints.map(({ response }) => response?.type)).to.deep.equal(['html', 'html', 'html', 'xml']);
    });

    it('sends a text as the body, and reads JSON that is called a text as JSON', async () => {
        const found = await inspectCalls([
            { method: 'PUT', url: `${SHOP}/notes/17`, text: 'Long ropes' },
            { method: 'POST', url: `${SHOP}/boats`, text: '{"name":"x","length":7}' },
        ]);
        const note = endpointOf(found, 'PUT /notes/{note_id}');
        expect([note.body_format, note.body]).to.deep.equal(['text', '{body}']);
        expect(paramsOf(endpointOf(found, 'POST /boats'), 'body')).to.deep.equal(['name', 'length']);
    });
});
