import type { BrowserContext } from 'playwright-core';
import { ask, links, open } from './recorded-visits.ts';

/** Browses repositories: change sets, files, branches, help and feeds. */
export async function visitHgweb(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const name of ['harbour', 'tides']) {
        const here = `${base}/${name}`;
        await open(page, here);
        const changes = await links(page, /\/rev\/[0-9a-f]{12}$/);
        for (const change of changes.slice(0, 3)) await open(page, change);
        for (const rev of changes.slice(0, 2).map((change) => change.split('/').at(-1))) {
            await open(page, `${here}/shortlog/${rev}`);
            await open(page, `${here}/shortlog/${rev}?revcount=120`);
            await open(page, `${here}/file/${rev}`);
            await open(page, `${here}/diff/${rev}/README`);
            await ask(page, 'GET', `/${name}/raw-rev/${rev}`);
            await open(page, `${here}/file/${rev}/README`);
            await open(page, `${here}/file/${rev}/src/first.c`);
            await open(page, `${here}/log/${rev}/README`);
            await open(page, `${here}/annotate/${rev}/README`);
            await ask(page, 'GET', `/${name}/raw-file/${rev}/README`);
            await open(page, `${here}/graph/${rev}`);
        }
        await open(page, `${here}/file/tip`);
        for (const path of ['README', 'src', 'notes']) await open(page, `${here}/file/tip/${path}`);
        for (const path of ['src/first.c', 'src/second.c', 'notes/ropes.txt']) await open(page, `${here}/file/tip/${path}`);
        for (const path of ['README', 'calm.txt']) {
            await open(page, `${here}/log/tip/${path}`);
            await open(page, `${here}/annotate/tip/${path}`);
            await ask(page, 'GET', `/${name}/raw-file/tip/${path}`);
        }
        for (const place of ['graph/tip', 'tags', 'bookmarks', 'branches', 'help']) await open(page, `${here}/${place}`);
        for (const topic of ['revsets', 'dates']) await open(page, `${here}/help/${topic}`);
        for (const words of ['second', 'calm']) {
            await open(page, `${here}/log`);
            await page.fill('input[name=rev]', words);
            await Promise.all([page.waitForNavigation(), page.press('input[name=rev]', 'Enter')]);
        }
        for (const feed of ['atom-log', 'rss-log']) await ask(page, 'GET', `/${name}/${feed}`);
    }
    await page.close();
}

/** Looks at printers and their jobs, searches, reads the help, and releases and cancels jobs. */
export async function visitCups(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/printers/', '/classes/', '/jobs/', '/help/']) await open(page, base + path);
    for (const words of ['mole', 'quay']) {
        await open(page, `${base}/printers/`);
        await page.fill('input[name=QUERY]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=QUERY]', 'Enter')]);
    }
    for (const name of ['Mole', 'Quay']) {
        await open(page, `${base}/printers/${name}`);
        await open(page, `${base}/printers/${name}?which_jobs=completed`);
        await open(page, `${base}/printers/${name}?which_jobs=all`);
    }
    for (const name of ['Office', 'Wharf']) await open(page, `${base}/classes/${name}`);
    for (const which of ['completed', 'all']) await open(page, `${base}/jobs/?which_jobs=${which}`);
    for (const words of ['tide', 'rope']) {
        await open(page, `${base}/jobs/`);
        await page.fill('input[name=QUERY]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=QUERY]', 'Enter')]);
    }
    for (const label of ['Release Job', 'Release Job', 'Cancel Job', 'Cancel Job']) {
        await open(page, `${base}/jobs/`);
        await Promise.all([page.waitForNavigation(), page.locator(`input[value="${label}"]`).last().click()]);
    }
    for (const topic of ['Getting+Started', 'Man+Pages']) await open(page, `${base}/help/?TOPIC=${topic}&QUERY=`);
    for (const words of ['printer', 'option']) {
        await open(page, `${base}/help/`);
        await page.fill('input[name=QUERY]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=QUERY]', 'Enter')]);
    }
    for (const text of ['overview', 'options', 'network']) await open(page, `${base}/help/${text}.html`);
    await page.close();
}

