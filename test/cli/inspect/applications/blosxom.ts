import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'blosxom',
    host: 'diary.test',
    ready: '/cgi-bin/blosxom',
    visit,
    start(folder, port) {
        mkdirSync(join(folder, 'site/cgi-bin'), { recursive: true });
        symlinkSync('/usr/lib/cgi-bin/blosxom', join(folder, 'site/cgi-bin/blosxom'));
        for (const [place, story] of STORIES.entries()) {
            const file = join(folder, 'data', `${story}.txt`);
            mkdirSync(dirname(file), { recursive: true });
            const title = story.slice(story.lastIndexOf('/') + 1);
            writeFileSync(file, `About ${title}\n<p>What the keeper wrote of ${title} and of the sea.</p>\n`);
            const at = new Date(Date.UTC(2025 + (place % 2), place, 3 + place, 12));
            utimesSync(file, at, at);
        }
        writeFileSync(
            join(folder, 'blosxom.conf'),
            `$blog_title = "The keeper's diary"; $blog_description = "Days at a harbour"; $datadir = "${folder}/data"; $num_entries = 5; 1;`,
        );
        return `chmod -R a+rX . && cd site && BLOSXOM_CONFIG_DIR=${folder} exec /usr/bin/python3 -m http.server --cgi --bind 127.0.0.1 ${port}`;
    },
};

const STORIES = [
    'harbour/tides',
    'harbour/ropes',
    'harbour/boats/gull',
    'harbour/boats/tern',
    'lights/green',
    'lights/fog/horn',
    'weather',
];

/** Reads a diary: its folders, stories, days and feeds. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const root = `${base}/cgi-bin/blosxom`;
    for (const path of ['', '/harbour', '/lights', '/harbour/boats', '/lights/fog']) await open(page, root + path);
    for (const story of STORIES.filter((one) => one.includes('/'))) await open(page, `${root}/${story}.html`);
    for (const path of ['/2025', '/2026', '/2025/01', '/2026/02', '/2025/01/03', '/2026/02/04', '/2026/04/06'])
        await open(page, root + path);
    for (const path of ['/index.rss', '/harbour/index.rss', '/lights/index.rss']) await open(page, root + path);
    await page.close();
}
