import { expect } from 'chai';
import { checkPackage } from '../../shared/domain/package/rules.ts';
import { endpointOf, inspectCalls, paramsOf, routesOf, SHOP } from './inspect/har.ts';

const page = (text: string) => `<html><head><title>Harbour</title></head><body><main>${text.repeat(20)}</main></body></html>`;
/** A page needs many different elements to be compared with another. */
const wide = (name: string) => [...'abcdefghijklmnopqrstuvwx'].map((letter) => `<div class="${name}-${letter}"><b>x</b></div>`).join('');
const bodies = ({ package: { endpoints } }: Awaited<ReturnType<typeof inspectCalls>>) =>
    endpoints.map(({ name, body, effect }) => ({ name, body, effect }));

describe('routebook inspect distinguishes routes at one address', () => {
    it('splits calls by the method name in the body, and distinguishes reads from writes', async () => {
        const call = (method: string, args: object) => ({
            method: 'POST',
            url: `${SHOP}/transmission/rpc`,
            body: { method, arguments: args },
        });
        const inspected = await inspectCalls([
            call('torrent-get', { ids: [1] }),
            call('torrent-get', { ids: [2] }),
            call('torrent-start', { ids: [1] }),
            { method: 'POST', url: `${SHOP}/rpc`, body: { method: 'session-get' } },
        ]);
        expect(bodies(inspected)).to.deep.equal([
            { name: 'torrent_get', body: { method: 'torrent-get', arguments: { ids: '{ids}' } }, effect: 'read' },
            { name: 'torrent_start', body: { method: 'torrent-start', arguments: { ids: '{ids}' } }, effect: undefined },
            { name: 'session_get', body: { method: 'session-get' }, effect: 'read' },
        ]);
    });

    it('splits calls that name neither version nor number at an address of RPC, if results answer them', async () => {
        const call = (method: string, params: unknown[], json: object = { result: [] }) => ({
            method: 'POST',
            url: `${SHOP}/jsonrpc`,
            body: { nocache: 1764000000000, method, params },
            json,
        });
        const inspected = await inspectCalls([
            call('status', [], { result: { free: 3 } }),
            call('append', ['ropes', 0], { result: 7 }),
            call('append', ['tides', 1], { result: 8 }),
        ]);
        expect(bodies(inspected)).to.deep.equal([
            { name: 'status', body: { method: 'status', params: [] }, effect: 'read' },
            { name: 'append', body: { method: 'append', params: '{params}' }, effect: undefined },
        ]);
        const values = await inspectCalls(['fast', 'slow'].map((method) => call(method, [], { saved: true })));
        expect(routesOf(values)).to.deep.equal(['POST /jsonrpc']);
    });

    it('drafts a GET as a write if its address names a change', async () => {
        const json = { code: 0 };
        const inspected = await inspectCalls([
            { url: `${SHOP}/api/createPad?padID=ropes&text=Long`, json },
            { url: `${SHOP}/api/pads/delete/17`, json },
            { url: `${SHOP}/api.php?action=remove&id=3`, json },
            { url: `${SHOP}/rest/likeBoat.view?id=3`, json },
            { url: `${SHOP}/admin/killsource?mount=tides`, json },
            { url: `${SHOP}/api/movements?mount=tides`, json },
            { url: `${SHOP}/api/getText?padID=ropes`, json },
            { url: `${SHOP}/api/pads/17`, json },
            { url: `${SHOP}/pads/17/edit`, html: page('<p>Words of the pad</p>') },
        ]);
        expect(inspected.package.endpoints.map(({ url, effect }) => [url.replace(SHOP, ''), effect])).to.deep.equal([
            ['/api/createPad', 'write'],
            ['/api/pads/delete/{delete_id}', 'write'],
            ['/api.php?action=remove', 'write'],
            ['/rest/likeBoat.view', 'write'],
            ['/admin/killsource', 'write'],
            ['/api/movements', undefined],
            ['/api/getText', undefined],
            ['/api/pads/{pad_id}', undefined],
            ['/pads/{pad_id}/edit', undefined],
        ]);
    });

    it('drafts a call as a read only if its verb reads and no word of its name says a change', async () => {
        const effectsOf = async (...methods: string[]) =>
            bodies(
                await inspectCalls(
                    methods.map((method, id) => ({
                        method: 'POST',
                        url: `${SHOP}/rpc`,
                        body: { jsonrpc: '2.0', method, params: [id], id },
                        json: { jsonrpc: '2.0', id, result: 1 },
                    })),
                ),
            ).map(({ effect }) => effect ?? 'write');
        expect(
            await effectsOf(
                'messages.readHistory',
                'notifications.read_all',
                'door.status_toggle',
                'account.info_update',
                'user.get_and_delete',
                'channels.showOnce',
                'list.delete_all',
            ),
        ).to.deep.equal(Array(7).fill('write'));
        const nouns = [
            ...['post_status', 'change_status', 'archive_list', 'modify_info', 'register_query', 'stop_search', 'start_search'],
            ...['execute_query', 'run_query', 'import_list', 'clone_list', 'subscribe_list', 'empty_list', 'pay_info', 'rotate_version'],
            ...['status.post', 'query.run', 'list_subscribe', 'find_or_make', 'list_clone', 'list_import', 'messages.read', 'readMail'],
            ...['count_rebuild', 'search_reindex', 'lookup_table', 'boat_list'],
        ];
        expect(await effectsOf(...nouns)).to.deep.equal(nouns.map(() => 'write'));
        const reads = [
            'core.get_config',
            'boats.findByOwner',
            'session.stats',
            'tools/list',
            'server_info',
            'listBoats',
            'version',
            'find_one_boat',
            'count_boats',
        ];
        expect(await effectsOf(...reads)).to.deep.equal(reads.map(() => 'read'));
    });

    it('splits forms with one address by the call that they name', async () => {
        const send = (form: Record<string, string>) => ({ method: 'POST', url: `${SHOP}/lib/ajax.php`, form });
        const inspected = await inspectCalls([
            send({ call: 'qsearch', q: 'tides' }),
            send({ call: 'qsearch', q: 'ropes' }),
            send({ call: 'medians', ns: 'gear' }),
        ]);
        expect(bodies(inspected).map(({ body }) => body)).to.deep.equal([
            { call: 'qsearch', q: '{q}' },
            { call: 'medians', ns: '{ns}' },
        ]);
    });

    it('splits calls by a field that names an action at any address, if the answers of three or more differ', async () => {
        const call = (body: object, json: object) => ({ method: 'POST', url: `${SHOP}/api/`, body, json });
        const inspected = await inspectCalls([
            call({ op: 'getFeeds', cat: 1 }, [{ title: 'Tides', unread: 3, icon: true }]),
            call({ op: 'getFeeds', cat: 2 }, [{ title: 'Lights', unread: 3, icon: true }]),
            call({ op: 'getArticle', id: 3 }, { author: 'Ada', content: 'Words', labels: [] }),
            call({ op: 'unsubscribeFeed', feed: 3 }, { status: 'OK' }),
        ]);
        expect(bodies(inspected)).to.deep.equal([
            { name: 'get_feeds', body: { op: 'getFeeds', cat: '{cat}' }, effect: 'read' },
            { name: 'get_article', body: { op: 'getArticle', id: '{id}' }, effect: 'read' },
            { name: 'unsubscribe_feed', body: { op: 'unsubscribeFeed', feed: '{feed}' }, effect: undefined },
        ]);
    });

    it('keeps a field that names an action as a param where the answers are alike, and such a call as a write', async () => {
        const move = (action: string, place: number) => ({
            method: 'POST',
            url: `${SHOP}/games/${place}/moves`,
            body: { action, place },
            json: { board: [[1]], turn: 'white', moves: place },
        });
        const moves = await inspectCalls([move('find', 1), move('search', 2), move('attack', 3), move('list', 4)]);
        expect(bodies(moves)).to.deep.equal([{ name: 'create_game_move', body: undefined, effect: undefined }]);
        expect(paramsOf(endpointOf(moves, 'POST /games/{game_id}/moves'), 'body')).to.deep.equal(['action', 'place']);
        const pay = (method: string, more: object) => ({
            method: 'POST',
            url: `${SHOP}/orders`,
            body: { method, ...more },
            json: { order: 1, paid: true },
        });
        const orders = await inspectCalls([pay('card', { number: 1 }), pay('cash', { till: 2 }), pay('voucher', { code: 'x' })]);
        expect(bodies(orders).length).to.equal(1);
        const commands = Array.from({ length: 70 }, (_, place) => ({
            method: 'POST',
            url: `${SHOP}/shell`,
            body: { command: `go-${String.fromCharCode(97 + (place % 26), 97 + Math.floor(place / 26))}` },
            json: { [`out${place}`]: place, [`more${place}`]: place },
        }));
        expect(bodies(await inspectCalls(commands)).length).to.equal(1);
    });

    it('splits calls of a gateway by two fields, the second only if its answers differ', async () => {
        const send = (form: Record<string, string>, json: object) => ({ method: 'POST', url: `${SHOP}/backend.php`, form, json });
        const feeds = await inspectCalls([
            send({ op: 'feeds', method: 'view', feed: '3' }, { headlines: [], unread: 2, toolbar: '' }),
            send({ op: 'rpc', method: 'getCounters', seq: '3' }, [{ id: 3, counter: 7, kind: 'feed' }]),
            send({ op: 'rpc', method: 'setWidth', width: '3' }, { saved: true }),
        ]);
        expect(bodies(feeds).map(({ body, effect }) => [body, effect])).to.deep.equal([
            [{ op: 'feeds', method: 'view', feed: '{feed}' }, undefined],
            [{ op: 'rpc', method: 'getCounters', seq: '{seq}' }, 'read'],
            [{ op: 'rpc', method: 'setWidth', width: '{width}' }, undefined],
        ]);
        const todo = (task: string) => send({ action: 'save', task }, { saved: true });
        const saved = await inspectCalls([todo('paint'), todo('sweep'), todo('list')]);
        expect(bodies(saved)).to.deep.equal([{ name: 'save', body: { action: 'save', task: '{task}' }, effect: undefined }]);
    });

    it('drafts a call with several words of action as a write, unless every one of them reads', async () => {
        const effectsOf = async (...forms: Record<string, string>[]) => {
            const calls = forms.map((form) => ({ method: 'POST', url: `${SHOP}/ajax.php`, form, json: { saved: true } }));
            return bodies(await inspectCalls(calls)).map(({ name, effect }) => `${name} ${effect ?? 'write'}`);
        };
        for (const method of ['view', 'getBoats'])
            expect(await effectsOf({ op: 'list', method }, { op: 'list', method: 'delete' })).to.deep.equal(['list write']);
        expect(await effectsOf({ method: 'ban', op: 'list' })).to.deep.equal(['ban write']);
        expect(await effectsOf({ method: 'pay', op: 'status' })).to.deep.equal(['pay write']);
        expect(await effectsOf({ op: 'list', page: '2' })).to.deep.equal(['list read']);
    });

    it('drafts a one-word action at an ordinary address as a write', async () => {
        const send = (body: object, json: object) => ({ method: 'POST', url: `${SHOP}/orders`, body, json });
        const inspected = await inspectCalls([
            send({ action: 'status', status: 'done' }, { order: 1 }),
            send({ action: 'list', item: 7, price: 3 }, [{ listed: true }]),
            send({ action: 'buy', item: 7 }, { bought: 1, by: 'x' }),
            send({ action: 'list_boats' }, [{ boats: 1 }]),
            send({ action: 'server_status' }, { up: 7 }),
        ]);
        expect(bodies(inspected).map(({ name, effect }) => `${name} ${effect ?? 'write'}`)).to.deep.equal([
            'status write',
            'list write',
            'buy write',
            'list_boats read',
            'server_status write',
        ]);
    });

    it('keeps an action that is certain, though the same field is a value of another action', async () => {
        const send = (form: Record<string, string>) => ({ method: 'POST', url: `${SHOP}/ajax.php`, form, json: { ok: true } });
        const inspected = await inspectCalls([
            send({ action: 'save' }),
            send({ action: 'remove' }),
            send({ op: 'boats', action: 'rename' }),
        ]);
        expect(bodies(inspected).map(({ body }) => body)).to.deep.equal([
            { action: 'save' },
            { action: 'remove' },
            { op: 'boats', action: '{action}' },
        ]);
    });

    it('keeps an action beside a field that keeps changing', async () => {
        const answers = [{ rows: [1] }, [{ id: 1, more: 'x' }], { saved: { by: 'x', at: 1 } }];
        const letters = (place: number) => String.fromCharCode(97 + (place % 26), 97 + Math.floor(place / 26));
        for (const many of [0, 2]) {
            const calls = ['getRows', 'getList', 'storeRow'].flatMap((op, kind) =>
                Array.from({ length: kind === many ? 70 : 1 }, (_, place) => ({
                    method: 'POST',
                    url: `${SHOP}/data`,
                    body: { op, command: `go-${letters(place)}`, place },
                    json: answers[kind],
                })),
            );
            expect(bodies(await inspectCalls(calls)).map(({ body }) => body)).to.deep.equal(
                ['getRows', 'getList', 'storeRow'].map((op) => ({ op, command: '{command}', place: '{place}' })),
            );
        }
    });

    it('drafts no call for a word that a user wrote', async () => {
        const todo = (task: string, json: object) => ({ method: 'POST', url: `${SHOP}/todos`, body: { task }, json });
        const inspected = await inspectCalls([
            todo('Laundry', { id: 1 }),
            todo('Call-mum', [{ due: 'x' }]),
            todo('Paint', { colours: [1], more: 'x' }),
        ]);
        expect(routesOf(inspected)).to.deep.equal(['POST /todos']);
        const form = (task: string) => ({ method: 'POST', url: `${SHOP}/ajax.php`, form: { task, action: 'save' }, json: { saved: true } });
        const saved = await inspectCalls(['Laundry', 'Call-mum', 'Paint'].map(form));
        expect(bodies(saved)).to.deep.equal([{ name: 'save', body: { action: 'save', task: '{task}' }, effect: undefined }]);
        expect(JSON.stringify([inspected.package, saved.package])).not.to.match(/laundry|mum|paint/i);
    });

    it('makes a param of a field that always had one word, unless it names an action', async () => {
        const make = (name: string) => ({ method: 'POST', url: `${SHOP}/flags`, body: { action: 'create', type: 'release', name } });
        const inspected = await inspectCalls(['a', 'b', 'c', 'd'].map(make));
        expect(bodies(inspected)[0]?.body).to.deep.equal({ action: 'create', type: '{type}', name: '{name}' });
        expect(inspected.package.endpoints[0]?.params?.map(({ name, required, default: usual }) => [name, required, usual])).to.deep.equal([
            ['type', false, 'release'],
            ['name', true, undefined],
        ]);
    });

    it('puts no word that a visitor may have written into the draft', async () => {
        const make = (place: string) => ({
            method: 'POST',
            url: `${SHOP}/patients`,
            body: { diagnosis: 'asthma', employer: 'Acme', place },
        });
        const inspected = await inspectCalls(['a', 'b', 'c', 'd'].map(make));
        expect(routesOf(inspected)).to.deep.equal(['POST /patients']);
        expect(JSON.stringify(inspected.package)).not.to.match(/asthma|acme/i);
    });

    it('drafts what a visit sent as multipart without files, and no multipart with passwords or files', async () => {
        const send = (url: string, ...more: [string, string][]) => ({
            method: 'POST',
            url: SHOP + url,
            parts: [['name="issue[subject]"', 'First line\r\n\r\nThird'], ['name="file"; filename=""', ''], ...more] as [string, string][],
        });
        const inspected = await inspectCalls([
            send('/projects/1/issues', ['name="hours"', '3']),
            send('/projects/2/issues', ['name="hours"', '4']),
            send('/photos', ['name="photo"; filename="boat.png"', 'x']),
            send('/login', ['name="password"', 'x']),
        ]);
        expect(routesOf(inspected)).to.deep.equal(['POST /projects/{project_id}/issues']);
        const [issue] = inspected.package.endpoints;
        expect(issue?.body_format).to.equal('multipart');
        expect(issue?.params?.map(({ name, source, schema }) => ({ name, source, schema }))).to.deep.equal([
            { name: 'project_id', source: 'path', schema: { type: 'integer' } },
            { name: 'issue[subject]', source: 'body', schema: { type: 'string' } },
            { name: 'hours', source: 'body', schema: { type: 'integer' } },
        ]);
    });

    describe('drafts forms with hidden inputs at varying addresses', () => {
        const form = (action: string, inputs: Record<string, string>) =>
            `<form method="post" action="${action}">${Object.entries(inputs)
                .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
                .join('')}<textarea name="text"></textarea><input type="submit" value="Add"></form>`;
        const token = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';
        const visit = (pageAt: (id: number) => string, action: (id: number) => string, inputs: (id: number) => Record<string, string>) =>
            [1, 2].flatMap((id) => [
                { url: SHOP + pageAt(id), html: page('<h1>News</h1>').replace('</main>', `${form(action(id), inputs(id))}</main>`) },
                { method: 'POST', url: SHOP + action(id), form: { ...inputs(id), text: `Seen ${id}` }, html: page('x') },
            ]);

        it('by the page whose address the params of the call give', async () => {
            const found = await inspectCalls(
                visit(
                    (id) => `/news/${id}?view=full&page=2`,
                    (id) => `/news/${id}/comments`,
                    () => ({ sectok: token, parent: '' }),
                ),
            );
            const comment = endpointOf(found, 'POST /news/{news_id}/comments');
            expect(comment).to.deep.include({
                prepare: {
                    url: `${SHOP}/news/{news_id}?view=full`,
                    extract: { sectok: { selector: 'form:has([name="sectok"]) [name="sectok"]', value: 'value' } },
                },
                body: { text: '{text}', sectok: '{prepare.sectok}', parent: '' },
            });
            expect(comment).not.to.have.property('hosted');
            expect(paramsOf(comment, 'body')).to.deep.equal(['text']);
        });

        it('by the page at its own address, with the params of its query', async () => {
            const at = (id: number) => `/tables.php?action=search&table=t${id}`;
            const found = await inspectCalls(visit(at, at, () => ({ sectok: token })));
            const endpoint = endpointOf(found, 'POST /tables.php?action=search');
            expect(endpoint.prepare).to.deep.include({ url: `${SHOP}/tables.php?action=search&table={table}` });
            expect(paramsOf(endpoint, 'query')).to.deep.equal(['table']);
        });

        it('with the query of its address, if no visit sent it', async () => {
            const at = (id: number) => `/tables.php?action=rename&table=t${id}`;
            const shown = visit(at, at, () => ({ sectok: token })).filter((call) => !('method' in call));
            const endpoint = endpointOf(await inspectCalls(shown), 'POST /tables.php?action=rename');
            expect(paramsOf(endpoint, 'query')).to.deep.equal(['table']);
            expect(endpoint.prepare).to.deep.include({ url: `${SHOP}/tables.php?action=rename&table={table}` });
        });

        it('with the inputs that were sent with several words, and no others that the page hides', async () => {
            const calls = ['add', 'remove'].flatMap((deed, place) =>
                visit(
                    (id) => `/news/${place}${id}`,
                    (id) => `/news/${place}${id}/marks`,
                    () => ({ sectok: token, deed }),
                ),
            );
            const endpoint = endpointOf(await inspectCalls(calls), 'POST /news/{news_id}/marks');
            expect(paramsOf(endpoint, 'body')).to.have.members(['text', 'deed']);
            expect(endpoint.body).to.deep.equal({ text: '{text}', deed: '{deed}', sectok: '{prepare.sectok}' });
        });

        it('never with a recorded value of the page, nor with one that was equal by chance', async () => {
            const comments = (pageAt: (id: number) => string, action: (id: number) => string) =>
                inspectCalls(visit(pageAt, action, () => ({ authenticity_token: token })));
            const named = await comments(
                (id) => `/wiki.php?id=${['', 'Home', 'Harbour'][id]}`,
                () => '/save.php',
            );
            const thread = await comments(
                () => '/threads/1',
                (id) => `/messages/${id}/replies`,
            );
            for (const { package: draft } of [named, thread])
                expect(draft.endpoints.some(({ prepare }) => prepare !== undefined)).to.equal(false);
            expect(JSON.stringify(named.package)).not.to.match(/Home|Harbour/);
        });

        it('but not what another form sent to the same address', async () => {
            const at = (id: number) => `/news/${id}`;
            const calls = visit(at, at, () => ({ sectok: token })).map((call) =>
                'form' in call ? { ...call, form: { authenticity_token: token, title: 'x', story: 'y', place: 'z' } } : call,
            );
            const found = await inspectCalls(calls);
            const posts = found.package.endpoints.filter(({ method }) => method === 'POST');
            expect(posts.map((one) => paramsOf(one, 'body'))).to.have.deep.members([['text'], ['title', 'story', 'place']]);
        });

        it('only as they were sent, if the page has a value that the address of the form lacks', async () => {
            const comments = (name: string) =>
                inspectCalls(
                    visit(
                        (id) => `/news/${id}`,
                        () => '/comments',
                        () => ({ [name]: token }),
                    ),
                );
            const known = endpointOf(await comments('authenticity_token'), 'POST /comments');
            expect(known.hosted).to.equal(false);
            expect(paramsOf(known, 'body')).to.deep.equal(['text']);
            const unknown = endpointOf(await comments('sectok'), 'POST /comments');
            expect(unknown.hosted).to.equal(false);
            expect(paramsOf(unknown, 'body')).to.deep.equal(['text']);
        });
    });

    it('drafts one endpoint for a form and what it sent, whichever field names the action', async () => {
        const token = '0a1b2c3d4e5f60718293a4b5c6d7e8f9';
        const form = (id: string, action: string, hidden: Record<string, string>, input: string) =>
            `<form id="${id}" method="post" action="${action}">${Object.entries({ ...hidden, authenticity_token: token })
                .map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
                .join('')}<input name="${input}"><input type="submit" value="Save"></form>`;
        const withForms = (forms: string[]) => page('<h1>Settings</h1>').replace('</main>', `${forms.join('')}</main>`);
        const send = (path: string, sent: Record<string, string>, name = 'x') => ({
            method: 'POST',
            url: SHOP + path,
            form: { ...sent, authenticity_token: token },
            html: `<html><head><title>Saved</title></head><body><main>${wide(name)}</main></body></html>`,
        });
        const profile = await inspectCalls([
            { url: `${SHOP}/profile`, html: withForms([form('profile', '/profile', { _method: 'patch' }, 'town')]) },
            send('/profile', { _method: 'patch', town: 'Kiel' }),
        ]);
        expect(routesOf(profile)).to.deep.equal(['GET /profile', 'POST /profile']);
        expect(endpointOf(profile, 'POST /profile')).to.deep.include({
            name: 'update_profile',
            kind: 'submit_form',
            prepare: { url: `${SHOP}/profile`, form: 'form#profile' },
        });
        expect(endpointOf(profile, 'POST /profile')).not.to.have.any.keys('hosted', 'body');
        const acts = { rename: 'town', move: 'street', retire: 'why' };
        const forms = Object.entries(acts).map(([action, input]) => form(action, '/settings', { action }, input));
        const settings = await inspectCalls([
            { url: `${SHOP}/settings`, html: withForms(forms) },
            ...Object.entries(acts).map(([action, input]) => send('/settings', { action, [input]: 'x' }, action)),
        ]);
        expect(
            settings.package.endpoints.slice(1).map(({ prepare, params = [] }) => ({ prepare, params: params.map(({ name }) => name) })),
        ).to.deep.equal(
            Object.entries(acts).map(([action, input]) => ({
                prepare: { url: `${SHOP}/settings`, form: `form#${action}` },
                params: [input],
            })),
        );
    });

    it('drafts what reads by a multipart body as a write, since only writes are sent so', async () => {
        const parts = (q: string): [string, string][] => [
            ['name="op"', 'list'],
            ['name="q"', q],
        ];
        const { package: draft } = await inspectCalls(
            ['ajax.php', 'search'].map((path) => ({ method: 'POST', url: `${SHOP}/${path}`, parts: parts('a') })),
        );
        expect(draft.endpoints.map(({ name, effect, body_format }) => [name, effect, body_format])).to.deep.equal([
            ['list', undefined, 'multipart'],
            ['search', 'write', 'multipart'],
        ]);
        expect(checkPackage(draft, { isPortAllowed: () => true }).ok).to.equal(true);
    });

    it('drafts a multipart form without files, which its page fills', async () => {
        const form = `<form method="post" enctype="multipart/form-data" action="/notes"><input type="hidden" name="book" value="log"><textarea name="text"></textarea></form>`;
        const scripted = '<form method="post" enctype="multipart/form-data" action="/moves"><input id="place"></form>';
        const html = `<html><head><title>Notes</title></head><body>${form}${scripted}</body></html>`;
        const inspected = await inspectCalls([{ url: `${SHOP}/notes/new`, html }]);
        expect(endpointOf(inspected, 'POST /notes')).to.deep.include({
            kind: 'submit_form',
            body_format: 'multipart',
            prepare: { url: `${SHOP}/notes/new`, form: 'form[action="/notes"]' },
        });
        expect(routesOf(inspected)).to.deep.equal(['GET /notes/new', 'POST /notes']);
    });

    it('describes what a form with a token sent, though some requests lack the token', async () => {
        const form = `<form method="post" action="/news/1/comments"><input type="hidden" name="authenticity_token" value="0a1b2c3d4e5f60718293a4b5c6d7e8f9"><textarea name="text"></textarea></form>`;
        const send = (id: number, more: Record<string, string>) => ({
            method: 'POST',
            url: `${SHOP}/news/${id}/comments`,
            form: { text: 'x', ...more },
        });
        const inspected = await inspectCalls([
            { url: `${SHOP}/news/1`, html: page(form) },
            send(1, { authenticity_token: '0a1b2c3d4e5f60718293a4b5c6d7e8f9' }),
            send(2, {}),
        ]);
        expect(endpointOf(inspected, 'POST /news/{news_id}/comments').hosted).to.equal(false);
    });

    it('reads the name of an item in an address that a form deletes', async () => {
        const inspected = await inspectCalls(
            ['anna', 'bella'].map((name) => ({ method: 'POST', url: `${SHOP}/boats/${name}`, form: { _method: 'delete' } })),
        );
        expect(routesOf(inspected)).to.deep.equal(['POST /boats/{boat}']);
    });

    it('keeps changing and deleting apart where a form says the method in a field', async () => {
        const send = (id: number, _method: string, more = {}) => ({
            method: 'POST',
            url: `${SHOP}/boats/${id}`,
            form: { _method, ...more },
        });
        const inspected = await inspectCalls([send(1, 'patch', { name: 'Ada' }), send(2, 'patch', { name: 'Mary' }), send(3, 'delete')]);
        expect(bodies(inspected)).to.deep.equal([
            { name: 'update_boat', body: { _method: 'patch', name: '{name}' }, effect: undefined },
            { name: 'delete_boat', body: { _method: 'delete' }, effect: undefined },
        ]);
    });

    it('describes fields with brackets by their labels', async () => {
        const form =
            '<form method="post" enctype="multipart/form-data" action="/boats/1"><input type="hidden" name="wpSection" value="1"><label for="t">Words about the boat</label><textarea id="t" name="boat[notes]"></textarea><input name="wpTextbox1"></form>';
        const sent: [string, string][] = [
            ['name="wpSection"', '1'],
            ['name="boat[notes]"', 'x y'],
            ['name="wpTextbox1"', 'x y'],
        ];
        const send = (path: string, parts: [string, string][]) => ({ method: 'POST', url: `${SHOP}/${path}/1`, parts, html: page('x') });
        const inspected = await inspectCalls([
            { url: `${SHOP}/boats/1`, html: page(form) },
            send('boats', sent),
            send('ropes', [['name="_method"', 'patch'], ...sent.slice(1, 2)]),
        ]);
        const said = (route: string) =>
            endpointOf(inspected, route)
                .params?.slice(1)
                .map(({ name, description }) => [name, description]);
        expect(said('POST /boats/{boat_id}')).to.deep.equal([
            ['boat_notes', 'Words about the boat.'],
            ['wpTextbox1', 'The wp textbox1.'],
        ]);
        expect(said('POST /ropes/{rope_id}')).to.deep.equal([['boat_notes', 'Words about the boat.']]);
    });

    it('splits calls of JSON-RPC 1.0, which says no version, and says where the items of a list come from', async () => {
        const call = (id: number, method: string, ...params: unknown[]) => ({
            method: 'POST',
            url: `${SHOP}/json`,
            body: { method, params, id },
            json: { id, result: method.startsWith('web.list') ? [{ hash: '43baeec0814ab669' }, { hash: '9e51f00c1ab27d36' }] : true },
        });
        const inspected = await inspectCalls([
            call(1, 'auth.login', 'Leuchtfeuer'),
            call(2, 'web.list_boats'),
            call(3, 'core.pause_boats', ['43baeec0814ab669']),
            call(4, 'core.pause_boats', ['9e51f00c1ab27d36']),
        ]);
        expect(bodies(inspected)).to.deep.equal([
            { name: 'web_list_boats', body: { id: 1, method: 'web.list_boats', params: [] }, effect: 'read' },
            { name: 'core_pause_boats', body: { id: 1, method: 'core.pause_boats', params: '{params}' }, effect: undefined },
        ]);
        expect(inspected.package.endpoints[1]?.params?.[0]?.description).to.contain('the field “hash” in the answer of web_list_boats');
    });

    it('describes what a remote call returns, and the fields of the objects that it takes', async () => {
        const found = await inspectCalls([
            {
                method: 'POST',
                url: `${SHOP}/json_rpc`,
                body: { jsonrpc: '2.0', id: '1', method: 'set_bans', params: { bans: [{ host: 'x', seconds: 30 }], rule: { depth: 3 } } },
                json: { jsonrpc: '2.0', id: '1', result: { banned: 1, left: 2 } },
            },
        ]);
        const [endpoint] = found.package.endpoints;
        expect(endpoint?.description).to.include('Answers with banned and left.');
        const said = new Map(endpoint?.params?.map(({ name, description }) => [name, description]));
        expect(said.get('bans')).to.equal('One or more of bans, each with host and seconds.');
        expect(said.get('rule')).to.equal('The rule, with depth.');
    });

    it('describes the types of a call’s arguments, and does not take all of them from one field of an answer', async () => {
        const call = (name: string, id: number) => ({
            url: `${SHOP}/rpc`,
            method: 'POST',
            body: { jsonrpc: '2.0', id: 1, method: 'boat.rename', params: [id, name, { language: 'en', company: 1 }] },
            json: { jsonrpc: '2.0', id: 1, result: { name } },
        });
        const found = await inspectCalls([
            call('Tug', 7),
            call('Sloop', 8),
            { url: `${SHOP}/names`, json: [{ name: 'Tug' }, { name: 'Sloop' }] },
        ]);
        const [params] = endpointOf(found, 'POST /rpc').params ?? [];
        expect(params?.description).to.equal('The arguments of the call, in order: numbers, objects with language and company and texts.');
    });

    it('reads a method, params and an id as fields, unless the name and the answer are those of JSON-RPC', async () => {
        const send = (path: string, method: string, id: unknown, json: object) => ({
            method: 'POST',
            url: `${SHOP}/${path}`,
            body: { method, params: ['a'], id },
            json,
        });
        const inspected = await inspectCalls([
            send('pay', 'card', 'order-0', { result: 1 }),
            send('pay', 'cash', 'order-1', { result: 1 }),
            send('proxy', 'GET', 1, { result: 1 }),
            send('proxy', 'POST', 2, { result: 1 }),
            send('prints', 'photo.matt', 1, { price: 1 }),
            send('prints', 'photo.gloss', 2, { price: 1 }),
        ]);
        expect(routesOf(inspected)).to.deep.equal(['POST /pay', 'POST /proxy', 'POST /prints']);
        for (const { params = [] } of inspected.package.endpoints) expect(params.map(({ name }) => name)).to.include('id');
    });

    it('reads a word that a page lists, with the same pages below it as another one, as the name of a thing', async () => {
        const branch = '<form method="get"><select name="branch"><option>main</option></select></form>';
        const view = (name: string) => `<html><body>${branch}<main>${wide(name)}<p>Words of the page of ${name}.</p></main></body></html>`;
        const rows = ['harbour', 'tides'].map((name) => `<tr><td><a href="/${name}/">${name}</a></td><td>Words</td></tr>`).join('');
        const repositories = (list: string) => [
            { url: `${SHOP}/`, html: `<html><body><main><h1>Repositories</h1>${list}${wide('list')}</main></body></html>` },
            ...['harbour', 'tides'].flatMap((repository) => [
                ...['tags', 'bookmarks', 'branches', 'shortlog'].map((name) => ({
                    url: `${SHOP}/${repository}/${name}`,
                    html: view(name),
                })),
                ...['43baeec0814a', '9e51f00c1ab2'].flatMap((rev) => [
                    ...['README', 'calm.txt'].map((file) => ({ url: `${SHOP}/${repository}/log/${rev}/${file}`, html: view('log') })),
                    { url: `${SHOP}/${repository}/diff/${rev}/README`, html: view('diff') },
                ]),
            ]),
        ];
        expect(routesOf(await inspectCalls(repositories(`<table>${rows}</table>`)))).to.have.members([
            'GET /',
            ...['tags', 'bookmarks', 'branches', 'shortlog'].map((name) => `GET /{name}/${name}`),
            'GET /{name}/log/{log_id}/{name_2}',
            'GET /{name}/diff/{diff_id}/{name_2}',
        ]);
        expect(routesOf(await inspectCalls(repositories('')))).to.include.members(['GET /harbour/tags', 'GET /tides/tags']);
    });

    it('reads a name below three views, which a page lists, as the name of a file or page', async () => {
        const html = (view: string, list = '') => `<html><body><main>${list}${wide(view)}<p>The ${view} of it.</p></main></body></html>`;
        const links = ['README', 'harbour'].map((name) => `<li><a href="/view/${name}">${name}</a></li>`).join('');
        const wiki = (list: string, views: readonly string[]) => [
            { url: `${SHOP}/view/`, html: html('list', list) },
            ...['README', 'harbour'].flatMap((name) =>
                views.map((view) => ({ url: `${SHOP}/${view}/${name}`, html: html(`${view} ${name}`) })),
            ),
        ];
        const found = async (list: string, views: readonly string[]) => routesOf(await inspectCalls(wiki(list, views)));
        expect(await found(`<ul>${links}</ul>`, ['view', 'blame', 'source'])).to.have.members([
            'GET /view/',
            'GET /view/{view}',
            'GET /blame/{blame}',
            'GET /source/{source}',
        ]);
        const unlisted = await found('', ['view', 'blame', 'source']);
        const ofThings = await found(`<ul>${links}</ul>`, ['view', 'boats', 'sails']);
        for (const routes of [unlisted, ofThings]) expect(routes).to.include.members(['GET /view/README', 'GET /view/harbour']);
    });

    it('reads an action whose param begins with an underscore, and leaves out such a password', async () => {
        const inspected = await inspectCalls([
            { url: `${SHOP}/?_task=mail&_action=list&_page=2`, json: { rows: [1] } },
            { url: `${SHOP}/?_task=mail&_action=show&_uid=7`, json: { subject: 'x' } },
            { method: 'POST', url: `${SHOP}/?_task=mail&_action=mark`, form: { _uid: '7', _flag: 'read' }, json: { done: true } },
            { method: 'POST', url: `${SHOP}/?_task=desk`, form: { _user: 'ada', _pass: 'Leuchtfeuer' }, json: { done: true } },
        ]);
        expect(routesOf(inspected)).to.have.members([
            'GET /?_action=list&_task=mail',
            'GET /?_action=show&_task=mail',
            'POST /?_action=mark&_task=mail',
        ]);
    });

    it('splits forms at one address by an action that they hide, if their fields differ, though nobody sent them', async () => {
        const form = (action: string, fields: readonly string[]) =>
            `<form method="post" action="/desk" id="${action}"><input type="hidden" name="_action" value="${action}">` +
            `${fields.map((name) => `<input name="${name}">`).join('')}<button>Save</button></form>`;
        const forms = async (fields: (place: number) => readonly string[]) =>
            await inspectCalls(
                ['save-note', 'save-berth', 'save-crew'].map((action, place) => ({
                    url: `${SHOP}/${action.slice(5)}`,
                    html: page('Words. ').replace('</main>', `${form(action, fields(place))}</main>`),
                })),
            );
        const split = await forms(
            (place) =>
                [
                    ['title', 'text'],
                    ['berth', 'length'],
                    ['name', 'rank'],
                ][place] ?? [],
        );
        const writes = split.package.endpoints.filter(({ method }) => method === 'POST');
        expect(writes.map((one) => [one.prepare, paramsOf(one, 'body')])).to.have.deep.members([
            [{ url: `${SHOP}/note`, form: 'form#save-note' }, ['title', 'text']],
            [{ url: `${SHOP}/berth`, form: 'form#save-berth' }, ['berth', 'length']],
            [{ url: `${SHOP}/crew`, form: 'form#save-crew' }, ['name', 'rank']],
        ]);
        const same = await forms(() => ['title', 'text']);
        expect(same.package.endpoints.filter(({ method }) => method === 'POST')).to.have.length(1);
    });

    it('does not confuse the page that answers a write with the page that has its form', async () => {
        const form = '<form method="post" action="/desk" id="desk"><input type="hidden" name="mark" value="7"><input name="title"></form>';
        const html = page('Words. ').replace('</main>', `${form}</main>`);
        const inspected = await inspectCalls([
            { url: `${SHOP}/berths/7`, html },
            { method: 'POST', url: `${SHOP}/desk`, form: { mark: '7', title: 'Fog' }, html },
        ]);
        for (const { prepare } of inspected.package.endpoints) expect(prepare).to.equal(undefined);
    });

    it('keeps kinds of things apart that have the same addresses and the same answers', async () => {
        const views = ['count', 'list', 'search', 'export', 'recent'];
        const acts = ['repair', 'lend', 'weigh', 'paint'];
        const pages = ['new', 'import', 'archive', 'settings'];
        const links = ['ropes', 'anchors'].map((kind) => `<li><a href="/admin/${kind}">${kind}</a></li>`).join('');
        const inspected = await inspectCalls([
            { url: `${SHOP}/admin`, html: `<html><body><main><ul>${links}</ul>${wide('admin')}</main></body></html>` },
            ...['ropes', 'anchors'].flatMap((kind) => [
                { url: `${SHOP}/${kind}`, json: [{ id: 1, name: 'x' }] },
                ...views.map((view) => ({ url: `${SHOP}/api/${kind}/${view}`, json: { total: 1, items: [{ id: 1, name: 'x' }] } })),
                ...acts.map((act) => ({ method: 'POST', url: `${SHOP}/${kind}/1/${act}`, json: { ok: true, message: 'x' } })),
                ...pages.map((name) => ({
                    url: `${SHOP}/admin/${kind}/${name}`,
                    html: `<html><body><main>${wide(name)}</main></body></html>`,
                })),
            ]),
            ...['voyage', 'order', 'berth'].flatMap((kind) => [
                ...views.map((view) => ({ url: `${SHOP}/data/${kind}/${view}`, json: { code: 1, message: 'x', data: {} } })),
                ...acts.map((act) => ({ method: 'POST', url: `${SHOP}/${kind}/${act}`, json: { code: 1, message: 'x', data: {} } })),
            ]),
        ]);
        expect(routesOf(inspected)).to.have.members([
            'GET /admin',
            ...['ropes', 'anchors'].flatMap((kind) => [
                `GET /${kind}`,
                ...views.map((view) => `GET /api/${kind}/${view}`),
                ...acts.map((act) => `POST /${kind}/{${kind.slice(0, -1)}_id}/${act}`),
                ...pages.map((name) => `GET /admin/${kind}/${name}`),
            ]),
            ...['voyage', 'order', 'berth'].flatMap((kind) => [
                ...views.map((view) => `GET /data/${kind}/${view}`),
                ...acts.map((act) => `POST /${kind}/${act}`),
            ]),
        ]);
    });

    it('keeps the views of a thing apart, whatever else is below its id', async () => {
        const view = (name: string) => `<html><body><main>${wide(name)}</main></body></html>`;
        const inspected = await inspectCalls(
            ['7', '8'].flatMap((id) => [
                ...['garden', 'kitchen'].map((name) => ({ url: `${SHOP}/boats/${id}/${name}`, html: view('form') })),
                { url: `${SHOP}/boats/${id}/42`, html: view('part') },
                ...['edit.php', 'crew.php'].map((name) => ({ url: `${SHOP}/hulls/${id}/${name}`, html: view('form') })),
                ...['edit.html', 'crew.html'].map((name) => ({ url: `${SHOP}/masts/${id}/${name}`, html: view('form') })),
                ...['data.json', 'summary.json'].map((name) => ({ url: `${SHOP}/sails/${id}/${name}`, json: { a: 1, b: 2, c: 3 } })),
                ...['cover', '12'].map((name) => ({ url: `${SHOP}/files/${id}/${name}`, html: view('file') })),
                ...['cover', 'README'].map((name) => ({ url: `${SHOP}/books/${id}/${name}`, html: view(name) })),
            ]),
        );
        expect(routesOf(inspected)).to.have.members([
            ...['garden', 'kitchen', '{id}'].map((name) => `GET /boats/{boat_id}/${name}`),
            ...['edit.php', 'crew.php'].map((name) => `GET /hulls/{hull_id}/${name}`),
            ...['edit.html', 'crew.html'].map((name) => `GET /masts/{mast_id}/${name}`),
            ...['data.json', 'summary.json'].map((name) => `GET /sails/{sail_id}/${name}`),
            'GET /files/{file_id}/{name}',
            ...['cover', 'README'].map((name) => `GET /books/{book_id}/${name}`),
        ]);
    });

    it('drafts a form that a page has twice, with a token in each', async () => {
        const letter = (id: string, token: string) =>
            `<form id="${id}" method="post" action="/letters"><input type="hidden" name="csrf_token" value="${token}"><input name="town"></form>`;
        const html = `<html><head><title>Harbour</title></head><body>${letter('top', 'b1c4e8a19d')}<p>Tides of today</p>${letter('foot', 'e7f2a90c31')}</body></html>`;
        const inspected = await inspectCalls([{ url: `${SHOP}/tides`, html }]);
        expect(routesOf(inspected)).to.have.members(['GET /tides', 'POST /letters']);
    });

    it('keeps the format of pages in a folder, and views of a thing that differ in their kind of answer', async () => {
        const text = (name: string) =>
            `<html><body><main>${'<p class="a"><b>x</b></p>'.repeat(3)}<h1>${name}</h1>${wide('part')}</main></body></html>`;
        const inspected = await inspectCalls([
            ...['overview', 'printing', 'network'].map((name) => ({ url: `${SHOP}/manuals/${name}.html`, html: text(name) })),
            { url: `${SHOP}/api/torrents/properties?hash=1`, json: { size: 1 } },
            { url: `${SHOP}/api/torrents/trackers?hash=1`, json: [{ tier: 1 }] },
            { url: `${SHOP}/api/torrents/seeds?hash=1`, json: [] },
            { url: `${SHOP}/api/boats/owner?hash=1`, json: { name: 'x' } },
            { url: `${SHOP}/api/boats/photo?hash=1`, json: 'x' },
            { url: `${SHOP}/api/boats/flag?hash=1`, json: 'y' },
            { url: `${SHOP}/api/maindata?rid=1&mwzka27m`, json: { rid: 1 } },
            { url: `${SHOP}/api/maindata?rid=2&mwzka27n`, json: { rid: 2 } },
        ]);
        expect(routesOf(inspected)).to.have.members([
            'GET /manuals/{manual}.html',
            'GET /api/torrents/properties',
            'GET /api/torrents/trackers',
            'GET /api/torrents/seeds',
            'GET /api/boats/owner',
            'GET /api/boats/photo',
            'GET /api/boats/flag',
            'GET /api/maindata',
        ]);
        expect(inspected.package.endpoints.at(-1)?.params?.map(({ name }) => name)).to.deep.equal(['rid']);
    });

    it('keeps query params without a value, unless they are the time of each request', async () => {
        const inspected = await inspectCalls([
            ...['a', 'b'].map((q) => ({ url: `${SHOP}/find?q=${q}&version2`, json: { a: 1 } })),
            { url: `${SHOP}/look?q=a&address2`, json: { a: 1 } },
            { url: `${SHOP}/look?q=b&mailbox2=`, json: { a: 1 } },
            { url: `${SHOP}/list?mwzka27m`, json: { a: 1 } },
            { url: `${SHOP}/list?mwzka27n`, json: { a: 1 } },
        ]);
        expect(inspected.package.endpoints.map(({ params = [] }) => params.map(({ name }) => name))).to.deep.equal([
            ['q', 'version2'],
            ['q', 'address2', 'mailbox2'],
            [],
        ]);
    });

    it('keeps path words that also occur in responses, and merges languages', async () => {
        const inspected = await inspectCalls([
            { url: `${SHOP}/meta/kinds`, json: { prefix: 'wp', scope: 'local' } },
            { url: `${SHOP}/api/wp/v2/posts/1`, json: { id: 1, kind: 'wp' } },
            { url: `${SHOP}/library/local/flows`, json: [{ id: 'n1' }] },
            ...['en-US', 'de-DE'].map((locale) => ({ url: `${SHOP}/${locale}/weather`, json: { temperature: 1, wind: 2 } })),
            ...['de', 'fr'].map((language) => ({ url: `${SHOP}/${language}/tides`, json: { high: 1, low: 2 } })),
        ]);
        expect(routesOf(inspected)).to.have.members([
            'GET /meta/kinds',
            'GET /api/wp/v2/posts/{post_id}',
            'GET /library/local/flows',
            'GET /{locale}/weather',
            'GET /{locale}/tides',
        ]);
    });

    it('leaves out sign-in pages, requests with a password, pages of administrators and templates', async () => {
        const login = '<h1>Login</h1><form method="post" action="/doku.php"><input name="u"><input type="password" name="p"></form>';
        const inspected = await inspectCalls([
            { url: `${SHOP}/doku.php?id=tides`, html: page('High water. ') },
            { url: `${SHOP}/doku.php?id=tides&do=login`, html: page(login) },
            { url: `${SHOP}/doku.php?id=tides&do=admin`, html: page('Users. ') },
            { url: `${SHOP}/members`, html: page(login) },
            { method: 'POST', url: `${SHOP}/start`, form: { user: 'ada', password: 'Leuchtfeuer' } },
            { url: `${SHOP}/parts/dialog.html`, html: '<div translate>Sure?</div>', headers: { accept: 'application/json, text/plain' } },
            { url: `${SHOP}/app`, html: page('<b>{{name}}</b> ') },
        ]);
        expect(routesOf(inspected)).to.deep.equal(['GET /doku.php']);
        expect(inspected.report.dropped.map(({ what }) => what.replace(/ \(.*/, ''))).to.include.members([
            'Signing in and out',
            'Pages of administrators',
            'Pages that ask to sign in',
            'Templates and interface texts',
            'Pages without content',
        ]);
    });

    it('splits pages of one address by the param that is there, not by filters of one list', async () => {
        const frame = (title: string, inside: string) =>
            `<html><head><title>${title} - Dock</title></head><body><nav class="top"><ul class="menu"><li class="entry"><a href="/">Dock</a></li></ul>
            <form class="jump"></form></nav><main class="page"><h1 class="head">${title}</h1><p class="lead">Words that everybody may read.</p>
            ${inside}</main><footer class="foot"><small class="legal">Dock</small></footer></body></html>`;
        const table = (name: string) =>
            frame(`Rows of ${name}`, '<table class="rows"><tr class="row"><td class="cell">x</td></tr></table>');
        const columns = (name: string) =>
            frame(`Columns of ${name}`, '<dl class="columns"><dt class="name">x</dt><dd class="kind">y</dd></dl>');
        const ask = frame('Ask', '<section class="ask"><h2 class="sub">Ask</h2><textarea class="words" name="words"></textarea></section>');
        const found = await inspectCalls([
            ...['boats', 'quays', 'ropes'].flatMap((name) => [
                { url: `${SHOP}/dock/?db=harbour&rows=${name}`, html: table(name) },
                { url: `${SHOP}/dock/?db=harbour&rows=${name}&page=2`, html: table(name) },
                { url: `${SHOP}/dock/?db=harbour&columns=${name}`, html: columns(name) },
            ]),
            { url: `${SHOP}/dock/?db=harbour&ask=`, html: ask },
            { url: `${SHOP}/dock/?db=harbour`, html: frame('All', '<ol class="all"><li class="one">x</li></ol>') },
            { method: 'POST', url: `${SHOP}/dock/?db=harbour&ask=`, form: { words: 'what' }, html: ask },
            ...['owner=7', 'berth=8', 'since=2024', 'owner=9&page=2'].map((query) => ({
                url: `${SHOP}/list/?${query}`,
                html: table('boats'),
            })),
            // Each filter is seen once, and none has a page like that of another.
            { url: `${SHOP}/stock/`, html: frame('Stock', '<ol class="all"><li class="one">x</li></ol>') },
            { url: `${SHOP}/stock/?colour=red`, html: table('boats') },
            { url: `${SHOP}/stock/?size=3`, html: columns('quays') },
            { url: `${SHOP}/stock/?maker=ada`, html: ask },
        ]);
        const drafted = found.package.endpoints.map(({ name, method, url, params = [] }) => [
            name,
            `${method} ${url.replace(SHOP, '')}`,
            params
                .map((param) => param.name)
                .sort()
                .join(' '),
        ]);
        expect(drafted).to.have.deep.members([
            ['open_dock_rows', 'GET /dock/', 'db page rows'],
            ['open_dock_columns', 'GET /dock/', 'columns db'],
            ['open_dock_ask', 'GET /dock/?ask=', 'db'],
            ['open_dock', 'GET /dock/', 'db'],
            ['create_dock_ask', 'POST /dock/?ask=', 'db words'],
            ['open_list', 'GET /list/', 'berth owner page since'],
            ['open_stock', 'GET /stock/', 'colour maker size'],
        ]);
    });

    it('splits pages and their forms by the word that an address says first, not by a filter that some do without', async () => {
        const frame = (inside: string) =>
            `<html><head><title>Dock</title></head><body><nav>${wide('menu')}</nav><main>${inside}</main></body></html>`;
        const words = ['boat', 'quay', 'rope'];
        const found = await inspectCalls([
            ...words.flatMap((word) => [
                { url: `${SHOP}/edit.php?table=${word}&id=3`, html: frame(wide(word)) },
                { url: `${SHOP}/edit.php?table=${word}&id=4`, html: frame(wide(word)) },
            ]),
            { method: 'POST', url: `${SHOP}/edit.php?table=boat`, form: { length: '3' }, html: frame(wide('boat')) },
            ...['all', 'long', 'short'].map((group) => ({ url: `${SHOP}/list.php?group=${group}`, html: frame(wide(group)) })),
            { url: `${SHOP}/list.php?owner=7`, html: frame(wide('owner')) },
        ]);
        expect(routesOf(found)).to.have.members([
            ...words.map((word) => `GET /edit.php?table=${word}`),
            'POST /edit.php?table=boat',
            'GET /list.php',
        ]);
        expect(paramsOf(endpointOf(found, 'GET /list.php'), 'query')).to.have.members(['group', 'owner']);
    });

    it('splits answers in one frame by a word that they have as a field, and never by words to look for', async () => {
        const answer = (data: object) => ({ format: 1, result: { time: 1, code: 0, message: '', user: 'x', version: '4' }, data });
        const found = await inspectCalls([
            { url: `${SHOP}/state.cgi?query=boatlist`, json: answer({ boatlist: { a: 1 }, berth: 'x' }) },
            { url: `${SHOP}/state.cgi?query=boat&name=a`, json: answer({ boat: { length: 3, sail: 'x' } }) },
            { url: `${SHOP}/state.cgi?query=quaycount`, json: answer({ count: { full: 1, empty: 2 } }) },
            ...['rope', 'lamp', 'oar'].map((words) => ({
                url: `${SHOP}/find.cgi?query=${words}`,
                json: answer({ [`of${words.length}`]: [words], hits: 1 }),
            })),
        ]);
        expect(routesOf(found)).to.have.members([
            'GET /state.cgi?query=boatlist',
            'GET /state.cgi?query=boat',
            'GET /state.cgi?query=quaycount',
            'GET /find.cgi',
        ]);
    });

    it('describes endpoints and params by their names and by response fields, without a value', async () => {
        const boats = { boats: [{ id: 1, name: 'Korallenriff', afloat: true }] };
        const inspected = await inspectCalls(
            [1, 2].map((page) => ({ url: `${SHOP}/harbours/${page}/boats?page=${page}&lng=en`, json: boats })),
        );
        const [endpoint] = inspected.package.endpoints;
        expect(endpoint?.description).to.match(/boats.*page by page\. Needs harbour id.*Each item has id, name and afloat\.$/);
        expect(endpoint?.params?.map(({ name, description }) => `${name}: ${description}`)).to.include.members([
            'harbour_id: The id of the harbour.',
            'page: Which page of the list, by number.',
            'lng: The language of the answer, such as en.',
        ]);
        expect(JSON.stringify(inspected)).not.to.match(/say here|Korallenriff/);
    });

    it('reads pages that are built to be slow, and those with endless nesting', async () => {
        const began = performance.now();
        const pages = ['<script '.repeat(6000), '{{'.repeat(50_000), '<form><input name=a>'.repeat(1500), '<div>'.repeat(40_000)];
        await inspectCalls(pages.map((html, place) => ({ url: `${SHOP}/p${place}x`, html })));
        expect(performance.now() - began).to.be.lessThan(20_000);
    });
});
