import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'crontab-ui',
    host: 'hours.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        const { program, args } = node(npm, 'crontab-ui/bin/crontab-ui.js');
        return `
            mkdir bin db
            # Its database calls functions that Node.js no longer has.
            echo "const util = require('util'); Object.assign(util, { isArray: Array.isArray, isDate: util.types.isDate, isRegExp: util.types.isRegExp });" > old.cjs
            printf '#!/bin/sh\\nif [ "$1" = -l ]; then cat ${folder}/table; else cp "$1" ${folder}/table; fi\\n' > bin/crontab
            echo '5 4 * * * ls /srv # tides' > table
            chmod +x bin/crontab
            PATH=${folder}/bin:$PATH HOST=127.0.0.1 PORT=${port} CRON_DB_PATH=${folder}/db CRON_PATH=${folder} NODE_OPTIONS='--require ${folder}/old.cjs' exec ${program} ${args.join(' ')}`;
    },
};

/** Makes some jobs, runs, stops and changes them, reads what they printed, and keeps copies of the table. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const save = (name: string, id: string, hour: number) =>
        ask(
            page,
            'POST',
            '/save',
            new URLSearchParams({
                name,
                command: `echo ${name} at ${hour}`,
                schedule: `0 ${hour} * * *`,
                _id: id,
                logging: String(hour > 5),
            }).toString(),
        );
    for (const [place, name] of ['Tide table', 'Lamps', 'Fog horn'].entries()) await save(name, '-1', place * 4);
    await open(page, base);
    const ids = [...(await page.content()).matchAll(/runJob\('(\w+)/g)].map(([, id = '']) => id);
    for (const [place, id] of ids.entries()) {
        await save(`Job ${place}`, id, place + 5);
        for (const path of ['runjob', 'stop', 'start']) await ask(page, 'POST', `/${path}`, `_id=${id}`);
        for (const path of ['logger', 'stdout']) await ask(page, 'GET', `/${path}?id=${id}`);
    }
    for (const words of ['MAILTO=keeper', 'TZ=UTC']) {
        await ask(page, 'GET', `/crontab?env_vars=${encodeURIComponent(words)}`);
        await ask(page, 'GET', `/import_crontab?env_vars=${encodeURIComponent(words)}`);
        await ask(page, 'GET', '/backup');
    }
    await open(page, base);
    const copies = await links(page, /restore\?db=/);
    for (const copy of copies) {
        await open(page, copy);
        const { search } = new URL(copy);
        await ask(page, 'GET', `/restore_backup${search}`);
        await ask(page, 'GET', `/delete${search}`);
    }
    for (const id of ids.slice(0, 2)) await ask(page, 'POST', '/remove', `_id=${id}`);
    await open(page, base);
    await page.close();
}
