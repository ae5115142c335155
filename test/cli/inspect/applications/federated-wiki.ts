import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'federated-wiki',
    host: 'pages.test',
    ready: '/system/slugs.json',
    visit,
    start: (folder, port, npm) =>
        node(
            npm,
            'wiki/index.js',
            '--port',
            String(port),
            '--data',
            join(folder, 'data'),
            '--security_type',
            './security.js',
            '--security_legacy',
            'true',
            '--client',
            join(npm, 'wiki-client/client'),
        ),
};

/** Reads pages as pages and as data, writes some, changes their paragraphs, and throws one away. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/view/welcome-visitors`);
    const act = (slug: string, action: object) =>
        ask(page, 'PUT', `/page/${slug}/action`, `action=${encodeURIComponent(JSON.stringify(action))}`);
    for (const [place, title] of ['Tides', 'Fog Horn', 'Green Lamp'].entries()) {
        const slug = title.toLowerCase().replaceAll(' ', '-');
        const id = `a${place}b7c6d5e4f3a2b1`;
        await act(slug, { type: 'create', item: { title, story: [] }, date: 1_770_000_000_000 + place });
        await act(slug, { type: 'add', id, item: { type: 'paragraph', id, text: `About the ${title}` }, date: 1_770_000_100_000 + place });
        await act(slug, {
            type: 'edit',
            id,
            item: { type: 'paragraph', id, text: `More of the ${title}` },
            date: 1_770_000_200_000 + place,
        });
        await ask(page, 'GET', `/${slug}.json`);
        await open(page, `${base}/${slug}.html`);
        await open(page, `${base}/view/${slug}`);
    }
    await open(page, `${base}/view/tides/view/fog-horn`);
    await open(page, `${base}/welcome-visitors.html`);
    for (const name of ['slugs', 'plugins', 'sitemap', 'site-index', 'export', 'factories']) await ask(page, 'GET', `/system/${name}.json`);
    await ask(page, 'GET', '/sitemap.xml');
    for (const slug of ['tides', 'green-lamp']) await ask(page, 'DELETE', `/${slug}.json`);
    await ask(page, 'GET', '/recycler/system/slugs.json');
    for (const slug of ['tides', 'green-lamp']) await ask(page, 'GET', `/recycler/${slug}.json`);
    await ask(page, 'DELETE', '/recycler/tides.json');
    await page.close();
}
