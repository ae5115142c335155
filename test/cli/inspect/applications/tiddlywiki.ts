import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'tiddlywiki',
    host: 'tiddlers.test',
    ready: '/status',
    visit,
    start(folder, port, npm) {
        const run = (...args: string[]) =>
            execFileSync(process.execPath, [join(npm, 'tiddlywiki/tiddlywiki.js'), ...args], { stdio: 'ignore' });
        run(join(folder, 'wiki'), '--init', 'server');
        return node(npm, 'tiddlywiki/tiddlywiki.js', join(folder, 'wiki'), '--listen', `port=${port}`, 'host=127.0.0.1');
    },
};

/** Reads and writes notes of a wiki that stores each as a tiddler. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.waitForTimeout(1500);
    const send = (method: string, path: string, body?: object) =>
        page.evaluate(
            async ([how, where, sent]) => {
                const headers = { 'x-requested-with': 'TiddlyWiki', ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
                return await (
                    await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
                ).text();
            },
            [method, path, body] as const,
        );
    for (const title of ['Tides', 'Lights', 'Ropes'])
        await send('PUT', `/recipes/default/tiddlers/${title}`, { title, text: `About ${title}`, tags: 'harbour', fields: {} });
    for (const title of ['Tides', 'Lights', 'Ropes']) await send('GET', `/recipes/default/tiddlers/${title}`);
    for (const tag of ['harbour', 'boats'])
        await send('GET', `/recipes/default/tiddlers.json?filter=${encodeURIComponent(`[tag[${tag}]]`)}`);
    await send('GET', '/recipes/default/tiddlers.json');
    await send('GET', '/status');
    for (const title of ['Tides', 'Lights']) await open(page, `${base}/${title}`);
    await send('DELETE', '/bags/default/tiddlers/Ropes');
    await page.close();
}
