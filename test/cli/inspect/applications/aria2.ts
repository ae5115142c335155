import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'aria2',
    host: 'loads.test',
    ready: '/jsonrpc?method=aria2.getVersion&id=1',
    visit,
    start: (_folder, port) => `${END_ALL}
        aria2c --enable-rpc --rpc-listen-port=${port} --rpc-allow-origin-all --dir=. --enable-dht=false & wait $!`,
};

/** Adds downloads to a queue, reads and changes them, as web clients of aria2 do. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/jsonrpc?method=aria2.getVersion&id=1`);
    const call = async (method: string, ...params: unknown[]) => {
        const answer = await ask(page, 'POST', '/jsonrpc', { jsonrpc: '2.0', id: `web_${method.length}`, method, params });
        return (JSON.parse(answer) as { result: unknown }).result;
    };
    await call('aria2.getVersion');
    const gids: unknown[] = [];
    for (const name of ['tides.txt', 'charts.zip', 'ropes.pdf'])
        gids.push(await call('aria2.addUri', [`http://127.0.0.1:9/${name}`], { pause: 'true', out: name }));
    const keys = ['gid', 'status', 'totalLength', 'completedLength', 'downloadSpeed'];
    for (let turn = 0; turn < 2; turn++) {
        await call('aria2.getGlobalStat');
        await call('aria2.tellActive', keys);
        await call('aria2.tellWaiting', 0, 1000, keys);
        await call('aria2.tellStopped', -1, 1000, keys);
    }
    for (const gid of gids.slice(0, 2)) {
        await call('aria2.tellStatus', gid);
        await call('aria2.getUris', gid);
        await call('aria2.getFiles', gid);
        await call('aria2.getOption', gid);
        await call('aria2.changeOption', gid, { 'max-download-limit': '100K' });
        await call('aria2.changePosition', gid, 1, 'POS_SET');
    }
    await call('aria2.getGlobalOption');
    for (const limit of ['1M', '2M']) await call('aria2.changeGlobalOption', { 'max-overall-download-limit': limit });
    await call('aria2.pauseAll');
    for (const gid of gids.slice(1)) await call('aria2.remove', gid);
    await call('aria2.purgeDownloadResult');
    await call('aria2.getSessionInfo');
    await call('system.listMethods');
    await ask(page, 'POST', '/jsonrpc', [
        { jsonrpc: '2.0', id: 'a', method: 'aria2.getGlobalStat', params: [] },
        { jsonrpc: '2.0', id: 'b', method: 'aria2.tellActive', params: [] },
    ]);
    await page.close();
}
