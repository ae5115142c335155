import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'cups',
    host: 'print.test',
    ready: '/printers/Quay',
    visit,
    start(folder, port) {
        for (const place of ['etc/ppd', 'spool/tmp', 'cache', 'run/certs', 'log', 'ssl'])
            mkdirSync(join(folder, place), { recursive: true });
        const open = '\n  Order allow,deny\n  Allow all\n';
        writeFileSync(
            join(folder, 'etc/cupsd.conf'),
            `Listen 127.0.0.1:${port + 1000}\nBrowsing No\nDefaultAuthType None\nWebInterface Yes\n<Location />${open}</Location>\n<Policy default>\n<Limit All>${open}</Limit>\n</Policy>\n`,
        );
        writeFileSync(
            join(folder, 'etc/files.conf'),
            `FileDevice Yes\nServerRoot ${folder}/etc\nRequestRoot ${folder}/spool\nTempDir ${folder}/spool/tmp\nCacheDir ${folder}/cache\nStateDir ${folder}/run\nAccessLog ${folder}/log/access\nErrorLog ${folder}/log/error\nPageLog ${folder}/log/page\nServerKeychain ${folder}/ssl\nSystemGroup root lpadmin\nUser lp\nGroup lp\n`,
        );
        // It answers only what is sent to localhost, so that a proxy stands before it.
        writeFileSync(
            join(folder, 'proxy.mjs'),
            `import http from 'node:http';
            http.createServer((asked, answer) => {
                const headers = { ...asked.headers, host: 'localhost:${port + 1000}' };
                const sent = http.request({ host: '127.0.0.1', port: ${port + 1000}, method: asked.method, path: asked.url, headers }, (got) => {
                    answer.writeHead(got.statusCode, got.rawHeaders);
                    got.pipe(answer);
                });
                sent.on('error', () => answer.destroy());
                asked.pipe(sent);
            }).listen(${port}, '127.0.0.1');`,
        );
        const server = `-h 127.0.0.1:${port + 1000}`;
        return `${END_ALL}
            chmod 755 . && chown -R lp spool cache run
            cupsd -f -c ${folder}/etc/cupsd.conf -s ${folder}/etc/files.conf &
            until lpstat ${server} -r | grep -q 'is running'; do :; done
            lpadmin ${server} -p Mole -D 'Printer of the mole' -L 'Harbour office' -v file:///dev/null -E
            lpadmin ${server} -p Mole -c Office
            for place in 1 2 3; do echo words | lp ${server} -d Mole -t "Tide table $place" -H hold; done
            lpadmin ${server} -p Quay -D 'Printer of the quay' -L Quay -v file:///dev/null -E
            lpadmin ${server} -p Quay -c Wharf
            echo words | lp ${server} -d Quay -t 'Rope list' -H hold
            echo words | lp ${server} -d Quay -t 'Rope list 2'
            ${process.execPath} proxy.mjs & wait $!`;
    },
};

/** Looks at printers and their jobs, searches, reads the help, and releases and cancels jobs. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/', '/printers/', '/classes/', '/jobs/', '/help/']) await open(page, base + path);
    for (const words of ['mole', 'quay']) {
        await open(page, `${base}/printers/`);
        await page.fill('input[name=QUERY]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=QUERY]', 'Enter')]);
    }
    for (const name of ['Mole', 'Quay']) {
        await open(page, `${base}/printers/${name}`);
        await open(page, `${base}/printers/${name}?which_jobs=completed`);
        await open(page, `${base}/printers/${name}?which_jobs=all`);
    }
    for (const name of ['Office', 'Wharf']) await open(page, `${base}/classes/${name}`);
    for (const which of ['completed', 'all']) await open(page, `${base}/jobs/?which_jobs=${which}`);
    for (const words of ['tide', 'rope']) {
        await open(page, `${base}/jobs/`);
        await page.fill('input[name=QUERY]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=QUERY]', 'Enter')]);
    }
    for (const label of ['Release Job', 'Release Job', 'Cancel Job', 'Cancel Job']) {
        await open(page, `${base}/jobs/`);
        await Promise.all([page.waitForNavigation(), page.locator(`input[value="${label}"]`).last().click()]);
    }
    for (const topic of ['Getting+Started', 'Man+Pages']) await open(page, `${base}/help/?TOPIC=${topic}&QUERY=`);
    for (const words of ['printer', 'option']) {
        await open(page, `${base}/help/`);
        await page.fill('input[name=QUERY]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=QUERY]', 'Enter')]);
    }
    for (const text of ['overview', 'options', 'network']) await open(page, `${base}/help/${text}.html`);
    await page.close();
}
