import type { BrowserContext } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { ask, links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'nats',
    host: 'broker.test',
    ready: '/varz',
    visit,
    start: (folder, port) => `exec nats-server -a 127.0.0.1 -p ${port + 1000} -m ${port} -js -sd ${folder}/store`,
};

/** Follows the links of the page of a broker, and asks for its connections, subscriptions and streams in other orders. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    for (const address of await links(page, /z(?:\?|$)/)) await open(page, address);
    const get = (path: string) => ask(page, 'GET', path);
    for (const path of ['varz', 'gatewayz', 'leafz', 'routez', 'healthz']) await get(`/${path}`);
    for (const order of ['cid', 'bytes_to', 'start']) await get(`/connz?sort=${order}`);
    for (const from of [0, 10]) await get(`/connz?limit=10&offset=${from}&subs=1`);
    for (const state of ['open', 'closed', 'all']) await get(`/connz?state=${state}`);
    for (const detail of ['1', 'detail']) await get(`/routez?subs=${detail}`);
    for (const from of [0, 5]) await get(`/subsz?subs=1&limit=5&offset=${from}`);
    for (const account of ['$G', '$SYS']) await get(`/accountz?acc=${encodeURIComponent(account)}`);
    for (const unused of ['0', '1']) await get(`/accstatz?unused=${unused}`);
    for (const more of ['', '?accounts=true', '?accounts=true&streams=true', '?accounts=1&streams=1&consumers=1&config=1'])
        await get(`/jsz${more}`);
    for (const only of ['true', 'false']) await get(`/healthz?js-enabled-only=${only}`);
    await page.close();
}
