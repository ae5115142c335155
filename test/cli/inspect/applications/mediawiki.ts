import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'mediawiki',
    host: 'wiki.test',
    ready: '/index.php/Main_Page',
    visit,
    start: (folder, port, npm) => `
            mkdir data && cp -r ${join(npm, '../../root')}/usr/share/mediawiki wiki && cd wiki
            rm -rf LocalSettings.php extensions images config && mkdir extensions images
            php maintenance/install.php --dbtype sqlite --dbpath ${folder}/data --dbname wiki --server http://wiki.test:${port} \\
                --scriptpath '' --lang en --pass ${KEEPER.password} 'Harbour wiki' ${KEEPER.user}
            for title in Tides Lights Ropes; do
                for step in First Second; do
                    echo "$step words of $title. See [[Ropes]]. [[Category:Harbour]]" | php maintenance/edit.php -s "$step words" $title
                done
            done
            exec php -d display_errors=0 -S 127.0.0.1:${port}`,
};

/** Reads a wiki and its history, searches, edits a page, and asks its two APIs. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const title of ['Main_Page', 'Tides', 'Lights', 'Ropes']) await open(page, `${base}/index.php/${title}`);
    for (const title of ['Tides', 'Lights'])
        for (const action of ['history', 'info', 'edit']) await open(page, `${base}/index.php?title=${title}&action=${action}`);
    for (const [title, oldid] of [
        ['Tides', 2],
        ['Lights', 4],
    ])
        for (const diff of ['', `&diff=${Number(oldid) + 1}`]) await open(page, `${base}/index.php?title=${title}${diff}&oldid=${oldid}`);
    for (const name of ['RecentChanges', 'AllPages', 'Version', 'WhatLinksHere/Ropes', 'WhatLinksHere/Tides'])
        await open(page, `${base}/index.php/Special:${name}`);
    for (const words of ['words', 'second']) {
        await open(page, `${base}/index.php/Tides`);
        await page.fill('input[name=search]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=search]', 'Enter')]);
    }
    for (const title of ['Tides', 'Lights']) {
        await open(page, `${base}/index.php?title=${title}&action=edit`);
        await page.fill('#wpTextbox1', `Other words of ${title}`);
        await Promise.all([page.waitForNavigation(), page.locator('#wpSave').click()]);
    }
    const api = (asked: string) => ask(page, 'GET', `/api.php?format=json&${asked}`);
    for (const words of ['words', 'lights']) {
        await api(`action=query&list=search&srsearch=${words}&srlimit=5`);
        await api(`action=opensearch&search=${words}&limit=5`);
        await ask(page, 'GET', `/rest.php/v1/search/page?q=${words}&limit=5`);
    }
    for (const title of ['Tides', 'Ropes']) {
        await api(`action=parse&page=${title}&prop=text`);
        await ask(page, 'GET', `/rest.php/v1/page/${title}`);
        await ask(page, 'GET', `/rest.php/v1/page/${title}/history`);
    }
    await page.close();
}
