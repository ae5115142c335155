import type { BrowserContext, Page } from 'playwright-core';

/** The user who signs in during a visit. */
export const KEEPER = { user: 'Keeper', password: 'Leuchtfeuer-4471' } as const;

/** Reads a blog: pages of posts, single posts, archives, tags and categories. */
export async function visitHexo(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/page/2/', '/page/3/', '/archives/', '/archives/2025/', '/archives/2025/01/', '/archives/2025/02/'])
        await open(page, base + path);
    for (const path of ['/tags/tides/', '/tags/lights/', '/tags/boats/', '/categories/Weather/', '/categories/Gear/'])
        await open(page, base + path);
    await open(page, `${base}/`);
    const posts = await links(page, /\/2025\/\d\d\/\d\d\//);
    for (const post of posts.slice(0, 4)) await open(page, post);
    await ask(page, 'GET', '/atom.xml');
    await page.close();
}

/** Works with boats and their owners by GraphQL. */
export async function visitGraphql(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await page.goto(`${base}/?query=%7B__typename%7D`);
    const send = (operationName: string, query: string, variables: object) => ask(page, 'POST', '/', { operationName, query, variables });
    for (const place of [0, 1, 2])
        await send(
            'Boats',
            'query Boats($page: Int, $perPage: Int) { allBoats(page: $page, perPage: $perPage, sortField: "name") { id name length afloat } _allBoatsMeta { count } }',
            { page: place, perPage: 4 },
        );
    for (const id of ['1', '2'])
        await send('Boat', 'query Boat($id: ID!) { Boat(id: $id) { id name length Owner { id name berth } } }', { id });
    for (const q of ['Ada', 'Grace'])
        await send('Owners', 'query Owners($q: String) { allOwners(filter: {q: $q}) { id name berth Boats { id } } }', { q });
    for (const name of ['Rope', 'Kettle'])
        await send(
            'AddBoat',
            'mutation AddBoat($name: String!, $length: Float!, $owner: ID!, $afloat: Boolean!) { createBoat(name: $name, length: $length, owner_id: $owner, afloat: $afloat) { id name } }',
            { name, length: 8.5, owner: '1', afloat: true },
        );
    await send('RemoveBoat', 'mutation RemoveBoat($id: ID!) { removeBoat(id: $id) { id } }', { id: '3' });
    await page.close();
}

/** Opens the editor of flows, deploys two and lists what is installed. */
export async function visitNodeRed(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(1500);
    for (const id of ['a1b2c3d4e5f60001', 'a1b2c3d4e5f60002']) {
        await ask(page, 'POST', '/flow', {
            id,
            label: 'Tides',
            nodes: [{ id: `${id.slice(0, 12)}abcd`, type: 'inject', z: id, name: '', props: [], wires: [[]] }],
            configs: [],
        });
    }
    const flows = (await page.evaluate(async () => await (await fetch('/flows', { headers: { accept: 'application/json' } })).json())) as {
        id: string;
        type: string;
    }[];
    const tabs = flows.filter(({ type }) => type === 'tab').map(({ id }) => id);
    for (const id of tabs) await ask(page, 'GET', `/flow/${id}`);
    for (const id of tabs.slice(0, 2)) await ask(page, 'PUT', `/flow/${id}`, { id, label: 'Tides again', nodes: [], configs: [] });
    for (const id of tabs.slice(0, 2)) await ask(page, 'DELETE', `/flow/${id}`);
    await ask(page, 'GET', '/flows/state');
    await ask(page, 'GET', '/settings');
    await ask(page, 'GET', '/settings/user');
    await ask(page, 'GET', '/nodes');
    for (const name of ['node-red', 'node-red/inject', 'node-red/http in']) await ask(page, 'GET', `/nodes/${encodeURI(name)}`);
    for (const scope of ['global', 'flow/x1y2z3']) await ask(page, 'GET', `/context/${scope}`);
    await ask(page, 'GET', '/diagnostics');
    for (const name of ['first', 'second']) {
        await ask(page, 'POST', `/library/local/flows/${name}.json`, [{ id: 'n1', type: 'comment' }]);
        await ask(page, 'GET', `/library/local/flows/${name}.json`);
    }
    await ask(page, 'GET', '/library/local/flows/');
    for (const locale of ['en-US', 'de', 'ja']) await ask(page, 'GET', `/locales/nodes?lng=${locale}`);
    for (const locale of ['en-US', 'de', 'fr']) await ask(page, 'GET', `/locales/editor?lng=${locale}`);
    await page.close();
}

/** Opens the web client of a torrent daemon, adds torrents, and requests their data. */
export async function visitTransmission(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/transmission/web/`);
    await page.waitForTimeout(1500);
    const call = (method: string, args: object) =>
        page.evaluate(
            async ([name, sent]) => {
                const post = (id: string) =>
                    fetch('/transmission/rpc', {
                        method: 'POST',
                        headers: { 'content-type': 'application/json', 'x-transmission-session-id': id },
                        body: JSON.stringify({ method: name, arguments: sent }),
                    });
                const store = globalThis as unknown as { sessionId?: string };
                let answer = await post(store.sessionId ?? '');
                if (answer.status === 409) {
                    store.sessionId = answer.headers.get('x-transmission-session-id') ?? '';
                    answer = await post(store.sessionId);
                }
                return await answer.json();
            },
            [method, args] as const,
        );
    for (const [place, name] of ['ropes', 'lights', 'tides'].entries())
        await call('torrent-add', { filename: `magnet:?xt=urn:btih:${String(place + 1).repeat(40)}&dn=${name}`, paused: true });
    for (const ids of [[1], [2], [1, 2]])
        await call('torrent-get', { fields: ['id', 'name', 'status', 'percentDone', 'rateDownload'], ids });
    await call('session-get', {});
    await call('session-get', {});
    for (const limit of [100, 200]) await call('session-set', { 'speed-limit-down': limit, 'speed-limit-down-enabled': true });
    for (const id of [1, 2]) await call('torrent-start', { ids: [id] });
    for (const id of [1, 2]) await call('torrent-stop', { ids: [id] });
    await call('torrent-set', { ids: [1], downloadLimit: 50 });
    await call('torrent-remove', { ids: [3], 'delete-local-data': false });
    for (const _ of [1, 2]) await call('session-stats', {});
    await call('free-space', { path: '/tmp' });
    await page.close();
}

/** Opens the pages of a file synchroniser and sets up two folders. */
export async function visitSyncthing(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(3000);
    const send = (method: string, path: string, body?: object) =>
        page.evaluate(
            async ([how, where, sent]) => {
                const cookie = (globalThis as unknown as { document: { cookie: string } }).document.cookie
                    .split('; ')
                    .find((one) => one.startsWith('CSRF-Token'));
                const [name = '', token = ''] = cookie?.split('=') ?? [];
                const headers = { [`X-${name}`]: token, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
                const answer = await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) });
                return await answer.text();
            },
            [method, path, body] as const,
        );
    for (const id of ['ropes', 'tides'])
        await send('PUT', `/rest/config/folders/${id}`, { id, label: id, path: `sync/${id}`, type: 'sendreceive' });
    for (const id of ['ropes', 'tides']) {
        await send('GET', `/rest/config/folders/${id}`);
        await send('GET', `/rest/db/status?folder=${id}`);
        await send('GET', `/rest/db/browse?folder=${id}&levels=1`);
        await send('GET', `/rest/folder/errors?folder=${id}`);
        await send('POST', `/rest/db/scan?folder=${id}`);
    }
    await send('PATCH', '/rest/config/folders/ropes', { label: 'Ropes' });
    await send('PATCH', '/rest/config/folders/tides', { label: 'Tides' });
    for (const path of ['/rest/config', '/rest/config/options', '/rest/system/ping', '/rest/system/log', '/rest/stats/folder'])
        await send('GET', path);
    await send('PATCH', '/rest/config/options', { urAccepted: -1 });
    await send('DELETE', '/rest/config/folders/tides');
    await page.close();
}

/** Reads a wiki, searches, signs in, writes a page and opens its administration. */
export async function visitDokuWiki(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/doku.php`);
    for (const id of ['start', 'tides', 'lights', 'gear:ropes', 'gear:anchors']) await open(page, `${base}/doku.php?id=${id}`);
    for (const words of ['water', 'green', 'heavy']) {
        await page.fill('#qsearch__in, input[name=q]', words);
        await Promise.all([page.waitForNavigation(), page.press('#qsearch__in, input[name=q]', 'Enter')]);
    }
    for (const words of ['tides', 'ropes']) await ask(page, 'POST', '/lib/exe/ajax.php', `call=qsearch&q=${words}`);
    for (const id of ['tides', 'lights']) {
        await open(page, `${base}/doku.php?id=${id}&do=backlink`);
        await open(page, `${base}/doku.php?id=${id}&do=index`);
        await open(page, `${base}/doku.php?id=${id}&do=recent`);
        await open(page, `${base}/doku.php?id=${id}&do=media&ns=`);
    }
    await ask(page, 'GET', '/feed.php');
    await open(page, `${base}/doku.php?id=tides&do=login`);
    await page.fill('input[name=u]', KEEPER.user);
    await page.fill('input[name=p]', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('input[name=p]', 'Enter')]);
    for (const id of ['lights', 'tides']) {
        await open(page, `${base}/doku.php?id=${id}&do=edit`);
        await page.fill('textarea[name=wikitext]', `====== ${id} ======\nChanged words.\n`);
        await page.fill('input[name=summary]', 'Better words');
        await Promise.all([page.waitForNavigation(), page.click('button[name="do[save]"]')]);
        await open(page, `${base}/doku.php?id=${id}&do=revisions`);
    }
    await open(page, `${base}/doku.php?id=tides&do=admin`);
    for (const part of ['usermanager', 'config', 'acl']) await open(page, `${base}/doku.php?id=tides&do=admin&page=${part}`);
    await page.close();
}

