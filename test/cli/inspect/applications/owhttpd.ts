import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'owhttpd',
    host: 'sensors.test',
    ready: '/',
    visit,
    start: (_folder, port) => `exec owhttpd --fake=10,28,22,12 -p ${port} --foreground --error_level=0`,
};

/** Looks at the sensors of a bus, what they measure, and at the settings of the server. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const devices = (await links(page, /\/[\dA-F]{2}\.[\dA-F]{12}/)).map((address) => new URL(address).pathname.replaceAll('/', ''));
    for (const device of devices) {
        await open(page, `${base}/${device}`);
        await open(page, `${base}/uncached/${device}`);
        for (const form of ['json', 'text']) await ask(page, 'GET', `/${form}/${device}`);
        for (const property of ['address', 'family', 'type'])
            for (const form of ['json', 'text']) await ask(page, 'GET', `/${form}/${device}/${property}`);
        for (const property of ['address', 'type']) await open(page, `${base}/${device}/${property}`);
    }
    for (const path of [
        'uncached',
        'bus.0',
        'bus.0/interface',
        'settings',
        'settings/timeout',
        'settings/units',
        'system',
        'system/process',
    ])
        await open(page, `${base}/${path}`);
    for (const path of [
        'system/configuration',
        'statistics',
        'statistics/cache',
        'statistics/read',
        'structure',
        'structure/10',
        'structure/28',
    ])
        await open(page, `${base}/${path}`);
    await page.close();
}
