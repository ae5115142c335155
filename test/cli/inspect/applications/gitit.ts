import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'gitit',
    host: 'charts.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'wiki.conf'),
            `repository-type: Git\nrequire-authentication: none\nuse-feed: yes\nwiki-title: Charts\nuse-cache: no\naddress: 127.0.0.1\nport: ${port}\n`,
        );
        return `
            git config --global user.name Keeper && git config --global user.email keeper@harbour.example && git config --global init.defaultBranch main
            LANG=C.UTF-8 exec gitit -f wiki.conf`;
    },
};

/** Writes pages with categories, reads them and their history in several forms, searches, and deletes one. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    for (const [name, text] of [
        ['Tides', 'High water twice a day.'],
        ['Ropes', 'Keep them dry, and see [Tides]().'],
        ['Fog', 'Sound the horn.'],
    ] as const)
        for (const more of ['', '\n\nAsk the keeper.']) {
            await open(page, `${base}/_edit/${name}`);
            await page.fill('#editedText', `---\ncategories: ${name === 'Fog' ? 'weather' : 'harbour'}\n...\n\n${text}${more}\n`);
            await page.fill('#logMsg', more === '' ? `Begin ${name}` : `Say more of ${name}`);
            await press(page, '#update');
        }
    for (const name of ['Tides', 'Ropes']) {
        await open(page, `${base}/${name}`);
        await open(page, `${base}/_showraw/${name}`);
        await open(page, `${base}/_discuss/${name}`);
        await open(page, `${base}/_delete/${name}`);
        await open(page, `${base}/_history/${name}`);
        const revisions = await links(page, /revision=/);
        for (const revision of revisions.slice(0, 2)) await open(page, revision);
        const [to = '', from = ''] = revisions.map((href) => new URL(href).searchParams.get('revision') ?? '');
        await open(page, `${base}/_diff/${name}?from=${from}&to=${to}`);
        await ask(page, 'GET', `/_feed/${name}`);
        await ask(page, 'POST', '/_preview', `raw=${encodeURIComponent(`*${name}*`)}`);
    }
    for (const place of ['_index', '_categories', '_category/harbour', '_category/weather', '_activity', '_upload', '_feed/'])
        await open(page, `${base}/${place}`);
    for (const words of ['water', 'horn']) {
        await open(page, `${base}/_search?patterns=${words}`);
        await ask(page, 'POST', '/_search', `patterns=${words}`);
    }
    for (const name of ['Fog', 'Ropes']) {
        await open(page, `${base}/_delete/${name}`);
        await press(page, 'input[name=confirm]');
    }
    await page.close();
}
