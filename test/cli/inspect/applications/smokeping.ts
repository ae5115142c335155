import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { CGI_SERVER, END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open, press, submit } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'smokeping',
    host: 'echo.test',
    ready: '/cgi-bin/smokeping.cgi',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'serve.mjs'), CGI_SERVER);
        writeFileSync(join(folder, 'config'), config(folder, port));
        return `${END_ALL}
            mkdir -p data/__cgi images site/cgi-bin run
            printf '#!/bin/sh\\nexec /usr/share/smokeping/smokeping.cgi ${folder}/config\\n' > site/cgi-bin/smokeping.cgi
            chmod +x site/cgi-bin/smokeping.cgi
            ln -s ${folder}/images site/images
            for round in 1 2 3; do smokeping --config=${folder}/config --debug; done
            ${process.execPath} serve.mjs ${port} ${folder}/site & wait $!`;
    },
};

/** Looks at groups of machines and at single ones, moves in time, and at charts. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    const program = `${base}/cgi-bin/smokeping.cgi`;
    await open(page, program);
    for (const target of ['Quays', 'Ships', 'Quays.North', 'Quays.South', 'Ships.Tug', 'Ships.Ferry', '_charts'])
        await open(page, `${program}?target=${target}`);
    for (const words of ['north', 'tug']) {
        await open(page, program);
        await page.fill('input[name=filter]', words);
        await submit(page, 'form:has(input[name=filter])').catch(() => undefined);
    }
    for (const target of ['Quays.North', 'Ships.Tug']) {
        await open(page, `${program}?displaymode=n;start=2026-11-29 10:00;end=now;target=${target}`);
        await press(page, 'form [type=submit]').catch(() => undefined);
        for (const hours of [3, 30])
            await ask(
                page,
                'POST',
                '/cgi-bin/smokeping.cgi',
                `displaymode=a&start=1795900000&end=${1795910000 + hours}&target=${target}&epoch_start=1795900000&epoch_end=${1795910000 + hours}&hierarchy=`,
            );
    }
    await page.close();
}

function config(folder: string, port: number): string {
    const hosts = (names: string[]) => names.map((name) => `++ ${name}\nmenu = ${name}\ntitle = The ${name}\nhost = 127.0.0.1\n`).join('');
    return `*** General ***
owner = Keeper
contact = keeper@harbour.example
mailhost = 127.0.0.1
cgiurl = http://echo.test:${port}/cgi-bin/smokeping.cgi
imgcache = ${folder}/images
imgurl = ../images
datadir = ${folder}/data
piddir = ${folder}/run
dyndir = ${folder}/data/__cgi
sendmail = /bin/true
smokemail = /etc/smokeping/smokemail
tmail = /etc/smokeping/tmail
*** Database ***
step = 60
pings = 3
AVERAGE 0.5 1 1008
*** Presentation ***
template = /etc/smokeping/basepage.html
charset = utf-8
+ charts
menu = Charts
title = The most interesting machines
++ median
sorter = Median(entries=>5)
title = Top Median Roundtrip Time
menu = by Median
format = Median RTT %f seconds
+ overview
width = 600
height = 50
range = 10h
+ detail
width = 600
height = 200
unison_tolerance = 2
"Last 3 Hours" 3h
"Last 30 Hours" 30h
*** Probes ***
+ FPing
binary = /usr/bin/fping
*** Targets ***
probe = FPing
menu = Top
title = Echo of the harbour
remark = Which machines of the harbour answer.
+ Quays
menu = Quays
title = Machines of the quays
${hosts(['North', 'South'])}+ Ships
menu = Ships
title = Machines of the ships
${hosts(['Tug', 'Ferry'])}`;
}
