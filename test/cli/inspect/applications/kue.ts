import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open, settled } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'kue',
    host: 'queues.test',
    ready: '/stats',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'server.cjs'), SERVER);
        return `${END_ALL}
            redis-server --port ${port + 1000} --save '' &
            until redis-cli -p ${port + 1000} ping; do :; done
            NODE_PATH=${npm} node server.cjs ${port} & wait $!`;
    },
};

/** Adds jobs, looks at their lists on the pages and by requests, moves and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const get = (path: string) => ask(page, 'GET', path);
    const ids: number[] = [];
    for (const [place, name] of ['tides', 'ropes', 'fog', 'lights'].entries())
        for (const type of ['email', 'report', 'fax']) {
            const options = { attempts: 1 + place, priority: place % 2 === 0 ? 'high' : 'normal' };
            const made = await ask(page, 'POST', '/job', {
                type,
                data: { title: `${type} about ${name}`, to: `keeper ${place}` },
                options,
            });
            ids.push((JSON.parse(made) as { id: number }).id);
        }
    for (const state of ['complete', 'failed', 'inactive']) await settled(page, () => page.click(`#menu li.${state} a`));
    await open(page, `${base}/complete`);
    await page.fill('#search', 'tides');
    await settled(page, () => page.press('#search', 'Enter'));
    await get('/stats');
    await get('/job/types');
    for (const words of ['tides', 'keeper']) await get(`/job/search?q=${words}`);
    for (const id of ids.slice(0, 3)) {
        await get(`/job/${id}`);
        await get(`/job/${id}/log`);
    }
    for (const range of ['0..3', '4..7']) {
        await get(`/jobs/${range}`);
        for (const order of ['asc', 'desc']) await get(`/jobs/${range}/${order}`);
    }
    for (const state of ['complete', 'inactive']) {
        await get(`/jobs/${state}/0..2`);
        await get(`/jobs/${state}/1..3/desc`);
        for (const type of ['email', 'report']) {
            await get(`/jobs/${type}/${state}/0..2/asc`);
            await get(`/jobs/${type}/${state}/stats`);
        }
    }
    const reports = ids.filter((_, place) => place % 3 === 1);
    await ask(page, 'PUT', `/job/${reports[0]}/state/failed`);
    await ask(page, 'PUT', `/job/${reports[1]}/state/delayed`);
    await ask(page, 'PUT', `/job/${reports[2]}/priority/-10`);
    await ask(page, 'PUT', `/job/${reports[3]}/priority/5`);
    for (const id of reports.slice(0, 2)) await get(`/inactive/${id}`);
    for (const id of reports.slice(2)) await ask(page, 'DELETE', `/job/${id}`);
    await page.close();
}

const SERVER = `
const kue = require('kue');
const queue = kue.createQueue({ redis: { port: Number(process.argv[2]) + 1000 }, disableSearch: false });
queue.process('email', (job, done) => { job.log('sent to %s', job.data.to); done(); });
queue.process('fax', (job, done) => done(new Error('the line is busy')));
kue.app.listen(Number(process.argv[2]), '127.0.0.1');
`;
