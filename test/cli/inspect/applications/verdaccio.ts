import type { BrowserContext } from 'playwright-core';
import { CREDENTIALS } from '../planted.ts';
import { answered, open } from '../visiting.ts';

/** Browses a package registry, and signs in. */
export async function visitVerdaccio(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    for (const name of ['tea-kettle', 'tea-pot', '@harbour/rope']) {
        await open(page, `${base}/`);
        await answered(page, '/sidebar/', () => page.click(`text="${name}"`));
        await page.waitForLoadState('networkidle');
    }
    for (const words of ['tea', 'rope', 'kett']) {
        await answered(page, '/search/', () => page.fill('input[placeholder]', words));
    }
    await page.evaluate(async ({ authorization, password }) => {
        const ask = async (path: string, init: RequestInit = {}) =>
            await (await fetch(path, { ...init, headers: { authorization, 'content-type': 'application/json' } })).text();
        await ask('/-/verdaccio/sec/login', { method: 'POST', body: JSON.stringify({ username: 'keeper', password }) });
        await ask('/-/ping');
        for (const text of ['tea', 'rope']) await ask(`/-/v1/search?text=${text}&size=20&from=0`);
        for (const name of ['tea-kettle', 'tea-pot', '@harbour%2frope']) {
            await ask(`/${name}`);
            await ask(`/-/package/${name}/dist-tags`);
        }
        for (const version of ['1.0.0', '2.1.0']) await ask(`/tea-kettle/${version}`);
        for (const tag of ['next', 'old']) await ask(`/-/package/tea-kettle/dist-tags/${tag}`, { method: 'PUT', body: '"1.0.0"' });
        await ask('/-/package/tea-kettle/dist-tags/old', { method: 'DELETE' });
    }, CREDENTIALS);
    await page.close();
}
