import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'influxdb',
    host: 'series.test',
    ready: '/query?q=SHOW%20DATABASES',
    visit,
    start(folder, port, npm) {
        writeFileSync(
            join(folder, 'influxdb.conf'),
            `reporting-disabled = true
bind-address = "127.0.0.1:${port + 1000}"
[meta]
dir = "${folder}/meta"
[data]
dir = "${folder}/data"
wal-dir = "${folder}/wal"
[http]
bind-address = "127.0.0.1:${port}"
`,
        );
        return `exec ${npm}/../../root/usr/bin/influxd -config influxdb.conf`;
    },
};

/** Makes a database, writes what was measured, and asks for it in the language of queries. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/query?q=SHOW%20DATABASES&pretty=true`);
    const query = (words: string, more = '') => ask(page, 'GET', `/query?${more}q=${encodeURIComponent(words)}`);
    for (const name of ['tides', 'winds']) await ask(page, 'POST', '/query', `q=${encodeURIComponent(`CREATE DATABASE ${name}`)}`);
    for (const [place, level] of [2.4, 2.6, 2.9, 1.7].entries())
        await write(page, '/write?db=tides', `level,harbour=north value=${level} ${1764000000 + 60 * place}000000000`);
    await write(page, '/write?db=winds&precision=s', 'speed,harbour=north knots=12 1764000000\nspeed,harbour=south knots=19 1764000060');
    await write(page, '/write?db=winds&precision=s&consistency=one', 'speed,harbour=east knots=7 1764000120');
    await query('SHOW MEASUREMENTS', 'db=tides&');
    await query('SELECT value FROM level', 'db=tides&epoch=ms&');
    await query('SELECT mean(knots) FROM speed GROUP BY harbour', 'db=winds&epoch=s&');
    await query(
        'SELECT * FROM speed WHERE harbour = $harbour',
        `db=winds&params=${encodeURIComponent(JSON.stringify({ harbour: 'north' }))}&`,
    );
    await query('SELECT * FROM speed', 'db=winds&chunked=true&chunk_size=2&');
    await ask(page, 'POST', '/query?db=winds', `q=${encodeURIComponent("DELETE FROM speed WHERE harbour = 'east'")}`);
    await ask(page, 'GET', '/ping');
    await ask(page, 'GET', '/ping?verbose=true');
    await ask(page, 'GET', '/debug/vars');
    await page.close();
}

/** Sends lines of measurements. */
async function write(page: Page, path: string, lines: string): Promise<void> {
    await page.evaluate(async ([where, text]) => void (await (await fetch(where, { method: 'POST', body: text })).text()), [
        path,
        lines,
    ] as const);
}
