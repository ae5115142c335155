import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'jupyter',
    host: 'books.test',
    ready: '/api',
    visit,
    start(folder, port) {
        mkdirSync(join(folder, 'books/charts/north'), { recursive: true });
        for (const name of ['tides', 'lights', 'charts/ropes', 'charts/north/fog']) {
            const cells = [{ cell_type: 'code', metadata: {}, execution_count: null, outputs: [], source: `print("${name}")` }];
            const metadata = { kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' } };
            writeFileSync(join(folder, 'books', `${name}.ipynb`), JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 4 }));
        }
        for (const name of ['notes.txt', 'charts/list.txt']) writeFileSync(join(folder, 'books', name), `Words of ${name}\n`);
        return `exec jupyter-notebook --no-browser --allow-root --port ${port} --ip 127.0.0.1 --NotebookApp.token= --NotebookApp.password= \\
            --NotebookApp.allow_remote_access=True --notebook-dir=${folder}/books`;
    },
};

/** Opens notebooks, lists folders, reads, writes, renames and deletes files, and starts and stops kernels. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/tree', '/tree/charts', '/tree/charts/north', '/notebooks/tides.ipynb', '/notebooks/charts/ropes.ipynb']) {
        await open(page, base + path);
        await page.waitForTimeout(1500);
    }
    for (const path of ['notes.txt', 'charts/list.txt']) {
        await open(page, `${base}/edit/${path}`);
        await page.waitForTimeout(800);
        await askSafely(page, 'GET', `/files/${path}`);
    }
    const json = async (method: string, path: string, body?: object) =>
        JSON.parse((await askSafely(page, method, `/api/${path}`, body)) || '{}') as Record<string, string>;
    for (const path of ['tides.ipynb', 'lights.ipynb', 'charts/ropes.ipynb', 'charts/north/fog.ipynb', 'charts', 'charts/north']) {
        await json('GET', `contents/${path}?content=1`);
    }
    for (const path of ['tides.ipynb', 'charts/ropes.ipynb']) {
        const { id = '' } = await json('POST', `contents/${path}/checkpoints`);
        await json('GET', `contents/${path}/checkpoints`);
        await json('POST', `contents/${path}/checkpoints/${id}`);
    }
    for (const name of ['buoys.txt', 'charts/anchors.txt']) {
        await json('PUT', `contents/${name}`, { type: 'file', format: 'text', content: `Words of ${name}` });
        await json('PATCH', `contents/${name}`, { path: `${name}.old` });
        await json('DELETE', `contents/${name}.old`);
    }
    for (const type of ['notebook', 'directory']) await json('POST', 'contents', { type });
    for (const [name, path] of [
        ['north', 'charts/north/fog.ipynb'],
        ['quay', 'charts/ropes.ipynb'],
    ] as const) {
        const session = await json('POST', 'sessions', { name, path, type: 'notebook', kernel: { name: 'python3' } });
        await json('GET', `sessions/${session['id']}`);
        await json('PATCH', `sessions/${session['id']}`, { name: `${name} again` });
        await json('DELETE', `sessions/${session['id']}`);
        const kernel = await json('POST', 'kernels', { name: 'python3' });
        await json('GET', `kernels/${kernel['id']}`);
        await json('POST', `kernels/${kernel['id']}/interrupt`);
        await json('POST', `kernels/${kernel['id']}/restart`);
        await json('DELETE', `kernels/${kernel['id']}`);
    }
    for (const path of ['kernels', 'sessions', 'kernelspecs', 'status', 'terminals']) await json('GET', path);
    await askSafely(page, 'GET', '/api');
    for (const section of ['notebook', 'tree']) {
        await json('GET', `config/${section}`);
        await json('PATCH', `config/${section}`, { lines: { numbers: true } });
    }
    await page.close();
}

/** A request of the page's script with the token that the page keeps in a cookie. */
async function askSafely(page: Page, method: string, path: string, body?: object): Promise<string> {
    return await page.evaluate(
        async ([how, where, sent]) => {
            const token = /\b_xsrf=([^;]*)/.exec((globalThis as unknown as { document: { cookie: string } }).document.cookie)?.[1] ?? '';
            const headers = { 'x-xsrftoken': token, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
            return await (
                await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
            ).text();
        },
        [method, path, body] as const,
    );
}
