import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { openBrowser, openTab, PHONE } from './support/browser.ts';

const page = (body: string) =>
    `<!doctype html><html lang="en"><head><title>A page</title><link rel="icon" href="data:,"></head><body><main><h1>Hello</h1>${body}</main></body></html>`;

/** Pages with one fault each, and the harness's error message. */
const FAULTS: Readonly<Record<string, readonly [string, RegExp]>> = {
    '/console': [page('<script>console.error("oh no")</script>'), /console error .*oh no/],
    '/script': [page('<script>throw new Error("broken")</script>'), /script error .*broken/],
    '/foreign': [page('<img alt="" src="http://127.0.0.1:1/x.png">'), /a request to 127\.0\.0\.1:1/],
    '/missing': [page('<img alt="" src="/nothing.png">'), /console error/],
    '/wide': [page('<div style="width:600px">wide</div>'), /600 px|wide on a screen of 360 px/],
    '/unnamed': [page('<form><input></form>'), /label/],
    '/faint': [page('<p style="color:#ccc;background:#fff">faint</p>'), /color-contrast/],
    '/broken': ['', /500 from/],
};

describe('the harness of the browser tests', () => {
    let browser: Browser;
    let server: Server;
    let base: string;

    before(async function () {
        browser = await openBrowser(this);
        server = createServer((request, response) => {
            const [html] = FAULTS[request.url ?? ''] ?? [request.url === '/good' ? page('') : undefined];
            const status = request.url === '/broken' ? 500 : html === undefined ? 404 : 200;
            response.writeHead(status, { 'content-type': 'text/html' }).end(html || page(''));
        }).listen(0, '127.0.0.1');
        await new Promise((resolve) => server.once('listening', resolve));
        base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    after(async () => {
        await browser?.close();
        server?.close();
    });

    /** The error of opening a page. */
    async function faultOf(path: string): Promise<string> {
        const tab = await openTab(browser, base, { viewport: PHONE });
        const said: string[] = [];
        for (const step of [() => tab.visit(path), () => tab.look(), () => tab.close()])
            await step().catch((error: Error) => said.push(error.message));
        return said.join('\n');
    }

    it('reports nothing for a good page, nor for one that is refused on purpose', async () => {
        expect(await faultOf('/good')).to.equal('');
        expect(await faultOf('/refused')).to.equal('');
    });

    for (const [path, [, fault]] of Object.entries(FAULTS)) {
        it(`reports ${path.slice(1)}`, async () => expect(await faultOf(path)).to.match(fault));
    }
});