/** Opens the web client of a torrent program, adds torrents, and works with them, with categories and with settings. */
export async function visitQbittorrent(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(4000);
    const hashes = ['1', '2', '3'].map((digit) => digit.repeat(40));
    const send = (path: string, form: Record<string, string>) => ask(page, 'POST', `/api/v2/${path}`, new URLSearchParams(form).toString());
    const get = (path: string) => ask(page, 'GET', `/api/v2/${path}`);
    for (const [place, name] of ['ropes', 'lights', 'tides'].entries())
        await send('torrents/add', { urls: `magnet:?xt=urn:btih:${hashes[place]}&dn=${name}`, paused: 'true' });
    for (const category of ['Harbour', 'Boats']) await send('torrents/createCategory', { category, savePath: '' });
    for (const filter of ['all', 'paused', 'downloading']) await get(`torrents/info?filter=${filter}&sort=name`);
    for (const hash of hashes.slice(0, 2)) {
        for (const part of ['properties', 'trackers', 'files', 'webseeds']) await get(`torrents/${part}?hash=${hash}`);
        for (const rid of [0, 1]) await get(`sync/torrentPeers?hash=${hash}&rid=${rid}`);
        await send('torrents/setCategory', { hashes: hash, category: 'Harbour' });
        await send('torrents/addTags', { hashes: hash, tags: 'sea,salt' });
        await send('torrents/setDownloadLimit', { hashes: hash, limit: '1048576' });
        await send('torrents/resume', { hashes: hash });
        await send('torrents/pause', { hashes: hash });
        await send('torrents/recheck', { hashes: hash });
    }
    for (const path of ['torrents/categories', 'torrents/tags', 'app/version', 'app/webapiVersion', 'app/buildInfo', 'app/preferences'])
        await get(path);
    for (const path of ['app/defaultSavePath', 'transfer/info', 'transfer/speedLimitsMode']) await get(path);
    for (const limit of ['2097152', '4194304']) await send('transfer/setDownloadLimit', { limit });
    for (const normal of ['true', 'false']) await get(`log/main?normal=${normal}&last_known_id=-1`);
    for (const id of ['-1', '2']) await get(`log/peers?last_known_id=${id}`);
    for (const itemPath of ['News', 'Notices']) await send('rss/addFolder', { path: itemPath });
    for (const withData of ['true', 'false']) await get(`rss/items?withData=${withData}`);
    for (const category of ['Harbour', 'Boats']) await send('torrents/removeCategories', { categories: category });
    for (const hash of hashes.slice(1)) await send('torrents/delete', { hashes: hash, deleteFiles: 'false' });
    await page.close();
}

/** Signs in to the web client of another torrent program, which calls everything by JSON-RPC. */
export async function visitDeluge(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(3000);
    let number = 1000;
    const call = async (method: string, ...params: unknown[]): Promise<unknown> => {
        number += 1;
        return (JSON.parse(await ask(page, 'POST', '/json', { method, params, id: number })) as { result: unknown }).result;
    };
    await call('auth.login', 'deluge');
    const hosts = (await call('web.get_hosts')) as [string][];
    const host = hosts[0]?.[0] ?? '';
    await call('web.get_host_status', host);
    await call('web.connect', host);
    for (const _ of [1, 2]) await call('web.connected');
    const hashes = ['1', '2', '3'].map((digit) => digit.repeat(40));
    for (const [place, name] of ['ropes', 'lights', 'tides'].entries())
        await call('core.add_torrent_magnet', `magnet:?xt=urn:btih:${hashes[place]}&dn=${name}`, { add_paused: true });
    for (const state of [{}, { state: 'Paused' }]) await call('web.update_ui', ['name', 'progress', 'state'], state);
    for (const hash of hashes.slice(0, 2)) {
        await call('web.get_torrent_status', hash, ['name', 'hash', 'state']);
        await call('web.get_torrent_files', hash);
        await call('core.resume_torrent', [hash]);
        await call('core.pause_torrent', [hash]);
        await call('core.set_torrent_options', [hash], { max_download_speed: 50 });
    }
    for (const _ of [1, 2]) {
        await call('core.get_config');
        await call('core.get_session_state');
        await call('web.get_config');
        await call('web.get_plugins');
    }
    for (const path of ['/srv', '/tmp']) await call('core.get_free_space', path);
    for (const key of ['max_download_speed', 'max_upload_speed']) await call('core.get_config_value', key);
    for (const speed of [100, 200]) await call('core.set_config', { max_download_speed: speed });
    for (const hash of hashes.slice(1)) await call('core.remove_torrent', hash, false);
    await page.close();
}

