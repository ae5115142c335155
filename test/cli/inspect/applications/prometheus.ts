import type { BrowserContext } from 'playwright-core';
import { CREDENTIALS } from '../planted.ts';
import { answered, open } from '../visiting.ts';

/** Browses the classic pages of Prometheus and sends a few queries. */
export async function visitPrometheus(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/graph`);
    for (const expression of ['up', 'prometheus_build_info', 'vector(1)', 'process_open_fds']) {
        await page.fill('textarea[name=expr]', expression);
        await answered(page, '/api/v1/query', () => page.press('textarea[name=expr]', 'Enter'));
    }
    await answered(page, '/api/v1/query_range', () => page.click('a[href="#graph0"]'));
    await answered(page, '/api/v1/query_range', () => page.click('button[name=dec_range]'));
    await answered(page, '/api/v1/query_range', () => page.click('button[name=dec_range]'));
    for (const place of ['alerts', 'status', 'flags', 'config', 'rules', 'targets', 'service-discovery'])
        await open(page, `${base}/classic/${place}`);
    // The requests of its newer pages.
    await page.evaluate(async (signal) => {
        const ask = async (path: string) => await (await fetch(path)).text();
        await ask('/api/v1/labels');
        for (const label of ['job', 'instance', '__name__', 'rulename']) await ask(`/api/v1/label/${label}/values`);
        for (const selector of ['up', 'process_open_fds']) await ask(`/api/v1/series?match[]=${selector}&start=0`);
        for (const path of ['targets?state=active', 'targets?state=dropped', 'rules', 'alerts', 'metadata', 'alertmanagers'])
            await ask(`/api/v1/${path}`);
        for (const path of ['config', 'flags', 'runtimeinfo', 'buildinfo', 'tsdb']) await ask(`/api/v1/status/${path}`);
        await fetch('/api/v1/query', {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: signal },
            body: 'query=up&time=1700000000',
        });
        await fetch('/api/v1/query', {
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: signal },
            body: 'query=vector(2)&time=1700000060',
        });
    }, CREDENTIALS.authorization);
    await page.close();
}
