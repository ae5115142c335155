import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'phpsysinfo',
    host: 'server.test',
    ready: '/xml.php',
    visit,
    start: (_folder, port, npm) => `${END_ALL}
            cp -rL ${join(npm, '../../root/usr/share/phpsysinfo')} www; cp -n ${join(npm, '../../root/etc/phpsysinfo')}/* www/
            sed -i -e 's,/etc/phpsysinfo,'"$PWD"'/www,g' www/*.php; sed -i -e 's/^PLUGINS=.*/PLUGINS="PSStatus,Uprecords"/' www/phpsysinfo.ini
            PHP_CLI_SERVER_WORKERS=3 php -d display_errors=0 -S 127.0.0.1:${port} -t www & wait $!`,
};

/** Reads the state of a server as pages, XML and JSON, with plugins and in two languages. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/index.php`);
    for (const view of ['dynamic', 'static', 'bootstrap']) {
        await open(page, `${base}/index.php?disp=${view}`);
        await page.waitForTimeout(1500);
    }
    for (const language of ['en', 'de']) await ask(page, 'GET', `/language/language.php?lang=${language}`);
    await ask(page, 'GET', '/xml.php');
    await ask(page, 'GET', '/xml.php?json');
    await ask(page, 'GET', '/xml.php?plugin=complete&json');
    for (const plugin of ['Uprecords', 'PSStatus']) {
        await ask(page, 'GET', `/xml.php?plugin=${plugin}`);
        await ask(page, 'GET', `/xml.php?plugin=${plugin}&json`);
    }
    await page.close();
}
