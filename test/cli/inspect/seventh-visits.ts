import type { BrowserContext, Page } from 'playwright-core';
import { ask, KEEPER, links, open } from './recorded-visits.ts';

/** Writes a guide to a town, reads what it says in several forms, searches it, and looks at its history. */
export async function visitOpenGuides(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const wiki = `${base}/cgi-bin/openguides/wiki.cgi`;
    const go = async (...queries: string[]) => {
        for (const query of queries) await open(page, wiki + query);
    };
    await open(page, wiki);
    for (const [place, [name, category, locale]] of PLACES.entries()) {
        await open(page, `${base}/cgi-bin/openguides/newpage.cgi`);
        await page.fill('form#new_page_form input[name=pagename]', name);
        await press(page, 'form#new_page_form input[type=submit]');
        await page.fill('textarea[name=content]', `The ${name} is in the [[Old Harbour]]. Water is near.`);
        await page.fill('textarea[name=categories]', category);
        await page.fill('textarea[name=locales]', locale);
        await page.fill('input[name=latitude]', `51.5${place}`);
        await page.fill('input[name=longitude]', `-0.1${place}`);
        await page.fill('input[name=username]', 'Mate');
        await page.fill('input[name=comment]', 'First words');
        await press(page, 'input[name=Save]');
    }
    for (const id of ['Red_Lion', 'Long_Pier']) {
        await go(`?action=edit;id=${id}`);
        await page.fill('textarea[name=content]', 'It was painted. Water is near.');
        await page.fill('input[name=comment]', 'Paint');
        await press(page, 'input[name=Save]');
    }
    for (const id of ['Red_Lion', 'Long_Pier', 'Fish_Market']) await go(`?${id}`, `?action=show_backlinks;id=${id}`);
    for (const id of ['Red_Lion', 'Long_Pier']) {
        await go(`?id=${id};version=1`, `?id=${id};version=2;diffversion=1`, `?action=list_all_versions;id=${id}`, `?id=${id};format=raw`);
        await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?id=${id};format=json`);
        await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?id=${id};format=rdf`);
        await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?action=list_all_versions;id=${id};format=rss`);
        await go(`?action=find_within_distance;id=${id};distance_in_metres=${id === 'Red_Lion' ? 1000 : 5000}`);
    }
    await go('?action=index', '?action=index;cat=pubs', '?action=index;cat=piers', '?action=index;loc=north', '?action=index;loc=south');
    for (const form of ['json', 'rdf']) {
        await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?action=index;format=${form}`);
        for (const cat of ['pubs', 'piers']) await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?action=index;cat=${cat};format=${form}`);
    }
    await go(
        '?RecentChanges',
        '?action=show_wanted_pages',
        '?action=about',
        '?action=userstats;username=Mate',
        '?action=userstats;username=Keeper',
    );
    await go('?action=metadata;type=category', '?action=metadata;type=locale', '?action=admin', '?action=show_missing_metadata');
    await go('?action=show_missing_metadata;metadata_type=phone', '?action=show_missing_metadata;metadata_type=website');
    await go(
        '?action=show_needing_moderation',
        '?action=random',
        '?action=revert_user;username=Nobody',
        '?action=revert_user;username=Someone',
    );
    for (const form of ['rss', 'atom']) {
        await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?action=rc;format=${form}`);
        for (const days of [1, 7])
            await ask(page, 'GET', `/cgi-bin/openguides/wiki.cgi?action=rc;format=${form};items=${days * 3};days=${days}`);
    }
    await open(page, `${base}/cgi-bin/openguides/search.cgi`);
    for (const words of ['water', 'painted']) {
        await page.fill('form#advanced_search input[name=search], input#search_upper', words);
        await press(page, 'input[name=go], input[name=Go]');
    }
    await open(page, `${base}/cgi-bin/openguides/search.cgi?latitude=51.5;longitude=-0.1;latlong_dist=5000`);
    await open(page, `${base}/cgi-bin/openguides/search.cgi?latitude=51.6;longitude=-0.2;latlong_dist=9000`);
    await open(page, `${base}/cgi-bin/openguides/preferences.cgi`);
    await page.fill('input[name=username]', 'Keeper');
    await press(page, '#preferences_form input[type=submit]');
    await ask(page, 'GET', '/cgi-bin/openguides/preferences.cgi?action=show;format=json');
    for (const id of ['Fish_Market', 'Old_Crane']) {
        await go(`?action=delete;id=${id}`);
        await page.fill('input[name=password]', KEEPER.password);
        await press(page, 'form input[type=submit][value*=elete]');
        await go('?Long_Pier');
    }
    await page.close();
}

