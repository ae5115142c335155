import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { CGI_SERVER, type RecordedApplication } from '../starting.ts';
import { ask, links, open, press, send } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'usemod',
    host: 'notes.test',
    ready: '/cgi-bin/wiki.pl?action=version',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
        return `
            mkdir -p site/cgi-bin data
            sed -e 's|^$DataDir .*|$DataDir = "${folder}/data";|' -e 's|^$ENV{PATH}.*||' -e 's|^$ScriptTZ .*|$ScriptTZ = "UTC";|' /etc/usemod-wiki/config > config
            sed 's|/etc/usemod-wiki/config|${folder}/config|' /usr/lib/cgi-bin/wiki.pl > site/cgi-bin/wiki.pl && chmod +x site/cgi-bin/wiki.pl
            exec ${process.execPath} serve.mjs ${port} ${folder}/site`;
    },
};

const PAGES = {
    HighWater: 'Water is high when the moon is. See TideTable.',
    TideTable: 'Six and eighteen.',
    LostAnchors: 'None. See HighWater.',
};

/** Writes pages of a wiki, reads their histories and changes, searches them, and sets what it shows. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const wiki = `${base}/cgi-bin/wiki.pl`;
    await open(page, wiki);
    await write(page, wiki, 'HomePage', 'Welcome to the harbour. See HighWater and LostAnchors.', 'Begun');
    for (const [name, words] of Object.entries(PAGES))
        for (const more of ['', ' Twice.']) await write(page, wiki, name, words + more, `About ${name}`);
    await open(page, `${wiki}?action=edit&id=TideTable`);
    await page.fill('textarea[name=text]', 'Seven and nineteen.');
    await press(page, 'input[name=Preview]');
    for (const name of Object.keys(PAGES)) {
        await open(page, `${wiki}?${name}`);
        await open(page, `${wiki}?action=browse&id=${name}&revision=1`);
        await open(page, `${wiki}?action=browse&diff=1&id=${name}`);
        await open(page, `${wiki}?action=edit&id=${name}&revision=1`);
        await open(page, `${wiki}?back=${name}`);
        await open(page, `${wiki}?action=history&id=${name}`);
        const [address] = await links(page, /diffrevision/);
        if (address !== undefined) await open(page, address);
        await page.locator('input[name=diffrevision]').first().check();
        await page.locator('input[name=revision]').last().check();
        await press(page, 'form:has(input[name=diffrevision]) input[type=submit]');
    }
    await open(page, `${wiki}?RecentChanges`);
    for (const days of [1, 7, 90]) await open(page, `${wiki}?action=rc&days=${days}`);
    for (const edits of [0, 1]) await open(page, `${wiki}?action=rc&showedit=${edits}`);
    for (const days of [3, 30]) await ask(page, 'GET', `/cgi-bin/wiki.pl?action=rss&days=${days}`);
    for (const part of ['index', 'links', 'version', 'random', 'editprefs', 'login', 'newlogin'])
        await open(page, `${wiki}?action=${part}`);
    for (const words of ['water', 'anchor']) {
        await open(page, wiki);
        await page.fill('input[name=search]', words);
        await send(page, 'input[name=search]');
    }
    for (const name of ['Keeper', 'Mate']) {
        await open(page, `${wiki}?action=editprefs`);
        await page.fill('input[name=p_username]', name);
        await press(page, 'input[name=Save]');
    }
    await page.close();
}

async function write(page: Page, wiki: string, name: string, words: string, summary: string): Promise<void> {
    await open(page, `${wiki}?action=edit&id=${name}`);
    await page.fill('textarea[name=text]', words);
    await page.fill('input[name=summary]', summary);
    await press(page, 'input[name=Save]');
}
