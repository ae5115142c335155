import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 's3rver',
    host: 'stores.test',
    ready: '/',
    visit,
    start: (_folder, port, npm) => `exec node ${npm}/s3rver/bin/s3rver.js -d store -a 127.0.0.1 -p ${port} --no-vhost-buckets`,
};

/** Makes two buckets with rules and objects, lists and reads them, labels and removes them. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const call = async (method: string, path: string, type?: string, body?: string): Promise<string> =>
        await page.evaluate(
            async ([how, where, kind, sent]) => {
                const more = sent === undefined ? {} : { headers: { 'content-type': kind ?? '' }, body: sent };
                return await (await fetch(where, { method: how, ...more })).text();
            },
            [method, path, type, body] as const,
        );
    const xml = (method: string, path: string, body: string) => call(method, path, 'application/xml', body);
    const buckets = ['harbour', 'lights'];
    const keys = ['tides', 'ropes.txt'];
    for (const bucket of buckets) {
        await call('PUT', `/${bucket}`);
        await call('HEAD', `/${bucket}`);
        await call('GET', `/${bucket}?location`);
        await xml('PUT', `/${bucket}?cors`, rules(bucket));
        await call('GET', `/${bucket}?cors`);
        await call('DELETE', `/${bucket}?cors`);
        for (const key of keys) {
            await call('PUT', `/${bucket}/${key}`, 'text/plain', `${key} of ${bucket}`);
            await call('HEAD', `/${bucket}/${key}`);
            await call('GET', `/${bucket}/${key}`);
            await call('GET', `/${bucket}/${key}?acl`);
            await xml('PUT', `/${bucket}/${key}?tagging`, tags(bucket));
            await call('GET', `/${bucket}/${key}?tagging`);
            await call('POST', `/${bucket}/${key}?uploads`);
        }
        await call('GET', `/${bucket}`);
        await call('GET', `/${bucket}?list-type=2&prefix=ro&max-keys=5`);
        await call('GET', `/${bucket}?list-type=2&delimiter=-`);
    }
    await call('GET', '/');
    for (const bucket of buckets) {
        await call('DELETE', `/${bucket}/${keys[0]}`);
        await xml('POST', `/${bucket}?delete`, `<Delete><Object><Key>${keys[1]}</Key></Object></Delete>`);
        await call('DELETE', `/${bucket}`);
    }
    await page.close();
}

function rules(bucket: string): string {
    return `<CORSConfiguration><CORSRule><AllowedOrigin>https://${bucket}.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>`;
}

function tags(bucket: string): string {
    return `<Tagging><TagSet><Tag><Key>place</Key><Value>${bucket}</Value></Tag></TagSet></Tagging>`;
}
