import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'netdata',
    host: 'gauges.test',
    ready: '/api/v1/charts',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root/usr');
        for (const name of ['cache', 'lib', 'log', 'plugins']) mkdirSync(join(folder, name));
        writeFileSync(
            join(folder, 'netdata.conf'),
            `[global]\n run as user = root\n hostname = harbour\n update every = 2\n[directories]\n web = ${root}/share/netdata/web\n cache = ${folder}/cache\n lib = ${folder}/lib\n` +
                ` log = ${folder}/log\n plugins = ${folder}/plugins\n stock config = ${root}/lib/netdata/conf.d\n config = ${folder}\n` +
                `[web]\n bind to = 127.0.0.1:${port}\n default port = ${port}\n web files owner = root\n web files group = root\n[plugins]\n cgroups = no\n tc = no\n`,
        );
        const env = { LD_LIBRARY_PATH: join(root, 'lib/x86_64-linux-gnu') };
        return { program: join(root, 'sbin/netdata'), args: ['-D', '-c', join(folder, 'netdata.conf')], env };
    },
};

/** Watches a machine on its page, and asks for charts, their values, contexts and alarms. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    await page.waitForTimeout(6000);
    const get = (path: string) => ask(page, 'GET', `/api/v1/${path}`);
    for (const path of ['info', 'charts', 'contexts', 'alarms?all', 'alarm_log?after=0', 'allmetrics?format=json']) await get(path);
    await get('allmetrics?format=prometheus');
    for (const chart of ['netdata.requests', 'netdata.net', 'system.idlejitter']) {
        await get(`chart?chart=${chart}`);
        await get(`data?chart=${chart}&after=-60&points=10&group=average&format=json`);
        await get(`alarm_variables?chart=${chart}`);
    }
    for (const name of ['netdata.requests', 'netdata.net']) await get(`context?context=${name}`);
    for (const method of ['ks2', 'volume'])
        await get(`weights?method=${method}&after=-60&before=0&baseline_after=-120&baseline_before=-60&context=netdata.requests`);
    for (const path of ['info', 'charts']) await ask(page, 'GET', `/host/harbour/api/v1/${path}`);
    await page.close();
}
