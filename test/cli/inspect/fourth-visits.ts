import type { BrowserContext, Page } from 'playwright-core';
import { ask, KEEPER, open } from './recorded-visits.ts';

/** Reads a journal and its accounts, searches, adds transactions, edits both files, and asks for all as JSON. */
export async function visitHledger(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/journal', '/register', '/manage']) await open(page, base + path);
    for (const account of ['assets:cash', 'assets:bank', 'expenses']) await open(page, `${base}/register?q=inacct%3A${account}`);
    for (const words of ['rope', 'fee']) {
        await open(page, `${base}/journal`);
        await page.fill('input[name=q]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=q]', 'Enter')]);
    }
    for (const name of ['Lamp oil', 'Sail cloth']) {
        await open(page, `${base}/journal`);
        await fill(page, 'addform', {
            date: ['2025-03-04'],
            description: [name],
            account: ['expenses:goods', 'assets:cash'],
            amount: ['7.50 EUR', ''],
        });
        await submit(page, '#addform');
    }
    await open(page, `${base}/manage`);
    const files = await page.$$eval('a[href*="/edit/"]', (all) => all.map((one) => (one as unknown as { href: string }).href));
    for (const file of files) {
        await open(page, file);
        await submit(page, 'form[method=post]');
        await ask(page, 'GET', file.replace('/edit/', '/download/'));
    }
    for (const path of ['version', 'accountnames', 'transactions', 'prices', 'commodities', 'accounts']) await ask(page, 'GET', `/${path}`);
    for (const account of ['assets:cash', 'expenses:rope']) await ask(page, 'GET', `/accounttransactions/${account}`);
    await page.close();
}

/** Opens the page of a downloader, and calls its methods by GET and by JSON. */
export async function visitNzbget(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(2000);
    for (const name of ['version', 'status', 'config', 'listgroups', 'servervolumes']) await ask(page, 'GET', `/jsonrpc/${name}`);
    const call = async (method: string, ...params: unknown[]): Promise<unknown> =>
        (JSON.parse(await ask(page, 'POST', '/jsonrpc', { method, params })) as { result: unknown }).result;
    const names = ['ropes', 'tides'];
    const ids: unknown[] = [];
    for (const name of names) {
        const list = `<?xml version="1.0"?><nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="keeper" date="1" subject="&quot;${name}.txt&quot; (1/1)"><groups><group>harbour</group></groups><segments><segment bytes="10" number="1">${name}@harbour.example</segment></segments></file></nzb>`;
        ids.push(await call('append', `${name}.nzb`, Buffer.from(list).toString('base64'), 'Quay', 0, false, true, name, 0, 'SCORE', []));
    }
    for (const method of ['pausedownload', 'resumedownload', 'pausepost', 'resumepost']) await call(method);
    for (const id of ids) {
        await call('listfiles', 0, 0, id);
        await call('editqueue', 'GroupPause', '', [id]);
        await call('editqueue', 'GroupSetName', `Words ${id}`, [id]);
    }
    for (const hidden of [true, false]) await call('history', hidden);
    for (const first of [0, 3]) await call('log', first, 10);
    for (const name of names) await call('writelog', 'INFO', `About ${name}`);
    for (const speed of [100, 0]) await call('rate', speed);
    for (const seconds of [60, 90]) await call('scheduleresume', seconds);
    for (const wait of [true, false]) await call('scan', wait);
    for (const method of ['status', 'config', 'clearlog']) await call(method);
    await page.close();
}

