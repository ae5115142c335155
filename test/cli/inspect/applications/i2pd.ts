import { mkdirSync } from 'node:fs';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { links, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'i2pd',
    host: 'router.test',
    ready: '/',
    visit,
    start(folder, port) {
        mkdirSync(`${folder}/data`);
        return `exec i2pd --datadir=${folder}/data --conf=/dev/null --tunconf=/dev/null --http.address=127.0.0.1 --http.port=${port} --http.strictheaders=0 --httpproxy.port=${port + 1000} --socksproxy.port=${port + 1100} --sam.port=${port + 1200} --reseed.threshold=0 --address4=127.0.0.1 --port=${port + 1300}`;
    },
};

/** Looks at all pages of a router and gives it some commands. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const named = async (...names: string[]) => {
        for (const name of names) await open(page, `${base}/?page=${name}`);
    };
    await open(page, base);
    await named('tunnels', 'transit_tunnels', 'transports', 'leasesets', 'i2p_tunnels', 'sam_sessions', 'local_destinations');
    for (const address of (await links(page, /page=local_destination&/)).slice(0, 3)) await open(page, address);
    for (const command of ['run_peer_test', 'reload_tunnels_config', 'level=warn', 'level=error', 'level=info']) {
        await named('commands');
        const [address] = await links(page, new RegExp(`cmd=.*${command}`));
        if (address !== undefined) await open(page, address);
    }
    for (const limit of ['200', '300']) {
        await named('commands');
        await page.fill('input[name=limit]', limit);
        await press(page, 'form:has(input[name=limit]) button');
    }
    for (const language of ['german', 'english']) {
        await named('commands');
        await page.selectOption('select[name=lang]', language);
        await press(page, 'form:has(select[name=lang]) button');
    }
    await open(page, base);
    for (const _ of ['off', 'on']) {
        await named('i2p_tunnels', 'commands');
        const [address] = await links(page, /cmd=(?:disable|enable)/);
        if (address !== undefined) await open(page, address);
    }
    await page.close();
}
