import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { END_ALL, type RecordedApplication } from '../starting.ts';
import { open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'mitmweb',
    host: 'traffic.test',
    ready: '/flows',
    visit,
    start(folder, port) {
        writeFileSync(join(folder, 'forward.mjs'), FORWARD);
        return `${END_ALL}
        ${process.execPath} forward.mjs ${port} ${port + 3000} &
        mkdir site && for name in tides ropes lamps; do echo "{\\"about\\":\\"$name\\"}" > site/$name.json; done
        (cd site && exec python3 -m http.server ${port + 2000} --bind 127.0.0.1) &
        mitmweb --no-web-open-browser --web-host 127.0.0.1 --web-port ${port + 3000} --listen-host 127.0.0.1 --listen-port ${port + 1000} --set confdir=. &
        until curl -sf -x http://127.0.0.1:${port + 1000} http://127.0.0.1:${port + 2000}/tides.json; do sleep 1; done
        for name in ropes lamps; do curl -s -x http://127.0.0.1:${port + 1000} "http://127.0.0.1:${port + 2000}/$name.json?q=1"; done
        wait`;
    },
};

/** It answers no other name than that of the machine. */
const FORWARD = `
import { createServer, request } from 'node:http';
const [from, to] = process.argv.slice(2);
createServer((asked, answered) => {
    const headers = { ...asked.headers, host: '127.0.0.1:' + to };
    const sent = request({ port: to, host: '127.0.0.1', method: asked.method, path: asked.url, headers }, (got) => {
        answered.writeHead(got.statusCode, got.headers);
        got.pipe(answered);
    });
    sent.on('error', () => answered.writeHead(502).end());
    asked.pipe(sent);
}).listen(Number(from), '127.0.0.1');
`;

/** Reads what a proxy has seen, changes and repeats some of it, and sets options, with the application's own page and as its scripts do. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const call = async (method: string, path: string, body?: object) =>
        await page.evaluate(
            async ([how, where, sent]) => {
                const token = /_xsrf=([^;]+)/.exec((globalThis as unknown as { document: { cookie: string } }).document.cookie)?.[1] ?? '';
                const headers = { 'x-xsrftoken': token, ...(sent === undefined ? {} : { 'content-type': 'application/json' }) };
                const answer = await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) });
                return await answer.text();
            },
            [method, path, body] as const,
        );
    for (const path of ['/flows', '/events', '/options', '/commands', '/filter-help']) await call('GET', path);
    const flows = JSON.parse(await call('GET', '/flows')) as { id: string }[];
    for (const { id } of flows.slice(0, 2)) {
        for (const message of ['request', 'response']) {
            await call('GET', `/flows/${id}/${message}/content.data`);
            await call('GET', `/flows/${id}/${message}/content/auto.json?lines=513`);
            await call('GET', `/flows/${id}/${message}/content/json.json?lines=513`);
        }
        await call('PUT', `/flows/${id}`, { request: { path: '/ropes.json' }, comment: 'Seen' });
        await call('POST', `/flows/${id}/duplicate`);
        await call('POST', `/flows/${id}/replay`);
        await call('POST', `/flows/${id}/revert`);
    }
    for (const { id } of flows.slice(0, 2)) await call('POST', `/flows/${id}/kill`);
    await call('POST', '/flows/resume');
    await call('PUT', '/options', { anticache: true });
    await call('PUT', '/options', { stream_large_bodies: '1m' });
    for (const { id } of flows.slice(1, 3)) await call('DELETE', `/flows/${id}`);
    await call('POST', '/clear');
    await page.close();
}
