import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { askAs, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'kinto',
    host: 'store.test',
    ready: '/v1/',
    visit,
    start: (_folder, port, npm) => `
        ${npm}/../../py/bin/kinto init --ini kinto.ini --backend memory --host 127.0.0.1 --cache-backend memory < /dev/null
        sed -i 's/^kinto.includes.*/kinto.includes = kinto.plugins.default_bucket kinto.plugins.accounts kinto.plugins.history kinto.plugins.flush/; s/^http_port.*//; s/^port *=.*/port = ${port}/' kinto.ini
        printf '\\nkinto.account_create_principals = system.Everyone\\nkinto.experimental_permissions_endpoint = true\\n' > more.txt
        sed -i '/^\\[app:main\\]/r more.txt' kinto.ini
        exec ${npm}/../../py/bin/kinto start --ini kinto.ini --port ${port}`,
};

/** Makes buckets, collections, records and groups, reads, changes and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/v1/`);
    const who = `${KEEPER.user.toLowerCase()}:${KEEPER.password}`;
    const ask = (method: string, path: string, body?: object) => askAs(page, who, method, `/v1${path}`, body);
    const get = (path: string) => ask('GET', path);
    await ask('PUT', `/accounts/${KEEPER.user.toLowerCase()}`, { data: { password: KEEPER.password } });
    await get('/');
    for (const name of ['harbour', 'lighthouse']) await ask('PUT', `/buckets/${name}`, { data: { coast: 'north' } });
    await ask('POST', '/buckets', { data: { coast: 'south' } });
    await ask('POST', '/buckets', { data: { coast: 'east' }, permissions: { read: ['system.Authenticated'] } });
    await get('/buckets');
    await get('/buckets?_limit=1&_sort=-last_modified');
    for (const name of ['harbour', 'lighthouse']) await get(`/buckets/${name}`);
    for (const name of ['harbour', 'lighthouse']) await ask('PATCH', `/buckets/${name}`, { data: { keeper: name } });
    for (const [bucket, collection] of [
        ['harbour', 'boats'],
        ['harbour', 'ropes'],
        ['lighthouse', 'lamps'],
    ]) {
        await ask('PUT', `/buckets/${bucket}/collections/${collection}`, { data: { sort: 'name' } });
        const at = `/buckets/${bucket}/collections/${collection}`;
        await get(at);
        const made: string[] = [];
        for (const [place, name] of ['Tide', 'Fog', 'Bell'].entries()) {
            const answer = await ask('POST', `${at}/records`, { data: { name, size: 8 + place } });
            made.push((JSON.parse(answer) as { data: { id: string } }).data.id);
        }
        await get(`${at}/records`);
        await get(`${at}/records?_limit=2&_sort=name`);
        await get(`${at}/records?name=Fog&_fields=name,size`);
        await get(`${at}/records?min_size=9&_since=1`);
        for (const id of made) await get(`${at}/records/${id}`);
        await ask('PATCH', `${at}/records/${made[0]}`, { data: { size: 20 } });
        await ask('PUT', `${at}/records/${made[1]}`, { data: { name: 'Fog bell', size: 3 } });
        await ask('DELETE', `${at}/records/${made[2]}`);
        await ask('DELETE', `${at}/records?name=Tide`);
    }
    await get('/buckets/harbour/collections');
    await get('/buckets/lighthouse/collections?_limit=5');
    await ask('PATCH', '/buckets/harbour/collections/ropes', { data: { sort: 'size' } });
    await ask('PATCH', '/buckets/harbour/collections/boats', { data: { sort: 'size' } });
    await ask('PUT', '/buckets/harbour/groups/crew', { data: { members: ['account:ada'] } });
    await ask('PUT', '/buckets/harbour/groups/guests', { data: { members: ['account:ben'] } });
    await get('/buckets/harbour/groups');
    await get('/buckets/harbour/groups/crew');
    await get('/buckets/harbour/groups/guests');
    await ask('PATCH', '/buckets/harbour/groups/crew', { data: { members: ['account:ada', 'account:cleo'] } });
    await ask('DELETE', '/buckets/harbour/groups/guests');
    for (const name of ['harbour', 'lighthouse']) await get(`/buckets/${name}/history?_limit=3`);
    await ask('POST', '/batch', {
        defaults: { method: 'POST', path: '/v1/buckets/harbour/collections/boats/records' },
        requests: [{ body: { data: { name: 'Keel' } } }, { body: { data: { name: 'Mast' } } }],
    });
    await ask('POST', '/batch', { requests: [{ method: 'GET', path: '/v1/buckets/harbour' }] });
    await get('/permissions');
    await get('/__heartbeat__');
    await get('/__lbheartbeat__');
    await get('/__version__');
    await ask('DELETE', '/buckets/harbour/collections/ropes');
    await ask('DELETE', '/buckets/lighthouse/collections/lamps');
    await ask('DELETE', '/buckets/lighthouse');
    await page.close();
}
