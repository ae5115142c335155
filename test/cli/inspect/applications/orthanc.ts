import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'orthanc',
    host: 'pictures.test',
    ready: '/system',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'settings.json'),
            JSON.stringify({
                Name: 'harbour',
                HttpPort: port,
                DicomServerEnabled: false,
                AuthenticationEnabled: false,
                RemoteAccessAllowed: true,
                Plugins: [],
            }),
        );
        return `exec Orthanc settings.json`;
    },
};

interface Made {
    ID: string;
    ParentPatient: string;
    ParentStudy: string;
    ParentSeries: string;
}

/** Stores pictures of two patients, looks through studies and series, finds, labels, changes and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/system`);
    const get = (path: string) => ask(page, 'GET', path);
    const post = (path: string, body?: object) => ask(page, 'POST', path, body);
    await get('/system');
    await get('/statistics');
    const made: Made[] = [];
    for (const [place, name] of ['Doe^Jane', 'Roe^John'].entries())
        for (const kind of ['CT', 'MR']) {
            const answer = await post('/tools/create-dicom', {
                Tags: {
                    PatientName: name,
                    PatientID: `p-${place}`,
                    StudyDescription: `Knee ${place}`,
                    Modality: kind,
                    SeriesDescription: `${kind} of ${place}`,
                },
                Content: PICTURE,
            });
            made.push(JSON.parse(answer) as Made);
        }
    for (const { ID, ParentPatient, ParentStudy, ParentSeries } of [made[0], made[2]] as Made[]) {
        for (const part of ['', '/studies', '/series', '/instances', '/statistics', '/shared-tags?simplify', '/module?simplify'])
            await get(`/patients/${ParentPatient}${part}`);
        for (const part of ['', '/patient', '/series', '/instances', '/statistics', '/module-patient?simplify'])
            await get(`/studies/${ParentStudy}${part}`);
        for (const part of ['', '/study', '/patient', '/instances', '/instances-tags?simplify'])
            await get(`/series/${ParentSeries}${part}`);
        for (const part of [
            '',
            '/simplified-tags',
            '/tags',
            '/tags?short',
            '/header',
            '/content',
            '/content/0010-0010',
            '/frames',
            '/statistics',
            '/metadata',
            '/attachments',
        ])
            await get(`/instances/${ID}${part}`);
        await get(`/instances/${ID}/content/0010-0020`);
        await get(`/instances/${ID}/metadata/ReceptionDate`);
        await get(`/instances/${ID}/metadata/RemoteAET`);
        await get(`/instances/${ID}/attachments/dicom/md5`);
        await get(`/instances/${ID}/attachments/dicom/size`);
        await put(page, `/patients/${ParentPatient}/protected`, '1');
        await get(`/patients/${ParentPatient}/protected`);
        await put(page, `/patients/${ParentPatient}/protected`, '0');
        await put(page, `/studies/${ParentStudy}/metadata/1024`, `seen ${ID.slice(0, 4)}`);
        await get(`/studies/${ParentStudy}/metadata/1024`);
        await get(`/studies/${ParentStudy}/metadata`);
        await ask(page, 'DELETE', `/studies/${ParentStudy}/metadata/1024`);
        await post(`/studies/${ParentStudy}/anonymize`, { Keep: ['StudyDescription'], Force: false });
        await post(`/series/${ParentSeries}/modify`, {
            Replace: { SeriesDescription: 'Changed' },
            Remove: ['StationName'],
            Asynchronous: true,
        });
    }
    for (const level of ['patients', 'studies', 'series', 'instances']) {
        await get(`/${level}`);
        await get(`/${level}?expand&since=0&limit=2`);
    }
    for (const [Level, Query] of [
        ['Study', { PatientName: 'Doe*' }],
        ['Series', { Modality: 'CT' }],
        ['Patient', { PatientID: 'p-1' }],
    ] as const)
        await post('/tools/find', { Level, Query, Expand: Level === 'Study', Limit: 5 });
    for (const words of ['p-0', 'p-1']) await lookup(page, '/tools/lookup', words);
    for (const what of ['now', 'now-local', 'default-encoding', 'metrics', 'log-level']) await get(`/tools/${what}`);
    for (const level of ['patient', 'study']) await get(`/tools/generate-uid?level=${level}`);
    await get('/changes?since=0&limit=3');
    await get('/changes?since=3&limit=3');
    await get('/changes?last');
    await get('/exports');
    const jobs = JSON.parse(await get('/jobs')) as string[];
    await get('/jobs?expand');
    for (const job of jobs.slice(0, 2)) await get(`/jobs/${job}`);
    await put(page, '/modalities/scanner', JSON.stringify({ AET: 'SCAN', Host: '127.0.0.1', Port: 4299 }));
    await put(page, '/modalities/archive', JSON.stringify({ AET: 'KEEP', Host: '127.0.0.1', Port: 4298 }));
    await get('/modalities');
    await get('/modalities?expand');
    for (const name of ['scanner', 'archive']) await get(`/modalities/${name}/configuration`);
    for (const name of ['scanner', 'archive']) await ask(page, 'DELETE', `/modalities/${name}`);
    await put(page, '/peers/hospital', JSON.stringify({ Url: 'http://127.0.0.1:4297/' }));
    await get('/peers');
    await ask(page, 'DELETE', '/peers/hospital');
    await get('/plugins');
    for (const shown of ['', `#patient?uuid=${made[0]?.ParentPatient}`, `#study?uuid=${made[2]?.ParentStudy}`]) {
        await open(page, `${base}/app/explorer.html${shown}`);
        await open(page, `${base}/system`);
    }
    await ask(page, 'DELETE', `/instances/${made[1]?.ID}`);
    await ask(page, 'DELETE', `/series/${made[3]?.ParentSeries}`);
    await ask(page, 'DELETE', `/studies/${made[0]?.ParentStudy}`);
    await ask(page, 'DELETE', `/patients/${made[2]?.ParentPatient}`);
    await page.close();
}

async function put(page: Page, path: string, body: string): Promise<void> {
    await sendText(page, 'PUT', path, body);
}

async function lookup(page: Page, path: string, body: string): Promise<void> {
    await sendText(page, 'POST', path, body);
}

async function sendText(page: Page, method: string, path: string, body: string): Promise<void> {
    await page.evaluate(
        async ([how, to, text]) => {
            await (await fetch(to, { method: how, body: text })).text();
        },
        [method, path, body] as const,
    );
}

/** One grey dot. */
const PICTURE = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';
