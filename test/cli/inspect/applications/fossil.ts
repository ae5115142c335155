import type { BrowserContext } from 'playwright-core';
import { FOSSIL_PASSWORD } from '../apps.ts';
import { PERSON } from '../planted.ts';
import { open } from '../visiting.ts';

/** Signs in to fossil, reads, searches and files two tickets. */
export async function visitFossil(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    await open(page, `${base}/login`);
    await page.fill('#u', 'admin');
    await page.fill('#p', FOSSIL_PASSWORD);
    await Promise.all([page.waitForNavigation(), page.click('input[name=in]')]);
    await open(page, `${base}/timeline`);
    await open(page, `${base}/timeline?y=ci&n=20`);
    await open(page, `${base}/timeline?y=w&n=50`);
    const checkins = await page.evaluate(async () => {
        const text = await (await fetch('/timeline?y=ci&n=20')).text();
        return [...new Set([...text.matchAll(/\/info\/([0-9a-f]{8,})/g)].map((match) => match[1] ?? ''))];
    });
    for (const checkin of checkins.slice(0, 3)) await open(page, `${base}/info/${checkin}`);
    for (const path of ['/brlist', '/taglist', '/reportlist', '/ticket', '/wiki', '/wcontent', '/sitemap']) await open(page, base + path);
    for (const name of ['Tides', 'Lights', 'Moorings']) await open(page, `${base}/wiki?name=${name}`);
    for (const name of ['README.md', 'src/main.c']) {
        await open(page, `${base}/finfo?name=${encodeURIComponent(name)}`);
        await open(page, `${base}/file?name=${encodeURIComponent(name)}&ci=tip`);
    }
    await open(page, `${base}/tree?ci=tip&type=tree`);
    await open(page, `${base}/tree?ci=trunk&type=flat`);
    for (const words of ['harbour', 'starboard green']) {
        await open(page, `${base}/search`);
        await page.fill('input[name=s]', words);
        await Promise.all([page.waitForNavigation(), page.press('input[name=s]', 'Enter')]);
    }
    for (const title of ['The light is out', 'Rope needed']) {
        await open(page, `${base}/tktnew`);
        await page.fill('input[name=title]', title);
        await page.fill('input[name=private_contact]', PERSON.mail);
        await page.fill('textarea[name=icomment]', `Please call ${PERSON.phone}. ${PERSON.name}`);
        await Promise.all([page.waitForNavigation(), page.click('input[name=preview]')]);
        await Promise.all([page.waitForNavigation(), page.click('input[name=submit]')]);
    }
    await open(page, `${base}/rptview?rn=1`);
    await page.close();
}
