import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'raneto',
    host: 'knowledge.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        const home = join(npm, '../../npm2/node_modules/raneto');
        cpSync(join(home, 'example/content'), join(folder, 'content'), { recursive: true });
        writeFileSync(
            join(folder, 'start.cjs'),
            `const config = require(${JSON.stringify(join(home, 'example/config.default.js'))});
             config.site_title = 'Harbour Handbook'; config.content_dir = ${JSON.stringify(`${folder}/content/`)};
             config.credentials = [{ username: ${JSON.stringify(KEEPER.user)}, password: ${JSON.stringify(KEEPER.password)} }];
             const app = require(${JSON.stringify(home)})(config);
             app.listen(${port}, '127.0.0.1');`,
        );
        // It takes no newer version of Node.js.
        return { program: '/usr/bin/node', args: ['start.cjs'] };
    },
};

/** Reads and searches a handbook, signs in, writes pages and a category, and removes one page. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/what-is-raneto', '/contributing', '/showcase', '/install/installing-raneto', '/install/production-notes'])
        await open(page, base + path);
    for (const path of ['/usage/creating-pages', '/usage/page-meta', '/tutorials/deploying-raneto-to-heroku'])
        await open(page, base + path);
    for (const words of ['install', 'pages']) {
        await open(page, `${base}/`);
        await page.fill('#home-search', words);
        await send(page, '#home-search');
    }
    await ask(page, 'GET', '/sitemap.xml');
    await ask(page, 'POST', '/rn-login', new URLSearchParams({ username: KEEPER.user, password: KEEPER.password }).toString());
    const post = (path: string, fields: Record<string, string>) => ask(page, 'POST', path, new URLSearchParams(fields).toString());
    for (const category of ['lamps', 'ropes']) await post('/rn-add-category', { category });
    for (const [category, name] of [
        ['lamps', 'brass'],
        ['ropes', 'hemp'],
        ['ropes', 'old'],
    ] as const)
        await post('/rn-add-page', { category: `/${category}/`, name });
    for (const [file, title] of [
        ['/lamps/brass', 'Brass lamps'],
        ['/ropes/hemp', 'Ropes of hemp'],
    ] as const)
        await post('/rn-edit', {
            file,
            content: `All about ${title}`,
            meta_title: title,
            meta_description: `How to keep ${title}`,
            meta_sort: '1',
        });
    for (const path of ['/lamps/brass/edit', '/ropes/hemp/edit', '/lamps/brass', '/ropes/hemp']) await open(page, base + path);
    await post('/rn-delete', { file: '/ropes/old' });
    await page.close();
}
