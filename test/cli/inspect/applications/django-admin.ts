import type { BrowserContext } from 'playwright-core';
import { OPERATOR } from '../../../real/support/django-admin.ts';
import { open } from '../visiting.ts';

/** Signs in as the operator of a Django site and manages members and groups. */
export async function visitDjangoAdmin(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/admin/`);
    await page.fill('input[name=username]', OPERATOR.username);
    await page.fill('input[name=password]', OPERATOR.password);
    await Promise.all([page.waitForNavigation(), page.click('input[type=submit]')]);
    await open(page, `${base}/admin/auth/`);
    await open(page, `${base}/admin/auth/user/`);
    for (const query of ['?o=1', '?o=-2', '?p=2', '?q=member', '?q=ada']) await open(page, `${base}/admin/auth/user/${query}`);
    for (const member of [2, 3, 4]) await open(page, `${base}/admin/auth/user/${member}/change/`);
    for (const member of [2, 3]) await open(page, `${base}/admin/auth/user/${member}/history/`);
    await open(page, `${base}/admin/auth/user/5/delete/`);
    for (const name of ['Keepers', 'Pilots']) {
        await open(page, `${base}/admin/auth/group/add/`);
        await page.fill('input[name=name]', name);
        await Promise.all([page.waitForNavigation(), page.click('input[name=_save]')]);
    }
    await open(page, `${base}/admin/auth/group/`);
    for (const group of [1, 2]) await open(page, `${base}/admin/auth/group/${group}/change/`);
    await page.close();
}
