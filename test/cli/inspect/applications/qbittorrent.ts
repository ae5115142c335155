import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'qbittorrent',
    host: 'seeds.test',
    ready: '/',
    visit,
    start(folder, port) {
        const config = join(folder, 'qBittorrent/config');
        mkdirSync(config, { recursive: true });
        const web = ['Address=127.0.0.1', `Port=${port}`, 'LocalHostAuth=false', 'HostHeaderValidation=false', 'CSRFProtection=false'];
        const lines = ['[LegalNotice]', 'Accepted=true', '[Preferences]', ...web.map((line) => `WebUI\\${line}`)];
        writeFileSync(join(config, 'qBittorrent.conf'), `${lines.join('\n')}\n`);
        return `exec qbittorrent-nox --profile=${folder}`;
    },
};

/** Opens the web client of a torrent program, adds torrents, and works with them, with categories and with settings. */
async function visit(context: BrowserContext, base: string): Promise<void> {
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
