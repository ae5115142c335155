import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'cloudcmd',
    host: 'files.test',
    ready: '/api/v1',
    visit,
    start: (folder, port, npm) => `
        mkdir -p files/boats files/lights && for name in tides ropes boats/oars boats/sails lights/green; do echo "Words of $name" > files/$name.txt; done
        exec ${process.execPath} ${npm}/cloudcmd/bin/cloudcmd.mjs --port ${port} --root ${folder}/files --no-open --no-auth --no-terminal --no-console --no-online`,
};

/** Walks through folders in a file manager, and reads, writes, renames, copies and deletes files by its API. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const folder of ['boats', 'lights']) await open(page, `${base}/fs/${folder}/`);
    const fs = '/api/v1/fs';
    await ask(page, 'GET', '/api/v1');
    await ask(page, 'GET', '/api/v1/config');
    await ask(page, 'PATCH', '/api/v1/config', { confirmCopy: false });
    await ask(page, 'PATCH', '/api/v1/config', { confirmMove: false, tabSize: 2 });
    await ask(page, 'GET', `${fs}/`);
    for (const folder of ['boats', 'lights'])
        for (const query of ['', '?sort=size&order=desc', '?sort=time&order=asc', '?size'])
            await ask(page, 'GET', `${fs}/${folder}/${query}`);
    for (const file of ['tides.txt', 'ropes.txt', 'boats/oars.txt', 'lights/green.txt'])
        for (const query of ['', '?size', '?hash', '?raw-size', '?download'])
            await ask(page, 'GET', fs + (query === '' ? `/${file}` : `/${file}${query}`));
    for (const file of ['anchors.txt', 'horns.txt', 'boats/masts.txt', 'lights/red.txt']) {
        await send(page, 'PUT', `${fs}/${file}`, `Words of ${file}`);
        await ask(page, 'GET', `${fs}/${file}`);
    }
    for (const folder of ['old', 'new', 'boats/small', 'lights/long']) await ask(page, 'PUT', `${fs}/${folder}?dir`);
    const act = (name: string, body: object) => ask(page, 'PUT', `/api/v1/${name}`, body);
    await act('rename', { from: '/anchors.txt', to: '/anchor.txt' });
    await act('rename', { from: '/boats/masts.txt', to: '/boats/mast.txt' });
    await act('copy', { from: '/', to: '/old/', names: ['tides.txt'] });
    await act('copy', { from: '/boats/', to: '/new/', names: ['oars.txt', 'sails.txt'] });
    await act('move', { from: '/', to: '/old/', names: ['anchor.txt'] });
    await act('move', { from: '/boats/', to: '/new/', names: ['mast.txt'] });
    await act('pack', { from: '/', to: '/ropes.tar.gz', names: ['ropes.txt'] });
    await act('pack', { from: '/boats/', to: '/boats/all.tar.gz', names: ['sails.txt'] });
    for (const file of ['horns.txt', 'boats/small', 'lights/red.txt']) await ask(page, 'DELETE', `${fs}/${file}`);
    for (const [folder, file] of [
        ['old', 'tides.txt'],
        ['new', 'oars.txt'],
    ])
        await send(page, 'DELETE', `${fs}/${folder}?files`, JSON.stringify([file]));
    await page.close();
}

/** A request of the page's script that sends a plain text. */
async function send(page: Page, method: string, path: string, text: string): Promise<void> {
    await page.evaluate(
        async ([how, where, body]) => {
            await (await fetch(where, { method: how, headers: { 'content-type': 'text/plain' }, body })).text();
        },
        [method, path, text] as const,
    );
}
