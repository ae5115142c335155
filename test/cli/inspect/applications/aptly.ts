import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'aptly',
    host: 'packages.test',
    ready: '/api/version',
    visit,
    start: (folder, port) => `
        for name in lamp rope anchor; do
            mkdir -p $name/DEBIAN
            printf "Package: $name\\nVersion: 1.2\\nArchitecture: amd64\\nMaintainer: Keeper <keeper@harbour.example>\\nDescription: A $name\\n" > $name/DEBIAN/control
            dpkg-deb --build $name
        done
        echo '{"rootDir":"${folder}/store","gpgDisableSign":true,"gpgDisableVerify":true,"architectures":["amd64"]}' > aptly.conf
        exec aptly -config=aptly.conf api serve -listen=127.0.0.1:${port}`,
};

/** Keeps two repositories of packages: fills them, takes snapshots of them, compares these and publishes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/api/version`);
    const call = (method: string, path: string, body?: object) => ask(page, method, `/api/${path}`, body);
    for (const name of ['harbour', 'lights']) {
        await call('POST', 'repos', {
            Name: name,
            Comment: `All of ${name}`,
            DefaultDistribution: name === 'lights' ? 'bookworm' : 'trixie',
            DefaultComponent: 'main',
        });
        await call('PUT', `repos/${name}`, { Comment: `The ${name}`, DefaultDistribution: name === 'lights' ? 'sid' : 'bookworm' });
        await call('GET', `repos/${name}`);
        for (const file of ['lamp', 'rope', 'anchor']) await upload(page, `/api/files/${name}-new`, `${file}.deb`);
        await call('GET', 'files');
        await call('GET', `files/${name}-new`);
        await call('POST', `repos/${name}/file/${name}-new/lamp.deb`);
        await call('POST', `repos/${name}/file/${name}-new/rope.deb`);
        await call('POST', `repos/${name}/file/${name}-new?noRemove=1`);
        await call('DELETE', `files/${name}-new/anchor.deb`);
        await call('DELETE', `files/${name}-new`);
        await call('GET', `repos/${name}/packages`);
        await call('GET', `repos/${name}/packages?q=${name === 'lights' ? 'lamp' : 'rope'}&format=details`);
        const refs = JSON.parse(await call('GET', `repos/${name}/packages`)) as string[];
        for (const ref of refs.slice(0, 2)) await call('GET', `packages/${encodeURIComponent(ref)}`);
        await call('POST', `repos/${name}/snapshots`, { Name: `${name}-first`, Description: `First of ${name}` });
        await call('DELETE', `repos/${name}/packages`, { PackageRefs: refs.slice(0, 1) });
        await call('POST', `repos/${name}/packages`, { PackageRefs: refs.slice(0, 1) });
        await call('DELETE', `repos/${name}/packages`, { PackageRefs: refs.slice(1, 2) });
        await call('POST', `repos/${name}/snapshots`, { Name: `${name}-second`, Description: `Second of ${name}` });
        await call('POST', 'snapshots', { Name: `${name}-both`, SourceSnapshots: [`${name}-first`], Description: `Copy of ${name}` });
        await call('PUT', `snapshots/${name}-both`, { Name: `${name}-all`, Description: `All of ${name}` });
        for (const one of ['first', 'second']) {
            await call('GET', `snapshots/${name}-${one}`);
            await call('GET', `snapshots/${name}-${one}/packages`);
        }
        await call('GET', `snapshots/${name}-first/packages?q=lamp&format=details`);
        await call('GET', `snapshots/${name}-first/diff/${name}-second`);
        await call('POST', `publish/${name}`, {
            SourceKind: 'snapshot',
            Sources: [{ Name: `${name}-first` }],
            Distribution: 'bookworm',
            Architectures: ['amd64'],
            Signing: { Skip: true },
        });
        await call('PUT', `publish/${name}/bookworm`, {
            Snapshots: [{ Component: 'main', Name: `${name}-second` }],
            Signing: { Skip: true },
        });
    }
    for (const path of ['repos', 'snapshots', 'snapshots?sort=time', 'snapshots?sort=name', 'publish', 'mirrors', 'tasks'])
        await call('GET', path);
    await call('POST', 'db/cleanup');
    for (const name of ['harbour', 'lights']) {
        await call('DELETE', `publish/${name}/bookworm?force=1`);
        await call('DELETE', `snapshots/${name}-all?force=1`);
        await call('DELETE', `repos/${name}?force=1`);
    }
    await page.close();
}

async function upload(page: Page, path: string, file: string): Promise<void> {
    await page.evaluate(
        async ([to, name]) => {
            const form = new FormData();
            form.append('file', new Blob(['!<arch>\n']), name);
            await (await fetch(to, { method: 'POST', body: form })).text();
        },
        [path, file] as const,
    );
}