/** Browses repositories. */
export async function visitGitweb(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await open(page, `${base}/?s=tides`);
    await open(page, `${base}/?s=rope`);
    for (const name of ['harbour.git', 'tides.git']) {
        for (const view of ['summary', 'shortlog', 'log', 'tree', 'heads', 'tags']) await open(page, `${base}/?p=${name};a=${view}`);
        await open(page, `${base}/?p=${name};a=shortlog`);
        const commits = await links(page, /a=commit;h=[0-9a-f]{40}$/);
        for (const commit of commits.slice(0, 2)) {
            await open(page, commit);
            await open(page, commit.replace('a=commit;', 'a=commitdiff;'));
        }
        await open(page, `${base}/?p=${name};a=search;st=commit;s=change`);
        await open(page, `${base}/?p=${name};a=blob;f=README;hb=HEAD`);
        await ask(page, 'GET', `/?p=${name};a=rss`);
    }
    await page.close();
}

/** Reads and writes notes of a wiki that stores each as a tiddler. */
export async function visitTiddlyWiki(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(1500);
    const send = (method: string, path: string, body?: object) =>
        page.evaluate(
            async ([how, where, sent]) => {
                const headers = { 'x-requested-with': 'TiddlyWiki', ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
                return await (
                    await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
                ).text();
            },
            [method, path, body] as const,
        );
    for (const title of ['Tides', 'Lights', 'Ropes'])
        await send('PUT', `/recipes/default/tiddlers/${title}`, { title, text: `About ${title}`, tags: 'harbour', fields: {} });
    for (const title of ['Tides', 'Lights', 'Ropes']) await send('GET', `/recipes/default/tiddlers/${title}`);
    for (const tag of ['harbour', 'boats'])
        await send('GET', `/recipes/default/tiddlers.json?filter=${encodeURIComponent(`[tag[${tag}]]`)}`);
    await send('GET', '/recipes/default/tiddlers.json');
    await send('GET', '/status');
    for (const title of ['Tides', 'Lights']) await open(page, `${base}/${title}`);
    await send('DELETE', '/bags/default/tiddlers/Ropes');
    await page.close();
}

/** Reads mails that an application sent. */
export async function visitMailDev(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await sendMails(Number(new URL(base).port) + 1000);
    await open(page, `${base}/`);
    await page.waitForTimeout(1000);
    const mails = (await page.evaluate(async () => await (await fetch('/email')).json())) as { id: string }[];
    for (const { id } of mails.slice(0, 3)) {
        await ask(page, 'GET', `/email/${id}`);
        await ask(page, 'GET', `/email/${id}/html`);
        await ask(page, 'GET', `/email/${id}/source`);
    }
    await ask(page, 'GET', '/config');
    await ask(page, 'GET', '/healthz');
    await ask(page, 'GET', '/email?skip=1');
    for (const subject of ['Tides', 'Ropes']) await ask(page, 'GET', `/email?subject=${subject}`);
    await ask(page, 'PATCH', '/email/read-all');
    for (const { id } of mails.slice(0, 2)) await ask(page, 'DELETE', `/email/${id}`);
    await page.close();
}

async function sendMails(port: number): Promise<void> {
    const { createTransport } = (await import('nodemailer')).default;
    const mailer = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
    for (const subject of ['Tides', 'Ropes', 'Lights'])
        await mailer.sendMail({
            from: 'keeper@harbour.example',
            to: 'crew@harbour.example',
            subject,
            text: `About ${subject}`,
            html: `<p>About ${subject}</p>`,
        });
    mailer.close();
}

export async function open(page: Page, url: string): Promise<void> {
    // Other hosts are unreachable, and some pages never become idle.
    await page.goto(url, { waitUntil: 'domcontentloaded' });
    await page.waitForLoadState('networkidle', { timeout: 1500 }).catch(() => undefined);
}

export async function links(page: Page, like: RegExp): Promise<string[]> {
    const all = await page.$$eval('a[href]', (found) => found.map((one) => (one as unknown as { href: string }).href));
    return [...new Set(all.filter((href) => like.test(href)))];
}

/** One request of the page's script. A text is sent as a form. */
export async function ask(page: Page, method: string, path: string, body?: object | string): Promise<string> {
    return await page.evaluate(
        async ([how, where, sent]) => {
            const type = typeof sent === 'string' ? 'application/x-www-form-urlencoded' : 'application/json';
            const more = sent === undefined ? {} : { body: typeof sent === 'string' ? sent : JSON.stringify(sent) };
            const headers = { accept: 'application/json', ...(sent === undefined ? {} : { 'content-type': type }) };
            return await (await fetch(where, { method: how, headers, ...more })).text();
        },
        [method, path, body] as const,
    );
}
