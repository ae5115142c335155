import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'nzbget',
    host: 'news.test',
    ready: '/',
    visit,
    start: (folder, port) => `
        exec nzbget -s -n -o MainDir=${folder} -o ControlPort=${port} -o ControlIP=127.0.0.1 -o ControlPassword= \\
            -o WebDir=/usr/share/nzbget/webui -o OutputMode=log`,
};

/** Opens the page of a downloader, and calls its methods by GET and by JSON. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(2000);
    for (const name of ['version', 'status', 'config', 'listgroups', 'servervolumes']) await ask(page, 'GET', `/jsonrpc/${name}`);
    const call = async (method: string, ...params: unknown[]): Promise<unknown> =>
        (JSON.parse(await ask(page, 'POST', '/jsonrpc', { method, params })) as { result: unknown }).result;
    const names = ['ropes', 'tides'];
    const ids: unknown[] = [];
    for (const name of names) {
        const list = `<?xml version="1.0"?><nzb xmlns="http://www.newzbin.com/DTD/2003/nzb"><file poster="keeper" date="1" subject="&quot;${name}.txt&quot; (1/1)"><groups><group>harbour</group></groups><segments><segment bytes="10" number="1">${name}@harbour.example</segment></segments></file></nzb>`;
        ids.push(await call('append', `${name}.nzb`, Buffer.from(list).toString('base64'), 'Quay', 0, false, true, name, 0, 'SCORE', []));
    }
    for (const method of ['pausedownload', 'resumedownload', 'pausepost', 'resumepost']) await call(method);
    for (const id of ids) {
        await call('listfiles', 0, 0, id);
        await call('editqueue', 'GroupPause', '', [id]);
        await call('editqueue', 'GroupSetName', `Words ${id}`, [id]);
    }
    for (const hidden of [true, false]) await call('history', hidden);
    for (const first of [0, 3]) await call('log', first, 10);
    for (const name of names) await call('writelog', 'INFO', `About ${name}`);
    for (const speed of [100, 0]) await call('rate', speed);
    for (const seconds of [60, 90]) await call('scheduleresume', seconds);
    for (const wait of [true, false]) await call('scan', wait);
    for (const method of ['status', 'config', 'clearlog']) await call(method);
    await page.close();
}
