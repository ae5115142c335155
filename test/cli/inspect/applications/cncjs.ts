import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { node, type RecordedApplication } from '../starting.ts';
import { ask, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'cncjs',
    host: 'mills.test',
    ready: '/',
    visit,
    start(folder, port, npm) {
        mkdirSync(join(folder, 'plans'));
        for (const name of ['anchor', 'cleat']) writeFileSync(join(folder, 'plans', `${name}.nc`), `G0 X0 Y0 (${name})\nG1 X10 F100\n`);
        // It asks this program for its ports, and ends where there is none.
        writeFileSync(join(folder, 'udevadm'), '#!/bin/sh\n', { mode: 0o755 });
        const mill = node(
            npm,
            'cncjs/bin/cncjs',
            '-p',
            String(port),
            '-H',
            '127.0.0.1',
            '-c',
            `${folder}/cnc.json`,
            '-w',
            `${folder}/plans`,
        );
        return { ...mill, env: { PATH: `${folder}:${process.env['PATH']}` } };
    },
};

/** Keeps machines, their macros, commands and plans. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, base);
    const { token } = JSON.parse(await ask(page, 'POST', '/api/signin', {})) as { token: string };
    const call = async (method: string, path: string, body?: object): Promise<string> =>
        await page.evaluate(
            async ([bearer, how, where, sent]) => {
                const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
                return await (
                    await fetch(where, { method: how, headers, ...(sent === undefined ? {} : { body: JSON.stringify(sent) }) })
                ).text();
            },
            [token, method, path, body] as const,
        );
    const make = async (kind: string, things: readonly object[], change: (place: number) => object, isPaged = true) => {
        for (const thing of things) await call('POST', `/api/${kind}`, thing);
        const { records: made } = JSON.parse(await call('GET', `/api/${kind}`)) as { records: { id: string }[] };
        const ids = made.map(({ id }) => id);
        if (isPaged) for (const number of [1, 2]) await call('GET', `/api/${kind}?paging=true&page=${number}&pageLength=2`);
        for (const [place, id] of ids.slice(0, 2).entries()) {
            await call('GET', `/api/${kind}/${id}`);
            await call('PUT', `/api/${kind}/${id}`, change(place));
        }
        if (kind === 'commands') for (const id of ids.slice(0, 2)) await call('POST', `/api/commands/run/${id}`);
        for (const id of ids.slice(1)) await call('DELETE', `/api/${kind}/${id}`);
    };
    const names = ['lamp', 'horn', 'bell'];
    await make(
        'commands',
        names.map((name) => ({ title: `Ring the ${name}`, commands: 'true', enabled: true })),
        (place) => ({ title: `Polish ${place}`, commands: 'true', enabled: false }),
    );
    await make(
        'events',
        ['gcode:load', 'gcode:start', 'feeder:pause'].map((event) => ({ event, trigger: 'system', commands: 'true', enabled: true })),
        (place) => ({ event: place === 0 ? 'gcode:stop' : 'gcode:pause', trigger: 'gcode', commands: 'G28', enabled: false }),
    );
    await make(
        'machines',
        names.map((name, place) => ({ name, limits: { xmin: 0, xmax: 100 + place } })),
        (place) => ({ name: `mill ${place}`, limits: { xmin: 1, xmax: 90 } }),
    );
    await make(
        'macros',
        names.map((name) => ({ name: `To the ${name}`, content: 'G28' })),
        (place) => ({ name: `Home ${place}`, content: 'G28 X0' }),
    );
    await make(
        'mdi',
        names.map((name) => ({ name, command: 'G0 X0', grid: { xs: 4 } })),
        (place) => ({ name: `jog ${place}`, command: 'G0 X1', grid: { xs: 6 } }),
    );
    const { records } = JSON.parse(await call('GET', '/api/mdi')) as { records: { id: string; name: string; command: string }[] };
    for (const command of ['G0 X5', 'G0 X6']) await call('PUT', '/api/mdi', { records: records.map((one) => ({ ...one, command })) });
    await call('GET', '/api/users');
    await call('GET', '/api/users?paging=true&page=1&pageLength=5');
    for (const key of ['checkForUpdates', 'harbour']) {
        await call('POST', `/api/state?key=${key}`, { quay: key });
        await call('GET', `/api/state?key=${key}`);
    }
    await call('GET', '/api/state');
    await call('DELETE', '/api/state?key=harbour');
    await call('GET', '/api/tool');
    for (const z of [1, 2]) await call('POST', '/api/tool', { toolChangeX: z, toolChangeY: z + 1 });
    await call('GET', '/api/controllers');
    await call('GET', '/api/watch/status');
    for (const path of ['', '/']) {
        await call('GET', `/api/watch/files?path=${path}`);
        await call('POST', '/api/watch/files', { path });
    }
    for (const name of ['anchor', 'cleat']) {
        await call('GET', `/api/watch/file?file=${name}.nc`);
        await call('POST', '/api/watch/file', { file: `${name}.nc` });
        await call('PUT', '/api/watch/file', { file: `${name}.nc`, data: 'G0 X3' });
    }
    await page.close();
}
