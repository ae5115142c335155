import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'buildbot',
    host: 'builds.test',
    ready: '/api/v2/masters',
    visit,
    start(folder, port) {
        mkdirSync(join(folder, 'parts/first_page/static'), { recursive: true });
        mkdirSync(join(folder, 'parts/first_page-1.dist-info'));
        mkdirSync(join(folder, 'master'));
        writeFileSync(join(folder, 'parts/first_page/__init__.py'), FIRST_PAGE);
        writeFileSync(join(folder, 'parts/first_page/static/index.html'), '<p>Harbour');
        writeFileSync(join(folder, 'parts/first_page/VERSION'), '1');
        writeFileSync(join(folder, 'parts/first_page-1.dist-info/METADATA'), 'Metadata-Version: 2.1\nName: first-page\nVersion: 1\n');
        writeFileSync(join(folder, 'parts/first_page-1.dist-info/entry_points.txt'), '[buildbot.www]\nbase = first_page:page\n');
        writeFileSync(join(folder, 'master/master.cfg'), settings(port));
        return `
            export PYTHONPATH=${folder}/parts
            /usr/bin/python3 /usr/bin/buildbot create-master master && exec /usr/bin/python3 /usr/bin/buildbot start --nodaemon master`;
    },
};

/** Forces builds by remote calls, follows them through builders, steps and logs, stops and repeats them, and pauses workers. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/api/v2/masters`);
    const api = '/api/v2';
    const get = (path: string) => ask(page, 'GET', api + path);
    let calls = 0;
    const call = (path: string, method: string, params: object) =>
        ask(page, 'POST', api + path, { jsonrpc: '2.0', id: ++calls, method, params });
    const idsOf = async (path: string, kind: string, field: string): Promise<number[]> => {
        const rows = (JSON.parse(await get(path)) as Record<string, Record<string, number>[]>)[kind] ?? [];
        return rows.map((row) => row[field] ?? 0);
    };
    await get('/application.spec');
    const builders = await idsOf('/builders', 'builders', 'builderid');
    await get('/builders?field=name&field=builderid&order=name');
    await get('/builders?order=-builderid&limit=2');
    const [quick = 0, other = 0, slow = 0] = builders;
    for (const [scheduler, builderid, reason] of [
        ['by-hand', quick, 'high water'],
        ['by-night', other, 'low water'],
        ['by-hand', slow, 'fog'],
        ['by-hand', slow, 'more fog'],
        ['by-night', slow, 'night fog'],
    ] as const)
        await call(`/forceschedulers/${scheduler}`, 'force', {
            builderid: String(builderid),
            username: 'Keeper <keeper@harbour.example>',
            reason,
            branch: 'main',
            revision: '',
            priority: 0,
        });
    // Until the quick builds have ended.
    for (let ended: number[] = []; ended.length < 2; ) ended = await idsOf('/builds?complete=true', 'builds', 'buildid');
    const builds = await idsOf('/builds?order=buildid&limit=3&offset=0', 'builds', 'buildid');
    for (const builder of [quick, other]) {
        await get(`/builders/${builder}`);
        await get(`/builders/${builder}/builds?complete=true&order=-number&limit=5`);
        await get(`/builders/${builder}/builds/1`);
        await get(`/builders/${builder}/builds/1/steps`);
        await get(`/builders/${builder}/builds/1/steps/1/logs`);
        await get(`/builders/${builder}/buildrequests?claimed=false`);
        for (const part of ['workers', 'masters', 'forceschedulers']) await get(`/builders/${builder}/${part}`);
        await get(`/builds?builderid__eq=${builder}&complete=true&results__ne=0`);
    }
    for (const build of builds.slice(0, 2)) {
        await get(`/builds/${build}`);
        await get(`/builds/${build}?property=reason`);
        await get(`/builds/${build}/properties`);
        await get(`/builds/${build}/changes`);
        for (const step of (await idsOf(`/builds/${build}/steps`, 'steps', 'stepid')).slice(0, 2)) {
            await get(`/steps/${step}`);
            for (const log of await idsOf(`/steps/${step}/logs`, 'logs', 'logid')) {
                await get(`/logs/${log}`);
                await get(`/logs/${log}/contents?offset=0&limit=10`);
                await get(`/logs/${log}/raw`);
            }
        }
    }
    const requests = await idsOf('/buildrequests', 'buildrequests', 'buildrequestid');
    await get('/buildrequests?complete=false&order=-submitted_at&limit=10');
    for (const request of requests.slice(0, 2)) {
        await get(`/buildrequests/${request}`);
        await get(`/buildrequests/${request}/builds`);
    }
    for (const request of requests.slice(-2)) await call(`/buildrequests/${request}`, 'cancel', { reason: 'too late' });
    for (const set of (await idsOf('/buildsets', 'buildsets', 'bsid')).slice(0, 2)) {
        await get(`/buildsets/${set}`);
        await get(`/buildsets/${set}/properties`);
    }
    for (const build of builds.slice(0, 2)) await call(`/builds/${build}`, 'rebuild', {});
    for (const build of await idsOf('/builds?complete=false', 'builds', 'buildid'))
        await call(`/builds/${build}`, 'stop', { reason: `enough of ${build}` });
    await get('/forceschedulers');
    for (const name of ['by-hand', 'by-night']) await get(`/forceschedulers/${name}`);
    const schedulers = await idsOf('/schedulers', 'schedulers', 'schedulerid');
    for (const scheduler of schedulers.slice(0, 2)) {
        await get(`/schedulers/${scheduler}`);
        for (const enabled of [false, true]) await call(`/schedulers/${scheduler}`, 'enable', { enabled });
    }
    for (const master of await idsOf('/masters', 'masters', 'masterid')) {
        await get(`/masters/${master}`);
        await get(`/masters/${master}/builders`);
        await get(`/masters/${master}/schedulers`);
    }
    for (const worker of await idsOf('/workers', 'workers', 'workerid')) {
        await get(`/workers/${worker}`);
        await call(`/workers/${worker}`, 'pause', { reason: 'oil' });
        await call(`/workers/${worker}`, 'unpause', { reason: 'oiled' });
    }
    await get('/changes?limit=10&order=-changeid');
    await get('/changes');
    await get('/changesources');
    for (const stamp of (await idsOf('/sourcestamps', 'sourcestamps', 'ssid')).slice(0, 2)) await get(`/sourcestamps/${stamp}`);
    await page.close();
}

const FIRST_PAGE = `
from buildbot.www.plugin import Application
page = Application(__name__, 'The first page')
`;

function settings(port: number): string {
    return `
from buildbot.plugins import schedulers, steps, util, worker
quick, slow = util.BuildFactory(), util.BuildFactory()
quick.addStep(steps.ShellCommand(name='tides', command=['echo', 'High water']))
quick.addStep(steps.ShellCommand(name='ropes', command=['echo', 'Fast']))
slow.addStep(steps.ShellCommand(name='fog', command=['sleep', '120']))
builders = {'harbour': quick, 'lights': quick, 'fog': slow}
BuildmasterConfig = {
    'title': 'Harbour',
    'buildbotURL': 'http://builds.test:${port}/',
    'buildbotNetUsageData': None,
    'protocols': {'pb': {'port': 'tcp:${port + 2000}:interface=127.0.0.1'}},
    'workers': [worker.LocalWorker('crane', max_builds=1), worker.LocalWorker('winch', max_builds=1)],
    'builders': [util.BuilderConfig(name=name, workernames=['crane', 'winch'], factory=factory) for name, factory in builders.items()],
    'schedulers': [schedulers.ForceScheduler(name=name, builderNames=list(builders)) for name in ('by-hand', 'by-night')],
    'www': {'port': 'tcp:${port}:interface=127.0.0.1', 'plugins': {}},
}
`;
}
