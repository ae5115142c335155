import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { CGI_SERVER, END_ALL, type RecordedApplication } from '../starting.ts';
import { open, press } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'awstats',
    host: 'visits.test',
    ready: '/cgi-bin/awstats.pl?config=harbour',
    visit,
    start(folder, port, npm) {
        const root = join(npm, '../../root');
        mkdirSync(join(folder, 'data'));
        const pages = ['/', '/tides', '/ropes', '/lamps/brass', '/missing'];
        const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
        const months = ['Sep', 'Oct', 'Nov'];
        const lines = Array.from({ length: 180 }, (_, place) => {
            const day = String(1 + (Math.floor(place / 3) % 20)).padStart(2, '0');
            const status = place % 5 === 4 ? 404 : 200;
            const from = place % 4 === 0 ? 'http://search.example/?q=old+ropes' : 'http://boats.example/links';
            return `192.0.2.${10 + (place % 7)} - - [${day}/${months[Math.floor(place / 60)]}/2026:${String(6 + (place % 12)).padStart(2, '0')}:10:00 +0000] "GET ${pages[place % 5]} HTTP/1.1" ${status} ${900 + place} "${from}" "${agent}"`;
        });
        writeFileSync(join(folder, 'access.log'), `${lines.join('\n')}\n`);
        for (const site of ['harbour', 'museum'])
            writeFileSync(
                join(folder, `awstats.${site}.conf`),
                `LogFile="${folder}/access.log"\nLogType=W\nLogFormat=1\nSiteDomain="${site}.example"\nHostAliases="localhost"\nDNSLookup=0\nDirData="${folder}/data"\nDirCgi="/cgi-bin"\nDirIcons="/icon"\nUseFramesWhenCGI=0\nAllowFullYearView=3\nDirLang="${root}/usr/share/awstats/lang"\nAllowToUpdateStatsFromBrowser=0\n`,
            );
        writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
        return `${END_ALL}
            mkdir -p site/cgi-bin && sed -e 's#/usr/share/awstats#${root}/usr/share/awstats#g' -e 's#"/etc/awstats"#"${folder}"#g' ${root}/usr/lib/cgi-bin/awstats.pl > site/cgi-bin/awstats.pl
            chmod +x site/cgi-bin/awstats.pl
            for site in harbour museum; do perl site/cgi-bin/awstats.pl -config=$site -update -configdir=${folder}; done
            ${process.execPath} serve.mjs ${port} ${folder}/site & wait $!`;
    },
};

/** Reads the statistics of two web servers, of months and parts. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const program = `${base}/cgi-bin/awstats.pl`;
    for (const site of ['harbour', 'museum']) await open(page, `${program}?config=${site}`);
    for (const month of ['10', '11']) await open(page, `${program}?config=harbour&month=${month}&year=2026`);
    await press(page, 'input[type=submit]').catch(() => undefined);
    for (const part of [
        'alldomains',
        'allhosts',
        'lasthosts',
        'urldetail',
        'urlentry',
        'urlexit',
        'browserdetail',
        'osdetail',
        'refererpages',
        'refererse',
        'keyphrases',
        'keywords',
        'errors404',
    ])
        await open(page, `${program}?config=harbour&output=${part}`);
    for (const [part, filter] of [
        ['allhosts', '192'],
        ['urldetail', 'rope'],
    ] as const)
        await open(
            page,
            `${program}?config=harbour&output=${part}&${part === 'allhosts' ? 'host' : 'url'}filter=${filter}&month=11&year=2026`,
        );
    await page.close();
}
