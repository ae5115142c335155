import type { BrowserContext } from 'playwright-core';
import { PERSON } from '../planted.ts';
import { open } from '../visiting.ts';

/** Reads, searches and adds bookmarks of a public collection. */
export async function visitShaarli(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const found = await page.locator('a[href*="/shaare/"]').all();
    const links = await Promise.all(found.map(async (link) => new URL((await link.getAttribute('href')) ?? '', base).href));
    for (const link of [...new Set(links.filter((href) => /\/shaare\/[\w-]{6}$/.test(href)))].slice(0, 3)) await open(page, link);
    for (const place of [2, 1]) await open(page, `${base}/?page=${place}`);
    for (const words of ['tea', 'coffee']) {
        await open(page, `${base}/`);
        await page.locator('input[name=searchterm]:visible').first().fill(words);
        await Promise.all([page.waitForNavigation(), page.locator('input[name=searchterm]:visible').first().press('Enter')]);
    }
    for (const tag of ['tea', 'coffee']) await open(page, `${base}/?searchtags=${tag}`);
    for (const path of ['/tags/cloud', '/tags/list', '/daily', '/picture-wall', '/admin/tools', '/admin/add-shaare'])
        await open(page, base + path);
    for (const [title, description] of [
        ['Lanterns', `Ask ${PERSON.name}, ${PERSON.mail}`],
        ['Ropes', `Call ${PERSON.phone}`],
    ] as const) {
        await open(page, `${base}/admin/shaare`);
        await page.fill('input[name=lf_url]', `https://${title.toLowerCase()}.example/`);
        await page.fill('input[name=lf_title]', title);
        await page.fill('textarea[name=lf_description]', description);
        await Promise.all([page.waitForNavigation(), page.locator('input[name=save_edit]').first().click()]);
    }
    // A browser asks for it when a person adds the search to the address bar.
    await page.evaluate(async () => await (await fetch('/open-search')).text());
    await page.close();
}
