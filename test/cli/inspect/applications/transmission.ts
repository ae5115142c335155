import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'transmission',
    host: 'torrents.test',
    ready: '/transmission/web/',
    visit,
    start(folder, port, npm) {
        const web = join(npm, '../../root', 'usr/share/transmission/web');
        writeFileSync(
            join(folder, 'settings.json'),
            JSON.stringify({
                'rpc-port': port,
                'rpc-whitelist-enabled': false,
                'rpc-host-whitelist-enabled': false,
                'rpc-bind-address': '127.0.0.1',
                'dht-enabled': false,
                'download-dir': folder,
            }),
        );
        return {
            program: join(npm, '../../root', 'usr/bin/transmission-daemon'),
            args: ['-f', '-g', folder],
            env: { TRANSMISSION_WEB_HOME: web, LD_LIBRARY_PATH: join(npm, '../../root', 'usr/lib/x86_64-linux-gnu') },
        };
    },
};

/** Opens the web client of a torrent daemon, adds torrents, and requests their data. */
async function visit(context: BrowserContext, base: string): Promise<void> {
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
