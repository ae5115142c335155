import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'deluge',
    host: 'floods.test',
    ready: '/',
    visit,
    start: (folder, port) => `${END_ALL}
        deluged -d -c ${folder} -u 127.0.0.1 -p 58846 &
        until [ -s auth ]; do :; done
        deluge-web -d -c ${folder} -p ${port} -i 127.0.0.1 & wait $!`,
};

/** Signs in to the web client of another torrent program, which calls everything by JSON-RPC. */
async function visit(context: BrowserContext, base: string): Promise<void> {
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
