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
    const call = (method: string, path: string, body?: object): Promise<string> => askAsGuest(page, method, `/api/${path}`, body);
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

async function askAsGuest(page: Page, method: string, path: string, body?: object): Promise<string> {
    return await page.evaluate(
        async ([how, where, sent]) => {
            const headers = { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' };
            return await (
                await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
            ).text();
        },
        [method, path, body] as const,
    );
}
