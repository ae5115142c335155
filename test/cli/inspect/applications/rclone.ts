import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'rclone',
    host: 'copies.test',
    ready: '/[lamps:]/',
    visit,
    start: (folder, port) => `
        mkdir -p harbour/boats lights && echo 'High water' > harbour/tides.txt && echo 'Long ropes' > harbour/boats/ropes.txt && echo 'Green' > lights/green.txt
        printf '[tide files]\\ntype = alias\\nremote = ${folder}/harbour\\n[lamps]\\ntype = alias\\nremote = ${folder}/lights\\n' > rclone.conf
        exec rclone rcd --rc-addr 127.0.0.1:${port} --rc-no-auth --rc-serve --config ${folder}/rclone.conf`,
};

/** Calls a program that copies files: lists, copies and deletes some, and changes its stores and options. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['[tide%20files:]/', '[tide%20files:]/boats/', '[lamps:]/']) await open(page, `${base}/${path}`);
    const call = (path: string, body: object = {}) => ask(page, 'POST', `/${path}`, body);
    for (const path of [
        'rc/list',
        'core/version',
        'core/stats',
        'core/memstats',
        'core/pid',
        'core/transferred',
        'core/group-list',
        'job/list',
        'mount/types',
    ])
        await call(path);
    for (const path of [
        'config/listremotes',
        'config/dump',
        'config/providers',
        'options/blocks',
        'options/get',
        'options/local',
        'fscache/entries',
        'vfs/list',
    ])
        await call(path);
    for (const value of ['tides', 'ropes']) await call('rc/noop', { potato: value });
    for (const name of ['tide files', 'lamps']) {
        const fs = `${name}:`;
        await call('config/get', { name });
        await call('operations/fsinfo', { fs });
        await call('operations/about', { fs });
        await call('operations/size', { fs });
        await call('operations/list', { fs, remote: '', opt: { recurse: name === 'lamps', noModTime: true } });
        await call('operations/stat', { fs, remote: name === 'lamps' ? 'green.txt' : 'tides.txt' });
        await call('operations/mkdir', { fs, remote: `new-${name.length}` });
        await call('operations/copyfile', {
            srcFs: 'lamps:',
            srcRemote: 'green.txt',
            dstFs: fs,
            dstRemote: `new-${name.length}/green.txt`,
        });
        await call('operations/movefile', {
            srcFs: fs,
            srcRemote: `new-${name.length}/green.txt`,
            dstFs: fs,
            dstRemote: `copy-of-${name.length}.txt`,
        });
        await call('operations/deletefile', { fs, remote: `copy-of-${name.length}.txt` });
        await call('operations/rmdir', { fs, remote: `new-${name.length}` });
        await call('operations/mkdir', { fs, remote: 'old' });
        await call('operations/purge', { fs, remote: 'old' });
    }
    for (const [srcFs, dstFs] of [
        ['lamps:', 'tide files:lamps'],
        ['tide files:boats', 'lamps:boats'],
    ]) {
        await call('sync/copy', { srcFs, dstFs });
        await call('sync/sync', { srcFs, dstFs, createEmptySrcDirs: true });
        const { jobid } = JSON.parse(await call('sync/copy', { srcFs, dstFs, _async: true })) as { jobid: number };
        await call('job/status', { jobid });
        await call('core/stats', { group: `job/${jobid}` });
        await call('core/transferred', { group: `job/${jobid}` });
    }
    for (const name of ['ropes', 'horns']) {
        await call('config/create', { name, type: 'alias', parameters: { remote: 'lamps:' } });
        await call('config/update', { name, parameters: { remote: 'tide files:' } });
        await call('config/delete', { name });
    }
    for (const rate of ['1M', 'off']) await call('core/bwlimit', { rate });
    for (const clear of ['High water', 'Low water']) await call('core/obscure', { clear });
    for (const level of ['DEBUG', 'NOTICE']) await call('options/set', { main: { LogLevel: level } });
    await call('core/stats-reset');
    await call('fscache/clear');
    await call('core/gc');
    await page.close();
}
