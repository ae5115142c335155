import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, fill, open, submit } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'hledger-web',
    host: 'ledger.test',
    ready: '/version',
    visit,
    start: (_, port) => `
        for place in 1 2 3 4; do
            printf "2025-0$place-03 Rope shop $place\\n    expenses:rope  1$place.50 EUR\\n    assets:cash\\n\\n" >> harbour.journal
            printf "2025-0$place-05 Harbour fee $place\\n    expenses:fees  4$place.00 EUR\\n    assets:bank\\n\\n" >> quay.journal
        done
        echo 'include quay.journal' >> harbour.journal
        export LANG=C.UTF-8
        exec hledger-web --serve -f harbour.journal --port ${port} --base-url http://ledger.test:${port} --capabilities view,add,manage`,
};

/** Reads a journal and its accounts, searches, adds transactions, edits both files, and asks for all as JSON. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    for (const path of ['/journal', '/register', '/manage']) await open(page, base + path);
    for (const account of ['assets:cash', 'assets:bank', 'expenses']) await open(page, `${base}/register?q=inacct%3A${account}`);
    for (const words of ['rope', 'fee']) {
        await open(page, `${base}/journal`);
        await page.fill('input[name=q]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=q]', 'Enter')]);
    }
    for (const name of ['Lamp oil', 'Sail cloth']) {
        await open(page, `${base}/journal`);
        await fill(page, 'addform', {
            date: ['2025-03-04'],
            description: [name],
            account: ['expenses:goods', 'assets:cash'],
            amount: ['7.50 EUR', ''],
        });
        await submit(page, '#addform');
    }
    await open(page, `${base}/manage`);
    const files = await page.$$eval('a[href*="/edit/"]', (all) => all.map((one) => (one as unknown as { href: string }).href));
    for (const file of files) {
        await open(page, file);
        await submit(page, 'form[method=post]');
        await ask(page, 'GET', file.replace('/edit/', '/download/'));
    }
    for (const path of ['version', 'accountnames', 'transactions', 'prices', 'commodities', 'accounts']) await ask(page, 'GET', `/${path}`);
    for (const account of ['assets:cash', 'expenses:rope']) await ask(page, 'GET', `/accounttransactions/${account}`);
    await page.close();
}