/** Signs in to a database; reads tables, their structure and rows, edits and adds rows, and runs queries. */
export async function visitAdminer(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.selectOption('select[name="auth[driver]"]', 'pgsql');
    const server = `127.0.0.1:${Number(new URL(base).port) + 1000}`;
    for (const [name, value] of [
        ['server', server],
        ['username', 'postgres'],
        ['password', KEEPER.password],
    ])
        await page.fill(`input[name="auth[${name}]"]`, value ?? '');
    await Promise.all([page.waitForNavigation(), page.press('input[name="auth[password]"]', 'Enter')]);
    const here = `${base}/?pgsql=${encodeURIComponent(server)}&username=postgres&db=harbour&ns=public`;
    await open(page, here);
    for (const name of ['boats', 'owners']) {
        await open(page, `${here}&select=${name}`);
        for (const number of [1, 2]) await open(page, `${here}&select=${name}&limit=5&page=${number}`);
        for (const action of ['table', 'indexes', 'create']) await open(page, `${here}&${action}=${name}`);
    }
    for (const action of ['sql', 'schema', 'dump', 'variables', 'processlist']) await open(page, `${here}&${action}=`);
    for (const id of [2, 3]) {
        await open(page, `${here}&edit=boats&where%5Bid%5D=${id}`);
        await page.fill('[name="fields[name]"]', `Ship ${id}`);
        await submit(page, '#form');
    }
    for (const name of ['Dinghy', 'Punt']) {
        await open(page, `${here}&edit=boats`);
        await page.fill('[name="fields[name]"]', name);
        await submit(page, '#form');
    }
    for (const query of ['select count(*) from boats', 'select name from owners']) {
        await open(page, `${here}&sql=`);
        await page.locator('textarea[name=query]').evaluate((one, words) => ((one as unknown as { value: string }).value = words), query);
        await submit(page, '#form');
    }
    await page.close();
}

/** Works with virtual hosts, users, exchanges, queues, bindings and policies of a message broker. */
export async function visitRabbit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const call = (method: string, path: string, body?: object): Promise<string> => askAs(page, 'guest:guest', method, `/api/${path}`, body);
    for (const path of ['overview', 'cluster-name', 'nodes', 'extensions', 'connections', 'channels', 'consumers', 'whoami'])
        await call('GET', path);
    await call('GET', 'nodes/harbour@localhost');
    for (const name of ['north', 'south']) await call('PUT', 'cluster-name', { name });
    const hosts = ['quay', 'mole'];
    for (const name of hosts) await call('PUT', `vhosts/${name}`, { description: `The ${name}`, tags: 'harbour' });
    await call('GET', 'vhosts');
    const users = ['ada', 'grace'];
    for (const [place, name] of users.entries()) {
        await call('PUT', `users/${name}`, { password: `${KEEPER.password}${place}`, tags: 'monitoring' });
        for (const more of ['', '/permissions']) await call('GET', `users/${name}${more}`);
    }
    await call('GET', 'users');
    for (const host of hosts) {
        await call('PUT', `permissions/${host}/guest`, { configure: '.*', write: '.*', read: '.*' });
        for (const user of users) {
            await call('PUT', `permissions/${host}/${user}`, { configure: '', write: `${host}.*`, read: '.*' });
            await call('GET', `permissions/${host}/${user}`);
        }
    }
    await call('GET', 'permissions');
    for (const host of ['%2F', ...hosts]) {
        for (const path of [
            `vhosts/${host}`,
            `vhosts/${host}/permissions`,
            `definitions/${host}`,
            `consumers/${host}`,
            `vhost-limits/${host}`,
        ])
            await call('GET', path);
    }
    await call('GET', 'definitions');
    for (const host of ['%2F', 'quay']) {
        for (const name of ['weather', 'cargo'])
            await call('PUT', `exchanges/${host}/${name}`, { type: 'topic', durable: name === 'cargo', auto_delete: false, arguments: {} });
        for (const name of ['tides', 'ropes'])
            await call('PUT', `queues/${host}/${name}`, { durable: name === 'tides', auto_delete: false, arguments: {} });
        for (const [exchange, queue] of [
            ['weather', 'tides'],
            ['cargo', 'ropes'],
        ]) {
            const binding = `bindings/${host}/e/${exchange}/q/${queue}`;
            await call('POST', binding, { routing_key: `${queue}.high`, arguments: {} });
            await call('GET', binding);
            await call('GET', `${binding}/${queue}.high`);
            await call('POST', `exchanges/${host}/${exchange}/publish`, {
                properties: {},
                routing_key: `${queue}.high`,
                payload: `Words of ${queue}`,
                payload_encoding: 'string',
            });
            for (const more of ['', '/bindings/source', '/bindings/destination']) await call('GET', `exchanges/${host}/${exchange}${more}`);
            for (const more of ['', '/bindings']) await call('GET', `queues/${host}/${queue}${more}`);
            await call('POST', `queues/${host}/${queue}/get`, { count: 2, ackmode: 'ack_requeue_true', encoding: 'auto' });
        }
        for (const path of ['exchanges', 'queues', 'bindings', 'policies']) await call('GET', `${path}/${host}`);
        for (const name of ['short', 'long']) {
            const policy = `policies/${host}/${name}`;
            await call('PUT', policy, { pattern: `^${name}`, definition: { expires: 90000 }, priority: 1, 'apply-to': 'queues' });
            await call('GET', policy);
        }
    }
    for (const path of ['exchanges', 'bindings', 'policies', 'vhost-limits', 'health/checks/alarms']) await call('GET', path);
    for (const name of ['ti', 'ro']) await call('GET', `queues?page=1&page_size=10&name=${name}&use_regex=false`);
    for (const port of [Number(new URL(base).port) + 1000, Number(new URL(base).port)])
        await call('GET', `health/checks/port-listener/${port}`);
    for (const limit of ['max-queues', 'max-connections']) {
        await call('PUT', `vhost-limits/quay/${limit}`, { value: 50 });
        await call('GET', 'vhost-limits/quay');
        await call('DELETE', `vhost-limits/quay/${limit}`);
    }
    for (const host of ['%2F', 'quay']) {
        for (const name of ['short', 'long']) await call('DELETE', `policies/${host}/${name}`);
        await call('DELETE', `bindings/${host}/e/weather/q/tides/tides.high`);
        await call('DELETE', `bindings/${host}/e/cargo/q/ropes/ropes.high`);
        for (const name of ['tides', 'ropes']) {
            await call('DELETE', `queues/${host}/${name}/contents`);
            await call('DELETE', `queues/${host}/${name}`);
        }
        for (const name of ['weather', 'cargo']) await call('DELETE', `exchanges/${host}/${name}`);
    }
    for (const user of users) {
        for (const host of hosts) await call('DELETE', `permissions/${host}/${user}`);
        await call('DELETE', `users/${user}`);
    }
    for (const host of hosts) await call('DELETE', `vhosts/${host}`);
    await page.close();
}

