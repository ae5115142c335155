import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, postgres, type RecordedApplication } from '../starting.ts';
import { KEEPER, open, submit } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'adminer',
    host: 'tables.test',
    ready: '/',
    visit,
    start(folder, port) {
        writeFileSync(
            join(folder, 'tables.sql'),
            `create table owners (id serial primary key, name text not null, berth text);
            create table boats (id serial primary key, name text not null, length numeric, afloat boolean, owner_id int references owners);
            insert into owners (name, berth) select 'Owner ' || i, 'A' || i from generate_series(1, 20) i;
            insert into boats (name, length, afloat, owner_id) select 'Boat ' || i, 7 + i / 2.0, i % 2 = 0, 1 + i % 3 from generate_series(1, 20) i;`,
        );
        return `${END_ALL}${postgres(folder, port + 1000)}
            createdb -h 127.0.0.1 -p ${port + 1000} -U postgres harbour
            psql -q -h 127.0.0.1 -p ${port + 1000} -U postgres -f tables.sql harbour
            mkdir www && cp /usr/share/adminer/adminer.php www/index.php && cd www
            php -d display_errors=0 -S 127.0.0.1:${port} & wait $!`;
    },
};

/** Signs in to a database; reads tables, their structure and rows, edits and adds rows, and runs queries. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await page.selectOption('select[name="auth[driver]"]', 'pgsql');
    const server = `127.0.0.1:${Number(new URL(base).port) + 1000}`;
    for (const [name, value] of [
        ['server', server],
        ['username', 'postgres'],
        ['password', KEEPER.password],
    ])
        await page.fill(`input[name="auth[${name}]"]`, value ?? '');
    await Promise.all([page.waitForNavigation(), page.press('input[name="auth[password]"]', 'Enter')]);
    const here = `${base}/?pgsql=${encodeURIComponent(server)}&username=postgres&db=harbour&ns=public`;
    await open(page, here);
    for (const name of ['boats', 'owners']) {
        await open(page, `${here}&select=${name}`);
        for (const number of [1, 2]) await open(page, `${here}&select=${name}&limit=5&page=${number}`);
        for (const action of ['table', 'indexes', 'create']) await open(page, `${here}&${action}=${name}`);
    }
    for (const action of ['sql', 'schema', 'dump', 'variables', 'processlist']) await open(page, `${here}&${action}=`);
    for (const id of [2, 3]) {
        await open(page, `${here}&edit=boats&where%5Bid%5D=${id}`);
        await page.fill('[name="fields[name]"]', `Ship ${id}`);
        await submit(page, '#form');
    }
    for (const name of ['Dinghy', 'Punt']) {
        await open(page, `${here}&edit=boats`);
        await page.fill('[name="fields[name]"]', name);
        await submit(page, '#form');
    }
    for (const query of ['select count(*) from boats', 'select name from owners']) {
        await open(page, `${here}&sql=`);
        await page.locator('textarea[name=query]').evaluate((one, words) => ((one as unknown as { value: string }).value = words), query);
        await submit(page, '#form');
    }
    await page.close();
}
