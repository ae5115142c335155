import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'datasette',
    host: 'data.test',
    ready: '/-/versions.json',
    visit,
    start(folder, port, npm) {
        writeFileSync(join(folder, 'tables.py'), TABLES);
        return `${npm}/../../py/bin/python tables.py && exec ${npm}/../../py/bin/datasette serve harbour.db weather.db -h 127.0.0.1 -p ${port}`;
    },
};

const COLUMNS = { harbour: ['boats', 'crews'], weather: ['winds', 'tides'] } as const;

/** Looks at the tables of two databases, filters and sorts them, and writes queries. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    await ask(page, 'GET', '/.json');
    const query = encodeURIComponent('select id, name from boats where length > 9');
    for (const [database, tables] of Object.entries(COLUMNS)) {
        await open(page, `${base}/${database}`);
        await ask(page, 'GET', `/${database}.json`);
        for (const table of tables) {
            await open(page, `${base}/${database}/${table}`);
            await ask(page, 'GET', `/${database}/${table}.json?_shape=objects&_size=2`);
            for (const id of [1, 2]) await open(page, `${base}/${database}/${table}/${id}`);
            for (const id of [1, 3]) await ask(page, 'GET', `/${database}/${table}/${id}.json?_shape=object`);
        }
    }
    await open(page, `${base}/harbour?sql=${query}`);
    await open(page, `${base}/weather?sql=${encodeURIComponent('select * from winds limit 2')}`);
    await ask(page, 'GET', `/harbour.json?sql=${query}&_shape=array`);
    await open(page, `${base}/harbour/boats?_sort=name`);
    await open(page, `${base}/harbour/boats?_sort_desc=length&_size=2`);
    await open(page, `${base}/harbour/boats?_facet=port`);
    await open(page, `${base}/harbour/boats?port=north&length__gt=8`);
    await open(page, `${base}/weather/winds?_size=2&_next=2`);
    await ask(page, 'GET', '/harbour/boats.json?port=south&_shape=objects');
    await ask(page, 'GET', '/weather/tides.json?_sort=height&_size=2&_shape=objects');
    await ask(page, 'GET', '/harbour/crews.json?_size=2&_next=2&_shape=objects');
    for (const what of ['versions', 'settings', 'databases', 'metadata']) await ask(page, 'GET', `/-/${what}.json`);
    await open(page, `${base}/-/versions`);
    await open(page, `${base}/-/settings`);
    await page.close();
}

const TABLES = `
import sqlite3
for name, script in {
    'harbour': '''
        create table boats (id integer primary key, name text, length real, port text);
        create table crews (id integer primary key, name text, role text, boat_id integer references boats(id));
        insert into boats (name, length, port) values ('Tide', 8, 'north'), ('Fog', 9.5, 'south'), ('Rope', 11, 'north'), ('Lantern', 14, 'east');
        insert into crews (name, role, boat_id) values ('Ada', 'skipper', 1), ('Ben', 'cook', 1), ('Cleo', 'hand', 2), ('Dan', 'hand', 3);
    ''',
    'weather': '''
        create table winds (id integer primary key, day text, force integer, direction text);
        create table tides (id integer primary key, day text, height real);
        insert into winds (day, force, direction) values ('2026-11-01', 4, 'NW'), ('2026-11-02', 6, 'W'), ('2026-11-03', 2, 'S'), ('2026-11-04', 5, 'E');
        insert into tides (day, height) values ('2026-11-01', 2.4), ('2026-11-02', 2.6), ('2026-11-03', 2.9);
    ''',
}.items():
    with sqlite3.connect(f'{name}.db') as db:
        db.executescript(script)
`;
