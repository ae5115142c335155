import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'powerdns',
    host: 'names.test',
    ready: '/metrics',
    visit,
    start: (folder, port) => `
        sqlite3 names.sqlite < /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
        exec pdns_server --config-dir=${folder} --launch=gsqlite3 --gsqlite3-database=names.sqlite --gsqlite3-dnssec --default-ksk-algorithm=ecdsa256 --default-zsk-algorithm=ecdsa256 --local-address=127.0.0.1 --local-port=${port + 2000} --socket-dir=${folder} --api --api-key=${KEY} --webserver --webserver-address=127.0.0.1 --webserver-port=${port} --webserver-allow-from=127.0.0.1 --daemon=no`,
};

const KEY = 'planted-key-of-names';

/** Keeps the zones of a name server by its API: their records, keys and settings. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/api/docs`);
    const call = async (method: string, path: string, body?: object): Promise<string> =>
        await page.evaluate(
            async ([key, how, where, sent]) => {
                const headers = { 'x-api-key': key, 'content-type': 'application/json' };
                return await (
                    await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
                ).text();
            },
            [KEY, method, `/api${path}`, body] as const,
        );
    const server = '/v1/servers/localhost';
    for (const path of ['', '/v1/servers', server, `${server}/config`]) await call('GET', path);
    for (const name of ['uptime', 'qsize-q']) await call('GET', `${server}/statistics?statistic=${name}`);
    for (const [zone, host] of [
        ['harbour.example.', 'lamp'],
        ['lights.example.', 'rope'],
    ] as const) {
        const native = zone.startsWith('lights');
        await call('POST', `${server}/zones`, { name: zone, kind: native ? 'Native' : 'Master', nameservers: [`ns.${zone}`] });
        await call('GET', `${server}/zones`);
        await call('GET', `${server}/zones?zone=${zone}`);
        const at = `${server}/zones/${zone}`;
        await call('GET', at);
        await call('GET', `${at}?rrsets=false`);
        const records = [{ content: native ? '192.0.2.7' : '192.0.2.9', disabled: false }];
        await call('PATCH', at, { rrsets: [{ name: `${host}.${zone}`, type: 'A', ttl: 300, changetype: 'REPLACE', records }] });
        await call('PUT', at, { kind: native ? 'Master' : 'Native' });
        await call('PUT', `${at}/rectify`);
        await call('GET', `${at}/export`);
        for (const keytype of ['ksk', 'zsk']) {
            const { id } = JSON.parse(await call('POST', `${at}/cryptokeys`, { keytype, active: native })) as { id: number };
            await call('GET', `${at}/cryptokeys/${id}`);
            await call('PUT', `${at}/cryptokeys/${id}`, { active: !native });
        }
        const keys = JSON.parse(await call('GET', `${at}/cryptokeys`)) as { id: number }[];
        await call('DELETE', `${at}/cryptokeys/${keys[0]?.id}`);
        await call('GET', `${at}/metadata`);
        for (const kind of ['ALLOW-AXFR-FROM', 'ALSO-NOTIFY']) {
            await call('POST', `${at}/metadata`, { kind, metadata: ['192.0.2.1'] });
            await call('PUT', `${at}/metadata/${kind}`, { metadata: ['192.0.2.2'] });
            await call('GET', `${at}/metadata/${kind}`);
            await call('DELETE', `${at}/metadata/${kind}`);
        }
        await call('GET', `${server}/search-data?q=*${host}*&max=${native ? 10 : 20}&object_type=${native ? 'all' : 'record'}`);
        await call('PUT', `${server}/cache/flush?domain=${zone}`);
        const { id } = JSON.parse(
            await call('POST', `${server}/tsigkeys`, { name: `key-of-${host}`, algorithm: native ? 'hmac-md5' : 'hmac-sha256' }),
        ) as { id: string };
        await call('GET', `${server}/tsigkeys/${id}`);
        await call('GET', `${server}/tsigkeys`);
        await call('DELETE', `${server}/tsigkeys/${id}`);
        const ip = native ? '192.0.2.20' : '192.0.2.21';
        await call('POST', `${server}/autoprimaries`, { ip, nameserver: `ns.${host}.example`, account: host });
        await call('GET', `${server}/autoprimaries`);
        await call('DELETE', `${server}/autoprimaries/${ip}/ns.${host}.example`);
    }
    for (const zone of ['harbour.example.', 'lights.example.']) await call('DELETE', `${server}/zones/${zone}`);
    await page.close();
}