/** Looks at a radio server, at what its stations send and who listens, changes titles, and moves and ends listeners. */
export async function visitIcecast(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    // Stations and listeners come after the server.
    await page.waitForTimeout(6000);
    for (const name of ['status.xsl', 'server_version.xsl', '']) await open(page, `${base}/${name}`);
    await ask(page, 'GET', '/status-json.xsl');
    for (const mount of ['tides', 'ropes']) await ask(page, 'GET', `/status-json.xsl?mount=/${mount}.mp3`);
    const pass = Buffer.from(`${KEEPER.user}:${KEEPER.password}`).toString('base64');
    await page.setExtraHTTPHeaders({ authorization: `Basic ${pass}` });
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, `${base}/admin/${path}`);
    };
    await go('stats.xsl', 'listmounts.xsl');
    for (const mount of ['tides', 'ropes']) await go(`stats.xsl?mount=/${mount}.mp3`, `listclients.xsl?mount=/${mount}.mp3`);
    for (const mount of ['tides', 'ropes']) {
        await go(`updatemetadata.xsl?mount=/${mount}.mp3`);
        await page.fill('input[name=song]', `Song of the ${mount}`);
        await submit(page);
    }
    await go('manageauth.xsl?mount=/lights.mp3');
    for (const name of ['ada', 'grace', 'mary']) {
        await page.fill('input[name=username]', name);
        await page.fill('input[name=password]', KEEPER.password);
        await submit(page);
        await go('manageauth.xsl?mount=/lights.mp3');
    }
    for (const name of ['ada', 'grace']) await go(`manageauth.xsl?mount=/lights.mp3&username=${name}&action=delete`);
    for (const name of ['stats', 'listmounts']) await ask(page, 'GET', `/admin/${name}`);
    for (const mount of ['tides', 'ropes']) {
        await ask(page, 'GET', `/admin/stats?mount=/${mount}.mp3`);
        await ask(page, 'GET', `/admin/listclients?mount=/${mount}.mp3`);
        await ask(page, 'GET', `/admin/metadata?mount=/${mount}.mp3&mode=updinfo&song=High+${mount}`);
        await ask(page, 'GET', `/admin/fallbacks?mount=/${mount}.mp3&fallback=/fog.mp3`);
    }
    await go('moveclients.xsl?mount=/ropes.mp3', 'moveclients.xsl?mount=/tides.mp3');
    await go('moveclients.xsl?mount=/ropes.mp3&destination=/tides.mp3');
    await go('listclients.xsl?mount=/tides.mp3');
    for (const link of (await links(page, /killclient/)).slice(0, 2)) await open(page, link);
    await go('moveclients.xsl?mount=/tides.mp3&destination=/fog.mp3');
    await ask(page, 'GET', '/admin/moveclients?mount=/fog.mp3&destination=/ropes.mp3');
    await ask(page, 'GET', '/admin/moveclients?mount=/ropes.mp3&destination=/fog.mp3');
    await go('killsource.xsl?mount=/tides.mp3');
    for (const mount of ['ropes', 'fog']) await ask(page, 'GET', `/admin/killsource?mount=/${mount}.mp3`);
    await page.close();
}

