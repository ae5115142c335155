import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'alertmanager',
    host: 'alerts.test',
    ready: '/-/ready',
    visit,
    start: (_, port) => `
            printf 'route:\\n  receiver: quiet\\nreceivers:\\n  - name: quiet\\n' > alerts.yml
            exec prometheus-alertmanager --config.file alerts.yml --storage.path data \\
                --web.listen-address 127.0.0.1:${port} --cluster.listen-address=`,
};

/** Posts alerts, looks at them and their groups, and makes and ends silences. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/`);
    const json = (method: string, path: string, body?: object) => ask(page, method, `/api/v2/${path}`, body);
    for (const name of ['LightOut', 'RopeTorn'])
        await json('POST', 'alerts', [{ labels: { alertname: name, quay: 'north' }, annotations: { summary: `${name} at the quay` } }]);
    for (const active of ['true', 'false']) {
        await json('GET', `alerts?active=${active}&silenced=false&filter=quay%3D%22north%22`);
        await json('GET', `alerts/groups?active=${active}&silenced=false`);
    }
    for (const comment of ['Known', 'Repaired']) {
        const made = JSON.parse(
            await json('POST', 'silences', {
                matchers: [{ name: 'quay', value: 'north', isRegex: false, isEqual: true }],
                startsAt: '2026-11-28T00:00:00Z',
                endsAt: '2027-11-28T00:00:00Z',
                createdBy: 'Keeper',
                comment,
            }),
        ) as { silenceID: string };
        await json('GET', `silence/${made.silenceID}`);
        await json('DELETE', `silence/${made.silenceID}`);
    }
    for (const filter of ['quay%3D%22north%22', 'quay%3D%22south%22']) await json('GET', `silences?filter=${filter}`);
    for (const path of ['status', 'receivers']) await json('GET', path);
    await open(page, `${base}/#/silences`);
    await page.waitForTimeout(800);
    await page.close();
}
