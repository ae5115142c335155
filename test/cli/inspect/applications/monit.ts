import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open, settled } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'monit',
    host: 'watch.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'monitrc'),
            `set daemon 5\nset log ${folder}/monit.log\nset pidfile ${folder}/monit.pid\nset idfile ${folder}/monit.id\nset statefile ${folder}/monit.state\n` +
                `set httpd port ${port} and use address 127.0.0.1\n    allow 127.0.0.1\ncheck system harbour\n` +
                ['journal', 'chart', 'pilot'].map((name) => `check file ${name} with path ${folder}/monitrc\n`).join(''),
        );
        return 'chmod 600 monitrc && exec monit -I -c monitrc';
    },
};

/** Reads what a monitor watches, pauses and resumes two of its services, and asks for its state as text and XML. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/harbour', '/journal', '/chart', '/pilot', '/_runtime', '/_about']) await open(page, base + path);
    for (const name of ['journal', 'chart']) {
        for (const _ of ['unmonitor', 'monitor']) {
            await open(page, `${base}/${name}`);
            await settled(page, () => page.locator('form[method=POST] input[type=submit]').first().click());
        }
    }
    for (const action of ['validate']) {
        await open(page, `${base}/_runtime`);
        await settled(page, () => page.locator(`form:has(input[value=${action}]) input[type=submit]`).click());
    }
    await open(page, `${base}/_runtime`);
    await settled(page, () => page.locator('form[action=_viewlog] input[type=submit]').click());
    for (const path of [
        '/_status',
        '/_status?format=xml',
        '/_status?format=text',
        '/_status?format=xml&level=full',
        '/_report',
        '/_report?type=up',
        '/_report?type=down',
        '/_getid',
        '/_ping',
    ])
        await ask(page, 'GET', path);
    await page.close();
}
