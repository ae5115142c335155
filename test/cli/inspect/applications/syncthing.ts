import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'syncthing',
    host: 'sync.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        mkdirSync(join(folder, 'sync'));
        const program = join(npm, '../../root', 'usr/bin/syncthing');
        execFileSync(program, ['generate', '--home', folder], { stdio: 'ignore' });
        const config = join(folder, 'config.xml');
        writeFileSync(config, readFileSync(config, 'utf8').replace('</gui>', '<insecureSkipHostcheck>true</insecureSkipHostcheck></gui>'));
        return {
            program,
            args: ['serve', '--home', folder, '--no-browser', '--no-restart', '--gui-address', `127.0.0.1:${port}`],
            env: { STNODEFAULTFOLDER: '', STNOUPGRADE: '1' },
        };
    },
};

/** Opens the pages of a file synchroniser and sets up two folders. */
async function visit(context: BrowserContext, base: string): Promise<void> {
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
