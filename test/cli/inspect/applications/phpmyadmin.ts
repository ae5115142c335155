import type { BrowserContext, Page } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { open, settled } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'phpmyadmin',
    host: 'tables.test',
    ready: '/index.php?route=/',
    visit,
    start: (folder, port) => `${END_ALL}
            mariadb-install-db --user=root --datadir=${folder}/data --auth-root-authentication-method=normal > /dev/null
            mariadbd --no-defaults --user=root --datadir=${folder}/data --port=${port + 1000} --bind-address=127.0.0.1 --socket=${folder}/db.sock --pid-file=${folder}/db.pid &
            until mariadb-admin --no-defaults --socket=${folder}/db.sock -u root ping > /dev/null 2>&1; do sleep 0.3; done
            mariadb --no-defaults --socket=${folder}/db.sock -u root -e "${DATA}"
            cp -rL /usr/share/phpmyadmin site && mkdir tmp
            sed -i -e "s#'/etc/phpmyadmin/config.inc.php'#'${folder}/config.inc.php'#" -e "s#'/var/lib/phpmyadmin/tmp/'#'${folder}/tmp/'#" site/libraries/vendor_config.php
            cat > config.inc.php <<'END'
<?php
$cfg['blowfish_secret'] = 'planted-key-of-the-harbour-tables';
$cfg['Servers'][1] = ['auth_type' => 'config', 'host' => '127.0.0.1', 'port' => '${port + 1000}', 'user' => 'root', 'password' => '', 'AllowNoPassword' => true];
$cfg['VersionCheck'] = false; $cfg['SendErrorReports'] = 'never'; $cfg['Console']['StartHistory'] = false;
END
            php -d display_errors=0 -S 127.0.0.1:${port} -t site & wait $!`,
};

const DATA = `
create database harbour; create database museum;
create table harbour.boats (id int primary key auto_increment, name varchar(40), metres int);
create table harbour.owners (id int primary key auto_increment, name varchar(40));
create table museum.ropes (id int primary key auto_increment, kind varchar(40));
insert into harbour.boats (name, metres) values ('Cutter', 9), ('Sloop', 12), ('Barge', 20);
insert into harbour.owners (name) values ('Ada'), ('Ben');
insert into museum.ropes (kind) values ('hemp'), ('wire');`;

/** Looks at databases, tables and rows, searches, sends queries, adds and changes rows, and reads the state of the server. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const go = async (route: string, query = '') => await open(page, `${base}/index.php?route=${route}${query}`);
    await go('/');
    for (const part of [
        'databases',
        'status',
        'status/processes',

        'variables',
        'collations',

        'sql',
        'export',
    ])
        await go(`/server/${part}`);
    for (const db of ['harbour', 'museum'])
        for (const part of ['structure', 'sql', 'search', 'export', 'operations']) await go(`/database/${part}`, `&db=${db}`);
    const tables = [
        ['harbour', 'boats'],
        ['harbour', 'owners'],
        ['museum', 'ropes'],
    ] as const;
    for (const [db, table] of tables) {
        const at = `&db=${db}&table=${table}`;
        await go('/sql', `${at}&pos=0`);
        for (const part of ['structure', 'sql', 'search', 'change', 'export', 'operations', 'relation']) await go(`/table/${part}`, at);
    }
    // The links of its pages ask for pieces of pages.
    for (const table of ['boats', 'owners']) {
        await go('/database/structure', '&db=harbour');
        await follow(
            page,
            `main a[href*="route=/sql"][href*="table=${table}"], #page_content a[href*="route=/sql"][href*="table=${table}"]`,
        );
        await follow(page, '#topmenu a[href*="route=/table/structure"]');
    }
    for (const query of ['select name from boats', 'select count(*) from owners']) {
        await go('/database/sql', '&db=harbour');
        await page.evaluate((text) => {
            const editor = (globalThis as unknown as { codeMirrorEditor?: { setValue(value: string): void } }).codeMirrorEditor;
            editor?.setValue(text);
        }, query);
        await page.locator('#sqlquery').evaluate((one, text) => ((one as unknown as { value: string }).value = text), query);
        await follow(page, '#button_submit_query');
    }
    for (const [table, name] of [
        ['boats', 'Punt'],
        ['boats', 'Dinghy'],
        ['owners', 'Cara'],
    ]) {
        await go('/table/change', `&db=harbour&table=${table}`);
        await page
            .locator('input.textfield[id^=field_2]')
            .first()
            .fill(name ?? '');
        await follow(page, '#buttonYes');
    }
    for (const words of ['Sloop', 'Ada']) {
        await go('/database/search', '&db=harbour');
        await page.fill('[name=criteriaSearchString]', words);
        await page.locator('select[name="criteriaTables[]"] option').evaluateAll((all) => {
            for (const one of all) (one as unknown as { selected: boolean }).selected = true;
        });
        await follow(page, '#buttonGo');
    }
    for (const metres of ['12', '20']) {
        await go('/table/search', '&db=harbour&table=boats');
        await page.locator('[name="criteriaValues[2]"]').first().fill(metres);
        await follow(page, '#tbl_search_form [type=submit]');
    }
    for (const name of ['annex', 'archive']) {
        await go('/server/databases');
        await page.fill('#text_create_db', name);
        await follow(page, '#buttonGo');
    }
    await page.close();
}

/** Presses a link or button, if its page has one. */
async function follow(page: Page, what: string): Promise<void> {
    await settled(page, () =>
        page
            .locator(what)
            .first()
            .click({ timeout: 3000 })
            .catch(() => undefined),
    );
}