/** Calls a program that copies files: lists, copies and deletes some, and changes its stores and options. */
export async function visitRclone(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['[tide%20files:]/', '[tide%20files:]/boats/', '[lamps:]/']) await open(page, `${base}/${path}`);
    const call = (path: string, body: object = {}) => ask(page, 'POST', `/${path}`, body);
    for (const path of [
        'rc/list',
        'core/version',
        'core/stats',
        'core/memstats',
        'core/pid',
        'core/transferred',
        'core/group-list',
        'job/list',
        'mount/types',
    ])
        await call(path);
    for (const path of [
        'config/listremotes',
        'config/dump',
        'config/providers',
        'options/blocks',
        'options/get',
        'options/local',
        'fscache/entries',
        'vfs/list',
    ])
        await call(path);
    for (const value of ['tides', 'ropes']) await call('rc/noop', { potato: value });
    for (const name of ['tide files', 'lamps']) {
        const fs = `${name}:`;
        await call('config/get', { name });
        await call('operations/fsinfo', { fs });
        await call('operations/about', { fs });
        await call('operations/size', { fs });
        await call('operations/list', { fs, remote: '', opt: { recurse: name === 'lamps', noModTime: true } });
        await call('operations/stat', { fs, remote: name === 'lamps' ? 'green.txt' : 'tides.txt' });
        await call('operations/mkdir', { fs, remote: `new-${name.length}` });
        await call('operations/copyfile', {
            srcFs: 'lamps:',
            srcRemote: 'green.txt',
            dstFs: fs,
            dstRemote: `new-${name.length}/green.txt`,
        });
        await call('operations/movefile', {
            srcFs: fs,
            srcRemote: `new-${name.length}/green.txt`,
            dstFs: fs,
            dstRemote: `copy-of-${name.length}.txt`,
        });
        await call('operations/deletefile', { fs, remote: `copy-of-${name.length}.txt` });
        await call('operations/rmdir', { fs, remote: `new-${name.length}` });
        await call('operations/mkdir', { fs, remote: 'old' });
        await call('operations/purge', { fs, remote: 'old' });
    }
    for (const [srcFs, dstFs] of [
        ['lamps:', 'tide files:lamps'],
        ['tide files:boats', 'lamps:boats'],
    ]) {
        await call('sync/copy', { srcFs, dstFs });
        await call('sync/sync', { srcFs, dstFs, createEmptySrcDirs: true });
        const { jobid } = JSON.parse(await call('sync/copy', { srcFs, dstFs, _async: true })) as { jobid: number };
        await call('job/status', { jobid });
        await call('core/stats', { group: `job/${jobid}` });
        await call('core/transferred', { group: `job/${jobid}` });
    }
    for (const name of ['ropes', 'horns']) {
        await call('config/create', { name, type: 'alias', parameters: { remote: 'lamps:' } });
        await call('config/update', { name, parameters: { remote: 'tide files:' } });
        await call('config/delete', { name });
    }
    for (const rate of ['1M', 'off']) await call('core/bwlimit', { rate });
    for (const clear of ['High water', 'Low water']) await call('core/obscure', { clear });
    for (const level of ['DEBUG', 'NOTICE']) await call('options/set', { main: { LogLevel: level } });
    await call('core/stats-reset');
    await call('fscache/clear');
    await call('core/gc');
    await page.close();
}

