import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'glances',
    host: 'machine.test',
    ready: '/api/3/help',
    visit,
    start: (_folder, port) =>
        `exec glances -w -B 127.0.0.1 -p ${port} --disable-autodiscover --disable-check-update --disable-plugin all --enable-plugin cpu,mem,memswap,load,network,uptime,core -t 1`,
};

/** Watches a machine on its page, and asks for parts of it, their limits and what they were before. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    await page.waitForTimeout(4000);
    const get = (path: string) => ask(page, 'GET', `/api/3/${path}`);
    for (const path of ['config', 'args', 'help', 'pluginslist', 'all', 'all/limits', 'all/views']) await get(path);
    for (const part of ['load', 'cpu', 'mem']) await get(`config/${part}`);
    for (const name of ['time', 'webserver']) await get(`args/${name}`);
    for (const plugin of ['cpu', 'mem', 'load', 'memswap'])
        for (const more of ['', '/history', '/history/2']) await get(`${plugin}${more}`);
    for (const item of ['cpu/system', 'cpu/user', 'mem/percent', 'load/min5'])
        for (const more of ['', '/history', '/history/2']) await get(`${item}${more}`);
    for (const one of ['network/interface_name/lo', 'network/interface_name/eth0', 'network/is_up/true']) await get(one);
    await page.close();
}
