import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'mountebank',
    host: 'doubles.test',
    ready: '/config',
    visit,
    start: (_folder, port, npm) => node(npm, 'mountebank/bin/mb', '--port', String(port), '--nologfile', '--localOnly'),
};

/** Sets up servers that answer as they are told, changes what they say, and reads the pages about them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const own = Number(new URL(base).port);
    const [lamp, horn, bell] = [own + 100, own + 101, own + 102];
    await open(page, base);
    const stub = (words: string) => ({
        predicates: [{ equals: { path: `/${words}` } }],
        responses: [{ is: { statusCode: 200, body: words } }],
    });
    for (const path of ['', 'imposters', 'config', 'logs']) await ask(page, 'GET', `/${path}`);
    for (const [port, name] of [
        [lamp, 'lamp'],
        [horn, 'horn'],
    ] as const)
        await ask(page, 'POST', '/imposters', { protocol: 'http', port, name, recordRequests: true, stubs: [stub(name), stub('tides')] });
    await ask(page, 'POST', '/imposters', { protocol: 'tcp', port: bell, name: 'bell' });
    for (const port of [lamp, horn]) {
        const at = `/imposters/${port}`;
        await ask(page, 'GET', at);
        await ask(page, 'GET', `${at}?replayable=true&removeProxies=true`);
        await ask(page, 'POST', `${at}/stubs`, { index: 1, stub: stub('fog') });
        await ask(page, 'PUT', `${at}/stubs/1`, stub('rope'));
        await ask(page, 'DELETE', `${at}/stubs/2`);
        await ask(page, 'PUT', `${at}/stubs`, { stubs: [stub('dawn')] });
        await ask(page, 'DELETE', `${at}/savedRequests`);
        await ask(page, 'DELETE', `${at}/savedProxyResponses`);
        await open(page, base + at);
    }
    await ask(page, 'GET', '/imposters');
    await ask(page, 'GET', '/imposters?replayable=true');
    await ask(page, 'GET', '/logs?startIndex=0&endIndex=3');
    await ask(page, 'GET', '/logs?startIndex=2&endIndex=6');
    for (const path of ['imposters', 'logs', 'config', 'faqs', 'support', 'releases', 'releases/v2.8.2', 'releases/v2.9.0'])
        await open(page, `${base}/${path}`);
    await ask(page, 'GET', '/feed');
    await ask(page, 'GET', '/feed?page=2');
    await ask(page, 'GET', '/metrics');
    await ask(page, 'DELETE', `/imposters/${bell}`);
    await ask(page, 'DELETE', `/imposters/${horn}?replayable=true`);
    await ask(page, 'PUT', '/imposters', { imposters: [{ protocol: 'http', port: horn, name: 'horn', stubs: [stub('noon')] }] });
    await ask(page, 'DELETE', '/imposters?removeProxies=true');
    await page.close();
}
