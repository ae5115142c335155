import type { BrowserContext, Page } from 'playwright-core';
import { END_ALL, postgres, type RecordedApplication } from '../starting.ts';
import { KEEPER, open } from '../visiting.ts';

export const application: RecordedApplication = {
    name: 'parse-server',
    host: 'backend.test',
    ready: '/parse/health',
    visit,
    start: (folder, port, npm) => `${END_ALL}${postgres(folder, port + 1000)}
                ${process.execPath} ${npm}/parse-server/bin/parse-server --appId harbour --masterKey ${KEEPER.password} \\
                    --databaseURI postgres://postgres@127.0.0.1:${port + 1000}/postgres --port ${port} --host 127.0.0.1 \\
                    --serverURL http://127.0.0.1:${port}/parse --allowClientClassCreation true & wait $!`,
};

/** Keeps boats, lights and notices in a backend for applications, as its library does: methods and keys are in bodies of plain text. */
async function visit(context: BrowserContext, base: string): Promise<void> {
    const page = await context.newPage();
    await open(page, `${base}/parse/health`);
    const client = { _ApplicationId: 'harbour', _ClientVersion: 'js5.3.0', _InstallationId: '6f7a2c1e-93d4-4b8a-a1c0-5e2d7f904b13' };
    let session: { _SessionToken?: string } = {};
    const call = async (method: string, path: string, body: object = {}) => {
        const answer = await send(
            page,
            `/parse/${path}`,
            JSON.stringify({ ...body, ...(method === 'POST' ? {} : { _method: method }), ...client, ...session }),
        );
        return JSON.parse(answer) as { objectId: string; sessionToken?: string };
    };
    const signUp = await call('POST', 'users', { username: KEEPER.user, password: KEEPER.password, email: 'keeper@harbour.example' });
    session = { _SessionToken: signUp.sessionToken ?? '' };
    await call('GET', 'users/me');
    await call('GET', `users/${signUp.objectId}`);
    await call('PUT', `users/${signUp.objectId}`, { berth: 'A1' });
    const ids: Record<string, string[]> = {};
    for (const [kind, rows] of Object.entries(THINGS)) {
        const made: string[] = [];
        for (const row of rows) made.push((await call('POST', `classes/${kind}`, row)).objectId);
        ids[kind] = made;
        await call('GET', `classes/${kind}`, { where: {} });
        await call('GET', `classes/${kind}`, { where: { name: rows[0]?.['name'] }, limit: 1 });
        await call('GET', `classes/${kind}`, { where: {}, limit: 2, skip: 1, order: '-createdAt', keys: 'name' });
        await call('GET', `classes/${kind}`, { where: {}, limit: 0, count: 1 });
        for (const id of made.slice(0, 2)) {
            await call('GET', `classes/${kind}/${id}`);
            await call('PUT', `classes/${kind}/${id}`, { note: `Words about ${kind}` });
        }
        await call('DELETE', `classes/${kind}/${made[1]}`);
    }
    await call('POST', 'batch', {
        requests: [
            { method: 'POST', path: '/parse/classes/Boat', body: { name: 'Skua' } },
            { method: 'PUT', path: `/parse/classes/Boat/${ids['Boat']?.[0]}`, body: { feet: 8 } },
        ],
    });
    await call('POST', 'batch', { requests: [{ method: 'DELETE', path: `/parse/classes/Light/${ids['Light']?.[0]}`, body: {} }] });
    for (const name of ['tide', 'rope']) {
        await call('POST', `events/${name}`, { dimensions: { quay: 'north' } });
    }
    await call('GET', 'config');
    await call('GET', 'sessions/me');
    await call('GET', 'sessions', { where: {} });
    await call('POST', 'requestPasswordReset', { email: 'nobody@harbour.example' });
    for (const token of ['one', 'two'])
        await call('POST', 'installations', {
            deviceType: 'android',
            deviceToken: `token-${token}`,
            channels: [token],
            installationId: `8e0f55d4-27b1-4b8a-9c3a-0000000000${token.length}${token === 'one' ? 1 : 2}`,
        });
    const plain = {
        'x-parse-application-id': 'harbour',
        ...(signUp.sessionToken === undefined ? {} : { 'x-parse-session-token': signUp.sessionToken }),
    };
    for (const kind of ['Boat', 'Notice']) {
        await rest(page, 'GET', `classes/${kind}?limit=2&order=name`, plain);
        await rest(page, 'GET', `classes/${kind}?where=${encodeURIComponent(JSON.stringify({ note: { $exists: true } }))}&limit=1`, plain);
        await rest(page, 'GET', `classes/${kind}/${ids[kind]?.[0]}`, plain);
        await rest(page, 'PUT', `classes/${kind}/${ids[kind]?.[0]}`, plain, { note: 'New words' });
        await rest(page, 'DELETE', `classes/${kind}/${ids[kind]?.[0]}`, plain);
    }
    const master = { 'x-parse-application-id': 'harbour', 'x-parse-master-key': KEEPER.password };
    await rest(page, 'GET', 'schemas', master);
    for (const kind of ['Boat', 'Light', 'Notice']) await rest(page, 'GET', `schemas/${kind}`, master);
    for (const kind of ['Buoy', 'Chart']) {
        await rest(page, 'POST', `schemas/${kind}`, master, { className: kind, fields: { name: { type: 'String' } } });
        await rest(page, 'PUT', `schemas/${kind}`, master, { className: kind, fields: { depth: { type: 'Number' } } });
        await rest(page, 'DELETE', `schemas/${kind}`, master);
    }
    for (const quay of ['North', 'South']) await rest(page, 'PUT', 'config', master, { params: { quay } });
    await rest(page, 'GET', 'serverInfo', master);
    for (const kind of ['Boat', 'Notice'])
        await rest(page, 'GET', `aggregate/${kind}?$group=${encodeURIComponent('{"_id":null,"all":{"$sum":1}}')}`, master);
    for (const level of ['info', 'error']) await rest(page, 'GET', `scriptlog?level=${level}&n=5`, master);
    await call('POST', 'logout');
    await page.close();
}

const THINGS: Readonly<Record<string, readonly Record<string, string | number>[]>> = {
    Boat: [
        { name: 'Gull', feet: 7 },
        { name: 'Tern', feet: 9 },
        { name: 'Auk', feet: 5 },
    ],
    Light: [
        { name: 'Mole', colour: 'green' },
        { name: 'Quay', colour: 'red' },
        { name: 'Reef', colour: 'white' },
    ],
    Notice: [
        { name: 'Fog', text: 'Stay ashore' },
        { name: 'Storm', text: 'Double the ropes' },
        { name: 'Calm', text: 'Row' },
    ],
};

async function send(page: Page, path: string, body: string): Promise<string> {
    return await page.evaluate(
        async ([where, sent]) =>
            await (await fetch(where, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: sent })).text(),
        [path, body] as const,
    );
}

async function rest(page: Page, method: string, path: string, headers: Record<string, string>, body?: object): Promise<void> {
    await page.evaluate(
        async ([how, where, all, sent]) => {
            const more = sent === undefined ? {} : { body: JSON.stringify(sent) };
            await (
                await fetch(`/parse/${where}`, { method: how, headers: { ...all, 'content-type': 'application/json' }, ...more })
            ).text();
        },
        [method, path, headers, body] as const,
    );
}
