import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'docker-registry',
    host: 'images.test',
    ready: '/v2/',
    visit,
    start(folder, port, npm) {
        writeFileSync(
            join(folder, 'config.yml'),
            JSON.stringify({
                version: '0.1',
                storage: { filesystem: { rootdirectory: join(folder, 'images') }, delete: { enabled: true } },
                http: { addr: `127.0.0.1:${port}` },
            }),
        );
        return `exec ${npm}/../../root/usr/bin/docker-registry serve config.yml`;
    },
};

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';

/** Uploads the layers and manifests of images, lists their tags, and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/v2/`);
    for (const name of ['lighthouse', 'tides', 'coast/harbour', 'coast/ferry']) {
        const config = await upload(page, name, JSON.stringify({ architecture: 'amd64', os: 'linux', name }));
        const layer = await upload(page, name, `the layer of ${name}`);
        await send(page, 'HEAD', `/v2/${name}/blobs/${layer.digest}`);
        await send(page, 'GET', `/v2/${name}/blobs/${config.digest}`);
        const manifest = {
            schemaVersion: 2,
            mediaType: MANIFEST,
            config: { mediaType: 'application/vnd.docker.container.image.v1+json', ...config },
            layers: [{ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', ...layer }],
        };
        for (const tag of ['latest', '1.0', 'stable'])
            await send(page, 'PUT', `/v2/${name}/manifests/${tag}`, JSON.stringify(manifest), MANIFEST);
        await send(page, 'GET', `/v2/${name}/tags/list`);
        await send(page, 'GET', `/v2/${name}/tags/list?n=1`);
        await send(page, 'GET', `/v2/${name}/tags/list?n=1&last=1.0`);
        for (const tag of ['latest', '1.0']) await send(page, 'GET', `/v2/${name}/manifests/${tag}`);
        await send(page, 'HEAD', `/v2/${name}/manifests/latest`);
    }
    await send(page, 'GET', '/v2/_catalog');
    await send(page, 'GET', '/v2/_catalog?n=2');
    await send(page, 'GET', '/v2/_catalog?n=2&last=coast/harbour');
    for (const name of ['tides', 'coast/ferry']) await send(page, 'DELETE', `/v2/${name}/manifests/${await digestOf(page, name)}`);
    await page.close();
}

async function upload(page: Page, name: string, content: string): Promise<{ size: number; digest: string }> {
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const location = await page.evaluate(
        async (where) => (await fetch(where, { method: 'POST' })).headers.get('location') ?? '',
        `/v2/${name}/blobs/uploads/`,
    );
    await send(page, 'PUT', `${location}&digest=${encodeURIComponent(digest)}`, content, 'application/octet-stream');
    return { size: content.length, digest };
}

async function digestOf(page: Page, name: string): Promise<string> {
    return await page.evaluate(
        async ([where, accept]) => (await fetch(where, { headers: { accept } })).headers.get('docker-content-digest') ?? '',
        [`/v2/${name}/manifests/stable`, MANIFEST] as const,
    );
}

async function send(page: Page, method: string, path: string, body?: string, type = ''): Promise<void> {
    await page.evaluate(
        async ([how, where, sent, kind, accept]) => {
            const headers = { accept, ...(sent === undefined ? {} : { 'content-type': kind }) };
            await (await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: sent }) })).text();
        },
        [method, path, body, type, MANIFEST] as const,
    );
}
