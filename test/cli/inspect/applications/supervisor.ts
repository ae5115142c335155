import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import type { RecordedApplication } from '../starting.ts';
import { links, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'supervisor',
    host: 'watch.test',
    ready: '/',
    visit,
    start(folder, port) {
        const programs = ['lamp', 'horn', 'bell'].map(
            (name) => `[program:${name}]\ncommand=sh -c 'while read line; do echo ${name} $line; done'\nautorestart=false\nstartsecs=0\n`,
        );
        writeFileSync(
            join(folder, 'supervisord.conf'),
            `[supervisord]\nnodaemon=true\nlogfile=${folder}/main.log\npidfile=${folder}/main.pid\nchildlogdir=${folder}\n[inet_http_server]\nport=127.0.0.1:${port}\n[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface\n${programs.join('')}[group:lights]\nprograms=lamp,horn\n`,
        );
        return `exec supervisord -c ${folder}/supervisord.conf`;
    },
};

/** Looks at programs that run, stops and starts them by buttons, and does the same by calls. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    for (const [action, name] of [
        ['stop', 'bell'],
        ['start', 'bell'],
        ['restart', 'lights:lamp'],
        ['clearlog', 'lights:horn'],
    ] as const) {
        const [address] = await links(page, new RegExp(`processname=${encodeURIComponent(name)}&action=${action}`));
        if (address !== undefined) await open(page, address);
    }
    for (const address of (await links(page, /tail\.html/)).slice(0, 3)) {
        await open(page, address);
        const [again] = await links(page, /tail\.html.*limit/);
        if (again !== undefined) await open(page, again);
    }
    await open(page, `${base}/index.html`);
    for (const name of [
        'getAPIVersion',
        'getSupervisorVersion',
        'getIdentification',
        'getState',
        'getPID',
        'getAllProcessInfo',
        'getAllConfigInfo',
    ])
        await call(page, `supervisor.${name}`);
    for (const name of ['bell', 'lights:lamp']) {
        await call(page, 'supervisor.sendProcessStdin', name, 'fog ahead\n');
        await call(page, 'supervisor.getProcessInfo', name);
        await call(page, 'supervisor.readProcessStdoutLog', name, 0, 100);
        await call(page, 'supervisor.tailProcessStdoutLog', name, 0, 200);
        await call(page, 'supervisor.signalProcess', name, 'USR1');
        await call(page, 'supervisor.stopProcess', name, true);
        await call(page, 'supervisor.startProcess', name, name === 'bell');
        await call(page, 'supervisor.clearProcessLogs', name);
    }
    for (const group of ['lights', 'bell']) {
        await call(page, 'supervisor.stopProcessGroup', group, true);
        await call(page, 'supervisor.startProcessGroup', group, group === 'bell');
    }
    for (const from of [0, 20]) await call(page, 'supervisor.readLog', from, 200);
    await call(page, 'system.listMethods');
    for (const name of ['supervisor.getState', 'supervisor.readLog']) {
        await call(page, 'system.methodHelp', name);
        await call(page, 'system.methodSignature', name);
    }
    await page.close();
}

/** One call of XML-RPC by the page's script. */
async function call(page: Page, method: string, ...values: (string | number | boolean)[]): Promise<void> {
    const types = { string: 'string', number: 'int', boolean: 'boolean' } as const;
    const params = values.map((value) => {
        const type = types[typeof value as keyof typeof types];
        return `<param><value><${type}>${typeof value === 'boolean' ? Number(value) : value}</${type}></value></param>`;
    });
    const text = `<?xml version="1.0"?><methodCall><methodName>${method}</methodName><params>${params.join('')}</params></methodCall>`;
    await page.evaluate(
        async (body) => await (await fetch('/RPC2', { method: 'POST', headers: { 'content-type': 'text/xml' }, body })).text(),
        text,
    );
}