/** Opens the console of a document database; writes, reads, finds and deletes documents. */
export async function visitPouchdb(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/_utils/`);
    await page.waitForTimeout(3000);
    const json = async (method: string, path: string, body?: object) => JSON.parse(await ask(page, method, path, body)) as unknown;
    for (const name of ['boats', 'berths']) {
        await json('PUT', `/${name}`);
        const written: { id: string; rev: string }[] = [];
        for (const id of ['ada', 'grace', 'mary'])
            written.push((await json('PUT', `/${name}/${id}`, { title: `About ${id}`, length: 9 })) as { id: string; rev: string });
        for (const title of ['First', 'Second']) await json('POST', `/${name}`, { title, length: 7 });
        for (const { id } of written) await json('GET', `/${name}/${id}`);
        await json('GET', `/${name}`);
        for (const skip of [0, 2]) await json('GET', `/${name}/_all_docs?include_docs=true&limit=2&skip=${skip}`);
        for (const since of [0, 3]) await json('GET', `/${name}/_changes?since=${since}&limit=5`);
        await json('POST', `/${name}/_bulk_docs`, {
            docs: [
                { _id: 'x1', title: 'One' },
                { _id: 'x2', title: 'Two' },
            ],
        });
        await json('POST', `/${name}/_index`, { index: { fields: ['length'] }, name: 'by-length' });
        await json('GET', `/${name}/_index`);
        for (const length of [7, 9]) await json('POST', `/${name}/_find`, { selector: { length }, limit: 10 });
        for (const { id, rev } of written.slice(1)) await json('DELETE', `/${name}/${id}?rev=${rev}`);
        await json('POST', `/${name}/_compact`, {});
    }
    for (const path of ['/', '/_all_dbs', '/_session', '/_active_tasks']) await json('GET', path);
    for (const count of [1, 3]) await json('GET', `/_uuids?count=${count}`);
    for (const name of ['boats', 'berths']) await open(page, `${base}/_utils/#/database/${name}/_all_docs`);
    await page.waitForTimeout(1500);
    await json('DELETE', '/berths');
    await json('DELETE', '/boats');
    await page.close();
}

/** Opens the explorer of a database's GraphQL and works with boats and their owners. */
export async function visitPostgraphile(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/graphiql`);
    await page.waitForTimeout(2500);
    const send = (operationName: string, query: string, variables: object) =>
        ask(page, 'POST', '/graphql', { operationName, query, variables });
    for (const offset of [0, 4, 8])
        await send(
            'Boats',
            'query Boats($first: Int!, $offset: Int) { allBoats(first: $first, offset: $offset, orderBy: NAME_ASC) { totalCount nodes { nodeId id name length afloat } pageInfo { hasNextPage } } }',
            { first: 4, offset },
        );
    for (const id of [1, 2])
        await send('Boat', 'query Boat($id: Int!) { boatById(id: $id) { id name length ownerByOwnerId { id name } } }', { id });
    for (const term of ['1', '2'])
        await send('SearchBoats', 'query SearchBoats($term: String) { searchBoats(term: $term) { nodes { id name } } }', { term });
    for (const _ of [1, 2]) await send('Owners', 'query Owners { allOwners { nodes { id name berth } } }', {});
    for (const berth of ['A1', 'A2'])
        await send(
            'OwnersOfBerth',
            'query OwnersOfBerth($berth: String) { allOwners(condition: { berth: $berth }) { nodes { id name } } }',
            {
                berth,
            },
        );
    for (const name of ['Rope', 'Kettle'])
        await send(
            'AddBoat',
            'mutation AddBoat($name: String!, $owner: Int) { createBoat(input: { boat: { name: $name, ownerId: $owner } }) { boat { id name } } }',
            { name, owner: 1 },
        );
    for (const [id, name] of [
        [3, 'Fog'],
        [4, 'Bell'],
    ] as const)
        await send(
            'RenameBoat',
            'mutation RenameBoat($id: Int!, $name: String!) { updateBoatById(input: { id: $id, boatPatch: { name: $name } }) { boat { id name } } }',
            { id, name },
        );
    for (const id of [11, 12])
        await send('RemoveBoat', 'mutation RemoveBoat($id: Int!) { deleteBoatById(input: { id: $id }) { deletedBoatId } }', { id });
    await page.close();
}
