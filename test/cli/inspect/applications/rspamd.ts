import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'rspamd',
    host: 'filter.test',
    ready: '/stat',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root');
        const share = join(root, 'usr/share/rspamd');
        mkdirSync(join(folder, 'tld'));
        writeFileSync(join(folder, 'tld/effective_tld_names.dat'), 'com\nexample\norg\ntest\n');
        const places = { CONFDIR: `${folder}/conf`, LOCAL_CONFDIR: `${folder}/conf`, WWWDIR: `${share}/www`, SHAREDIR: `${folder}/tld` };
        const more = { PLUGINSDIR: `${share}/plugins`, RULESDIR: `${share}/rules`, LUALIBDIR: `${share}/lualib` };
        const own = Object.fromEntries(['DBDIR', 'RUNDIR', 'LOGDIR'].map((name) => [name, folder]));
        const options = Object.entries({ ...places, ...more, ...own }).map(([name, value]) => `--var=${name}=${value}`);
        return `${END_ALL}
            cp -r ${root}/etc/rspamd conf
            echo 'bind_socket = "127.0.0.1:${port}"; secure_ip = "127.0.0.1"; enable_password = "q1";' > conf/local.d/worker-controller.inc
            for worker in normal proxy fuzzy; do echo 'enabled = false; bind_socket = "127.0.0.1:${port + 1000}";' > conf/local.d/worker-$worker.inc; done
            echo '# Senders who may' > conf/local.d/senders.map
            echo 'SENDERS { type = "from"; map = "${folder}/conf/local.d/senders.map"; score = -1.0; description = "Known senders"; }' > conf/local.d/multimap.conf
            export LD_LIBRARY_PATH=${root}/usr/lib/x86_64-linux-gnu:${root}/usr/lib/rspamd
            ${root}/usr/bin/rspamd -i -f -u root -g root -c conf/rspamd.conf ${options.join(' ')} & wait $!`;
    },
};

const letter = (subject: string) =>
    `From: ada@harbour.example\r\nTo: keeper@harbour.example\r\nSubject: ${subject}\r\n\r\nHigh water at noon. ${subject}\r\n`;

/** Reads what a filter of mail has seen, has letters judged, and changes scores, actions and a map. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const send = async (path: string, text: string, headers: Record<string, string> = {}) =>
        await page.evaluate(async ([where, body, given]) => await (await fetch(where, { method: 'POST', body, headers: given })).text(), [
            path,
            text,
            headers,
        ] as const);
    for (const path of [
        '/auth',
        '/stat',
        '/graph?type=hourly',
        '/graph?type=daily',
        '/history',
        '/errors',
        '/actions',
        '/symbols',
        '/maps',
    ])
        await ask(page, 'GET', path);
    for (const subject of ['Tides', 'Ropes', 'Lights']) await send('/checkv2', letter(subject));
    for (const subject of ['Tides', 'Ropes']) await send('/symbols', letter(subject)).catch(() => undefined);
    await ask(page, 'GET', '/history');
    const maps = JSON.parse(await ask(page, 'GET', '/maps')) as { map: number }[];
    for (const { map } of maps.slice(0, 2))
        await page.evaluate(async (id) => await (await fetch('/getmap', { headers: { map: id } })).text(), String(map));
    const last = String(maps.at(-1)?.map);
    for (const text of ['ada@harbour.example\n', 'ada@harbour.example\nbo@harbour.example\n']) await send('/savemap', text, { map: last });
    await ask(page, 'POST', '/saveactions', [20, 8, 5, 4]);
    await ask(page, 'POST', '/saveactions', [20, 8, 6, 4]);
    await ask(page, 'POST', '/savesymbols', [{ name: 'SENDERS', value: -2 }]);
    await ask(page, 'POST', '/savesymbols', [{ name: 'SENDERS', value: -3 }]);
    for (const selector of ['from', 'rcpts']) {
        await ask(page, 'GET', `/plugins/selectors/check_selector?selector=${selector}`);
        await send(`/plugins/selectors/check_message?selector=${selector}`, letter('Tides'));
    }
    for (const what of ['extractors', 'transforms']) await ask(page, 'GET', `/plugins/selectors/list_${what}`);
    await page.close();
}
