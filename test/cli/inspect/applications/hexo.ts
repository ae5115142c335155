import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'hexo',
    host: 'blog.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        const site = join(folder, 'site');
        mkdirSync(join(site, 'source/_posts'), { recursive: true });
        mkdirSync(join(site, 'node_modules'));
        execFileSync('sh', ['-c', `ln -s ${npm}/* ${site}/node_modules/`]);
        const wanted = ['hexo-generator-index', 'hexo-generator-archive', 'hexo-generator-tag', 'hexo-generator-category'];
        const used = [...wanted, 'hexo-generator-feed', 'hexo-server', 'hexo-renderer-ejs', 'hexo-renderer-marked', 'hexo-renderer-stylus'];
        const dependencies = Object.fromEntries(['hexo', 'hexo-theme-landscape', ...used].map((name) => [name, '*']));
        writeFileSync(join(site, 'package.json'), JSON.stringify({ name: 'harbour', hexo: { version: '8.1.2' }, dependencies }));
        const config = {
            title: 'Harbour notes',
            description: 'What happens between the tides.',
            url: `http://blog.test:${port}`,
            theme: 'landscape',
            per_page: 4,
            index_generator: { per_page: 4 },
            feed: { type: 'atom', path: 'atom.xml' },
        };
        writeFileSync(join(site, '_config.yml'), JSON.stringify(config));
        for (const [place, title] of POSTS.entries()) {
            const head = `title: ${title}\ndate: 2025-0${1 + (place % 3)}-1${place} 10:00:00\ntags: [${TAGS[place % TAGS.length]}]\ncategories: [${CATEGORIES[place % CATEGORIES.length]}]`;
            const file = join(site, 'source/_posts', `${title.toLowerCase().replaceAll(' ', '-')}.md`);
            writeFileSync(file, `---\n${head}\n---\nA few words about ${title}.\n\nAnd a second paragraph.\n`);
        }
        return { ...node(npm, 'hexo/bin/hexo', 'server', '--port', String(port), '--ip', '127.0.0.1'), cwd: site };
    },
};

/** Reads a blog: pages of posts, single posts, archives, tags and categories. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/page/2/', '/page/3/', '/archives/', '/archives/2025/', '/archives/2025/01/', '/archives/2025/02/'])
        await open(page, base + path);
    for (const path of ['/tags/tides/', '/tags/lights/', '/tags/boats/', '/categories/Weather/', '/categories/Gear/'])
        await open(page, base + path);
    await open(page, `${base}/`);
    const posts = await links(page, /\/2025\/\d\d\/\d\d\//);
    for (const post of posts.slice(0, 4)) await open(page, post);
    await ask(page, 'GET', '/atom.xml');
    await page.close();
}

const POSTS = [
    'High water',
    'Green lights',
    'Old ropes',
    'New moorings',
    'Fog bells',
    'Winter storage',
    'Spring cleaning',
    'Long piers',
    'Small ferries',
];

const TAGS = ['tides', 'lights', 'boats'];

const CATEGORIES = ['Weather', 'Gear'];
