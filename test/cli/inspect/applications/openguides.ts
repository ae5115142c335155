import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { CGI_SERVER, type RecordedApplication } from '../starting.ts';
import { ask, KEEPER, open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'openguides',
    host: 'town.test',
    ready: '/cgi-bin/openguides/newpage.cgi',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'wiki.conf'),
            `dbtype = sqlite\ndbname = ${folder}/data/guide.db\ntemplate_path = /usr/share/openguides/templates\nscript_name = wiki.cgi\n` +
                `script_url = http://town.test:${port}/cgi-bin/openguides/\nindexing_directory = ${folder}/data/index\nsite_name = Guide to the harbour\n` +
                `home_name = Home\nsite_desc = A guide to the harbour\ndefault_city = Harbour\nadmin_pass = ${KEEPER.password}\n` +
                'enable_page_deletion = y\ngeo_handler = 3\nuse_plucene = 1\ndefault_language = en\ncontact_email = keeper@harbour.example\n',
        );
        writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
        return `
            mkdir -p data/index && openguides-setup-db wiki.conf
            OPENGUIDES_CONFIG_FILE=${folder}/wiki.conf exec ${process.execPath} serve.mjs ${port}`;
    },
};

/** Writes a guide to a town, reads what it says in several forms, searches it, and looks at its history. */
async function visit(context: BrowserContext, base: string): Promise<void> {
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

const PLACES = [
    ['Home', 'Help', 'Everywhere'],
    ['Red Lion', 'Pubs', 'North Side'],
    ['Long Pier', 'Piers', 'South Side'],
    ['Fish Market', 'Shops', 'North Side'],
    ['Old Crane', 'Piers', 'North Side'],
] as const;
