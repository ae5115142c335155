import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'jsreport',
    host: 'reports.test',
    ready: '/api/ping',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'server.cjs'), SERVER);
        return { ...node(folder, 'server.cjs', String(port)), env: { NODE_PATH: npm } };
    },
};

interface Row {
    _id: string;
    shortid: string;
}

/** Keeps templates, data and folders over OData, renders reports of them, and looks at the history of changes. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/api/ping`);
    const get = (path: string) => ask(page, 'GET', path);
    const add = async (set: string, row: object) => JSON.parse(await ask(page, 'POST', `/odata/${set}`, row)) as Row;
    for (const path of ['version', 'settings', 'recipe', 'engine', 'extensions']) await get(`/api/${path}`);
    await get('/odata');
    await get('/odata/$metadata');
    for (const set of ['templates', 'data', 'folders']) await get(`/api/schema/${set}`);
    const folders: Row[] = [];
    for (const name of ['harbour', 'lights']) folders.push(await add('folders', { name }));
    const rows: Row[] = [];
    for (const [place, name] of ['tides', 'ropes', 'fog'].entries()) {
        const data = await add('data', { name: `numbers of ${name}`, dataJson: JSON.stringify({ name, hours: [place, place + 6] }) });
        const script = await add('scripts', {
            name: `before ${name}`,
            content: `function beforeRender(req) { req.data.place = ${place} }`,
        });
        const template = await add('templates', {
            name,
            content: `<h1>Report of {{name}}</h1><p>At {{place}}</p>`,
            engine: 'handlebars',
            recipe: 'html',
        });
        rows.push(template);
        await ask(page, 'PATCH', `/odata/templates(${template._id})`, {
            data: { shortid: data.shortid },
            scripts: [{ shortid: script.shortid }],
        });
        await get(`/odata/templates(${template._id})`);
        await get(`/odata/data(${data._id})`);
        await ask(page, 'PATCH', `/odata/data(${data._id})`, { dataJson: JSON.stringify({ name, hours: [place + 1] }) });
        await ask(page, 'POST', '/api/version-control/commit', { message: `Write the report of ${name}` });
    }
    await get('/odata/templates');
    await get('/odata/templates?$select=name,shortid&$orderby=name&$top=2&$skip=1');
    await get("/odata/templates?$filter=name%20eq%20'tides'");
    await get('/odata/templates?$filter=recipe%20eq%20%27html%27&$count=true');
    await get('/odata/data?$select=name');
    await get('/odata/data');
    await get('/odata/folders');
    await get('/odata/scripts');
    await get('/odata/tags');
    for (const { shortid } of rows.slice(0, 2)) {
        await open(page, `${base}/templates/${shortid}`);
        await open(page, `${base}/api/ping`);
        await ask(page, 'POST', '/api/report', { template: { shortid }, data: { name: 'all' } });
        await ask(page, 'POST', '/api/report', { template: { shortid }, options: { reports: { save: true } } });
    }
    for (const name of ['tides', 'ropes']) await ask(page, 'POST', `/api/report/${name}.html`, { template: { name } });
    await ask(page, 'POST', '/api/report', {
        template: { content: '<p>{{name}}</p>', engine: 'handlebars', recipe: 'html' },
        data: { name: 'x' },
    });
    const reports = JSON.parse(await get('/odata/reports')) as { value: Row[] };
    for (const { _id } of reports.value.slice(0, 2)) {
        await open(page, `${base}/reports/${_id}/content`);
        await open(page, `${base}/api/ping`);
        await get(`/reports/${_id}/status`);
    }
    const profiles = JSON.parse(await get('/odata/profiles?$select=_id,state,timestamp&$orderby=timestamp%20desc&$top=3')) as {
        value: Row[];
    };
    for (const { _id } of profiles.value.slice(0, 2)) await get(`/api/profile/${_id}/events`);
    await get('/api/version-control/local-changes');
    const history = JSON.parse(await get('/api/version-control/history')) as Row[];
    for (const { _id } of history.slice(0, 2)) await get(`/api/version-control/diff/${_id}`);
    await ask(page, 'POST', '/api/version-control/checkout', { _id: history[0]?._id });
    await ask(page, 'POST', '/api/version-control/revert');
    for (const every of ['*/5 * * * *', '0 4 * * 1']) await get(`/api/scheduling/nextRun/${encodeURIComponent(every)}`);
    for (const words of ['Report', 'beforeRender']) await get(`/studio/text-search?text=${words}`);
    await get('/studio/text-search-docProps');
    for (const [place, { shortid }] of rows.slice(0, 2).entries()) {
        await ask(page, 'POST', '/studio/validate-entity-name', {
            entitySet: 'templates',
            name: `new ${place}`,
            folderShortid: folders[0]?.shortid,
        });
        await ask(page, 'POST', '/studio/hierarchyMove', {
            source: { id: rows[place]?._id, entitySet: 'templates', onlyChildren: false },
            target: { shortid: folders[place]?.shortid },
            copy: place === 1,
            replace: false,
        });
        await ask(page, 'POST', '/api/component', {
            component: { shortid, content: '<b>{{x}}</b>', engine: 'handlebars' },
            data: { x: place },
        });
    }
    for (const { _id } of rows.slice(1)) await ask(page, 'DELETE', `/odata/templates(${_id})`);
    for (const { _id } of folders) await ask(page, 'DELETE', `/odata/folders(${_id})`);
    await page.close();
}

const SERVER = `
require('jsreport')({
    httpPort: Number(process.argv[2]),
    store: { provider: 'memory' },
    blobStorage: { provider: 'memory' },
    trustUserCode: true,
    workers: { numberOfWorkers: 1 },
}).init();
`;
