import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from './starting.ts';
import { open } from './visiting.ts';

/** One request of a visit and its answer. A text that begins with `<!doctype` is a page that the visitor opens; others are asked by a script. */
export interface Call {
    /** `GET /boats?page=2` */
    ask: string;
    sent?: object | string;
    headers?: Record<string, string>;
    answer: object | string;
    type?: string;
    status?: number;
}

/**
 * A model of a site that cannot run here: a server that gives the answers of its documents, and a visit that asks for them in this order.
 * The same request may be asked several times with several answers.
 */
export function modelled(name: string, host: string, calls: readonly Call[]): RecordedApplication {
    return {
        name,
        host,
        ready: '/ready',
        start(folder, port) {
            writeFileSync(join(folder, 'calls.json'), JSON.stringify(calls));
            writeFileSync(join(folder, 'server.mjs'), SERVER);
            return { program: process.execPath, args: ['server.mjs', String(port)], cwd: folder };
        },
        async visit(context: BrowserContext, base: string): Promise<void> {
            const page = await context.newPage();
            if (!isPage(calls[0])) await open(page, `${base}/ready`);
            for (const call of calls) {
                if (isPage(call)) await open(page, `${base}${call.ask.slice('GET '.length)}`);
                else await send(page, call);
            }
            await page.close();
        },
    };
}

/** A page with a heading and the menu of its site. */
export function pageWith(title: string, main: string, menu = '', language = 'en'): string {
    return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><title>${title}</title></head><body><header>${menu}</header><main><h1>${title}</h1>${main}</main></body></html>`;
}

function isPage(call: Call | undefined): boolean {
    return call !== undefined && /^GET /.test(call.ask) && typeof call.answer === 'string' && /^<!doctype/.test(call.answer);
}

async function send(page: Page, { ask, sent, headers = {} }: Call): Promise<void> {
    const [method = '', path = ''] = ask.split(' ');
    const isForm = typeof sent === 'string' && !('content-type' in headers);
    const type = sent === undefined ? {} : { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' };
    // Scripts send the time of the request.
    const text = (typeof sent === 'string' ? sent : JSON.stringify(sent ?? '')).replaceAll(/17670000\d{5}/g, () => String(Date.now()));
    const body = sent === undefined ? {} : { body: text };
    await page.evaluate(async ([where, how]) => void (await (await fetch(where, how)).text()), [
        path,
        { method, headers: { accept: '*/*', ...type, ...headers }, ...body },
    ] as const);
}

const SERVER = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
const answers = new Map();
for (const call of JSON.parse(readFileSync('calls.json', 'utf8'))) answers.set(call.ask, [...(answers.get(call.ask) ?? []), call]);
createServer((request, response) => {
    request.resume();
    const left = answers.get(request.method + ' ' + request.url) ?? [];
    const call = left.length > 1 ? left.shift() : left[0];
    if (request.url === '/ready') response.setHeader('content-type', 'text/html').end('<!doctype html><title>…</title><script>0</script>');
    else if (call === undefined) response.writeHead(404).end();
    else {
        const text = typeof call.answer === 'string' ? call.answer : JSON.stringify(call.answer);
        const type = call.type ?? (typeof call.answer === 'string' ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8');
        response.writeHead(call.status ?? 200, text === '' ? {} : { 'content-type': type }).end(text);
    }
}).listen(Number(process.argv[2]), '127.0.0.1');
`;
