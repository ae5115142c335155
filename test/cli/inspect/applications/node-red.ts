import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'node-red',
    host: 'flows.test',
    ready: '/settings',
    visit,
    start: (folder, port, npm) => node(npm, 'node-red/red.js', '-p', String(port), '-u', folder),
};

/** Opens the editor of flows, deploys two and lists what is installed. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(1500);
    for (const id of ['a1b2c3d4e5f60001', 'a1b2c3d4e5f60002']) {
        await ask(page, 'POST', '/flow', {
            id,
            label: 'Tides',
            nodes: [{ id: `${id.slice(0, 12)}abcd`, type: 'inject', z: id, name: '', props: [], wires: [[]] }],
            configs: [],
        });
    }
    const flows = (await page.evaluate(async () => await (await fetch('/flows', { headers: { accept: 'application/json' } })).json())) as {
        id: string;
        type: string;
    }[];
    const tabs = flows.filter(({ type }) => type === 'tab').map(({ id }) => id);
    for (const id of tabs) await ask(page, 'GET', `/flow/${id}`);
    for (const id of tabs.slice(0, 2)) await ask(page, 'PUT', `/flow/${id}`, { id, label: 'Tides again', nodes: [], configs: [] });
    for (const id of tabs.slice(0, 2)) await ask(page, 'DELETE', `/flow/${id}`);
    await ask(page, 'GET', '/flows/state');
    await ask(page, 'GET', '/settings');
    await ask(page, 'GET', '/settings/user');
    await ask(page, 'GET', '/nodes');
    for (const name of ['node-red', 'node-red/inject', 'node-red/http in']) await ask(page, 'GET', `/nodes/${encodeURI(name)}`);
    for (const scope of ['global', 'flow/x1y2z3']) await ask(page, 'GET', `/context/${scope}`);
    await ask(page, 'GET', '/diagnostics');
    for (const name of ['first', 'second']) {
        await ask(page, 'POST', `/library/local/flows/${name}.json`, [{ id: 'n1', type: 'comment' }]);
        await ask(page, 'GET', `/library/local/flows/${name}.json`);
    }
    await ask(page, 'GET', '/library/local/flows/');
    for (const locale of ['en-US', 'de', 'ja']) await ask(page, 'GET', `/locales/nodes?lng=${locale}`);
    for (const locale of ['en-US', 'de', 'fr']) await ask(page, 'GET', `/locales/editor?lng=${locale}`);
    await page.close();
}
