import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'bepasty',
    host: 'notes.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'settings.py'), SETTINGS);
        return `
            mkdir store
            BEPASTY_CONFIG=${folder}/settings.py exec bepasty-server --host 127.0.0.1 --port ${port}`;
    },
};

/** Pastes some texts, reads them, changes what they are called, locks and deletes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const places: string[] = [];
    for (const name of ['tides', 'ropes', 'fog']) {
        await open(page, base);
        await page.fill('textarea[name=text] >> nth=0', `High water\nand low water of ${name}`);
        await page.fill('input[name=filename] >> nth=0', `${name}.txt`);
        await press(page, '#formupload-submit');
        places.push(new URL(page.url()).pathname);
    }
    await open(page, `${base}/+list`);
    for (const place of places.slice(0, 2)) {
        await open(page, base + place);
        await ask(page, 'GET', `${place}/+inline`);
        await open(page, `${base}${place}/+qr`);
        await ask(page, 'POST', `${place}/+modify`, 'filename=changed.txt&contenttype=text%2Fplain');
        await ask(page, 'POST', `${place}/+lock`, '');
        await ask(page, 'POST', `${place}/+unlock`, '');
    }
    await ask(page, 'GET', '/apis/rest');
    await ask(page, 'GET', '/apis/rest/items');
    for (const place of places.slice(0, 2)) {
        await ask(page, 'GET', `/apis/rest/items${place}`);
        await ask(page, 'GET', `/apis/rest/items${place}/download`);
        await ask(page, 'POST', `/apis/rest/items${place}/modify`, { filename: 'again.txt', type: 'text/plain' });
        await ask(page, 'POST', `/apis/rest/items${place}/lock`);
        await ask(page, 'POST', `/apis/rest/items${place}/unlock`);
    }
    await ask(page, 'POST', `${places[2]}/+delete`, '');
    await ask(page, 'POST', `/apis/rest/items${places[1]}/delete`);
    await page.close();
}

const SETTINGS = `
import os
SITENAME = 'notes.test'
SECRET_KEY = 'harbour'
STORAGE_FILESYSTEM_DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'store')
DEFAULT_PERMISSIONS = 'admin,list,create,modify,read,delete'
`;