/** Looks through a shelf of books, searches them, reads some pages, and asks the catalogue of the shelf. */
export async function visitKiwix(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (...paths: string[]) => {
        for (const path of paths) await open(page, base + path);
    };
    await go('/');
    for (const book of ['harbour', 'lights', 'marees']) {
        await go(`/${book}/index.html`, `/${book}/tides.html`, `/${book}/ropes.html`);
        await page.fill('input[name=pattern]', 'wat');
        await page.locator('input[name=pattern]').pressSequentially('er', { delay: 60 });
        await page.waitForLoadState('networkidle');
        await page.keyboard.press('Escape');
        await Promise.all([page.waitForNavigation(), page.press('input[name=pattern]', 'Enter')]);
    }
    for (const words of ['ropes', 'water']) await go(`/search?content=lights&pattern=${words}&start=0&pageLength=${words.length - 2}`);
    for (const [book, words] of [
        ['harbour', 'ti'],
        ['lights', 'ro'],
    ])
        await ask(page, 'GET', `/suggest?content=${book}&term=${words}`);
    await ask(page, 'GET', '/catalog/root.xml');
    await ask(page, 'GET', '/catalog/searchdescription.xml');
    for (const words of ['harbour', 'words']) await ask(page, 'GET', `/catalog/search?q=${words}&start=0&count=${words.length}`);
    for (const lang of ['eng', 'fra']) await ask(page, 'GET', `/catalog/search?lang=${lang}`);
    const catalog = '/catalog/v2';
    for (const name of ['root.xml', 'searchdescription.xml', 'entries', 'partial_entries', 'categories', 'languages'])
        await ask(page, 'GET', `${catalog}/${name}`);
    for (const [lang, words] of [
        ['eng', 'harbour'],
        ['fra', 'marees'],
    ]) {
        await ask(page, 'GET', `${catalog}/entries?lang=${lang}&q=${words}`);
        await ask(page, 'GET', `${catalog}/entries?category=${words}`);
        await ask(page, 'GET', `${catalog}/entries?start=${lang === 'eng' ? 0 : 1}&count=2`);
        await ask(page, 'GET', `${catalog}/partial_entries?q=${words}`);
    }
    const shelf = await ask(page, 'GET', `${catalog}/partial_entries?count=-1`);
    for (const [, id] of shelf.matchAll(/urn:uuid:([\w-]+)/g)) await ask(page, 'GET', `${catalog}/entry/${id}`);
    for (const book of ['harbour', 'lights']) {
        for (const name of ['Title', 'Language', 'Creator']) await ask(page, 'GET', `/raw/${book}/meta/${name}`);
        for (const name of ['tides', 'oars']) await ask(page, 'GET', `/raw/${book}/content/${name}.html`);
    }
    for (const name of ['harbour', 'rope']) await go(`/catch/external?source=${encodeURIComponent(`http://${name}.example/`)}`);
    await page.close();
}

/** Walks through folders in a file manager, and reads, writes, renames, copies and deletes files by its API. */
export async function visitCloudCommander(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const folder of ['boats', 'lights']) await open(page, `${base}/fs/${folder}/`);
    const fs = '/api/v1/fs';
    await ask(page, 'GET', '/api/v1');
    await ask(page, 'GET', '/api/v1/config');
    await ask(page, 'PATCH', '/api/v1/config', { confirmCopy: false });
    await ask(page, 'PATCH', '/api/v1/config', { confirmMove: false, tabSize: 2 });
    await ask(page, 'GET', `${fs}/`);
    for (const folder of ['boats', 'lights'])
        for (const query of ['', '?sort=size&order=desc', '?sort=time&order=asc', '?size'])
            await ask(page, 'GET', `${fs}/${folder}/${query}`);
    for (const file of ['tides.txt', 'ropes.txt', 'boats/oars.txt', 'lights/green.txt'])
        for (const query of ['', '?size', '?hash', '?raw-size', '?download'])
            await ask(page, 'GET', fs + (query === '' ? `/${file}` : `/${file}${query}`));
    for (const file of ['anchors.txt', 'horns.txt', 'boats/masts.txt', 'lights/red.txt']) {
        await send(page, 'PUT', `${fs}/${file}`, `Words of ${file}`);
        await ask(page, 'GET', `${fs}/${file}`);
    }
    for (const folder of ['old', 'new', 'boats/small', 'lights/long']) await ask(page, 'PUT', `${fs}/${folder}?dir`);
    const act = (name: string, body: object) => ask(page, 'PUT', `/api/v1/${name}`, body);
    await act('rename', { from: '/anchors.txt', to: '/anchor.txt' });
    await act('rename', { from: '/boats/masts.txt', to: '/boats/mast.txt' });
    await act('copy', { from: '/', to: '/old/', names: ['tides.txt'] });
    await act('copy', { from: '/boats/', to: '/new/', names: ['oars.txt', 'sails.txt'] });
    await act('move', { from: '/', to: '/old/', names: ['anchor.txt'] });
    await act('move', { from: '/boats/', to: '/new/', names: ['mast.txt'] });
    await act('pack', { from: '/', to: '/ropes.tar.gz', names: ['ropes.txt'] });
    await act('pack', { from: '/boats/', to: '/boats/all.tar.gz', names: ['sails.txt'] });
    for (const file of ['horns.txt', 'boats/small', 'lights/red.txt']) await ask(page, 'DELETE', `${fs}/${file}`);
    for (const [folder, file] of [
        ['old', 'tides.txt'],
        ['new', 'oars.txt'],
    ])
        await send(page, 'DELETE', `${fs}/${folder}?files`, JSON.stringify([file]));
    await page.close();
}

const PLACES = [
    ['Home', 'Help', 'Everywhere'],
    ['Red Lion', 'Pubs', 'North Side'],
    ['Long Pier', 'Piers', 'South Side'],
    ['Fish Market', 'Shops', 'North Side'],
    ['Old Crane', 'Piers', 'North Side'],
] as const;

/** A request of the page's script that sends a plain text. */
async function send(page: Page, method: string, path: string, text: string): Promise<void> {
    await page.evaluate(
        async ([how, where, body]) => {
            await (await fetch(where, { method: how, headers: { 'content-type': 'text/plain' }, body })).text();
        },
        [method, path, text] as const,
    );
}

async function press(page: Page, button: string): Promise<void> {
    await Promise.all([page.waitForNavigation({ waitUntil: 'domcontentloaded' }), page.locator(button).first().click()]);
}

/** Sends the form of a page of XML, whose buttons no click sends. */
async function submit(page: Page): Promise<void> {
    const sent = page.waitForResponse((response) => response.request().isNavigationRequest());
    await page
        .locator('form')
        .first()
        .evaluate((form) => (form as unknown as { submit(): void }).submit());
    await (await sent).finished();
    await page.waitForLoadState('networkidle');
}
