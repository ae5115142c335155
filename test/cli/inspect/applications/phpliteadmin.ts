import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { KEEPER, open, submit } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'phpliteadmin',
    host: 'cards.test',
    ready: '/phpliteadmin.php',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'tables.sql'),
            `create table owners (id integer primary key, name text not null, berth text);
            create table boats (id integer primary key, name text not null, length numeric, owner_id int);
            create table spare (id integer primary key, note text);
            insert into owners (name, berth) values ('Anna', 'A1'), ('Bo', 'B7'), ('Cleo', 'C3');
            insert into boats (name, length, owner_id) values ('Gull', 7.5, 1), ('Tern', 9, 2), ('Skua', 11.25, 3), ('Plover', 6, 1);`,
        );
        writeFileSync(
            join(folder, 'config.php'),
            `<?php $password = '${KEEPER.password}'; $directory = '${folder}/data'; $subdirectories = false;`,
        );
        return `
            mkdir data sessions && for name in harbour lights; do sqlite3 data/$name.sqlite < tables.sql; done
            mkdir www && cp -r /usr/share/phpliteadmin/phpliteadmin.php /usr/share/phpliteadmin/languages www && cp config.php www/phpliteadmin.config.php && cd www
            exec php -d display_errors=0 -d session.save_path=${folder}/sessions -S 127.0.0.1:${port}`;
    },
};

/** Signs in, looks through tables, their columns and rows, runs queries, and changes, exports and empties tables. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const home = `${base}/phpliteadmin.php`;
    await open(page, home);
    await page.fill('input[name=password]', KEEPER.password);
    await Promise.all([page.waitForNavigation(), page.press('input[name=password]', 'Enter')]);
    for (const name of ['lights', 'harbour']) await follow(page, new RegExp(`[?&]database=[^&]*${name}\\.sqlite&fulltexts=0&numRows=30$`));
    for (const view of ['structure', 'sql', 'export', 'import', 'vacuum', 'rename', 'delete'])
        await follow(page, new RegExp(`view=${view}$`));
    await follow(page, /view=sql$/);
    for (const query of ['select count(*) from boats', 'select name from owners']) await runQuery(page, query);
    await follow(page, /view=vacuum$/);
    await submit(page, 'form[action*="view=vacuum"]');
    for (const table of ['boats', 'owners']) {
        await follow(page, new RegExp(`table=${table}&.*action=row_view$`));
        const rows = page.url();
        for (const action of [
            'column_view',
            'table_search',
            'row_create',
            'table_export',
            'table_import',
            'table_rename',
            'table_empty',
            'table_drop',
        ])
            await follow(page, new RegExp(`action=${action}$`));
        await follow(page, /action=table_sql$/);
        await runQuery(page, `select * from ${table} where id = 2`);
        await open(page, rows);
        await follow(page, /sort=name/);
        await open(page, rows);
        for (const type of ['edit', 'delete']) {
            await follow(page, new RegExp(`action=row_editordelete&.*type=${type}`));
            if (type === 'delete') await submit(page, 'form[action*="action=row_delete"]');
            await open(page, rows);
        }
        await follow(page, /action=column_view$/);
        const columns = page.url();
        await follow(page, /action=column_edit&pk=name/);
        for (const kind of ['column_create', 'index_create', 'trigger_create']) {
            await open(page, columns);
            await submit(page, `form:has(input[value=${kind}])`);
        }
        await open(page, columns);
        await follow(page, /action=table_rename$/);
        await page.fill('[name=newname]', `${table}2`);
        await submit(page, 'form[action*="action=table_rename"]');
    }
    await follow(page, /table=spare&.*action=row_view$/);
    const spare = page.url();
    for (const action of ['table_empty', 'table_drop']) {
        await open(page, spare.replace('row_view', action));
        await submit(page, `form[action*="action=${action}"]`);
    }
    await open(page, home);
    await page.fill('[name=tablename]', 'moorings');
    await page.fill('[name=tablefields]', '3');
    await submit(page, 'form:has([name=tablename])');
    await page.close();
}

async function runQuery(page: Page, query: string): Promise<void> {
    await page.locator('textarea[name=queryval]').evaluate((one, words) => ((one as unknown as { value: string }).value = words), query);
    await submit(page, 'form:has(textarea[name=queryval])');
}

/** Opens the first link with such an address. */
async function follow(page: Page, like: RegExp): Promise<void> {
    const all = await page.$$eval('a[href]', (found) => found.map((one) => (one as unknown as { href: string }).href));
    const href = all.find((one) => like.test(one));
    if (href === undefined) throw new Error(`no link ${like} on ${page.url()}`);
    await open(page, href);
}
