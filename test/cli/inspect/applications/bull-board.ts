import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'bull-board',
    host: 'jobs.test',
    ready: '/api/queues',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'serve.cjs'), BULL_BOARD);
        return `${END_ALL}
            redis-server --port ${port + 1000} --bind 127.0.0.1 --save '' &
            until redis-cli -p ${port + 1000} ping; do sleep 1; done
            ${process.execPath} serve.cjs ${npm} ${port} & wait $!`;
    },
};

/** Opens a board of queues and their jobs, and retries, promotes, adds, changes and removes jobs as its script does. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of [
        '/',
        '/queue/mails',
        '/queue/mails?status=failed',
        '/queue/tides?status=delayed',
        '/queue/tides?status=completed&page=1',
        '/job-schedulers',
    ]) {
        await open(page, base + path);
        await page.waitForTimeout(800);
    }
    await ask(page, 'GET', '/api/redis/stats');
    for (const name of ['mails', 'tides']) {
        const here = `/api/queues/${name}`;
        for (const status of ['failed', 'completed', 'delayed'])
            await ask(page, 'GET', `/api/queues?activeQueue=${name}&status=${status}&page=1&jobsPerPage=5`);
        for (const part of ['metrics', 'default-job-options', 'workers', 'rate-limit', 'job-data-schema'])
            await ask(page, 'GET', `${here}/${part}`);
        for (const id of [1, 2, 3]) {
            await open(page, `${base}/queue/${name}/${id}`);
            for (const part of ['', '/logs', '/flow']) await ask(page, 'GET', `${here}/${id}${part}`);
        }
        for (const [id, words] of [
            [9, 'Fog'],
            [10, 'Sun'],
        ] as const) {
            await ask(page, 'PATCH', `${here}/${id}/update-data`, { jobData: { words } });
            await ask(page, 'PATCH', `${here}/${id}/delay`, { delay: 5_000_000 + id });
            await ask(page, 'PATCH', `${here}/${id}/priority`, { priority: id });
            await ask(page, 'PUT', `${here}/${id}/promote`);
            await ask(page, 'PUT', `${here}/${id}/clean`);
            await ask(page, 'POST', `${here}/add`, { name: words, data: { id }, options: { priority: id } });
        }
        for (const id of [1, 3]) await ask(page, 'PUT', `${here}/${id}/retry`);
        for (const part of ['pause', 'resume', 'retry/failed', 'promote', 'clean/completed', 'empty'])
            await ask(page, 'PUT', `${here}/${part}`);
        await ask(page, 'PUT', `${here}/concurrency`, { concurrency: name.length });
        await ask(page, 'GET', `/api/job-schedulers?queueName=${name}`);
        await ask(page, 'PUT', `${here}/job-schedulers/noon/run`);
        await ask(page, 'PUT', `${here}/job-schedulers/noon/remove`);
    }
    for (const part of ['pause', 'resume']) await ask(page, 'PUT', `/api/queues/${part}`);
    await page.close();
}

const BULL_BOARD = `
const [npm, port] = process.argv.slice(2);
const load = (name) => require(npm + '/' + name);
const { Queue, Worker } = load('bullmq');
const { createBullBoard } = load('@bull-board/api');
const { BullMQAdapter } = load('@bull-board/api/bullMQAdapter');
const { ExpressAdapter } = load('@bull-board/express');
const connection = { port: Number(port) + 1000 };
(async () => {
    const queues = ['mails', 'tides'].map((name) => new Queue(name, { connection }));
    for (const queue of queues) {
        for (let place = 1; place <= 12; place++) await queue.add('Bell ' + place, { place, berth: 'A' + place }, place > 8 ? { delay: 1e7 } : {});
        let taken = 0;
        const worker = new Worker(queue.name, async (job) => { await job.log('taken'); if (job.data.place % 2) throw new Error('Fog'); return 'rung'; }, { connection, autorun: false });
        worker.run();
        await new Promise((done) => { const count = () => { if (++taken === 8) done(); }; worker.on('completed', count); worker.on('failed', count); });
        await worker.close();
        await queue.upsertJobScheduler('noon', { every: 8640000 }, { name: 'Noon' });
    }
    const serverAdapter = new ExpressAdapter();
    createBullBoard({ queues: queues.map((queue) => new BullMQAdapter(queue)), serverAdapter });
    const app = load('express')();
    app.use('/', serverAdapter.getRouter());
    app.listen(Number(port), '127.0.0.1');
})();
`;
