import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'etcd',
    host: 'keys.test',
    ready: '/health',
    visit,
    start: (_, port) =>
        `exec etcd --data-dir data --enable-v2 --listen-client-urls http://127.0.0.1:${port} --advertise-client-urls http://127.0.0.1:${port} --listen-peer-urls http://127.0.0.1:${port + 1000}`,
};

/** Calls a store of keys: its remote procedures, whose keys are Base64, and the paths of its older API. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/version`);
    await ask(page, 'GET', '/health');
    const call = async (path: string, body: object = {}) =>
        JSON.parse(await ask(page, 'POST', `/v3/${path}`, body)) as { ID?: string; header?: { revision?: string } };
    const key = (text: string) => Buffer.from(text).toString('base64');
    const leases: string[] = [];
    for (const TTL of [600, 900]) {
        const { ID = '' } = await call('lease/grant', { TTL });
        leases.push(ID);
        await call('lease/timetolive', { ID, keys: TTL === 600 });
        await call('lease/keepalive', { ID });
    }
    for (const name of ['boats/gull', 'boats/tern', 'lights/green', 'ropes/hemp']) {
        await call('kv/put', { key: key(name), value: key(`Words about ${name}`) });
        await call('kv/range', { key: key(name) });
    }
    await call('kv/put', { key: key('lights/red'), value: key('Port'), lease: leases[0], prev_kv: true });
    for (const [name, limit] of [
        ['boats', 2],
        ['lights', 5],
    ] as const)
        await call('kv/range', { key: key(`${name}/`), range_end: key(`${name}0`), limit, sort_order: 'DESCEND', sort_target: 'KEY' });
    for (const name of ['boats/gull', 'lights/green'])
        await call('kv/txn', {
            compare: [{ key: key(name), target: 'VERSION', result: 'EQUAL', version: 1 }],
            success: [{ requestPut: { key: key(name), value: key('New words') } }],
            failure: [{ requestRange: { key: key(name) } }],
        });
    for (const name of ['ropes/hemp', 'boats/tern']) await call('kv/deleterange', { key: key(name), prev_kv: true });
    const { header } = await call('kv/range', { key: key('boats/gull') });
    await call('kv/compaction', { revision: Number(header?.revision) - 1 });
    await call('kv/compaction', { revision: Number(header?.revision) });
    await call('lease/leases');
    for (const ID of leases) await call('lease/revoke', { ID });
    for (const path of ['cluster/member/list', 'maintenance/status', 'maintenance/hash', 'maintenance/defragment']) await call(path);
    for (const action of ['GET', 'DEACTIVATE']) await call('maintenance/alarm', { action });
    for (const name of ['reader', 'writer']) {
        await call('auth/role/add', { name });
        await call('auth/role/grant', { name, perm: { permType: 'READ', key: key('boats/'), range_end: key('boats0') } });
        await call('auth/role/get', { role: name });
        await call('auth/user/add', { name: `mate-${name}`, password: `Leuchtfeuer-${name}` });
        await call('auth/user/grant', { user: `mate-${name}`, role: name });
        await call('auth/user/get', { name: `mate-${name}` });
        await call('auth/user/revoke', { name: `mate-${name}`, role: name });
    }
    await call('auth/role/list');
    await call('auth/user/list');
    for (const name of ['reader', 'writer']) {
        await call('auth/user/delete', { name: `mate-${name}` });
        await call('auth/role/delete', { role: name });
    }
    for (const [path, value] of [
        ['boats/gull', 'White'],
        ['boats/tern', 'Grey'],
        ['lights/green', 'Starboard'],
    ] as const) {
        await ask(page, 'PUT', `/v2/keys/${path}`, `value=${value}`);
        await ask(page, 'GET', `/v2/keys/${path}`);
    }
    for (const folder of ['boats', 'lights']) {
        await ask(page, 'GET', `/v2/keys/${folder}?recursive=true&sorted=true`);
        await ask(page, 'POST', `/v2/keys/${folder}`, `value=${folder}+next`);
    }
    for (const path of ['boats/tern', 'lights/green']) await ask(page, 'DELETE', `/v2/keys/${path}`);
    for (const path of ['members', 'stats/self', 'stats/store', 'stats/leader']) await ask(page, 'GET', `/v2/${path}`);
    await ask(page, 'GET', '/metrics');
    await page.close();
}
