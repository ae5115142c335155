import type { BrowserContext } from 'playwright-core';
import { END_ALL, postgres, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'unleash',
    host: 'flags.test',
    ready: '/health',
    visit,
    start: (folder, port, npm) => `${END_ALL}${postgres(folder, port + 1000)}
            export DATABASE_URL=postgres://postgres@127.0.0.1:${port + 1000}/postgres DATABASE_SSL=false PORT=${port} HTTP_HOST=127.0.0.1
            export CHECK_VERSION=false SEND_TELEMETRY=false
            ${process.execPath} ${npm}/unleash-server/dist/server.js & wait $!`,
};

/** Signs in to a service of feature flags, looks around in its single page, and makes, switches and archives flags. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/login`);
    await page.waitForTimeout(2000);
    await ask(page, 'POST', '/auth/simple/login', { username: 'admin', password: 'unleash4all' });
    for (const path of ['/projects', '/search', '/projects/default', '/segments', '/context', '/tag-types', '/history']) {
        await open(page, base + path);
        await page.waitForTimeout(1200);
    }
    const json = async (method: string, path: string, body?: object) =>
        JSON.parse((await ask(page, method, `/api/admin/${path}`, body)) || '{}') as Record<string, unknown>;
    const features = 'projects/default/features';
    const flags = ['green-light', 'fog-bell', 'tide-table', 'new-mole'];
    for (const name of flags) await json('POST', features, { name, description: `About ${name}`, type: 'release', impressionData: false });
    for (const name of ['area', 'depth']) await json('POST', 'tag-types', { name, description: `The ${name} of a flag`, icon: name[0] });
    for (const offset of [0, 2]) await json('GET', `search/features?query=e&limit=2&offset=${offset}&sortBy=name`);
    for (const name of flags.slice(0, 2)) {
        const flag = `${features}/${name}`;
        await open(page, `${base}/projects/default/features/${name}`);
        await page.waitForTimeout(800);
        await json('GET', flag);
        await json('PUT', flag, { description: `More about ${name}`, type: 'experiment' });
        await json('PATCH', flag, [{ op: 'replace', path: '/stale', value: true }]);
        for (const environment of ['development', 'production']) {
            const place = `${flag}/environments/${environment}`;
            const strategy = await json('POST', `${place}/strategies`, {
                name: 'flexibleRollout',
                title: 'A part of all',
                parameters: { rollout: '50', stickiness: 'default', groupId: name },
            });
            await json('GET', `${place}/strategies`);
            await json('GET', `${place}/strategies/${strategy['id']}`);
            await json('POST', `${place}/on`);
            await json('POST', `${place}/off`);
            await json('DELETE', `${place}/strategies/${strategy['id']}`);
        }
        for (const [type, value] of [
            ['simple', 'sea'],
            ['area', 'quay'],
        ]) {
            await json('POST', `features/${name}/tags`, { type, value });
            await json('GET', `features/${name}/tags`);
            await json('GET', `tags/${type}`);
            await json('DELETE', `features/${name}/tags/${type}/${value}`);
        }
        await json('DELETE', flag);
    }
    for (const name of ['boat', 'berth']) {
        await json('POST', 'context', { name, description: `The ${name} of a caller`, legalValues: [], stickiness: false });
        await json('GET', `context/${name}`);
        await json('DELETE', `context/${name}`);
    }
    for (const name of ['sailors', 'keepers']) {
        const made = await json('POST', 'segments', {
            name,
            description: `All ${name}`,
            constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'] }],
        });
        await json('GET', `segments/${made['id']}`);
        await json('DELETE', `segments/${made['id']}`);
    }
    await json('DELETE', 'tag-types/depth');
    await json('DELETE', 'tag-types/area');
    for (const path of ['strategies', 'environments', 'tag-types', 'addons', 'feature-types']) await json('GET', path);
    await ask(page, 'GET', '/health');
    await page.close();
}