/** Opens two pads and their history, and works with pads, groups, authors and sessions by the functions of its API. */
export async function visitEtherpad(context: BrowserContext, base: string, key: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const call = async (name: string, params: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> => {
        const asked = new URLSearchParams({ apikey: key, ...params });
        return (JSON.parse(await ask(page, 'GET', `/api/1.2.15/${name}?${asked}`)) as { data: Record<string, string> }).data;
    };
    const send = (name: string, params: Readonly<Record<string, string>>) =>
        ask(page, 'POST', `/api/1.2.15/${name}`, new URLSearchParams({ apikey: key, ...params }).toString());
    await ask(page, 'GET', '/api');
    await call('checkToken');
    const pads = ['tides', 'ropes'];
    for (const padID of pads) {
        await call('createPad', { padID, text: `Words of ${padID}` });
        await send('setText', { padID, text: `Other words of ${padID}` });
        await send('appendText', { padID, text: `More of ${padID}` });
        await send('setHTML', { padID, html: `<html><body>Much of ${padID}</body></html>` });
        await call('saveRevision', { padID });
        for (const rev of ['1', '2']) await call('getText', { padID, rev });
        for (const name of [
            'getHTML',
            'getRevisionsCount',
            'getLastEdited',
            'padUsersCount',
            'padUsers',
            'getReadOnlyID',
            'listAuthorsOfPad',
        ])
            await call(name, { padID });
        for (const name of ['listSavedRevisions', 'getChatHistory', 'getChatHead']) await call(name, { padID });
    }
    for (const padID of pads) {
        for (const more of ['', '/timeslider']) await open(page, `${base}/p/${padID}${more}`);
        for (const more of ['export/txt', 'export/html', '1/export/txt', '2/export/html']) await ask(page, 'GET', `/p/${padID}/${more}`);
    }
    for (const name of ['Ada', 'Grace']) {
        const { authorID = '' } = await call('createAuthor', { name });
        await call('createAuthorIfNotExistsFor', { authorMapper: name.toLowerCase(), name });
        await call('getAuthorName', { authorID });
        await call('listPadsOfAuthor', { authorID });
        await call('createGroupIfNotExistsFor', { groupMapper: `${name} and others` });
        const { groupID = '' } = await call('createGroup');
        await call('createGroupPad', { groupID, padName: `notes of ${name}`, text: 'Words' });
        await call('listPads', { groupID });
        const { sessionID = '' } = await call('createSession', { groupID, authorID, validUntil: '1900000000' });
        await call('getSessionInfo', { sessionID });
        await call('listSessionsOfGroup', { groupID });
        await call('deleteSession', { sessionID });
        await call('appendChatMessage', { padID: 'tides', text: `${name} was here`, authorID });
    }
    for (const padID of pads) {
        await call('copyPad', { sourceID: padID, destinationID: `${padID}-copy`, force: 'false' });
        await call('movePad', { sourceID: `${padID}-copy`, destinationID: `${padID}-moved`, force: 'true' });
        await call('deletePad', { padID: `${padID}-moved` });
    }
    for (const name of ['getStats', 'listAllPads', 'listAllGroups']) await call(name);
    await ask(page, 'GET', '/stats');
    await page.close();
}

/** Reads a blog, its archives and feeds, comments on posts, and reads and writes by its REST API. */
export async function visitWordPress(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/page/2/', '/page/3/', '/?s=rope', '/?s=light', '/2025/03/', '/2025/04/', '/about/', '/harbour-rules/'])
        await open(page, base + path);
    for (const path of ['/category/gear/', '/category/weather/', '/tag/tides/', '/tag/lights/', '/author/keeper/', '/author/mate/'])
        await open(page, base + path);
    const posts = ['/2025/03/high-water/', '/2025/04/old-ropes/', '/2025/03/green-lights/'];
    for (const path of posts) await open(page, base + path);
    for (const path of posts.slice(0, 2)) {
        await open(page, base + path);
        await fill(page, 'commentform', {
            comment: [`Seen at ${path}`],
            author: ['Ada'],
            email: ['ada@harbour.example'],
            url: ['http://ada.example/'],
        });
        await submit(page, '#commentform');
    }
    for (const path of ['/feed/', '/comments/feed/', '/category/gear/feed/', '/category/weather/feed/']) await ask(page, 'GET', path);
    const read = (path: string) => ask(page, 'GET', `/wp-json/wp/v2/${path}`);
    await ask(page, 'GET', '/wp-json/');
    for (const number of [1, 2]) await read(`posts?page=${number}&per_page=3&search=w`);
    for (const kind of ['posts', 'pages', 'categories', 'tags', 'users']) {
        if (kind !== 'posts') await read(kind);
        const all = JSON.parse(await read(kind)) as { id: number }[];
        for (const { id } of all.slice(0, 2)) await read(`${kind}/${id}`);
    }
    for (const { id } of (JSON.parse(await read('posts')) as { id: number }[]).slice(-2)) await read(`comments?post=${id}`);
    for (const words of ['rope', 'fog']) await read(`search?search=${words}`);
    for (const path of ['types', 'types/post', 'types/page', 'taxonomies', 'statuses']) await read(path);
    for (const path of posts.slice(0, 2)) await ask(page, 'GET', `/wp-json/oembed/1.0/embed?url=${encodeURIComponent(base + path)}`);
    // A password that the installation made for this script. It ends with the installation.
    const password = await (await fetch(`http://127.0.0.1:${new URL(base).port}/password.txt`)).text();
    const write = async (method: string, path: string, body?: object): Promise<number> =>
        (JSON.parse(await askAs(page, `Keeper:${password}`, method, `/wp-json/wp/v2/${path}`, body)) as { id: number }).id;
    for (const name of ['Anchors', 'Buoys']) {
        const id = await write('POST', 'posts', { title: name, content: `Words about ${name}`, status: 'publish' });
        await write('POST', `posts/${id}`, { title: `More ${name}` });
        const comment = await write('POST', 'comments', { post: id, content: `Seen ${name}` });
        await read(`comments/${comment}`);
        await write('DELETE', `comments/${comment}?force=true`);
        const tag = await write('POST', 'tags', { name });
        await write('DELETE', `tags/${tag}?force=true`);
        await write('DELETE', `posts/${id}?force=true`);
    }
    await page.close();
}

/** Opens the page of a database of keys, and reads and writes keys of all kinds as its script does. */
export async function visitRedisCommander(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(1500);
    const call = (method: string, path: string, data?: object): Promise<void> =>
        page.evaluate(
            async ([type, url, sent]) => {
                const { $ } = globalThis as unknown as { $: { ajax(options: object): { always(done: () => void): void } } };
                await new Promise<void>((done) =>
                    $.ajax({ type, url, ...(sent === undefined ? {} : { data: sent }) }).always(() => done()),
                );
            },
            [method, path, data] as const,
        );
    const connectionId = `R:127.0.0.1:${Number(new URL(base).port) + 1000}:0`;
    const at = encodeURIComponent(connectionId);
    for (const path of ['connections', 'config', 'apiv2/connection', 'apiv2/redisCommands', 'apiv2/server/info', `apiv2/server/${at}/info`])
        await call('GET', path);
    await call('GET', `apiv2/keystree/${at}`);
    for (const prefix of ['boats', 'quays']) {
        await call('GET', `apiv2/keystree/${at}/${prefix}`);
        await call('GET', `apiv2/keys/${at}/${prefix}*?limit=20`);
    }
    for (const key of ['boats:1', 'boats:2', 'motto']) await call('GET', `apiv2/key/${at}/${encodeURIComponent(key)}`);
    for (const key of ['slogan', 'greeting']) {
        await call('POST', `apiv2/key/${at}/${key}`, { keyType: 'string', stringValue: `Words of ${key}` });
        await call('POST', `apiv2/key/${at}/${key}?action=decode`);
        await call('PATCH', `apiv2/key/${at}/${key}`, { key: `${key}:new`, force: false });
        await call('POST', `apiv2/key/${at}/${key}%3Anew?action=delete`);
    }
    for (const value of ['north', 'south']) {
        const list = { connectionId, key: 'tides' };
        await call('POST', 'apiv2/list/value', { ...list, type: value === 'north' ? 'lpush' : 'rpush', value });
        await call('PUT', 'apiv2/list/value', { ...list, index: 0, value: `${value} again` });
        await call('DELETE', 'apiv2/list/value', { ...list, index: 0 });
        const set = { connectionId, key: 'flags' };
        await call('POST', 'apiv2/set/member', { ...set, value });
        await call('PUT', 'apiv2/set/member', { ...set, value: `${value} again`, oldValue: value });
        await call('DELETE', 'apiv2/set/member', { ...set, value: `${value} again` });
        const sorted = { connectionId, key: 'depths' };
        await call('POST', 'apiv2/zset/member', { ...sorted, score: 3, value });
        await call('PUT', 'apiv2/zset/member', { ...sorted, score: 4, value: `${value} again`, oldValue: value });
        await call('DELETE', 'apiv2/zset/member', { ...sorted, value: `${value} again` });
        const hash = { connectionId, key: 'boats:1', field: value };
        await call('POST', 'apiv2/hash/field', { ...hash, value: `Quay ${value}` });
        await call('GET', `apiv2/hash/key/${at}/boats%3A1?field=${value}`);
        await call('PUT', 'apiv2/hash/field', { ...hash, value: `Mole ${value}` });
        await call('DELETE', 'apiv2/hash/field', hash);
        await call('POST', `apiv2/encodeString/${value}%20words`);
    }
    for (const cmd of ['get motto', 'hgetall boats:1']) await call('POST', `apiv2/exec/${at}`, { cmd });
    for (const name of ['export', 'import']) await call('GET', `tools/forms/${name}`);
    await page.close();
}

async function fill(page: Page, form: string, values: Readonly<Record<string, string[]>>): Promise<void> {
    for (const [name, all] of Object.entries(values))
        for (const [place, value] of all.entries())
            await page
                .locator(`#${form} [name=${name}]`)
                .nth(place)
                .evaluate((one, words) => ((one as unknown as { value: string }).value = words), value);
}

/** Sends a form as it is, without its script. A button may hide the function. */
async function submit(page: Page, form: string): Promise<void> {
    const send = (one: unknown) =>
        (globalThis as unknown as { HTMLFormElement: { prototype: { submit(): void } } }).HTMLFormElement.prototype.submit.call(one);
    await Promise.all([page.waitForNavigation(), page.locator(form).first().evaluate(send)]);
}

/** A request of the page's script with a name and a password. */
async function askAs(page: Page, user: string, method: string, path: string, body?: object): Promise<string> {
    return await page.evaluate(
        async ([who, how, where, sent]) => {
            const headers = { authorization: `Basic ${btoa(who)}`, 'content-type': 'application/json' };
            return await (
                await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
            ).text();
        },
        [user, method, path, body] as const,
    );
}
