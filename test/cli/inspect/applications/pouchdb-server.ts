import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'pouchdb-server',
    host: 'couch.test',
    ready: '/',
    visit,
    start: (_, port, npm) => `exec ${process.execPath} ${npm}/pouchdb-server/bin/pouchdb-server --port ${port} --in-memory`,
};

/** Opens the console of a document database; writes, reads, finds and deletes documents. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/_utils/`);
    await page.waitForTimeout(3000);
    const json = async (method: string, path: string, body?: object) => JSON.parse(await ask(page, method, path, body)) as unknown;
    for (const name of ['boats', 'berths']) {
        await json('PUT', `/${name}`);
        const written: { id: string; rev: string }[] = [];
        for (const id of ['ada', 'grace', 'mary'])
            written.push((await json('PUT', `/${name}/${id}`, { title: `About ${id}`, length: 9 })) as { id: string; rev: string });
        for (const title of ['First', 'Second']) await json('POST', `/${name}`, { title, length: 7 });
        for (const { id } of written) await json('GET', `/${name}/${id}`);
        await json('GET', `/${name}`);
        for (const skip of [0, 2]) await json('GET', `/${name}/_all_docs?include_docs=true&limit=2&skip=${skip}`);
        for (const since of [0, 3]) await json('GET', `/${name}/_changes?since=${since}&limit=5`);
        await json('POST', `/${name}/_bulk_docs`, {
            docs: [
                { _id: 'x1', title: 'One' },
                { _id: 'x2', title: 'Two' },
            ],
        });
        await json('POST', `/${name}/_index`, { index: { fields: ['length'] }, name: 'by-length' });
        await json('GET', `/${name}/_index`);
        for (const length of [7, 9]) await json('POST', `/${name}/_find`, { selector: { length }, limit: 10 });
        for (const { id, rev } of written.slice(1)) await json('DELETE', `/${name}/${id}?rev=${rev}`);
        await json('POST', `/${name}/_compact`, {});
    }
    for (const path of ['/', '/_all_dbs', '/_session', '/_active_tasks']) await json('GET', path);
    for (const count of [1, 3]) await json('GET', `/_uuids?count=${count}`);
    for (const name of ['boats', 'berths']) await open(page, `${base}/_utils/#/database/${name}/_all_docs`);
    await page.waitForTimeout(1500);
    await json('DELETE', '/berths');
    await json('DELETE', '/boats');
    await page.close();
}
