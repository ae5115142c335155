import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'homebridge',
    host: 'home.test',
    ready: '/api/auth/settings',
    visit,
    start(folder, port, npm) {
        mkdirSync(join(folder, 'storage'));
        const bridge = { name: 'Harbour', username: '0E:21:3B:4C:5D:6E', port: port + 1000, pin: '031-45-154' };
        const platform = { platform: 'config', name: 'Config', port, auth: 'none', host: '127.0.0.1' };
        writeFileSync(join(folder, 'storage/config.json'), JSON.stringify({ bridge, accessories: [], platforms: [platform] }));
        const program = join(npm, 'homebridge-config-ui-x/dist/bin/hb-service.js');
        // It takes no newer version of Node.js.
        return { program: '/usr/bin/node', args: [program, 'run', '--stdout', '--allow-root', '-U', join(folder, 'storage'), '-P', npm] };
    },
};

/** Watches a bridge of things at home, and reads and changes how it is set. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    await page.waitForTimeout(4000);
    const wizard = await ask(page, 'GET', '/api/setup-wizard/get-setup-wizard-token');
    const user = { name: KEEPER.user, username: 'keeper', password: KEEPER.password, admin: true };
    await page.evaluate(
        async ([body, bearer]) => {
            const headers = { authorization: `bearer ${bearer}`, 'content-type': 'application/json' };
            await (await fetch('/api/setup-wizard/create-first-user', { method: 'POST', headers, body })).text();
        },
        [JSON.stringify(user), (JSON.parse(wizard) as { access_token: string }).access_token] as const,
    );
    const { access_token: token } = JSON.parse(await ask(page, 'POST', '/api/auth/noauth')) as { access_token: string };
    const call = async (method: string, path: string, body?: object) =>
        await page.evaluate(
            async ([how, where, sent, bearer]) => {
                const headers = {
                    authorization: `bearer ${bearer}`,
                    ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
                };
                const answer = await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) });
                return await answer.text();
            },
            [method, `/api/${path}`, body, token] as const,
        );
    for (const part of ['status', 'plugins', 'config', 'accessories', 'logs', 'settings']) {
        await open(page, `${base}/${part}`);
        await page.waitForTimeout(1500);
    }
    for (const part of ['cpu', 'ram', 'network', 'uptime', 'homebridge', 'homebridge/child-bridges', 'server-information', 'nodejs'])
        await call('GET', `status/${part}`);
    for (const path of ['server/pairing', 'server/pairings', 'server/port', 'server/cached-accessories', 'server/mdns-advertiser'])
        await call('GET', path);
    for (const path of [
        'server/network-interfaces/system',
        'server/network-interfaces/bridge',
        'accessories',
        'accessories/layout',
        'users',
    ])
        await call('GET', path);
    const config = JSON.parse(await call('GET', 'config-editor')) as { bridge: object };
    for (const name of ['Harbour', 'Quay']) await call('POST', 'config-editor', { ...config, bridge: { ...config.bridge, name } });
    const kept = JSON.parse(await call('GET', 'config-editor/backups')) as { id: string }[];
    for (const { id } of kept.slice(0, 2)) await call('GET', `config-editor/backups/${id}`);
    for (const plugin of ['homebridge-config-ui-x', 'homebridge']) {
        await call('GET', `plugins/config-schema/${plugin}`);
        await call('GET', `config-editor/plugin/${plugin}`);
    }
    for (const advertiser of ['ciao', 'bonjour-hap']) await call('PUT', 'server/mdns-advertiser', { advertiser });
    await call('GET', 'plugins');
    await call('GET', 'backup/scheduled-backups');
    await call('GET', 'backup/scheduled-backups/next');
    await page.close();
}
